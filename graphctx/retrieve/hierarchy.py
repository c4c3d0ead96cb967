"""The communities of a whole snapshot as columns, read once; `graphctx.retrieve.communities` says what a scope sees."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphctx.errors import InvalidArgument
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.graph.columns import Identified, rows_of
from graphctx.retrieve.graph.view import View
from graphctx.retrieve.index import SearchIndex
from graphctx.store.schema import COMMUNITIES
from graphctx.store.snapshot import Snapshot
from graphctx.store.walk import pointers

if TYPE_CHECKING:
    from graphctx.retrieve.communities import Communities
    from graphctx.retrieve.community_sizes import Counted

_KEPT = ["title", "key_fact_ids", "phrased", "formerly"]
_COLUMNS = [
    *("id", "level", "parent_id", "entity_ids", "n_units", "key_entity_ids", "point_rows", "summary_rows"),
    *_KEPT,
]


@dataclass(frozen=True, slots=True)
class Lists:
    """A list of rows for each community: those of ``c`` are ``value[ptr[c]:ptr[c + 1]]``."""

    ptr: Rows
    value: Rows

    @classmethod
    def of(cls, column: pa.ChunkedArray, ids: pa.Array | None = None) -> Lists:
        """Take a column of lists, of row numbers or, with ``ids``, of ids whose rows are wanted."""
        lists = column.combine_chunks()
        inside = lists.flatten()
        sizes = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
        value = inside if ids is None else pc.index_in(inside, ids)
        return cls(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), rows_of(value))

    def __getitem__(self, row: int) -> Rows:
        """The list of one community."""
        found: Rows = self.value[self.ptr[row] : self.ptr[row + 1]]
        return found

    @property
    def owner(self) -> Rows:
        """The community of each value."""
        return np.repeat(np.arange(len(self.ptr) - 1), np.diff(self.ptr))


class Hierarchy(Identified):
    """All communities of a snapshot, C of them, sorted by level and id. Thread-safe; what is read is read once.

    A snapshot of an older version, whose communities have no summaries, has none here.

    Attributes:
        level: int64 [C], 0 at the root.
        parent: int64 [C], -1 of a root.
        child: the rows of the children of each, in order.
        entities: the entity rows of each.
        key_entities, key_facts: entity and fact rows, at most 10 each, the best first.
        points, summary: sentence rows, at most 40 and 8, the best first.
        n_units: int64 [C], in the whole snapshot.
    """

    def __init__(self, snapshot: Snapshot, entity_ids: pa.Array) -> None:
        """Read the table.

        Args:
            snapshot: whose communities.
            entity_ids: by row.
        """
        table = _read(snapshot)
        super().__init__(table["id"].combine_chunks())
        self._snapshot = snapshot
        self._table = table.select(_KEPT)
        self._n_entities = len(entity_ids)
        self._lock = threading.Lock()
        self._counted: WeakKeyDictionary[SearchIndex, Counted] = WeakKeyDictionary()
        self.level = rows_of(table["level"])
        self.parent = rows_of(pc.fill_null(pc.index_in(table["parent_id"], self.ids), -1))
        below = np.flatnonzero(self.parent >= 0)
        below = below[np.argsort(self.parent[below], kind="stable")]
        self.child = Lists(pointers(self.parent[below], len(self.ids)).astype(np.int64), below)
        self.entities = Lists.of(table["entity_ids"], entity_ids)
        self.key_entities = Lists.of(table["key_entity_ids"], entity_ids)
        self.points = Lists.of(table["point_rows"])
        self.summary = Lists.of(table["summary_rows"])
        self.n_units = rows_of(table["n_units"])

    @cached_property
    def key_facts(self) -> Lists:
        """The rows of the key facts of each community."""
        return Lists.of(self._table["key_fact_ids"], self._snapshot.table("facts", ["id"])["id"].combine_chunks())

    @cached_property
    def finest(self) -> Rows:
        """The finest community of each entity, -1 of one that is in none, int64 [E]."""
        finest = np.full(self._n_entities, -1, dtype=np.int64)
        finest[self.entities.value] = self.entities.owner  # sorted by level: of several the last one stays
        return finest

    @cached_property
    def titles(self) -> list[str]:
        """The title of each in the whole snapshot."""
        found: list[str] = self._table["title"].to_pylist()
        return found

    def phrased(self, row: int) -> str | None:
        """The column ``phrased``, as `graphctx.store.phrased` reads it."""
        value: str | None = self._table["phrased"][row].as_py()
        return value

    def formerly(self, row: int) -> list[str]:
        """The ids that a community had in earlier snapshots."""
        found: list[str] = self._table["formerly"][row].as_py()
        return found

    @cached_property
    def heirs(self) -> dict[str, int]:
        """The row to which each former id leads."""
        return {former: row for row, ids in enumerate(self._table["formerly"].to_pylist()) for former in ids}

    def within(self, view: View) -> Communities:
        """What a request may see of them; what is counted for its scope is kept as long as the scope's index is."""
        from graphctx.retrieve.communities import Communities  # which is made of this
        from graphctx.retrieve.community_sizes import Counted

        with self._lock:
            counted = self._counted.get(view.index)
        if counted is None:
            counted = Counted.of(view, self)
            with self._lock:
                counted = self._counted.setdefault(view.index, counted)
        return Communities(view, self, counted)


def _read(snapshot: Snapshot) -> pa.Table:
    try:
        return snapshot.table("communities", _COLUMNS).combine_chunks()
    except InvalidArgument:  # of an older version: without summaries, or without the table
        return COMMUNITIES.empty_table().select(_COLUMNS)
