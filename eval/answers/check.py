"""Check the question sets of this folder against the documentation sites that they were made from.

    python eval/answers/check.py

Every line must have its fields, a type of its set and an id of its own; every pattern must compile, match the text of
each of its places (white space folded) and not match the question. Where a part lies is checked against the sites
below ``$GRAPHCTX_DEV_DATA/docs``, by default ``../shared/data/docs``; a site that is not there is passed over, and it
is an error where none is there. Prints how many questions of which type each set has. Exit code 1 on an error.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WHOLE = "_whole"


@dataclass(frozen=True, slots=True)
class Form:
    """What the questions of a kind of set look like.

    Attributes:
        types: of questions, in the order of the table.
        parts: the field that holds the parts of an answer.
        need: the field of a part that says what it is.
        least: parts of a question that can be answered.
        most: parts of a question.
    """

    types: tuple[str, ...]
    parts: str
    need: str
    least: int
    most: int


ANSWERS = Form(("how-to", "setting", "definition", "comparison", "hops", "unanswerable"), "parts", "need", 1, 4)
ABOUT_THE_WHOLE = Form(("theme", "ways", "considerations", "change", "comparison"), "points", "point", 5, 10)


@dataclass(frozen=True, slots=True)
class Site:
    """A documentation site; ``folder`` is ``None`` where it is not there."""

    folder: Path | None

    def text(self, doc: str, first: int, last: int) -> str:
        """Lines ``first`` to ``last`` of a document, counted from 1, with white space folded.

        Raises:
            ValueError: no such document or lines.
        """
        assert self.folder is not None
        path = self.folder / doc
        if not path.is_file():
            raise ValueError(f"no document {doc}")
        lines = path.read_text(encoding="utf-8").splitlines()
        if not 1 <= first <= last <= len(lines):
            raise ValueError(f"{doc} has no lines {first} to {last}")
        return " ".join(" ".join(lines[first - 1 : last]).split())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = Path(os.environ.get("GRAPHCTX_DEV_DATA") or ROOT.parent / "shared" / "data")
    parser.add_argument("--docs", type=Path, default=data / "docs", help="where the sites lie")
    docs: Path = parser.parse_args().docs

    errors: list[str] = []
    ids: Counter[str] = Counter()
    absent: set[str] = set()
    sets = sorted(HERE.glob("*.jsonl"))
    for path in sets:
        name = path.stem.removesuffix(WHOLE)
        folder = docs / name
        if not folder.is_dir():
            absent.add(name)
        form = ABOUT_THE_WHOLE if path.stem.endswith(WHOLE) else ANSWERS
        rows = list(_rows(path, errors))
        for row in rows:
            ids[str(row.get("id"))] += 1
            errors += (
                f"{path.name} {row.get('id')}: {error}"
                for error in _errors(row, form, Site(folder if folder.is_dir() else None))
            )
        _print_counts(path.stem, form, rows)
    errors += (f"id {name} is used {count} times" for name, count in ids.items() if count > 1)
    if absent:
        print(f"not below {docs}, places not checked: {', '.join(sorted(absent))}")
        if len(absent) == len({path.stem.removesuffix(WHOLE) for path in sets}):
            errors.append(f"no site lies below {docs}")
    for error in errors:
        print(error, file=sys.stderr)
    return 1 if errors else 0


def _rows(path: Path, errors: list[str]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            errors.append(f"{path.name}:{number}: {error}")
            continue
        if isinstance(row, dict):
            yield row
        else:
            errors.append(f"{path.name}:{number}: no object")


def _errors(row: dict[str, Any], form: Form, site: Site) -> Iterator[str]:
    """What is wrong with a question."""
    if set(row) != {"id", "question", "type", form.parts}:
        yield f"has the fields {', '.join(row)}"
        return
    if row["type"] not in form.types:
        yield f"unknown type {row['type']}"
    parts: list[dict[str, Any]] = row[form.parts]
    if row["type"] == "unanswerable":
        if parts:
            yield "is unanswerable and has parts"
        return
    if not form.least <= len(parts) <= form.most:
        yield f"has {len(parts)} {form.parts}"
    for number, part in enumerate(parts, 1):
        if set(part) != {form.need, "pattern", "places"}:
            yield f"part {number} has the fields {', '.join(part)}"
            return
        yield from (f"part {number}: {error}" for error in _part_errors(part, row["question"], site))
    if row["type"] == "hops" or form is ABOUT_THE_WHOLE:
        stating = [{place["doc"] for place in part["places"]} for part in parts]
        if len(set().union(*stating)) < 2:
            yield "is answered by one document"
        elif row["type"] == "hops" and set.intersection(*stating):
            yield f"one document states all: {', '.join(sorted(set.intersection(*stating)))}"


def _part_errors(part: dict[str, Any], question: str, site: Site) -> Iterator[str]:
    try:
        pattern = re.compile(part["pattern"], re.IGNORECASE)
    except re.error as error:
        yield f"pattern does not compile: {error}"
        return
    if pattern.search(question):
        yield "pattern matches the question"
    if not part["places"]:
        yield "has no place"
    if site.folder is None:
        return
    for place in part["places"]:
        first, last = place["lines"]
        try:
            text = site.text(place["doc"], first, last)
        except ValueError as error:
            yield str(error)
            continue
        if not pattern.search(text):
            yield f"pattern does not match {place['doc']}:{first}-{last}"


def _print_counts(name: str, form: Form, rows: list[dict[str, Any]]) -> None:
    types = Counter(str(row.get("type")) for row in rows)
    parts = [part for row in rows for part in row.get(form.parts, ())]
    places = sum(len(part.get("places", ())) for part in parts)
    counts = ", ".join(f"{types[kind]} {kind}" for kind in form.types)
    print(f"{name}: {len(rows)} questions ({counts}), {len(parts)} {form.parts}, {places} places")


if __name__ == "__main__":
    sys.exit(main())
