"""Compare readers of PDF on the files of a folder: python eval/tools/compare_pdf.py FOLDER [READER...]

The reference is pdftotext (poppler-utils), which must be on the path. Readers that are not installed are left out.
Prints a Markdown table; how its columns are defined stands above `Score`.
"""

from __future__ import annotations

import logging
import re
import statistics
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

Pages = list[str]


def by_pdftotext(path: Path) -> Pages:
    done = subprocess.run(["pdftotext", "-enc", "UTF-8", str(path), "-"], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace").split("\f")[:-1]


def by_pypdf(path: Path) -> Pages:
    from pypdf import PdfReader

    return [page.extract_text() for page in PdfReader(path).pages]


def by_pypdf_layout(path: Path) -> Pages:
    from pypdf import PdfReader

    return [page.extract_text(extraction_mode="layout") for page in PdfReader(path).pages]


def by_pypdfium2(path: Path) -> Pages:
    import pypdfium2

    with pypdfium2.PdfDocument(path) as document:
        return [page.get_textpage().get_text_bounded() for page in document]


def by_pdfminer(path: Path) -> Pages:
    from pdfminer.high_level import extract_text

    return extract_text(path).split("\f")[:-1]


def by_graphctx(path: Path) -> Pages:
    from graphctx.ingest.read import readers

    (document,) = readers()[".pdf"].read(path.read_bytes(), path.name).documents
    return [document.text[a:b] for a, b in pairwise([*document.page_starts, len(document.text)])]


READERS: dict[str, Callable[[Path], Pages]] = {
    "pdftotext": by_pdftotext,
    "pypdf": by_pypdf,
    "pypdf, layout": by_pypdf_layout,
    "pypdfium2": by_pypdfium2,
    "pdfminer.six": by_pdfminer,
    "graphctx": by_graphctx,
}


def outline(path: Path) -> list[tuple[int, str]]:
    """Return the outline as pages from 0 with titles; empty if it cannot be read."""
    import pypdfium2

    try:
        with pypdfium2.PdfDocument(path) as document:
            found = [(mark.get_dest(), mark.get_title()) for mark in document.get_toc()]
            return [(dest.get_index(), title) for dest, title in found if dest is not None and title.strip()]
    except Exception:
        return []


@dataclass
class Score:
    """Figures of one reader.

    - words: F1 of the words, as a multiset for each file, against the reference.
    - order: F1 of pairs of neighbouring words, which falls if columns are mixed or words are broken.
    - words per line: the median over lines with a word; one-word lines: their share.
    - hyphens: line ends that break a word, for each 1,000 lines.
    - outline: share of the outline's titles that stand as a line, or as two, on their page.
    - pages/s: of one process.
    """

    words: list[float] = field(default_factory=list)
    order: list[float] = field(default_factory=list)
    line_words: list[int] = field(default_factory=list)
    hyphens: int = 0
    titles: int = 0
    titles_found: int = 0
    pages: int = 0
    seconds: float = 0.0
    failed: list[str] = field(default_factory=list)

    def row(self, name: str) -> str:
        lines = max(1, len(self.line_words))
        return (
            f"| {name} | {statistics.mean(self.words):.3f} | {statistics.mean(self.order):.3f} "
            f"| {statistics.median(self.line_words):.0f} | {sum(n == 1 for n in self.line_words) / lines:.1%} "
            f"| {1000 * self.hyphens / lines:.1f} | {self.titles_found / max(1, self.titles):.1%} "
            f"| {self.pages / self.seconds:.0f} | {len(self.failed)} |"
        )


_WORD = re.compile(r"\w+(?:[-'’]\w+)*")
_LIGATURES = str.maketrans({"ﬁ": "fi", "ﬂ": "fl", "ﬀ": "ff", "ﬃ": "ffi", "ﬄ": "ffl", "\u00ad": "-", "\ufffe": "-"})


def clean(text: str) -> str:
    return text.translate(_LIGATURES).replace("\r\n", "\n").replace("\r", "\n")


def words_of(pages: Pages) -> list[str]:
    """Return the words of a file; those that are broken at a line end are joined, so that hyphens count once."""
    return _WORD.findall(re.sub(r"(\w)[-\u2010][ \t]*\n\s*([a-zà-ÿ])", r"\1\2", "\n".join(pages)))


def overlap(ours: Counter, reference: Counter) -> float:
    total = ours.total() + reference.total()
    return 2 * (ours & reference).total() / total if total else 1.0


def squeezed(text: str) -> str:
    return re.sub(r"\W+", "", text).casefold()


def measure(score: Score, path: Path, read: Callable[[Path], Pages], reference: list[str]) -> None:
    started = time.perf_counter()
    try:
        pages = [clean(page) for page in read(path)]
    except Exception as error:
        score.failed.append(f"{path.name}: {type(error).__name__}: {error}")
        return
    score.seconds += time.perf_counter() - started
    score.pages += len(pages)
    ours = words_of(pages)
    score.words.append(overlap(Counter(ours), Counter(reference)))
    score.order.append(overlap(Counter(pairwise(ours)), Counter(pairwise(reference))))
    lines = [[line.strip() for line in page.split("\n") if _WORD.search(line)] for page in pages]
    score.line_words += [len(line.split()) for page in lines for line in page]
    score.hyphens += sum(
        a.endswith(("-", "\u2010")) and a[-2:-1].isalpha() and b[:1].islower()
        for page in lines
        for a, b in pairwise(page)
    )
    for page, title in outline(path):
        if page < len(lines):
            shown = [squeezed(line) for line in lines[page]]
            wanted = squeezed(title)
            # A title may be set with its number, and on two lines.
            places = {*shown, *(a + b for a, b in pairwise(shown)), *(re.sub(r"^[\dA-Z]*\d+", "", s) for s in shown)}
            score.titles += 1
            score.titles_found += wanted in places or any(
                s.endswith(wanted) and len(s) < len(wanted) + 9 for s in shown
            )


def main(folder: str, *names: str) -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    files = sorted(Path(folder).rglob("*.pdf"))
    references = {path: words_of([clean(page) for page in by_pdftotext(path)]) for path in files}
    print(f"{len(files)} files, {sum(map(len, references.values())):,} words\n")
    print("| reader | words | order | words per line | one-word lines | hyphens | outline | pages/s | failed |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in names or READERS:
        score = Score()
        for path in files:
            measure(score, path, READERS[name], references[path])
        if score.words:
            print(score.row(name), flush=True)
        for line in score.failed:
            print(f"{name}: {line}", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
