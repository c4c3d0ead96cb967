"""Where two things differ that should be the same: answers as JSON, and the content of snapshots."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from graphctx.store.schema import TABLES, UNHASHED_COLUMNS
from graphctx.store.snapshot import MATRICES_DIR, Snapshot, open_snapshot


def answer_difference(questions: Sequence[str], one: list[list[str]], two: list[list[str]]) -> str:
    """The first question, call and field that differ."""
    for question, left, right in zip(questions, one, two, strict=True):
        for call, a, b in zip(("search", "retrieve_evidence"), left, right, strict=True):
            if a != b:
                where = next(differing(json.loads(a), json.loads(b), call), f"{call}: the order of its fields")
                return f"{question!r}, {where}"
    return "nothing"


def differing(a: Any, b: Any, path: str) -> Iterator[str]:
    """Where two JSON values differ, with both values."""
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        for key in a:
            yield from differing(a[key], b[key], f"{path}.{key}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for at, (x, y) in enumerate(zip(a, b, strict=True)):
            yield from differing(x, y, f"{path}[{at}]")
    elif a != b:
        yield f"{path}: {a!r:.120} and {b!r:.120}"


def content_difference(one: Path, two: Path) -> str:
    """The first table, column and row, or array, in which two snapshots differ."""
    with open_snapshot(one) as left, open_snapshot(two) as right:
        for name, schema in TABLES.items():
            a, b = left.table(name), right.table(name)
            if a.num_rows != b.num_rows:
                return f"table {name}: {a.num_rows} and {b.num_rows} rows"
            for column in (column for column in schema.names if column not in UNHASHED_COLUMNS.get(name, ())):
                x, y = a[column].to_pylist(), b[column].to_pylist()
                for at in (at for at in range(len(x)) if x[at] != y[at]):
                    return f"table {name}, {column}, row {at}: {x[at]!r:.120} and {y[at]!r:.120}"
        ours, theirs = arrays_of(left), arrays_of(right)
        return next((f"array {key}" for key in sorted(ours) if ours[key] != theirs.get(key)), "nothing that is kept")


def arrays_of(snapshot: Snapshot) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    """What the arrays of a snapshot hold, by name."""
    held = dict(snapshot.arrays())
    names = (path.stem for path in (snapshot.directory / MATRICES_DIR).glob("*.npy"))
    held |= {f"{MATRICES_DIR}/{name}": snapshot.matrix(name) for name in names}
    return {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in held.items()}
