"""Columns of a snapshot's tables, with lookups by row, by id and from either end of a relation.

Row numbers are those of the snapshot's tables and of its walk arrays. Lists of rows are in compressed sparse form: the
values of ``r`` are ``value[ptr[r]:ptr[r + 1]]``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from graphctx.model.knowledge import AliasReason
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.index import row_of
from graphctx.store.walk import pointers


class IdColumn:
    """The ids of the rows of a table."""

    def __init__(self, ids: pa.Array) -> None:
        self.ids = ids

    def __len__(self) -> int:
        return len(self.ids)

    def id(self, row: int) -> str:
        """Return the id of a row."""
        value: str = self.ids[row].as_py()
        return value

    def row(self, wanted: str) -> int | None:
        """Return the row of an id, or ``None`` if the table has no such id."""
        return row_of(self.ids, wanted)

    @cached_property
    def rank(self) -> Rows:
        """The position of each row in the order of ids, int64."""
        order = pc.sort_indices(self.ids).to_numpy()
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return rank


class DocumentColumns(IdColumn):
    """Documents, sorted by URI."""

    def __init__(self, table: pa.Table) -> None:
        super().__init__(table["id"].combine_chunks())
        self.uris = table["uri"].combine_chunks()
        self.titles = table["title"].combine_chunks()


class SectionColumns(IdColumn):
    """Sections in reading order.

    Attributes:
        doc, parent: rows; the parent is -1 where there is none.
        level: of the heading; 0 is the text before the first heading.
        end: the row after the last section below each, int64 [S].
        child_ptr, child: the sections directly below each, in reading order.
    """

    def __init__(self, table: pa.Table, document_ids: pa.Array) -> None:
        super().__init__(table["id"].combine_chunks())
        self._table = table
        self.doc = int_rows(pc.index_in(table["doc_id"], document_ids))
        self.parent = int_rows(pc.fill_null(pc.index_in(table["parent_id"], self.ids), -1))
        self.level = int_rows(table["level"])
        below = np.flatnonzero(self.parent >= 0)
        self.child = below[np.argsort(self.parent[below], kind="stable")]
        self.child_ptr = pointers(self.parent[self.child], len(self.ids))

    def value(self, name: str, row: int) -> Any:
        """Return the value of a column at a row."""
        return self._table[name][row].as_py()

    @cached_property
    def end(self) -> Rows:
        """The row after the last section below each, int64 [S]."""
        end = np.arange(1, len(self.parent) + 1, dtype=np.int64)
        for row in range(len(end) - 1, -1, -1):  # children stand after their parents
            if self.parent[row] >= 0:
                end[self.parent[row]] = max(end[self.parent[row]], end[row])
        return end


class UnitColumns(IdColumn):
    """Text units in reading order; ``section`` and ``doc`` are rows, both ascending."""

    def __init__(self, table: pa.Table, section_ids: pa.Array, doc: Rows) -> None:
        super().__init__(table["id"].combine_chunks())
        self.section = int_rows(pc.index_in(table["section_id"], section_ids))
        self.doc = doc

    def of_document(self, row: int) -> range:
        """Return the units of a document."""
        return range(*np.searchsorted(self.doc, [row, row + 1]).tolist())


class EntityColumns(IdColumn):
    """Entities, sorted by id."""

    def __init__(self, table: pa.Table) -> None:
        super().__init__(table["id"].combine_chunks())
        self.names, self.labels, self.aliases = (table[name].combine_chunks() for name in ("name", "label", "aliases"))

    def surfaces(self, row: int) -> list[str]:
        """Return the name and the aliases of an entity."""
        return [self.names[row].as_py(), *self.aliases[row].as_py()]

    @cached_property
    def folded(self) -> tuple[pa.Array, Rows]:
        """Every name and alias in lower case, and the entity row of each."""
        owner = pc.list_parent_indices(self.aliases).to_numpy()
        surfaces = pa.concat_arrays([self.names, self.aliases.flatten()])
        return pc.utf8_lower(surfaces), np.concatenate([np.arange(len(self.ids)), owner]).astype(np.int64)


@dataclass(frozen=True, slots=True)
class SentenceMentions:
    """Distinct pairs of a sentence and an entity that it mentions, sorted.

    Attributes:
        sentence, entity, unit: rows.
        of_entity, ptr: the positions of the pairs of each entity.
    """

    sentence: Rows
    entity: Rows
    unit: Rows
    of_entity: Rows
    ptr: npt.NDArray[np.int32]


class MentionColumns:
    """Mentions, by unit and entity, then in reading order.

    Attributes:
        start, end: spans in the document's text.
        sentence: sentence rows.
    """

    def __init__(self, table: pa.Table, n_entities: int) -> None:
        unit, sentence, entity, start, end = (int_rows(column) for column in table.columns[:5])
        in_prose: npt.NDArray[np.bool_] = pc.not_equal(table["kind"], "code_block").to_numpy()
        self._width = max(n_entities, 1)
        key = unit * self._width + entity
        order = np.argsort(key, kind="stable")
        self._key = key[order]
        self._in_prose = in_prose[order]
        self.start, self.end, self.sentence = start[order], end[order], sentence[order]

    def of(self, unit: int, entity: int) -> range:
        """Return the positions of a unit's mentions of an entity."""
        key = unit * self._width + entity
        return range(int(np.searchsorted(self._key, key)), int(np.searchsorted(self._key, key, side="right")))

    @cached_property
    def by_sentence(self) -> SentenceMentions:
        """Which sentences mention which entities; a block of code is no sentence."""
        unit, entity = np.divmod(self._key[self._in_prose], self._width)
        sentence = self.sentence[self._in_prose]
        pairs = np.unique(sentence * self._width + entity)
        unit_of = np.zeros(int(sentence.max(initial=-1)) + 1, dtype=np.int64)
        unit_of[sentence] = unit
        sentences, entities = np.divmod(pairs, self._width)
        of_entity = np.argsort(entities, kind="stable")
        return SentenceMentions(
            sentences, entities, unit_of[sentences], of_entity, pointers(entities[of_entity], self._width)
        )


class RelatedColumns:
    """The edges between entities from either end, the strongest first, then by id.

    Attributes:
        ptr, far, weight: the other ends and the weights of the edges of each entity.
    """

    def __init__(self, table: pa.Table, n_entities: int) -> None:
        source, target = int_rows(table["source_row"]), int_rows(table["target_row"])
        near, far = np.concatenate([target, source]), np.concatenate([source, target])
        weight = np.tile(np.asarray(table["weight"].to_numpy(), dtype=np.float32), 2)
        # The table is sorted by source, then target, and the source is the smaller: the far ends of each near one are
        # in order. The bits of floats of 0 and more sort as their values do, so one stable sort of one key is enough.
        key = near.astype(np.uint64) << np.uint64(32) | (~weight.view(np.uint32)).astype(np.uint64)
        order = np.argsort(key, kind="stable")
        self.far = far[order]
        self.weight = weight[order].astype(np.float64)
        self.ptr = pointers(near[order], n_entities)


class AliasColumns:
    """Names of code, as sources, and of prose, as targets, that mean one thing: a row for each sentence that shows it.

    Attributes:
        source, target, sentence: rows.
        reason: of each.
    """

    def __init__(self, table: pa.Table) -> None:
        self.source, self.target, self.sentence = (
            int_rows(table[name]) for name in ("source_row", "target_row", "sentence_row")
        )
        self.reason: list[AliasReason] = table["reason"].to_pylist()


class FactColumns(IdColumn):
    """Facts, by row, by pair of entities and by entity.

    Attributes:
        subject, object, unit: rows.
        start, end: spans of the facts' sentences in the document's text.
        text: what each fact says.
        ptr, of_entity, far: the rows and the other ends of the facts of each entity.
    """

    def __init__(self, table: pa.Table, entity_ids: pa.Array) -> None:
        super().__init__(table["id"].combine_chunks())
        self.subject, self.object = (
            int_rows(pc.index_in(table[name], entity_ids)) for name in ("subject_id", "object_id")
        )
        self.unit, self.start, self.end = (int_rows(table[name]) for name in ("unit_row", "start_char", "end_char"))
        self.text = table["text"].combine_chunks()
        self._width = max(len(entity_ids), 1)
        key = np.minimum(self.subject, self.object) * self._width + np.maximum(self.subject, self.object)
        self._order = np.argsort(key, kind="stable")
        self._key = key[self._order]
        rows = np.arange(len(key), dtype=np.int64)
        near = np.concatenate([self.subject, self.object])
        order = np.argsort(near, kind="stable")
        self.of_entity = np.concatenate([rows, rows])[order]
        self.far = np.concatenate([self.object, self.subject])[order]
        self.ptr = pointers(near[order], len(entity_ids))

    def between(self, one: int, other: int) -> Rows:
        """Return the facts that join two entities, in the order of their sentences."""
        key = min(one, other) * self._width + max(one, other)
        found: Rows = self._order[np.searchsorted(self._key, key) : np.searchsorted(self._key, key, side="right")]
        return found


class LinkColumns:
    """Links between documents, from either end; ``count`` is hyperlinks and mentions of the title."""

    def __init__(self, table: pa.Table, n_documents: int) -> None:
        self.source, self.target, n_links, n_titles = (int_rows(column) for column in table.columns)
        self.count = n_links + n_titles
        self.out_ptr = pointers(self.source, n_documents)  # the table is sorted by source, then target
        self.into = np.lexsort((self.source, self.target))
        self.in_ptr = pointers(self.target[self.into], n_documents)


@dataclass(frozen=True, slots=True)
class RowLists:
    """A list of row numbers for each row."""

    ptr: Rows
    value: Rows

    @classmethod
    def of(cls, column: pa.ChunkedArray, ids: pa.Array | None = None) -> RowLists:
        """Read a column of lists: of row numbers, or of ids among ``ids``."""
        lists = column.combine_chunks()
        sizes = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
        value = lists.flatten() if ids is None else pc.index_in(lists.flatten(), ids)
        return cls(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), int_rows(value))

    def __getitem__(self, row: int) -> Rows:
        """Return the list of a row."""
        found: Rows = self.value[self.ptr[row] : self.ptr[row + 1]]
        return found

    @property
    def owner(self) -> Rows:
        """The row that each value belongs to."""
        return np.repeat(np.arange(len(self.ptr) - 1), np.diff(self.ptr))


class CommunityHierarchy(IdColumn):
    """The communities of a snapshot, C of them, sorted by level and id.

    Attributes:
        level: int64 [C], 0 at the root.
        parent: int64 [C], -1 of a root.
        child: the rows of the children of each, in order.
        entities: the entity rows of each.
        key_entities: entity rows, at most 10 each, best first.
        points, summary: sentence rows, at most 40 and 8, best first.
        n_units: int64 [C], in the whole snapshot.
        titles: of each.
        finest: int64 [E], the finest community of each entity, -1 of one that is in none.
    """

    def __init__(self, table: pa.Table, entity_ids: pa.Array) -> None:
        super().__init__(table["id"].combine_chunks())
        self.level = int_rows(table["level"])
        self.parent = int_rows(pc.fill_null(pc.index_in(table["parent_id"], self.ids), -1))
        below = np.flatnonzero(self.parent >= 0)
        below = below[np.argsort(self.parent[below], kind="stable")]
        self.child = RowLists(pointers(self.parent[below], len(self.ids)).astype(np.int64), below)
        self.entities = RowLists.of(table["entity_ids"], entity_ids)
        self.key_entities = RowLists.of(table["key_entity_ids"], entity_ids)
        self.points, self.summary = RowLists.of(table["point_rows"]), RowLists.of(table["summary_rows"])
        self.n_units = int_rows(table["n_units"])
        self.titles: list[str] = table["title"].to_pylist()
        self._phrased, self._formerly = table["phrased"], table["formerly"]
        self.finest = np.full(len(entity_ids), -1, dtype=np.int64)
        self.finest[self.entities.value] = self.entities.owner  # sorted by level: the last of several stays

    def phrased(self, row: int) -> str | None:
        """Return the column ``phrased`` of a community, as `graphctx.store.communities` reads it."""
        value: str | None = self._phrased[row].as_py()
        return value

    def formerly(self, row: int) -> list[str]:
        """Return the ids that a community had in earlier snapshots."""
        found: list[str] = self._formerly[row].as_py()
        return found

    @cached_property
    def heirs(self) -> dict[str, int]:
        """The row that each former id leads to."""
        return {former: row for row, ids in enumerate(self._formerly.to_pylist()) for former in ids}


def int_rows(column: Any) -> Rows:
    """Return a column of numbers as int64."""
    chunked = pa.chunked_array([column]) if isinstance(column, pa.Array) else column
    return np.asarray(chunked.to_numpy()).astype(np.int64)
