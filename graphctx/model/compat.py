"""What the tools under their older names, and the two of the connector form, take and give.

The older tools have the arguments and defaults that they always had. Beside these, each takes what every list of this
server has: ``scope``, ``cursor``, ``max_tokens`` and ``max_bytes``.
"""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from graphctx.model.answers import Answer, LimitReason, ListAnswer, Place
from graphctx.model.requests import (
    MAX_EXCERPT_BYTES,
    MAX_HOPS,
    MAX_PATH_HOPS,
    MAX_PATHS,
    MAX_TOP_K,
    Bounded,
    Cursor,
    Direction,
    Filters,
    Label,
    NodeRef,
    NodeRefs,
    Question,
    RelTypes,
    Scope,
    SectionRefs,
    Strict,
)


class CompatInput(Bounded):
    """What each of the older tools takes."""

    cursor: Cursor | None = Field(None, description="next_cursor of the last page; repeat the other arguments.")


class SearchSectionsInput(CompatInput):
    """Arguments of search_sections."""

    query: Question = Field(description="What to look for: a question or key words.")
    top_k: int = Field(20, ge=1, le=MAX_TOP_K, description="How many results in all.")
    filters: Filters = Field(default_factory=Filters, description="Narrowing that applies before ranking.")
    page_size: int | None = Field(None, ge=1, le=MAX_TOP_K, description="How many results per call; top_k if left out.")


class GetSectionTextInput(CompatInput):
    """Arguments of get_section_text."""

    section_ids: SectionRefs
    max_bytes_per: int = Field(8192, ge=1, le=MAX_EXCERPT_BYTES, description="Most bytes of one section's text.")


class ExpandNeighborsInput(CompatInput):
    """Arguments of expand_neighbors."""

    node_ids: NodeRefs
    rel_types: RelTypes = Field([])
    direction: Direction = Field("both", description="out follows a relation from its source, in from its target.")
    max_hops: int = Field(1, ge=1, le=MAX_HOPS, description="How far to go.")
    include_snippet: bool = Field(False, description="Add one sentence of text to each item that has one.")
    page_size: int = Field(25, ge=1, le=100, description="How many nodes per call.")


class GetPathsBetweenInput(CompatInput):
    """Arguments of get_paths_between."""

    start_ids: NodeRefs
    end_ids: NodeRefs
    rel_types: RelTypes = Field([])
    max_hops: int = Field(3, ge=1, le=MAX_PATH_HOPS, description="Longest path, in relations.")
    max_paths: int = Field(10, ge=1, le=MAX_PATHS, description="Most paths in all, the shortest first.")


class DescribeNodesInput(CompatInput):
    """Arguments of describe_nodes."""

    node_ids: NodeRefs
    fields: list[Label] = Field([], max_length=20, description="Only these fields of each node beside id and kind.")


class ListChildrenInput(CompatInput):
    """Arguments of list_children."""

    parent_id: NodeRef = Field(description="A document or a section, by id; a document also by its URI.")
    page_size: int = Field(50, ge=1, le=100, description="How many nodes per call.")


class ListParentsInput(CompatInput):
    """Arguments of list_parents."""

    section_ids: SectionRefs


class GetEntitiesForSectionsInput(CompatInput):
    """Arguments of get_entities_for_sections."""

    section_ids: SectionRefs
    labels: list[Label] = Field([], max_length=20, description="Only entities with one of these labels.")
    max_per_section: int = Field(20, ge=1, le=100, description="Most entities of one section.")


class GetSectionsForEntitiesInput(CompatInput):
    """Arguments of get_sections_for_entities."""

    entity_ids: NodeRefs
    max_per: int = Field(20, ge=1, le=100, description="Most sections of one entity.")


class SectionText(Place):
    """The text of a section from its start, as much as the limits leave."""

    SILENT: ClassVar[frozenset[str]] = Place.SILENT | {"heading", "next_start_char"}

    section_id: str = Field(description="The passage; of a section with several, the one that opens it.")
    passage_id: str = Field(description="Handle for kb.read_excerpt.")
    doc_id: str
    doc_tag: str = Field("", description="The document's tags, joined by commas.")
    title: str
    heading: str = Field("", description="Path of headings below the title.")
    text: str = Field(description="Exactly as in the document.")
    truncated: bool = Field(description="Whether the section goes on.")
    next_start_char: int | None = Field(None, description="Where it goes on; start_char of kb.read_excerpt.")
    size_bytes: int = Field(ge=0, description="Size of the whole section.")


class SectionTextAnswer(ListAnswer):
    """Output of get_section_text."""

    sections: list[SectionText]
    snapshot_id: str


class ConnectorSearchInput(Strict):
    """Arguments of the connector's search: the form allows no other."""

    query: Question = Field(description="What to look for: a question or key words.")


class ConnectorFetchInput(Strict):
    """Arguments of the connector's fetch: the form allows no other."""

    id: Label = Field(description="id of a search result, or doc_id of one fetched before.")


class ConnectorResult(Answer):
    """A passage, as the connector form lists it."""

    id: str = Field(description="Stable id of the passage: pass it to fetch.")
    title: str = Field(description="Title of the document and path of headings.")
    url: str = Field(description="Address of the document, at the passage's heading.")


class ConnectorSearchAnswer(Answer):
    """Output of the connector's search. The form has no room for scope, budget or a reason why it is empty."""

    results: list[ConnectorResult]


class ConnectorMetadata(Answer):
    """What the connector form has no field for: place, scope and what was cut."""

    SILENT: ClassVar[frozenset[str]] = frozenset({"page", "anchor", "tags"})

    doc_uri: str
    doc_id: str = Field(description="Pass it to fetch for the document from its start.")
    start_char: int = Field(ge=0, description="Where the text starts in the document's text.")
    end_char: int = Field(ge=0)
    line: int = Field(ge=1)
    page: int | None = None
    anchor: str | None = None
    tags: list[str] = Field([], description="The document's.")
    truncated: bool = Field(description="Whether the response's limit cut the text.")
    limit_reason: LimitReason
    snapshot_id: str
    scope: Scope = Field(description="The scope that was applied.")


class ConnectorDocument(Answer):
    """Output of the connector's fetch."""

    id: str
    title: str
    text: str = Field(description="Exactly as in the document.")
    url: str = Field(description="Address of the document, at the passage's heading.")
    metadata: ConnectorMetadata
