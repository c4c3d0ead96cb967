"""PDF: the text of each page by lines in reading order, with the offset at which each page starts.

A word that is broken at the end of a line is whole in the text. Headings are the titles of the outline or, without one,
the lines in larger or bolder type than the body. Running headers and footers are kept where they occur first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from itertools import chain, pairwise
from statistics import median
from typing import TYPE_CHECKING, ClassVar

from graphctx.errors import InvalidArgument
from graphctx.ingest.read.base import Metadata, Outline, ReadFile, iso_moment, make_document
from graphctx.ingest.read.pdf_lines import PdfLine, page_lines, whole_words
from graphctx.ingest.read.plain import outline_plain
from graphctx.model.documents import Block, Heading
from graphctx.text.normalise import normalise

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pypdfium2 import PdfDocument

MAX_HEADING_CHARS = 150
"""Longer text in large type is display text."""

LARGER = 1.1
"""Type is larger than the body's from this ratio on; emphasis and small capitals stay below it."""

BOLDER = 100
"""Points of font weight from which on a line is bolder than the body."""

PARAGRAPH_GAP = 1.35
"""Lines further apart than this many times the usual distance belong to different paragraphs."""

MAX_LEVEL = 6
MAX_BOOKMARKS = 10_000
"""A file with more is broken or hostile."""

MIN_CONTENTS_LINES = 5
"""A page with so many lines of a table of contents has no headings of its own."""

MIN_RUNNING_PAGES = 3
"""A running header recurs in files of at least this many pages."""

SAME_HEIGHT = 1.5
"""Points by which the baselines of a running header differ at most."""

_MEANINGLESS_TITLE = re.compile(
    r"(?:untitled.*|title|none|unknown|document\d*|microsoft word - .*"
    r"|.*\.(?:docx?|tex|dvi|pdf|indd|ps|odt|rtf|md|html?))",
    re.IGNORECASE,
)
_SENTENCE_ENDS = (".", "!", "?", ":", ";", "…", "”", '"')
_NUMBERED = re.compile(r"\A(?:(?:chapter|section|appendix|part)\s+)?(?:\d+|[A-Z])(?:\.\d+)*[.:)]?\s+", re.IGNORECASE)
_CONTENTS = re.compile(r"(?<![.·])(?<![.·] )(?: ?[.·]){4,} ?[\divxlc]{0,6}$")
"""A line of a table of contents: dots up to a page number. It is in no block."""

_DATE = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([+-])(\d\d)'?(\d\d)?|Z)?")

Bookmark = tuple[int, str, int]
"""Level from 1, title, page from 0."""


class PdfFileReader:
    """PDF files with a text layer."""

    media_types: ClassVar[Mapping[str, str]] = {".pdf": "application/pdf"}
    version: ClassVar[int] = 2

    def read(self, data: bytes, uri: str) -> ReadFile:
        """Read one document; see :class:`graphctx.ingest.read.base.DocumentReader`."""
        pages, damaged, bookmarks, metadata = _extract(data, uri)
        if not any(pages):
            raise InvalidArgument(
                f"{uri} has no text on its {len(pages)} pages, only images. Run OCR on it first.",
                uri=uri,
                pages=len(pages),
            )
        running = running_lines(pages)
        pages = [[line for line in page if line not in running[1]] for page in pages]
        text, starts, spans = _join(pages, running[0])
        headings = _from_outline(spans, bookmarks) or _from_type(spans, running[0])
        if not metadata.title:
            metadata = replace(metadata, title=_display_title(spans[0], running[0]))
        apart = [(a, b) for page in spans for line, a, b in page if line in running[0] or _CONTENTS.search(line.text)]
        apart = sorted({*apart, *((h.start_char, h.end_char) for h in headings)})
        outline = Outline(headings, _blocks(text, apart), [])
        notes = (f"{uri}: damaged, without its pages {', '.join(map(str, damaged))}",) if damaged else ()
        return ReadFile((make_document(uri, "application/pdf", text, outline, metadata, starts),), notes=notes)


def _extract(data: bytes, uri: str) -> tuple[list[list[PdfLine]], list[int], list[Bookmark], Metadata]:
    """Return the lines of every page, the numbers of the pages that are damaged, the outline, and the metadata."""
    from pypdfium2 import PdfDocument, PdfiumError

    if not data.strip():
        raise InvalidArgument(f"{uri} is empty ({len(data)} bytes), not a PDF.", uri=uri)
    try:
        document = PdfDocument(data)
    except PdfiumError as error:
        if "password" in str(error).lower() or "security" in str(error).lower():
            raise InvalidArgument(f"{uri} is encrypted. Save it without a password first.", uri=uri) from error
        raise InvalidArgument(f"{uri} is damaged or not a PDF: {error}", uri=uri) from error
    try:
        pages: list[list[PdfLine]] = []
        damaged: list[int] = []
        for number in range(len(document)):
            try:
                pages.append(page_lines(document, number))
            except PdfiumError:
                pages.append([])
                damaged.append(number + 1)
        if damaged and not any(pages):
            raise InvalidArgument(f"{uri} is damaged: none of its pages can be read.", uri=uri)
        return whole_words(pages), damaged, _bookmarks(document), _metadata(document)
    finally:
        document.close()


def _metadata(document: PdfDocument) -> Metadata:
    stated = document.get_metadata_dict()
    title = " ".join(normalise(stated.get("Title") or "").split())
    if _MEANINGLESS_TITLE.fullmatch(title) or not any(map(str.isalpha, title)):
        title = ""
    return Metadata(title, (), _moment(stated.get("ModDate") or ""))


def _moment(stated: str) -> str | None:
    """Return a date of PDF (ISO 32000-1, 7.9.4) in ISO 8601."""
    found = _DATE.match(stated)
    if found is None:
        return None
    try:
        year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
        sign, hours, minutes = found.groups()[6:]
        offset = (-1 if sign == "-" else 1) * timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
        zone = timezone(offset) if sign or stated.endswith("Z") else None
        return iso_moment(datetime(year, month or 1, day or 1, hour, minute, second, tzinfo=zone))
    except (ValueError, OverflowError):
        return None


def _bookmarks(document: PdfDocument) -> list[Bookmark]:
    """Return the outline; none if it cannot be read: it is a help, never a reason to lose the text."""
    from pypdfium2 import PdfiumError

    found: list[Bookmark] = []
    try:
        for mark in document.get_toc():
            place = mark.get_dest()
            title = " ".join(normalise(mark.get_title()).split())
            page = place.get_index() if place is not None else None
            if title and page is not None and page >= 0:
                found.append((min(mark.level + 1, MAX_LEVEL), title, page))
            if len(found) >= MAX_BOOKMARKS:
                break
    except (PdfiumError, ValueError, RecursionError):
        return []
    return found


def running_lines(pages: Sequence[Sequence[PdfLine]]) -> tuple[set[PdfLine], set[PdfLine]]:
    """Find running headers and footers: lines at the top and the bottom of pages that recur, but for their digits.

    Returns:
        The first of each, and those that repeat it.
    """
    first: set[PdfLine] = set()
    repeated: set[PdfLine] = set()
    if len(pages) < MIN_RUNNING_PAGES:
        return first, repeated
    for edge in (max, min):
        rows = [_row_at(page, edge(line.base for line in page)) for page in pages if len(page) > (edge is min)]
        heights = Counter(round(row[0].base) for row in rows)
        shapes = Counter(shape for row in rows for shape in {line.shape for line in row})
        usual = {height for height, count in heights.items() if 2 * count >= len(pages)}
        seen: set[str] = set()
        for line in chain.from_iterable(rows):
            near = any(abs(line.base - height) <= SAME_HEIGHT for height in usual)
            if shapes[line.shape] >= (2 if near else max(MIN_RUNNING_PAGES, len(pages) // 2)):
                (repeated if line.shape in seen else first).add(line)
                seen.add(line.shape)
    return first, repeated


def _row_at(page: Sequence[PdfLine], height: float) -> list[PdfLine]:
    return [line for line in page if abs(line.base - height) <= SAME_HEIGHT]


Placed = tuple[PdfLine, int, int]
"""A line with its span in the document."""


def _join(pages: Sequence[Sequence[PdfLine]], apart: set[PdfLine]) -> tuple[str, list[int], list[list[Placed]]]:
    """Join the lines, with a blank line between paragraphs; return the text, where pages start, and where lines are."""
    gaps = [a.base - b.base for page in pages for a, b in pairwise(page) if a.precedes(b)]
    usual = median(gaps) if gaps else 0.0
    pieces: list[str] = []
    starts: list[int] = []
    spans: list[list[Placed]] = []
    at = 0
    before: PdfLine | None = None
    for page in pages:
        starts.append(at)
        placed: list[Placed] = []
        for number, line in enumerate(page):
            if before is not None:
                following = page[number + 1] if number + 1 < len(page) else None
                alone = line in apart or before in apart
                gap = "\n\n" if alone or _is_break(before, line, following, usual) else "\n"
                pieces.append(gap)
                at += len(gap)
            if not number:
                starts[-1] = at
            pieces.append(line.text)
            placed.append((line, at, at + len(line.text)))
            at += len(line.text)
            before = line
        spans.append(placed)
    return "".join(pieces), starts, spans


def _is_break(before: PdfLine, line: PdfLine, following: PdfLine | None, usual: float) -> bool:
    """Whether a line begins a paragraph."""
    ended = before.text.endswith(_SENTENCE_ENDS)
    if not 0.8 < line.size / max(before.size, 0.1) < 1.25:
        return True
    if not before.precedes(line):  # the next column or page
        return ended or not line.text[:1].islower()
    distance = before.base - line.base
    if distance > PARAGRAPH_GAP * max(usual, 1.1 * line.size):
        return True
    indent = line.left - before.left
    if ended and 0.8 * line.size < indent < 4 * line.size:  # TeX indents the first line of a paragraph
        return following is None or not line.precedes(following) or following.left < line.left - 0.5 * line.size
    return False


def _blocks(text: str, apart: Sequence[tuple[int, int]]) -> list[Block]:
    """Paragraphs as in plain text, in the stretches between headings, page headers and footers."""
    blocks: list[Block] = []
    at = 0
    for start, end in [*apart, (len(text), len(text))]:
        blocks += [
            Block(block.kind, at + block.start_char, at + block.end_char)
            for block in outline_plain(text[at:start], headings=False).blocks
        ]
        at = max(at, end)
    return blocks


def _squeezed(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def _from_outline(spans: Sequence[Sequence[Placed]], bookmarks: Sequence[Bookmark]) -> list[Heading]:
    """Find the lines, one to three, that are titles of the outline, with or without their numbers."""
    headings: list[Heading] = []
    taken: set[int] = set()
    by_page: dict[int, list[_Candidate]] = {}
    for level, title, page in bookmarks:
        if page >= len(spans):
            continue
        if page not in by_page:
            by_page[page] = list(_candidates(spans[page]))
        wanted = _names(title)
        for shown, names, start, end in by_page[page]:
            if start not in taken and not wanted.isdisjoint(names):
                taken.add(start)
                headings.append(Heading(level, shown, f"page={page + 1}", start, end))
                break
    return _apart(headings)


_Candidate = tuple[str, frozenset[str], int, int]


def _candidates(lines: Sequence[Placed]) -> Iterator[_Candidate]:
    """Yield runs of one to three lines, the short ones first: the text, what it may be called, and its span."""
    for length in (1, 2, 3):
        for first in range(len(lines) - length + 1):
            run = lines[first : first + length]
            shown = " ".join(line.text for line, _, _ in run)
            if len(shown) <= 2 * MAX_HEADING_CHARS:
                yield shown, _names(shown), run[0][1], run[-1][2]


def _names(title: str) -> frozenset[str]:
    """Return the letters and digits of a title, with and without its number."""
    return frozenset((_squeezed(title), _squeezed(_NUMBERED.sub("", title, count=1)))) - {""}


def _apart(headings: Sequence[Heading]) -> list[Heading]:
    """Return the headings in order, without those that overlap an earlier one."""
    found: list[Heading] = []
    for heading in sorted(headings, key=lambda heading: (heading.start_char, -heading.end_char)):
        if not found or heading.start_char >= found[-1].end_char:
            found.append(heading)
    return found


def _from_type(spans: Sequence[Sequence[Placed]], running: set[PdfLine]) -> list[Heading]:
    """Find the lines in larger or bolder type than the body; lines of one type that follow each other are one."""
    weights: Counter[tuple[float, int]] = Counter()
    for page in spans:
        for line, _, _ in page:
            weights[line.size, line.weight] += len(line.text)
    body_size, body_weight = max(weights, key=lambda key: (weights[key], key))
    found: list[tuple[tuple[float, bool], Heading]] = []
    for number, page in enumerate(spans, start=1):
        before: PdfLine | None = None
        if sum(_CONTENTS.search(line.text) is not None for line, _, _ in page) >= MIN_CONTENTS_LINES:
            continue
        for line, start, end in page:
            large = line.size >= LARGER * body_size
            heavy = line.weight >= body_weight + BOLDER
            bold = heavy and line.size >= 0.98 * body_size and line.is_title_like
            if line in running or not (large or bold) or not any(map(str.isalpha, line.text)):
                before = None
                continue
            kind = (-round(2 * line.size) / 2, not heavy)
            if found and before is not None and before.precedes(line) and found[-1][0] == kind and _near(before, line):
                merged = found[-1][1]
                found[-1] = (kind, replace(merged, title=f"{merged.title} {line.text}", end_char=end))
            else:
                found.append((kind, Heading(1, line.text, f"page={number}", start, end)))
            before = line
    kept = [(kind, one) for kind, one in found if len(one.title) <= MAX_HEADING_CHARS and _is_name(one.title)]
    levels = {kind: level for level, kind in enumerate(sorted({kind for kind, _ in kept}), start=1)}
    return [replace(heading, level=min(levels[kind], MAX_LEVEL)) for kind, heading in kept]


def _near(before: PdfLine, line: PdfLine) -> bool:
    return before.base - line.base <= 1.6 * line.size


def _is_name(title: str) -> bool:
    """Whether a title has a word: formulas and drop capitals are in large type as well."""
    return re.search(r"[^\W\d_]{3}", title) is not None


def _display_title(page: Sequence[Placed], running: set[PdfLine]) -> str:
    """Return the lines in the largest type of the first page if it is larger than the rest: the title."""
    lines = [line for line, _, _ in page if line not in running]
    sizes = sorted({line.size for line in lines}, reverse=True)
    if len(sizes) < 2 or sizes[0] < LARGER * sizes[1]:
        return ""
    title = " ".join(line.text for line in lines if line.size == sizes[0])
    return title if len(title) <= MAX_HEADING_CHARS and _is_name(title) else ""
