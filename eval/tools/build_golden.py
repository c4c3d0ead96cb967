"""Resolve the golden set's quoted texts to character spans of the documents as graphctx reads them.

    python eval/tools/build_golden.py [--check]

``handbook.source.jsonl`` is what people edit: questions with ``gold_spans`` of ``{"doc", "text"}``.
``handbook.jsonl`` is what evaluations read: the same with ``gold_docs``, offsets and the exact text. A text must
occur exactly once in its document, in the source in any line breaking.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

EVAL = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(EVAL.parent))  # so that the script runs from a checkout that is not installed

from graphctx.ingest.read import discover, read_file  # noqa: E402

HANDBOOK = EVAL / "corpora" / "handbook"
SOURCE = EVAL / "golden" / "handbook.source.jsonl"
TARGET = EVAL / "golden" / "handbook.jsonl"

KEYS = ("id", "question", "type", "answers", "answerable", "gold_docs", "gold_spans")


class GoldenError(ValueError):
    """The golden source does not fit the corpus: the message lists every place."""


def read_corpus(folder: Path = HANDBOOK) -> dict[str, str]:
    """The text of every document below ``folder``, by its path with ``/``.

    Raises:
        GoldenError: a file could not be read.
    """
    texts: dict[str, str] = {}
    found = discover([folder])
    skipped = list(found.skipped)
    for file in found.files:
        documents, bad = read_file(file, file.rel)
        skipped += bad
        texts.update((document.uri, document.text) for document in documents)
    if skipped:
        raise GoldenError("\n".join(f"{s.uri}: {s.reason}" for s in skipped))
    return texts


def find_once(text: str, quote: str) -> tuple[int, int]:
    """Where ``quote`` stands in ``text``, as a half-open span of code points; runs of white space match each other.

    Raises:
        GoldenError: it stands there never, or more than once.
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
    """The golden lines with offsets.

    Raises:
        GoldenError: a document is unknown, or a text does not occur exactly once; all such places are listed.
    """
    out, faults = [], []
    for line in lines:
        spans = []
        for wanted in line["gold_spans"]:
            try:
                spans.append(_resolve(wanted, corpus))
            except GoldenError as fault:
                faults.append(f"{line['id']} {wanted['doc']}: {fault}")
        docs = list(dict.fromkeys(span["doc"] for span in spans))
        full = {**line, "gold_docs": docs, "gold_spans": spans}
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
    """The objects of a JSONL file."""
    return list(_objects(path))


def _objects(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text("utf-8").splitlines():
        if line.strip():
            yield json.loads(line)


def render(lines: list[dict[str, Any]]) -> str:
    """The lines as JSONL."""
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def main() -> int:
    """Command line; exit code 1 if the set does not fit, or with ``--check`` if the written file is stale."""
    parser = argparse.ArgumentParser(description="Resolve the golden set's texts to character spans.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if handbook.jsonl is stale")
    check = parser.parse_args().check
    try:
        built = build(load(SOURCE), read_corpus())
    except GoldenError as fault:
        print(fault, file=sys.stderr)
        return 1
    if check:
        if TARGET.read_text("utf-8") != render(built):
            print(f"{TARGET.name} is stale; run python eval/tools/build_golden.py", file=sys.stderr)
            return 1
        return 0
    TARGET.write_text(render(built), "utf-8")
    print(f"{TARGET}: {len(built)} questions, {sum(len(line['gold_spans']) for line in built)} spans")
    return 0


if __name__ == "__main__":
    sys.exit(main())
