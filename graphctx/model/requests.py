"""Requests: the arguments of tools, of the façade and of the command line, with their defaults and caps.

A default or a cap is declared here and nowhere else: schemas, descriptions and options are generated from the fields.
Unknown fields and values out of range are refused. Every request has a scope (`Scope`, `Filters`), and those for lists
have limits of the answer (``max_tokens``, ``max_bytes``).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

MAX_TOP_K = 50
MAX_EXCERPT_TOKENS = 800
"""Hard cap of the tool contract for one excerpt, together with `MAX_EXCERPT_BYTES`."""
MAX_EXCERPT_BYTES = 32 * 1024
MAX_QUOTE_CHARS = 500
"""A quote is cut here whatever its token limit, against lines without end."""

MAX_HOPS = 2
MAX_PATH_HOPS = 4
MAX_NODES = 200
"""Caps of graph exploration (tool contract, section 6.2): hops of one expansion, hops of a path, nodes of an answer."""
MAX_PATHS = 50

Mode = Literal["auto", "vector_only", "hybrid_local"]
Environment = Literal["dev", "prod", "scratch"]
RelType = Literal["HAS_SECTION", "PARENT_OF", "HAS_UNIT", "NEXT", "MENTIONS", "RELATED", "ALIAS_OF", "LINKS_TO"]
Direction = Literal["out", "in", "both"]
LayerName = Literal["base", "user", "delta", "local"]

Label = Annotated[str, Field(min_length=1, max_length=200)]
PassageId = Annotated[
    str,
    Field(min_length=1, max_length=200, description="A section_id of any answer, or a passage_id of this session."),
]
NodeRef = Annotated[str, Field(min_length=1, max_length=300, pattern=r"\S")]
"""A node by id (``d_…``, ``s_…``, ``u_…``, ``e_…``, or a passage id), a document by its URI, an entity by its name."""
Question = Annotated[str, Field(min_length=1, max_length=4000, pattern=r"\S")]
Cursor = Annotated[str, Field(min_length=1, max_length=600)]
Layers = Annotated[
    list[LayerName],
    Field(max_length=4, description="Also these layers of AGENTS.db, which neither scope nor filters narrow."),
]


class Strict(BaseModel):
    """Base of all models here: immutable, and an unknown field is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    ALIASES: ClassVar[Mapping[str, str]] = {}
    """Other names of arguments, each with the field that it stands for; `parse_arguments` accepts them."""


class Scope(Strict):
    """The part of a project to ask. What is left out comes from the server's settings."""

    project_id: Label | None = Field(None, description="This server's, or left out.")
    environment: Environment | None = Field(None, description="This server's, or left out.")
    doc_tags: list[Label] = Field([], max_length=50, description="Documents with one of these tags.")
    repositories: list[Label] = Field([], max_length=50, description="Documents below one of these folders.")


class Filters(Strict):
    """Narrowing that applies before ranking. Every filter given must hold."""

    doc_tag: list[Label] = Field([], max_length=50, description="Documents with one of these tags.")
    path_prefix: str | None = Field(None, max_length=1000, description="Documents whose URI starts so.")
    updated_after: str | None = Field(None, max_length=40, description="Documents updated after it (ISO 8601).")

    @field_validator("updated_after")
    @classmethod
    def _is_a_time(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                datetime.fromisoformat(value)
            except ValueError:
                raise ValueError("must be an ISO 8601 date or time, such as 2025-03-31") from None
        return value


class Request(Strict):
    """Base of all requests."""

    scope: Scope = Field(
        default_factory=Scope, description="Which documents to search; default: all that this server serves."
    )
    session_id: Label | None = Field(
        None, description="Of an earlier answer, for its passage ids; a section_id needs none."
    )


class BudgetedRequest(Request):
    """A request that may limit its answer further than the server does."""

    max_tokens: int | None = Field(None, ge=1, le=1_000_000, description="Limit of the whole response.")
    max_bytes: int | None = Field(None, ge=1, le=100_000_000, description="Limit of the whole response.")


class PagedInput(BudgetedRequest):
    """A request whose answer is a list, which goes on at a cursor."""

    cursor: Cursor | None = Field(None, description="next_cursor of the last answer; all else as before.")


class SearchOptions(Strict):
    """How `SearchInput` is carried out and what its results carry."""

    max_snippet_chars: int = Field(280, ge=40, le=1000, description="Longest preview, in characters.")
    max_per_doc: int = Field(1, ge=1, le=20, description="Most results from one document.")
    include_scores: bool = Field(False, description="Add the parts of each score.")
    include_debug: bool = Field(False, description="Add diagnostic fields to each result.")
    mode: Mode = Field("auto", description="auto is hybrid_local, or vector_only where settings turn the graph off.")
    layers: Layers = []


class SearchInput(PagedInput):
    """Arguments of kb.search."""

    query: Question = Field(description="What to look for: a question or key words.")
    top_k: int = Field(5, ge=1, le=MAX_TOP_K, description="How many results in all.")
    page_size: int = Field(5, ge=1, le=MAX_TOP_K, description="How many results per call; top_k where that is given.")
    filters: Filters = Field(default_factory=Filters, description="Which documents, before ranking.")
    options: SearchOptions = Field(default_factory=SearchOptions, description="Search options.")

    @model_validator(mode="after")
    def _one_page_unless_asked_for_more(self) -> SearchInput:
        if "page_size" not in self.model_fields_set:
            self.__dict__["page_size"] = self.top_k
        return self


class RetrieveOptions(Strict):
    """How `RetrieveInput` is carried out."""

    mode: Mode = Field("auto", description="auto is hybrid_local, or vector_only where settings turn the graph off.")
    rerank: bool = Field(
        True, description="Choose quotes by meaning; false: by shared words, from one passage of a document."
    )
    include_diagnostics: bool = Field(False, description="Add counts of the stages to the diagnostics.")
    include_memory: bool = Field(
        False,
        description="Also memories that bear on the question, in a block of their own; filters do not apply to them.",
    )
    layers: Layers = []


class QuoteLimits(PagedInput):
    """How many quotes, how long, and with how much around them."""

    max_quotes: int = Field(6, ge=1, le=20, description="Most quotes in all.")
    max_quote_tokens: int = Field(80, ge=8, le=200, description="Longest quote, in tokens (and 500 characters).")
    include_context_tokens: int = Field(20, ge=0, le=100, description="Tokens of text before and after a quote.")


class RetrieveInput(QuoteLimits):
    """Arguments of kb.retrieve_evidence."""

    question: Question = Field(description="The question, as a full sentence.")
    top_k: int = Field(5, ge=1, le=MAX_TOP_K, description="From how many passages to quote.")
    filters: Filters = Field(default_factory=Filters, description="Which documents, before ranking.")
    options: RetrieveOptions = Field(default_factory=RetrieveOptions, description="Search options.")


class GlobalOptions(Strict):
    """How `GlobalSearchInput` is carried out."""

    relevance_tests: int = Field(64, ge=4, le=1000, description="Most communities that are rated.")
    phrase: bool = Field(True, description="Let the language model phrase the answer, where one is set.")
    include_diagnostics: bool = Field(False, description="Add counts of the stages to the diagnostics.")


class GlobalSearchInput(PagedInput):
    """Arguments of kb.global_search."""

    question: Question = Field(description="A question about the whole, as a full sentence.")
    points_tokens: int = Field(1000, ge=50, le=4000, description="Tokens of all points together.")
    max_points: int = Field(40, ge=1, le=100, description="Most points in all.")
    max_point_tokens: int = Field(80, ge=8, le=200, description="Longest point, in tokens (and 500 characters).")
    filters: Filters = Field(default_factory=Filters, description="Which documents, before ranking.")
    options: GlobalOptions = Field(default_factory=GlobalOptions, description="Search options.")


class ExtractEvidenceInput(QuoteLimits):
    """Arguments of kb.extract_evidence."""

    question: Question = Field(description="The question, as a full sentence.")
    passage_ids: list[PassageId] = Field(min_length=1, max_length=20, description="Passages to quote from.")


class ExcerptOptions(Strict):
    """How an excerpt is shown."""

    format: Literal["text", "bullets"] = Field("text", description="bullets lists the readable text by sentence.")
    include_citation: bool = Field(True, description="Say where the excerpt comes from.")


class ReadExcerptInput(Request):
    """Arguments of kb.read_excerpt."""

    passage_id: PassageId
    max_tokens: int = Field(300, ge=1, le=MAX_EXCERPT_TOKENS, description="Longest excerpt, in tokens.")
    max_bytes: int = Field(MAX_EXCERPT_BYTES, ge=1, le=MAX_EXCERPT_BYTES, description="Longest excerpt, in bytes.")
    start_char: int = Field(0, ge=0, le=2**31 - 1, description="Where to begin, in the passage.")
    before_tokens: int = Field(0, ge=0, le=MAX_EXCERPT_TOKENS, description="Tokens of the document before it to add.")
    after_tokens: int = Field(0, ge=0, le=MAX_EXCERPT_TOKENS, description="Tokens of the document after it to add.")
    options: ExcerptOptions = Field(default_factory=ExcerptOptions, description="How to show it.")

    @field_validator("before_tokens", "after_tokens")
    @classmethod
    def _only_from_the_start_of_the_passage(cls, value: int, info: ValidationInfo) -> int:
        if value and info.data.get("start_char"):
            raise ValueError("must be left out where start_char reads on in the passage")
        return value

    @model_validator(mode="after")
    def _text_around_begins_with_the_passage(self) -> ReadExcerptInput:
        if (self.before_tokens or self.after_tokens) and "max_tokens" not in self.model_fields_set:
            self.__dict__["max_tokens"] = MAX_EXCERPT_TOKENS
        return self


class ExpandExcerptInput(Request):
    """Arguments of kb.expand_excerpt."""

    passage_id: PassageId
    before_tokens: int = Field(150, ge=0, le=MAX_EXCERPT_TOKENS, description="Tokens of the document before it.")
    after_tokens: int = Field(150, ge=0, le=MAX_EXCERPT_TOKENS, description="Tokens of the document after it.")
    max_tokens: int = Field(MAX_EXCERPT_TOKENS, ge=1, le=MAX_EXCERPT_TOKENS, description="Longest excerpt, in tokens.")
    max_bytes: int = Field(MAX_EXCERPT_BYTES, ge=1, le=MAX_EXCERPT_BYTES, description="Longest excerpt, in bytes.")


class GraphInput(PagedInput):
    """Base of the requests of graph tools."""

    filters: Filters = Field(default_factory=Filters, description="Which documents, before ranking.")
    include_snippet: bool = Field(False, description="Add a sentence of text to each item.")
    page_size: int = Field(25, ge=1, le=100, description="How many items per call.")


NodeRefs = Annotated[
    list[NodeRef],
    Field(min_length=1, max_length=20, description="Ids of nodes, URIs of documents, or names of entities."),
]
SectionRefs = Annotated[
    list[NodeRef], Field(min_length=1, max_length=20, description="section_ids or passage_ids of earlier answers.")
]
RelTypes = Annotated[list[RelType], Field(max_length=8, description="Only relations of these types.")]


class DescribeInput(GraphInput):
    """Arguments of graph.describe."""

    node_ids: NodeRefs
    fields: list[Label] = Field([], max_length=20, description="Only these fields of each node beside id and kind.")


class ExpandInput(GraphInput):
    """Arguments of graph.expand."""

    node_ids: NodeRefs
    rel_types: RelTypes = []
    direction: Direction = Field("both", description="out follows a relation from its source, in from its target.")
    max_hops: int = Field(1, ge=1, le=MAX_HOPS, description="How far to go.")
    max_nodes: int = Field(MAX_NODES, ge=1, le=MAX_NODES, description="Most nodes in all, the nearest first.")


class PathsInput(GraphInput):
    """Arguments of graph.paths."""

    start_ids: NodeRefs
    end_ids: NodeRefs
    rel_types: RelTypes = []
    max_hops: int = Field(3, ge=1, le=MAX_PATH_HOPS, description="Longest path, in relations.")
    max_paths: int = Field(10, ge=1, le=MAX_PATHS, description="Most paths in all, the shortest first.")


class ParentsInput(GraphInput):
    """Arguments of graph.parents."""

    section_ids: SectionRefs


class ChildrenInput(GraphInput):
    """Arguments of graph.children."""

    parent_id: NodeRef = Field(description="A document or a section, by id; a document also by its URI.")


class EntitiesForSectionsInput(GraphInput):
    """Arguments of graph.entities_for_sections."""

    section_ids: SectionRefs
    labels: list[Label] = Field([], max_length=20, description="Only entities with one of these labels.")
    max_per_section: int = Field(20, ge=1, le=100, description="Most entities of one section.")


class SectionsForEntitiesInput(GraphInput):
    """Arguments of graph.sections_for_entities."""

    entity_ids: NodeRefs
    max_per_entity: int = Field(20, ge=1, le=100, description="Most sections of one entity.")


class CommunitiesInput(GraphInput):
    """Arguments of graph.communities."""

    community_ids: list[NodeRef] = Field([], max_length=20, description="Describe these; the rest is left out then.")
    parent_id: NodeRef | None = Field(None, description="List the children of this one.")
    level: int | None = Field(None, ge=0, le=20, description="List those of this level; 0, the roots, by default.")
    entity_id: NodeRef | None = Field(None, description="List those that hold this entity, the broadest first.")
