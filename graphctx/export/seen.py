"""Which entities may be seen, and what may be said of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from graphctx.model.interrupt import checkpoint
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.graph.nodes import node_fields
from graphctx.retrieve.graph.view import GraphView


@dataclass(frozen=True, slots=True)
class SeenEntity:
    """An entity as far as it may be seen; its names and counts are those that graph.describe tells."""

    row: int
    id: str
    name: str
    aliases: tuple[str, ...]
    label: str
    n_mentions: int
    n_units: int


def seen_entities(view: GraphView) -> list[SeenEntity]:
    """All entities that something names which may be seen, in the order of their rows, which is that of their ids."""
    return list(_of_all(view) if view.whole else _within(view))


def _of_all(view: GraphView) -> Iterator[SeenEntity]:
    """Of a whole snapshot what its table says, since one question for each of 100,000 would take half a minute."""
    table = view.index.snapshot.table("entities", ["id", "name", "aliases", "label", "n_mentions"])
    n_units = np.diff(view.walk.entity_ptr).tolist()
    for row, (id_, name, aliases, label, n_mentions) in enumerate(zip(*map(_values, table.columns), strict=True)):
        if n_units[row]:
            yield SeenEntity(row, id_, name, tuple(aliases), label, n_mentions, n_units[row])


def _values(column: object) -> list[object]:
    values: list[object] = column.to_pylist()  # type: ignore[attr-defined]
    return values


def _within(view: GraphView) -> Iterator[SeenEntity]:
    for row in np.flatnonzero(np.diff(view.walk.entity_ptr)).tolist():
        checkpoint()
        if not len(view.naming_pairs(row)):
            continue
        key = view.key("entity", row)
        told = node_fields(view, key)
        yield SeenEntity(
            row, told["id"], told["name"], tuple(told["aliases"]), told["label"], told["n_mentions"], told["n_units"]
        )


def rows_of(entities: Sequence[SeenEntity]) -> Rows:
    """The rows of some entities, int64."""
    return np.array([entity.row for entity in entities], dtype=np.int64)
