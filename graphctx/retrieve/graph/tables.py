"""What the graph tools read beside the walk arrays: the snapshot's tables as columns, loaded once.

Nothing here knows of scopes: `graphctx.retrieve.graph.view` does.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphctx.retrieve.graph.columns import Documents, Entities, Facts, Links, Related, Sections, Units, rows_of
from graphctx.retrieve.graph.mentions import Mentions
from graphctx.retrieve.index import SearchIndex

if TYPE_CHECKING:
    from graphctx.retrieve.hierarchy import Hierarchy

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

    @property
    def communities(self) -> Hierarchy:
        """The communities."""
        return self._once("communities", self._communities)

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
        return Units(ids, rows_of(pc.index_in(section, self.sections.ids)), self._index.walk.unit_doc.astype(np.int64))

    def _sections(self) -> Sections:
        table = self._index.snapshot.table("sections", _SECTION_COLUMNS).combine_chunks()
        return Sections(table, self.documents.ids)

    def _entities(self) -> Entities:
        return Entities(*self._columns("entities", ["id", "name", "label", "aliases"]))

    def _mentions(self) -> Mentions:
        columns = self._columns("mentions", ["unit_row", "sentence_row", "entity_row", "start_char", "end_char"])
        return Mentions(*map(rows_of, columns), n_entities=self._index.walk.n_entities)

    def _related(self) -> Related:
        source, target, weight = self._columns("related", ["source_row", "target_row", "weight"])
        return Related(rows_of(source), rows_of(target), np.asarray(weight), self._index.walk.n_entities)

    def _facts(self) -> Facts:
        names = ["subject_id", "object_id", "unit_row", "sentence_row", "start_char", "end_char", "text"]
        subject, object_, *numbers, text = self._columns("facts", names)
        ids = self.entities.ids
        ends = (rows_of(pc.index_in(end, ids)) for end in (subject, object_))
        return Facts(*ends, *map(rows_of, numbers), text=text, n_entities=len(ids))

    def _links(self) -> Links:
        columns = self._columns("links", ["source_row", "target_row", "n_links", "n_title_mentions"])
        source, target, n_links, n_titles = map(rows_of, columns)
        return Links(source, target, n_links + n_titles, len(self.documents.ids))

    def _communities(self) -> Hierarchy:
        from graphctx.retrieve.hierarchy import Hierarchy  # which looks at its views with what is here

        return Hierarchy(self._index.snapshot, self.entities.ids)

    def _columns(self, table: str, names: list[str]) -> list[pa.Array]:
        found = self._index.snapshot.table(table, names)
        return [found[name].combine_chunks() for name in names]


_SECTION_COLUMNS = ["id", "doc_id", "parent_id", "level", "title", "path", "anchor", "start_char", "end_char"]
