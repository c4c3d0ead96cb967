"""The tables of a snapshot that make its graph, each read on first use. Nothing here depends on a scope."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa

from graphctx.retrieve.graph.columns import (
    AliasColumns,
    CommunityHierarchy,
    DocumentColumns,
    EntityColumns,
    FactColumns,
    LinkColumns,
    MentionColumns,
    RelatedColumns,
    RowLists,
    SectionColumns,
    UnitColumns,
)
from graphctx.retrieve.index import SearchIndex


class GraphTables:
    """The columns of a snapshot's tables.

    Args:
        index: any index of the snapshot; a scope does not narrow the tables.
    """

    def __init__(self, index: SearchIndex) -> None:
        self._index = index

    @cached_property
    def documents(self) -> DocumentColumns:
        """The documents."""
        return DocumentColumns(self._index.documents)

    @cached_property
    def sections(self) -> SectionColumns:
        """The sections."""
        names = ["id", "doc_id", "parent_id", "level", "title", "path", "anchor", "start_char", "end_char"]
        return SectionColumns(self._table("sections", names).combine_chunks(), self.documents.ids)

    @cached_property
    def units(self) -> UnitColumns:
        """The text units."""
        table = self._table("units", ["id", "section_id"])
        return UnitColumns(table, self.sections.ids, self._index.walk.unit_doc.astype(np.int64))

    @cached_property
    def entities(self) -> EntityColumns:
        """The entities."""
        return EntityColumns(self._table("entities", ["id", "name", "label", "aliases"]))

    @cached_property
    def mentions(self) -> MentionColumns:
        """The mentions of entities."""
        names = ["unit_row", "sentence_row", "entity_row", "start_char", "end_char", "kind"]
        return MentionColumns(self._table("mentions", names), self._index.walk.n_entities)

    @cached_property
    def related(self) -> RelatedColumns:
        """The pairs of related entities."""
        return RelatedColumns(self._table("related", ["source_row", "target_row", "weight"]), len(self.entities))

    @cached_property
    def aliases(self) -> AliasColumns:
        """The names of code and of prose that mean one thing."""
        return AliasColumns(self._table("aliases", ["source_row", "target_row", "reason", "sentence_row"]))

    @cached_property
    def facts(self) -> FactColumns:
        """The facts."""
        names = ["id", "subject_id", "object_id", "unit_row", "start_char", "end_char", "text"]
        return FactColumns(self._table("facts", names), self.entities.ids)

    @cached_property
    def links(self) -> LinkColumns:
        """The links between documents."""
        names = ["source_row", "target_row", "n_links", "n_title_mentions"]
        return LinkColumns(self._table("links", names), len(self.documents))

    @cached_property
    def communities(self) -> CommunityHierarchy:
        """The communities."""
        names = ["id", "level", "parent_id", "title", "entity_ids", "n_units", "key_entity_ids", "point_rows"]
        names += ["summary_rows", "phrased", "formerly"]
        return CommunityHierarchy(self._table("communities", names).combine_chunks(), self.entities.ids)

    @cached_property
    def key_facts(self) -> RowLists:
        """The rows of the key facts of each community, at most 10, best first."""
        return RowLists.of(self._table("communities", ["key_fact_ids"])["key_fact_ids"], self.facts.ids)

    def _table(self, name: str, columns: list[str]) -> pa.Table:
        return self._index.snapshot.table(name, columns)
