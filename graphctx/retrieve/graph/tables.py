"""What the graph tools read beside the walk arrays: the snapshot's tables as columns, loaded once.

Nothing here knows of scopes: `graphctx.retrieve.graph.view` does.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphctx.retrieve.graph.mentions import Mentions
from graphctx.retrieve.index import Rows, Scores, SearchIndex
from graphctx.store.walk import pointers

Table = TypeVar("Table")


class GraphTables:
    """The columns of a snapshot that make its graph. Thread-safe; each table is read once, on first use.

    Rows are those of the snapshot's tables, and of the walk arrays.
    """

    def __init__(self, index: SearchIndex) -> None:
        """Read nothing yet.

        Args:
            index: of the whole snapshot.
        """
        self._index = index
        self._lock = threading.RLock()
        self._read: dict[str, Any] = {}

    @property
    def documents(self) -> Documents:
        """The documents."""
        return self._once("documents", self._documents)

    @property
    def units(self) -> Units:
        """The units."""
        return self._once("units", self._units)

    @property
    def sections(self) -> Sections:
        """The sections."""
        return self._once("sections", self._sections)

    @property
    def entities(self) -> Entities:
        """The entities."""
        return self._once("entities", self._entities)

    @property
    def mentions(self) -> Mentions:
        """The mentions."""
        return self._once("mentions", self._mentions)

    @property
    def related(self) -> Related:
        """The pairs of related entities."""
        return self._once("related", self._related)

    @property
    def facts(self) -> Facts:
        """The facts."""
        return self._once("facts", self._facts)

    @property
    def links(self) -> Links:
        """The links between documents."""
        return self._once("links", self._links)

    def _once(self, name: str, read: Callable[[], Table]) -> Table:
        if name not in self._read:
            with self._lock:
                if name not in self._read:
                    self._read[name] = read()
        table: Table = self._read[name]
        return table

    def _documents(self) -> Documents:
        table = self._index.documents
        return Documents(table["id"].combine_chunks(), table["uri"].combine_chunks(), table["title"].combine_chunks())

    def _units(self) -> Units:
        ids, section = self._columns("units", ["id", "section_id"])
        return Units(ids, _rows(pc.index_in(section, self.sections.ids)), self._index.walk.unit_doc.astype(np.int64))

    def _sections(self) -> Sections:
        table = self._index.snapshot.table("sections", _SECTION_COLUMNS).combine_chunks()
        return Sections(table, self.documents.ids)

    def _entities(self) -> Entities:
        return Entities(*self._columns("entities", ["id", "name", "label", "aliases"]))

    def _mentions(self) -> Mentions:
        columns = self._columns("mentions", ["unit_row", "sentence_row", "entity_row", "start_char", "end_char"])
        return Mentions(*map(_rows, columns), n_entities=self._index.walk.n_entities)

    def _related(self) -> Related:
        source, target, weight = self._columns("related", ["source_row", "target_row", "weight"])
        return Related(_rows(source), _rows(target), np.asarray(weight), self._index.walk.n_entities)

    def _facts(self) -> Facts:
        names = ["subject_id", "object_id", "unit_row", "sentence_row", "start_char", "end_char", "text"]
        subject, object_, *numbers, text = self._columns("facts", names)
        ids = self.entities.ids
        ends = (_rows(pc.index_in(end, ids)) for end in (subject, object_))
        return Facts(*ends, *map(_rows, numbers), text=text, n_entities=len(ids))

    def _links(self) -> Links:
        columns = self._columns("links", ["source_row", "target_row", "n_links", "n_title_mentions"])
        source, target, n_links, n_titles = map(_rows, columns)
        return Links(source, target, n_links + n_titles, len(self.documents.ids))

    def _columns(self, table: str, names: list[str]) -> list[pa.Array]:
        found = self._index.snapshot.table(table, names)
        return [found[name].combine_chunks() for name in names]


_SECTION_COLUMNS = ["id", "doc_id", "parent_id", "level", "title", "path", "anchor", "start_char", "end_char"]


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
        self.doc = _rows(pc.index_in(table["doc_id"], document_ids))
        self.parent = _rows(pc.fill_null(pc.index_in(table["parent_id"], self.ids), -1))
        self.level = _rows(table["level"])
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


def _rows(column: Any) -> Rows:
    """A column of numbers as int64."""
    chunked = pa.chunked_array([column]) if isinstance(column, pa.Array) else column
    return np.asarray(chunked.to_numpy()).astype(np.int64)
