"""What may be asked and what an answer holds: inputs and outputs of the tools, the façade and the CLI.

Inputs refuse unknown fields and values out of range. Every span in an output counts code points of the
document's text: `document.text[start_char:end_char]` is the ``preview``, ``quote`` or ``excerpt`` beside
it. Fields that only a server session can fill (``passage_id``, ``scratch_uri``, ``uri``) are ``None`` in
process.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
)

LOCAL_SESSION = "local"
"""The ``session_id`` of answers that were made in process, outside any server session."""

MAX_TOP_K = 50
MAX_EXCERPT_TOKENS = 800
"""Hard cap of the tool contract for one excerpt, together with `MAX_EXCERPT_BYTES`."""
MAX_EXCERPT_BYTES = 32 * 1024
MAX_QUOTE_CHARS = 500
"""A quote is cut here whatever its token limit, against lines without end."""

LOW_CONFIDENCE = 0.25
"""Where no quote reaches it, the answer says that nothing fits well. Of the development sets' answerable questions 4 in
100 get such an answer, of questions about other things 80 (docs/decisions/0011-confidence.md)."""

Mode = Literal["auto", "vector_only", "hybrid_local"]
RunMode = Literal["vector_only", "hybrid_local", "bm25", "rrf"]
Environment = Literal["dev", "prod", "scratch"]
Source = Literal["reranked", "rrf_fusion", "graph_expanded", "vector", "bm25", "hybrid"]
LimitReason = Literal["page_size", "token_cap", "byte_cap", "none"]
EmptyReason = Literal["empty_knowledge_base", "nothing_in_scope", "no_match", "no_evidence"]
"""Why an answer is empty: there are no documents at all; scope and filters leave none; none of those fits; or some come
near the question, and nothing in them bears on it."""

Label = Annotated[str, Field(min_length=1, max_length=200)]
PassageId = Annotated[
    str,
    Field(min_length=1, max_length=200, description="A passage_id of an earlier answer, or a section_id."),
]
Question = Annotated[str, Field(min_length=1, max_length=4000, pattern=r"\S")]
Cursor = Annotated[str, Field(min_length=1, max_length=600)]


class Strict(BaseModel):
    """Base of all models here: immutable, and an unknown field is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Scope(Strict):
    """Which part of which project is asked. What is left out comes from the server's settings."""

    project_id: Label | None = Field(None, description="Must be this server's project; leave out to use it.")
    environment: Environment | None = Field(None, description="Must be this server's; leave out to use it.")
    doc_tags: list[Label] = Field([], max_length=50, description="Only documents with one of these tags.")
    repositories: list[Label] = Field(
        [], max_length=50, description="Only documents below one of these top-level folders of their URI."
    )


class Filters(Strict):
    """Narrowing that applies before ranking. Every filter given must hold."""

    doc_tag: list[Label] = Field([], max_length=50, description="Only documents with one of these tags.")
    path_prefix: str | None = Field(None, max_length=1000, description="Only document URIs that start so.")
    updated_after: str | None = Field(
        None, max_length=40, description="ISO 8601 date or time; only documents updated after it."
    )

    @field_validator("updated_after")
    @classmethod
    def _is_a_time(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                datetime.fromisoformat(value)
            except ValueError:
                raise ValueError("must be an ISO 8601 date or time, such as 2025-03-31") from None
        return value


class SearchOptions(Strict):
    """How `SearchInput` is carried out and what its results carry."""

    max_snippet_chars: int = Field(280, ge=40, le=1000, description="Longest preview, in characters.")
    max_per_doc: int = Field(1, ge=1, le=20, description="Most results from one document.")
    include_scores: bool = Field(False, description="Add the parts of each score.")
    include_debug: bool = Field(False, description="Add diagnostic fields to each result.")
    mode: Mode = Field("auto", description="auto picks hybrid_local where a graph exists.")


class SearchInput(Strict):
    """Arguments of kb.search."""

    query: Question = Field(description="What to look for: a question or key words.")
    top_k: int = Field(5, ge=1, le=MAX_TOP_K, description="How many results in all.")
    cursor: Cursor | None = Field(None, description="next_cursor of the last page; repeat the other arguments.")
    page_size: int = Field(5, ge=1, le=MAX_TOP_K, description="How many results per call.")
    scope: Scope = Field(default_factory=Scope)
    filters: Filters = Field(default_factory=Filters)
    options: SearchOptions = Field(default_factory=SearchOptions)


class RetrieveOptions(Strict):
    """How `RetrieveInput` is carried out."""

    mode: Mode = Field("auto", description="auto picks hybrid_local where a graph exists.")
    rerank: bool = Field(True, description="Rerank the best spans by meaning where a model allows it.")
    include_diagnostics: bool = Field(False, description="Add counts of the stages to the diagnostics.")


class QuoteLimits(Strict):
    """How many quotes, how long, and with how much around them."""

    max_quotes: int = Field(6, ge=1, le=20, description="Most quotes in all.")
    max_quote_tokens: int = Field(80, ge=8, le=200, description="Longest quote, in tokens (and 500 characters).")
    include_context_tokens: int = Field(20, ge=0, le=100, description="Tokens of text before and after a quote.")


class RetrieveInput(QuoteLimits):
    """Arguments of kb.retrieve_evidence."""

    question: Question = Field(description="The question, as a full sentence.")
    top_k: int = Field(5, ge=1, le=MAX_TOP_K, description="From how many passages to quote.")
    cursor: Cursor | None = Field(None, description="next_cursor of the last call; repeat the other arguments.")
    scope: Scope = Field(default_factory=Scope)
    filters: Filters = Field(default_factory=Filters)
    options: RetrieveOptions = Field(default_factory=RetrieveOptions)


class ExtractEvidenceInput(QuoteLimits):
    """Arguments of kb.extract_evidence."""

    question: Question = Field(description="The question, as a full sentence.")
    passage_ids: list[PassageId] = Field(min_length=1, max_length=20, description="Passages to quote from.")
    cursor: Cursor | None = Field(None, description="next_cursor of the last call; repeat the other arguments.")
    scope: Scope = Field(default_factory=Scope)


class ExcerptOptions(Strict):
    """How an excerpt is shown."""

    format: Literal["text", "bullets"] = Field("text", description="bullets lists the readable text by sentence.")
    include_citation: bool = Field(True, description="Say where the excerpt comes from.")


class ReadExcerptInput(Strict):
    """Arguments of kb.read_excerpt."""

    passage_id: PassageId
    max_tokens: int = Field(300, ge=1, le=MAX_EXCERPT_TOKENS, description="Longest excerpt, in tokens.")
    start_char: int = Field(0, ge=0, description="Where to begin, in characters from the passage's start.")
    scope: Scope = Field(default_factory=Scope)
    options: ExcerptOptions = Field(default_factory=ExcerptOptions)


class ExpandExcerptInput(Strict):
    """Arguments of kb.expand_excerpt."""

    passage_id: PassageId
    before_tokens: int = Field(150, ge=0, le=MAX_EXCERPT_TOKENS, description="Tokens of the document before it.")
    after_tokens: int = Field(150, ge=0, le=MAX_EXCERPT_TOKENS, description="Tokens of the document after it.")
    scope: Scope = Field(default_factory=Scope)


class Answer(Strict):
    """Base of outputs. A field named in ``OMIT_IF_NONE`` leaves the JSON when it has nothing to say."""

    OMIT_IF_NONE: ClassVar[frozenset[str]] = frozenset()

    @model_serializer(mode="wrap")
    def _without_silent_fields(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = handler(self)
        return {key: value for key, value in data.items() if value is not None or key not in self.OMIT_IF_NONE}


class Budget(Strict):
    """What a response weighs, text and structure together, and what it may weigh."""

    tokens: int = Field(ge=0, description="Estimated tokens of the whole response.")
    bytes: int = Field(ge=0, description="UTF-8 bytes of the whole response.")
    max_tokens: int = Field(ge=1)
    max_bytes: int = Field(ge=1)


class SearchResult(Answer):
    """A passage that bears on the query, with the sentences that show why."""

    OMIT_IF_NONE: ClassVar[frozenset[str]] = frozenset({"scores", "debug"})

    passage_id: str | None = Field(None, description="Handle for kb.read_excerpt and kb.extract_evidence.")
    section_id: str = Field(description="Stable id of the passage in this knowledge base.")
    doc_uri: str
    doc_id: str
    doc_tag: str = Field("", description="The document's tags, joined by commas.")
    title: str
    heading: str = Field("", description="Path of headings below the title.")
    rank: int = Field(ge=1)
    score: float
    source: Source
    preview: str = Field(description="One to three sentences, exactly as in the document.")
    context_before: str = ""
    context_after: str = ""
    start_char: int = Field(ge=0, description="Where the preview starts in the document's text.")
    end_char: int = Field(ge=0)
    line: int = Field(ge=1, description="Line of the document's text; of the file itself for Markdown, text, code.")
    page: int | None = Field(None, description="Page at which the preview starts, where there are pages.")
    anchor: str | None = None
    scratch_uri: str | None = Field(None, description="Resource with the whole passage.")
    size_bytes: int = Field(ge=0, description="Size of the whole passage.")
    scores: dict[str, float] | None = Field(None, description="Parts of the score, if asked for.")
    debug: dict[str, str | int | float | bool] | None = Field(None, description="Diagnostics, if asked for.")


class SearchAnswer(Answer):
    """Output of kb.search."""

    results: list[SearchResult]
    next_cursor: str | None = Field(None, description="Pass as cursor for what comes next.")
    partial: bool = Field(description="Whether more results follow with next_cursor.")
    limit_reason: LimitReason
    session_id: str = LOCAL_SESSION
    scope: Scope = Field(description="The scope that was applied.")
    budget: Budget
    truncated: bool = Field(description="Whether the response budget dropped results from the end.")
    empty_reason: EmptyReason | None = None
    snapshot_id: str


class Quote(Answer):
    """A contiguous span of a document that bears on the question."""

    quote: str = Field(description="Exactly as in the document.")
    doc_uri: str
    doc_id: str
    passage_id: str | None = Field(None, description="Handle for kb.read_excerpt.")
    section_id: str
    title: str
    heading: str = ""
    uri: str | None = Field(None, description="Resource with the whole passage.")
    start_char: int = Field(ge=0, description="Where the quote starts in the document's text.")
    end_char: int = Field(ge=0)
    line: int = Field(ge=1)
    page: int | None = None
    anchor: str | None = None
    context_before: str = ""
    context_after: str = ""
    confidence: float = Field(
        ge=0, le=1, description="Of kb.retrieve_evidence: how likely the passage answers the question."
    )
    truncated: bool = Field(False, description="Whether the quote was cut at its length limit.")


class Diagnostics(Answer):
    """How an evidence answer came about. Holds counts, never times: an answer depends on no clock."""

    OMIT_IF_NONE: ClassVar[frozenset[str]] = frozenset({"stages"})

    mode: RunMode
    candidates: int = Field(ge=0, description="Passages that were quoted from.")
    snapshot_id: str
    stages: dict[str, str | int | float | bool] | None = Field(None, description="Counts, if asked for.")


class EvidenceAnswer(Answer):
    """Output of kb.retrieve_evidence and kb.extract_evidence."""

    OMIT_IF_NONE: ClassVar[frozenset[str]] = frozenset({"nearest"})

    quotes: list[Quote]
    partial: bool = Field(description="Whether more quotes follow with next_cursor.")
    truncated: bool = Field(description="Whether a quote was shortened or quotes were dropped from the end.")
    limit_reason: LimitReason
    next_cursor: str | None = None
    session_id: str = LOCAL_SESSION
    scope: Scope = Field(description="The scope that was applied.")
    budget: Budget
    empty_reason: EmptyReason | None = None
    nearest: list[str] | None = Field(None, description="With no_evidence: URIs of the documents that come nearest.")
    diagnostics: Diagnostics


class Citation(Answer):
    """Where an excerpt comes from."""

    section_id: str
    doc_tag: str = ""
    title: str
    heading: str = ""
    uri: str | None = Field(None, description="Resource with the whole passage.")
    doc_uri: str
    doc_id: str
    line: int = Field(ge=1)
    page: int | None = None
    anchor: str | None = None


class ExcerptAnswer(Answer):
    """Output of kb.read_excerpt and kb.expand_excerpt."""

    passage_id: str
    excerpt: str = Field(description="Exactly as in the document.")
    start_char: int = Field(ge=0, description="Where the excerpt starts in the document's text.")
    end_char: int = Field(ge=0)
    truncated: bool = Field(description="Whether text that was asked for, or the passage's rest, is missing.")
    next_start_char: int | None = Field(
        None, description="Pass as start_char to kb.read_excerpt to read on; counts from the passage's start."
    )
    limit_reason: Literal["token_cap", "byte_cap", "none"]
    citation: Citation | None
    session_id: str = LOCAL_SESSION
    scope: Scope = Field(description="The scope that was applied.")
    budget: Budget
