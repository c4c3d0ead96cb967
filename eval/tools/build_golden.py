"""Resolve the golden sets' quoted texts to character spans of the documents as graphctx reads them.

    python eval/tools/build_golden.py [--check]

People edit the ``.source.jsonl`` files, evaluations read the others, which add offsets and the exact texts. In
``handbook.source.jsonl`` a question has ``gold_spans`` of ``{"doc", "text"}``. In ``handbook_global.source.jsonl`` it
has ``points``, each with ``spans``: the places that state it, of which an answer needs one. A text must occur exactly
once in its document, with any line breaks.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

EVAL = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(EVAL.parent))  # so that the script runs from a checkout that is not installed

from graphctx.ingest.read import discover, read_file  # noqa: E402

HANDBOOK = EVAL / "corpora" / "handbook"
SETS = ("handbook", "handbook_global")
KEYS = ("id", "question", "type", "answers", "answerable", "gold_docs", "gold_spans")


class GoldenError(ValueError):
    """The golden source does not fit the corpus: the message lists every place."""


def read_corpus(folder: Path = HANDBOOK) -> dict[str, str]:
    """Return the text of every document below ``folder``, by its path with ``/``.

    Raises:
        GoldenError: a file could not be read.
    """
    texts: dict[str, str] = {}
    found = discover([folder])
    skipped = list(found.skipped)
    for file in found.files:
        reading = read_file(file, file.rel)
        skipped += reading.skipped
        texts.update((document.uri, document.text) for document in reading.documents)
    if skipped:
        raise GoldenError("\n".join(f"{s.uri}: {s.reason}" for s in skipped))
    return texts


def find_once(text: str, quote: str) -> tuple[int, int]:
    """Return the only span of ``quote`` in ``text``, in code points; runs of white space match each other.

    Raises:
        GoldenError: it occurs never, or more than once.
    """
    words = quote.split()
    if not words:
        raise GoldenError("an empty text cannot be found")
    # A lookahead, so that overlapping occurrences are counted too.
    pattern = re.compile(r"(?=(" + r"\s+".join(map(re.escape, words)) + r"))")
    spans = [match.span(1) for match in pattern.finditer(text)]
    if len(spans) != 1:
        raise GoldenError(f"found {len(spans)} times, wanted once: {quote!r}")
    return spans[0]


def build(lines: list[dict[str, Any]], corpus: dict[str, str]) -> list[dict[str, Any]]:
    """Return golden lines with offsets.

    Raises:
        GoldenError: a document is unknown, or a text does not occur exactly once; all such places are listed, with
            the question and the number of the point, from 1.
    """
    faults: list[str] = []

    def resolved(name: str, spans: list[dict[str, str]]) -> list[dict[str, Any]]:
        found = []
        for wanted in spans:
            try:
                found.append(_resolve(wanted, corpus))
            except GoldenError as fault:
                faults.append(f"{name} {wanted['doc']}: {fault}")
        return found

    out = []
    for line in lines:
        if "points" in line:
            points = [
                {**point, "spans": resolved(f"{line['id']} point {at}", point["spans"])}
                for at, point in enumerate(line["points"], start=1)
            ]
            out.append({**line, "points": points})
        else:
            spans = resolved(line["id"], line["gold_spans"])
            full = {**line, "gold_docs": list(dict.fromkeys(span["doc"] for span in spans)), "gold_spans": spans}
            out.append({key: full[key] for key in KEYS})
    if faults:
        raise GoldenError("\n".join(faults))
    return out


def _resolve(wanted: dict[str, str], corpus: dict[str, str]) -> dict[str, Any]:
    if wanted["doc"] not in corpus:
        raise GoldenError("there is no such document")
    text = corpus[wanted["doc"]]
    start, end = find_once(text, wanted["text"])
    return {"doc": wanted["doc"], "start": start, "end": end, "text": text[start:end]}


def load(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a JSONL file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def render(lines: list[dict[str, Any]]) -> str:
    """Return the lines as JSONL."""
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def main() -> int:
    """Command line; exit code 1 if a set does not fit, or with ``--check`` if a written file is stale."""
    parser = argparse.ArgumentParser(description="Resolve the golden sets' texts to character spans.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is stale")
    check = parser.parse_args().check
    corpus = read_corpus()
    for name in SETS:
        target = EVAL / "golden" / f"{name}.jsonl"
        try:
            built = build(load(target.with_suffix(".source.jsonl")), corpus)
        except GoldenError as fault:
            print(fault, file=sys.stderr)
            return 1
        if not check:
            target.write_text(render(built), "utf-8")
        elif target.read_text("utf-8") != render(built):
            print(f"{target.name} is stale; run python eval/tools/build_golden.py", file=sys.stderr)
            return 1
        print(f"{target.name}: {len(built)} questions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
