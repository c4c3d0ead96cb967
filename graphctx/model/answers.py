"""The answers of the tools about text, of the façade and of the command line.

Every span counts code points of the document's text: `document.text[start_char:end_char]` is the ``preview``,
``quote``, ``excerpt`` or snippet beside it. Fields that only a server session can fill (``passage_id``,
``scratch_uri``, ``uri``) are ``None`` in process.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, cast

from pydantic import (
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    model_serializer,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from graphctx.model.requests import LayerName, Scope, Strict

LOCAL_SESSION = "local"
"""The ``session_id`` of answers made in process, outside any server session."""

LOW_CONFIDENCE = 0.25
"""If no quote reaches this confidence, the answer says that nothing fits well. Of the development sets' answerable
questions 4 in 100 get such an answer, of questions about other things 80 (docs/decisions/0011-confidence.md)."""

UNKNOWN_CONFIDENCE = 0.45
"""The same of a question with a key word that no document in scope holds."""

LOW_RATING = 0.21
"""If no point reaches this rating, the answer says that nothing fits well. Of questions about other things 92 in 96 get
such an answer or none, of those that documents answer 8 in 45 (docs/decisions/0033-global-search.md)."""

Answered = Literal["yes", "near", "no"]
"""Whether evidence answers a question: ``yes`` where a quote reaches `LOW_CONFIDENCE` (`UNKNOWN_CONFIDENCE`), ``near``
where there are quotes and none does, ``no`` where there are none."""


def answered_by(confidences: Iterable[float], unknown_words: Sequence[str]) -> Answered:
    """Return whether quotes answer a question.

    Args:
        confidences: of the quotes.
        unknown_words: key words of the question that no document in scope holds.

    >>> answered_by([0.3, 0.1], []), answered_by([0.3], ["Terraform"]), answered_by([], [])
    ('yes', 'near', 'no')
    """
    best = max(confidences, default=None)
    if best is None:
        return "no"
    return "yes" if best >= (UNKNOWN_CONFIDENCE if unknown_words else LOW_CONFIDENCE) else "near"


RunMode = Literal["vector_only", "hybrid_local", "bm25", "rrf"]
Source = Literal["reranked", "rrf_fusion", "graph_expanded", "vector", "bm25", "hybrid"]
LimitReason = Literal["page_size", "node_cap", "doc_cap", "passage_cap", "token_cap", "byte_cap", "none"]
"""What cut an answer: its page; ``max_nodes`` or ``max_paths``; ``max_per_doc`` results of each document;
``top_k`` passages, which hold no further quote; or the response's budget."""
EmptyReason = Literal[
    "no_snapshot",
    "empty_knowledge_base",
    "nothing_in_scope",
    "filtered_out",
    "no_communities",
    "no_match",
    "no_evidence",
    "ambiguous",
    "no_layers",
]
"""Why an answer is empty: nothing is published yet; there are no documents at all; the scope leaves none; the filters
leave none of those (``filtered_by`` names them); those are too few to form communities, or were ingested by a version
that summarised none; none of those fits; some come near the question, and nothing in them bears on it; a name stands
for several things, which are listed; or the layers asked for have no chunk."""


SLIM = {"slim": True}
"""The context in which an answer is written in its slim form (docs/decisions/0035-slim-lists-and-answers.md)."""


class Answer(Strict):
    """Base of outputs. A field in ``SILENT`` is left out of the JSON if it is null, false or empty.

    A class's own fields precede inherited ones in the JSON. The slim form also leaves out the fields in ``DETAIL``,
    all others that are null, false or empty (a required list stays), and in lists what an earlier item has said:
    ``answer.model_dump(mode="json", context=SLIM)``.
    """

    SILENT: ClassVar[frozenset[str]] = frozenset()
    DETAIL: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Return the schema with the fields in the order of the JSON; ``silent`` names those that may be absent."""
        schema = handler.resolve_ref_schema(handler(core))
        fields = schema.get("properties", {})
        schema["properties"] = {
            name: fields[name] for name in dict.fromkeys([*cls.__annotations__, *fields]) if name in fields
        }
        schema["silent"] = sorted(cls.SILENT)
        return schema

    @model_serializer(mode="wrap")
    def _without_silent_fields(
        self, handler: SerializerFunctionWrapHandler, info: SerializationInfo[dict[str, bool] | None]
    ) -> dict[str, Any]:
        data: dict[str, Any] = handler(self)
        names = _names_in_json(type(self))
        if not info.context:
            silent = self.SILENT
            return {
                name: data[name] for name in names if name in data and (name not in silent or not _is_empty(data[name]))
            }
        fields = type(self).model_fields
        return {
            name: _said_once(value) if isinstance(value, list) else value
            for name, value in ((name, data[name]) for name in names if name in data)
            if name not in self.DETAIL
            and (name, value) != ("limit_reason", "none")
            and (not _is_empty(value) or (isinstance(value, list) and fields[name].is_required()))
        }


@cache
def _names_in_json(model: type[Answer]) -> tuple[str, ...]:
    """Return the fields of an answer, its own ones first."""
    own = [name for name in model.__annotations__ if name in model.model_fields]
    return tuple(dict.fromkeys([*own, *model.model_fields]))


def _is_empty(value: Any) -> bool:
    return value is None or value is False or value in ("", [], {})


def _said_once(items: list[Any]) -> list[Any]:
    """Leave out a title that an earlier item of the same document has, and a heading of the same passage."""
    seen: set[tuple[str, Any]] = set()
    for item in items:
        for name, key in (("title", "doc_uri"), ("heading", "section_id")):
            if isinstance(item, dict) and name in item and key in item:
                if (key, item[key]) in seen:
                    del item[name]
                seen.add((key, item[key]))
    return items


class Budget(Strict):
    """The size of a response, text and structure together, and its limits."""

    tokens: int = Field(ge=0, description="Estimated tokens of the whole response.")
    bytes: int = Field(ge=0, description="UTF-8 bytes of the whole response.")
    max_tokens: int = Field(ge=1)
    max_bytes: int = Field(ge=1)


class _WithoutEmptyLists:
    """Leave empty fields out of a scope's JSON."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        def narrowing(
            scope: Scope, serialize: SerializerFunctionWrapHandler, info: core_schema.SerializationInfo[Any]
        ) -> dict[str, Any]:
            detail = ("project_id", "environment") if info.context else ()
            return {
                name: value
                for name, value in serialize(scope).items()
                if value not in (None, []) and name not in detail
            }

        schema = cast(core_schema.ModelSchema, handler(source))
        schema["serialization"] = core_schema.wrap_serializer_function_ser_schema(narrowing, info_arg=True)
        return schema

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler.resolve_ref_schema(handler(core)), "silent": sorted(Scope.model_fields)}


ScopeSearched = Annotated[Scope, _WithoutEmptyLists]


class ListAnswer(Answer):
    """Base of answers that are lists, which a budget or a page may cut."""

    SILENT: ClassVar[frozenset[str]] = frozenset({"filtered_by", "empty_reason", "session_note"})
    DETAIL: ClassVar[frozenset[str]] = frozenset({"session_id", "budget", "snapshot_id"})

    partial: bool = Field(description="Whether more follows with next_cursor.")
    truncated: bool = Field(description="Whether a limit shortened an item or dropped some from the end.")
    limit_reason: LimitReason
    next_cursor: str | None = Field(None, description="Pass as cursor for what comes next.")
    session_id: str = LOCAL_SESSION
    session_note: str | None = Field(None, description="Says so where the session_id that was sent is ignored.")
    scope: ScopeSearched = Field(description="The scope that was applied.")
    budget: Budget
    empty_reason: EmptyReason | None = None
    filtered_by: list[str] = Field([], description="The arguments that leave no document, where some do.")


class CitedSpan(Answer):
    """Base of quotes, previews, excerpts and snippets: where in a document a span is."""

    SILENT: ClassVar[frozenset[str]] = frozenset({"page"})
    DETAIL: ClassVar[frozenset[str]] = frozenset({"anchor", "line", "passage_id", "uri"})

    doc_uri: str
    start_char: int = Field(ge=0, description="Where it starts in the document's text.")
    end_char: int = Field(ge=0)
    line: int = Field(ge=1, description="Line of the document's text; of the file itself for Markdown, text, code.")
    page: int | None = Field(None, description="Page at which it starts, where there are pages.")
    anchor: str | None = None


class LayerMark(Answer):
    """The layer's chunk that a span is from: its author, their confidence, and their sources."""

    SILENT: ClassVar[frozenset[str]] = frozenset({"created_at", "sources", "more_sources", "conflicts"})

    name: LayerName = Field(description="The layer; of chunks that disagree, local goes before user, delta and base.")
    chunk_id: int = Field(ge=1)
    kind: str
    author: str = Field(description="human or mcp.")
    confidence: float = Field(ge=0, le=1, description="The author's, in the chunk being right.")
    created_at: str = ""
    sources: list[str] = Field([], description="Ids of chunks, and places as file:line.")
    more_sources: int | None = Field(None, ge=1, description="Sources that are not listed.")
    conflicts: list[str] = Field([], description="Chunks of other layers that say something else of the same.")


_BESIDE = frozenset({"heading", "context_before", "context_after", "layer"})


class SearchResult(CitedSpan):
    """A passage that bears on the query, with the sentences that show why."""

    SILENT: ClassVar[frozenset[str]] = CitedSpan.SILENT | _BESIDE | {"scores", "debug"}
    DETAIL: ClassVar[frozenset[str]] = CitedSpan.DETAIL | {"doc_id", "score", "source", "scratch_uri", "size_bytes"}

    passage_id: str | None = Field(None, description="Handle for kb.read_excerpt and kb.extract_evidence.")
    section_id: str = Field(description="Stable id of the passage in this knowledge base.")
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
    scratch_uri: str | None = Field(None, description="Resource with the whole passage.")
    size_bytes: int = Field(ge=0, description="Size of the whole passage.")
    scores: dict[str, float] | None = Field(None, description="Parts of the score, if asked for.")
    debug: dict[str, str | int | float | bool] | None = Field(None, description="Diagnostics, if asked for.")
    layer: LayerMark | None = Field(None, description="Of a layer's chunk, whose content is its document.")


class SearchAnswer(ListAnswer):
    """Output of kb.search."""

    SILENT: ClassVar[frozenset[str]] = ListAnswer.SILENT | {"layer_notes", "read_as"}

    results: list[SearchResult]
    layer_notes: list[str] = Field([], description="What to know of the layers asked for.")
    read_as: dict[str, str] = Field({}, description="Misspelt words, and what they were read as.")
    snapshot_id: str


class Quote(CitedSpan):
    """A contiguous span of a document that bears on the question."""

    SILENT: ClassVar[frozenset[str]] = CitedSpan.SILENT | _BESIDE | {"truncated", "continues"}

    quote: str = Field(description="Exactly as in the document.")
    title: str
    heading: str = ""
    passage_id: str | None = Field(None, description="Handle for kb.read_excerpt.")
    section_id: str
    uri: str | None = Field(None, description="Resource with the whole passage.")
    confidence: float = Field(
        ge=0,
        le=1,
        description="Of kb.retrieve_evidence: how likely the passage answers the question. Where an overview of "
        "everything is asked for: how well the passage introduces.",
    )
    context_before: str = Field("", description="What its passage holds just before it, and no other quote does.")
    context_after: str = Field("", description="The same of what comes just after it.")
    truncated: bool = Field(False, description="Whether the quote was cut at its length limit.")
    continues: Literal["", "list", "table"] = Field("", description="What goes on right behind the quote.")
    layer: LayerMark | None = Field(None, description="Of a layer's chunk, whose content is its document.")


class Diagnostics(Answer):
    """How an evidence answer came about. Holds counts, never times: an answer depends on no clock."""

    SILENT: ClassVar[frozenset[str]] = frozenset({"stages"})
    DETAIL: ClassVar[frozenset[str]] = frozenset({"mode", "candidates", "snapshot_id"})

    mode: RunMode
    candidates: int = Field(ge=0, description="Passages that were considered for quotes.")
    snapshot_id: str
    stages: dict[str, str | int | float | bool] | None = Field(None, description="Counts, if asked for.")


class RememberedBlock(Answer):
    """What was remembered that bears on a question: data that people and agents stored, and no quote of a document."""

    SILENT: ClassVar[frozenset[str]] = frozenset({"truncated", "degraded"})

    block: str = Field(description="An entry a line; further lines of an entry are indented by two spaces.")
    ids: list[str] = Field(description="Of the entries, in their order: memories (m_…) and facts (r_…).")
    as_of: str = Field(description="The time for which it holds.")
    truncated: bool = Field(False, description="Whether there is more; memory_retrieve returns it.")
    degraded: str = Field("", description="Why something may be missing.")


class EvidenceAnswer(ListAnswer):
    """Output of kb.retrieve_evidence and kb.extract_evidence."""

    SILENT: ClassVar[frozenset[str]] = ListAnswer.SILENT | {
        "answered",
        "nearest",
        "unknown_words",
        "layer_notes",
        "read_as",
        "memory",
    }

    answered: Answered | None = Field(
        None,
        description="Of kb.retrieve_evidence: yes, near (only near matches, which may not answer) or no (no evidence).",
    )
    quotes: list[Quote]
    read_as: dict[str, str] = Field({}, description="Misspelt words, and what they were read as.")
    unknown_words: list[str] = Field([], description="Key words of the question that no document holds.")
    layer_notes: list[str] = Field([], description="What to know of the layers asked for.")
    nearest: list[str] = Field([], description="With no_evidence: URIs of the documents that come nearest.")
    memory: RememberedBlock | None = Field(None, description="What is remembered, if asked for; on the first page.")
    diagnostics: Diagnostics


class Point(CitedSpan):
    """A sentence of a document, or a few in a row, that says something to a question about the whole."""

    SILENT: ClassVar[frozenset[str]] = CitedSpan.SILENT | {"heading", "truncated"}

    quote: str = Field(description="Exactly as in the document.")
    rating: float = Field(ge=0, le=1, description="How much it bears on the question; 1 is most, below 0.21 little.")
    community_id: str = Field(
        description="The community that it is a point of, for graph.communities; empty if of none."
    )
    title: str
    heading: str = ""
    passage_id: str | None = Field(None, description="Handle for kb.read_excerpt.")
    section_id: str
    uri: str | None = Field(None, description="Resource with the whole passage.")
    truncated: bool = Field(False, description="Whether the quote was cut at its length limit.")


class Theme(Answer):
    """A community that points come from."""

    SILENT: ClassVar[frozenset[str]] = frozenset({"n_children", "names", "documents"})

    id: str = Field(description="Pass it to graph.communities.")
    title: str
    level: int = Field(ge=0, description="0 is the root level; deeper ones are finer.")
    rating: float = Field(ge=0, le=1, description="That of the best of its points.")
    n_children: int = Field(0, ge=0, description="Themes below it: graph.communities with its id as parent_id.")
    names: list[str] = Field([], description="Its main names, where the question asks for the themes.")
    documents: list[str] = Field(
        [], description="Titles of its main documents, where the question asks for the themes."
    )


class PhrasedSentence(Answer):
    """A sentence in a language model's words."""

    text: str
    points: list[int] = Field(description="The points it is drawn from, by their place in points, from 1.")


class GlobalDiagnostics(Answer):
    """How a global answer came about: counts, never times."""

    SILENT: ClassVar[frozenset[str]] = frozenset({"stages"})
    DETAIL: ClassVar[frozenset[str]] = frozenset(
        {"mode", "communities", "rated", "descended", "dropped", "snapshot_id"}
    )

    mode: Literal["global"] = "global"
    communities: int = Field(ge=0, description="Communities in the scope, of all levels.")
    rated: int = Field(ge=0, description="Of them, those that were compared with the question.")
    descended: int = Field(ge=0, description="Of the rated, those whose children were rated too.")
    dropped: int = Field(ge=0, description="Of the rated, those that no point was taken from.")
    snapshot_id: str
    stages: dict[str, str | int | float | bool] | None = Field(None, description="More counts, if asked for.")


class GlobalAnswer(ListAnswer):
    """Output of kb.global_search."""

    SILENT: ClassVar[frozenset[str]] = ListAnswer.SILENT | {"phrased", "note"}
    DETAIL: ClassVar[frozenset[str]] = ListAnswer.DETAIL | {"extractive"}

    points: list[Point]
    themes: list[Theme] = Field(description="The communities that the points come from, the best first.")
    phrased: list[PhrasedSentence] = Field([], description="The points in a language model's words, where one is set.")
    extractive: bool = Field(description="Whether every word comes from a document: no language model took part.")
    note: str = Field(
        "", description="Why it is extractive though a language model is set, or what its words leave out."
    )
    diagnostics: GlobalDiagnostics


class Citation(Answer):
    """Where an excerpt comes from."""

    SILENT: ClassVar[frozenset[str]] = frozenset({"heading", "page"})
    DETAIL: ClassVar[frozenset[str]] = frozenset({"uri", "doc_uri", "doc_id", "line", "page", "anchor"})

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


class ExcerptAnswer(CitedSpan):
    """Output of kb.read_excerpt and kb.expand_excerpt."""

    SILENT: ClassVar[frozenset[str]] = CitedSpan.SILENT | {"session_note"}
    DETAIL: ClassVar[frozenset[str]] = frozenset({"anchor", "passage_id", "session_id", "budget"})

    passage_id: str
    excerpt: str = Field(description="Exactly as in the document.")
    truncated: bool = Field(description="Whether text that was asked for, or the passage's rest, is missing.")
    next_start_char: int | None = Field(
        None, description="Pass as start_char to kb.read_excerpt to read on; counts from the passage's start."
    )
    limit_reason: Literal["token_cap", "byte_cap", "none"]
    citation: Citation | None
    session_id: str = LOCAL_SESSION
    session_note: str | None = Field(None, description="Says so where the session_id that was sent is ignored.")
    scope: ScopeSearched = Field(description="The scope that was applied.")
    budget: Budget
