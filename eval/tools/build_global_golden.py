"""Resolve the whole-corpus questions' quoted texts to character spans of the documents as graphctx reads them.

    python eval/tools/build_global_golden.py [--check]

``handbook_global.source.jsonl`` is what people edit: questions with ``points``, the facts that a good answer must
contain, each with ``spans`` of ``{"doc", "text"}``. The spans of one point are alternatives, every place that states
the fact: an answer needs one of them. ``handbook_global.jsonl`` is what evaluations read: the same with offsets and
the exact text. A text must occur exactly once in its document, in the source in any line breaking.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import build_golden
from build_golden import EVAL, GoldenError, load, read_corpus, render

SOURCE = EVAL / "golden" / "handbook_global.source.jsonl"
TARGET = EVAL / "golden" / "handbook_global.jsonl"


def build(lines: list[dict[str, Any]], corpus: dict[str, str]) -> list[dict[str, Any]]:
    """The questions with offsets in every span of every point.

    Raises:
        GoldenError: a document is unknown, or a text does not occur exactly once; all such places are listed, with
            the question and the number of the point, from 1.
    """
    # Each point is resolved as a golden question of its own, so that both sets find their texts by one rule.
    asked = [
        {**dict.fromkeys(build_golden.KEYS), "id": f"{line['id']} point {at}", "gold_spans": point["spans"]}
        for line in lines
        for at, point in enumerate(line["points"], start=1)
    ]
    found = iter(build_golden.build(asked, corpus))
    return [
        {**line, "points": [{**point, "spans": next(found)["gold_spans"]} for point in line["points"]]}
        for line in lines
    ]


def main() -> int:
    """Command line; exit code 1 if the set does not fit, or with ``--check`` if the written file is stale."""
    parser = argparse.ArgumentParser(description="Resolve the whole-corpus questions' texts to character spans.")
    parser.add_argument("--check", action="store_true", help=f"write nothing; fail if {TARGET.name} is stale")
    check = parser.parse_args().check
    try:
        built = build(load(SOURCE), read_corpus())
    except GoldenError as fault:
        print(fault, file=sys.stderr)
        return 1
    if not check:
        TARGET.write_text(render(built), "utf-8")
    elif TARGET.read_text("utf-8") != render(built):
        print(f"{TARGET.name} is stale; run python eval/tools/build_global_golden.py", file=sys.stderr)
        return 1
    points = [point for line in built for point in line["points"]]
    spans = sum(len(point["spans"]) for point in points)
    print(f"{TARGET.name}: {len(built)} questions, {len(points)} points, {spans} spans")
    return 0


if __name__ == "__main__":
    sys.exit(main())
