"""The columns of one table each, with what is looked up in them by row, by id or from either end of a relation."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphctx.retrieve.arrays import Rows, Scores
from graphctx.store.walk import pointers


class Identified:
    """Things with ids.

    Attributes:
        ids: one for each row.
    """

    def __init__(self, ids: pa.Array) -> None:
        self.ids = ids

    def __len__(self) -> int:
        return len(self.ids)

    def id(self, row: int) -> str:
        """The id of a row."""
        value: str = self.ids[row].as_py()
        return value

    def row(self, wanted: str) -> int | None:
        """The row of an id, if there is one."""
        return row_of(self.ids, wanted)

    @cached_property
    def rank(self) -> Rows:
        """The place of each row in the order of ids, int64."""
        order = pc.sort_indices(self.ids).to_numpy()
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return rank


class Documents(Identified):
    """Documents, sorted by URI."""

    def __init__(self, ids: pa.Array, uris: pa.Array, titles: pa.Array) -> None:
        super().__init__(ids)
        self.uris = uris
        self.titles = titles

    def row_of_uri(self, uri: str) -> int | None:
        """The row of a URI, if there is one."""
        return row_of(self.uris, uri)


class Units(Identified):
    """Text units in reading order; ``section`` and ``doc`` are rows, and the former are sorted."""

    def __init__(self, ids: pa.Array, section: Rows, doc: Rows) -> None:
        super().__init__(ids)
        self.section = section
        self.doc = doc


class Sections(Identified):
    """Sections in reading order.

    Attributes:
        doc, parent: rows; a parent is -1 where there is none.
        level: of the heading; 0 is the text before the first heading.
        end: the row after the last section below each, int64 [S].
        child_ptr, child: the sections directly below each, in reading order.
    """

    def __init__(self, table: pa.Table, document_ids: pa.Array) -> None:
        super().__init__(table["id"].combine_chunks())
        self._table = table
        self.doc = rows_of(pc.index_in(table["doc_id"], document_ids))
        self.parent = rows_of(pc.fill_null(pc.index_in(table["parent_id"], self.ids), -1))
        self.level = rows_of(table["level"])
        self.end = self._ends()
        below = np.flatnonzero(self.parent >= 0)
        self.child = below[np.argsort(self.parent[below], kind="stable")]
        self.child_ptr = pointers(self.parent[self.child], len(self.ids))

    def value(self, name: str, row: int) -> Any:
        """A column's value at a row."""
        return self._table[name][row].as_py()

    def _ends(self) -> Rows:
        """From the last to the first: where what is below a section ends, what is below its parent ends not before."""
        end = np.arange(1, len(self.parent) + 1, dtype=np.int64)
        for row in range(len(end) - 1, -1, -1):
            above = self.parent[row]
            if above >= 0 and end[row] > end[above]:
                end[above] = end[row]
        return end


class Entities(Identified):
    """Entities, sorted by id."""

    def __init__(self, ids: pa.Array, names: pa.Array, labels: pa.Array, aliases: pa.Array) -> None:
        super().__init__(ids)
        self.names = names
        self.labels = labels
        self.aliases = aliases

    def surfaces(self, row: int) -> list[str]:
        """The name and the aliases."""
        return [self.names[row].as_py(), *self.aliases[row].as_py()]

    @cached_property
    def folded(self) -> tuple[pa.Array, Rows]:
        """Every name and alias in lower case, and the row of the entity of each."""
        owner = pc.list_parent_indices(self.aliases).to_numpy()
        surfaces = pa.concat_arrays([self.names, self.aliases.flatten()])
        return pc.utf8_lower(surfaces), np.concatenate([np.arange(len(self.ids)), owner]).astype(np.int64)


class Related:
    """The edges between entities from either end, the strongest first, then by id: those of ``e`` are
    ``ptr[e]:ptr[e+1]``.
    """

    def __init__(self, source: Rows, target: Rows, weight: Scores, n_entities: int) -> None:
        """Take the table's columns: sorted by source and target, the source the smaller, no weight below 0."""
        near, far = np.concatenate([target, source]), np.concatenate([source, target])
        both = np.concatenate([weight, weight]).astype(np.float32)
        # The far ends of each near one stand in order already, and the bits of floats that are not negative are in the
        # order of their values: one stable sort of one number does.
        key = near.astype(np.uint64) << np.uint64(32) | (~both.view(np.uint32)).astype(np.uint64)
        order = np.argsort(key, kind="stable")
        self.far = far[order]
        self.weight = both[order].astype(np.float64)
        self.ptr = pointers(near[order], n_entities)


class Facts:
    """Facts, with a sorted key for each pair of entities and the facts of each entity."""

    def __init__(
        self,
        subject: Rows,
        object_: Rows,
        unit: Rows,
        sentence: Rows,
        start: Rows,
        end: Rows,
        *,
        text: pa.Array,
        n_entities: int,
    ) -> None:
        self.subject, self.object = subject, object_
        self.unit, self.sentence, self.start, self.end, self.text = unit, sentence, start, end, text
        self._width = max(n_entities, 1)
        key = np.minimum(subject, object_) * self._width + np.maximum(subject, object_)
        self._order = np.argsort(key, kind="stable")
        self._key = key[self._order]
        rows = np.arange(len(subject), dtype=np.int64)
        near = np.concatenate([subject, object_])
        order = np.argsort(near, kind="stable")
        self.of_entity = np.concatenate([rows, rows])[order]
        self.far = np.concatenate([object_, subject])[order]
        self.ptr = pointers(near[order], n_entities)

    def between(self, one: int, other: int) -> Rows:
        """The facts that join two entities, in the order of their sentences."""
        key = min(one, other) * self._width + max(one, other)
        found: Rows = self._order[np.searchsorted(self._key, key) : np.searchsorted(self._key, key, side="right")]
        return found


class Links:
    """Links between documents, from either end; ``count`` is hyperlinks and mentions of the title."""

    def __init__(self, source: Rows, target: Rows, count: Rows, n_documents: int) -> None:
        self.source, self.target, self.count = source, target, count
        self.out_ptr = pointers(source, n_documents)  # sorted by both
        self.into = np.lexsort((source, target))
        self.in_ptr = pointers(target[self.into], n_documents)


def row_of(column: pa.Array, value: str) -> int | None:
    """The first row of a value, if it is there."""
    row = pc.index(column, value).as_py()
    return row if row >= 0 else None


def rows_of(column: Any) -> Rows:
    """A column of numbers as int64."""
    chunked = pa.chunked_array([column]) if isinstance(column, pa.Array) else column
    return np.asarray(chunked.to_numpy()).astype(np.int64)
