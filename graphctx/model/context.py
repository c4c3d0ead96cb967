"""Composed contexts: the request, and the parts that go into a model's context window.

What is verbatim has its span in ``metadata``: ``document.text[start_char:end_char]`` is ``content``.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from graphctx.model.answers import LOW_CONFIDENCE, UNKNOWN_CONFIDENCE, Answer, Answered, EmptyReason
from graphctx.model.requests import MAX_TOP_K, Filters, Layers, PagedInput, Question, Request

DEFAULT_CONTEXT_TOKENS = 32_000
MIN_CONTEXT_TOKENS = 100
MAX_CONTEXT_TOKENS = 1_000_000
MAX_TEXT_CHARS = 2_000_000
MAX_MESSAGES = 200
MAX_MESSAGE_CHARS = 100_000

Strategy = Literal["hierarchical", "flat"]
"""``hierarchical`` composes from concepts, sections and sentences; ``flat`` takes the best chunks in order of score."""

HierarchyLevel = Literal[1, 2, 3, 4]
"""1 concept, 2 section, 3 chunk, 4 exact match."""

ContextOrigin = Literal["documents", "themes", "layers", "memory"]
"""Where a section comes from: documents, what they say of a theme, layers of AGENTS.db, or what agents stored."""

RELEVANT = 0.7
"""Relevance is the confidence of retrieval with its odds scaled: this, where an answer begins to fit its question."""

_ODDS = (RELEVANT / (1 - RELEVANT)) / (LOW_CONFIDENCE / (1 - LOW_CONFIDENCE))


def relevance_of(confidence: float) -> float:
    """Return the relevance in 0..1, to three digits, of what has a confidence in 0..1.

    >>> relevance_of(0.25), relevance_of(0.5), relevance_of(0.05)
    (0.7, 0.875, 0.269)
    """
    return round(confidence * _ODDS / (1 - confidence + confidence * _ODDS), 3)


SURELY_RELEVANT = relevance_of(UNKNOWN_CONFIDENCE)
"""What relevance an answer has to a question with a key word that no document holds."""


class ContextMessage(Answer):
    """A message of the conversation."""

    role: Literal["user", "assistant", "system", "tool"] = "user"
    content: str = Field(max_length=MAX_MESSAGE_CHARS)


class ContextExample(Answer):
    """An example: a block of code of a document, and what introduces it."""

    label: str
    content: str
    metadata: dict[str, Any] = Field({})


class ContextSection(Answer):
    """A piece of retrieved text.

    ``relevance_score`` is in 0..1; from 0.7 on a piece is likely to bear on the question. ``metadata`` holds the
    document (``doc_uri``, ``title``, ``heading``), the span (``start_char``, ``end_char``, ``line``, ``page``) and
    ``section_id`` or ``community_id``. A section of a layer has ``layer``, ``chunk_id`` and the span of the chunk's
    content instead; one of the memory has ``item_id`` and the span of the item's text, or ``fact_id``, and for its
    relevance the rank that the memory gives it.
    """

    label: str
    relevance_score: float
    content: str
    metadata: dict[str, Any]
    hierarchy_level: HierarchyLevel
    origin: ContextOrigin = "documents"


class OptimalContext(Answer):
    """A context window: what matters most stands first and last.

    ``tokens`` holds the tokens of each part of the text, and ``total`` their sum, which is at most ``max_tokens``.
    ``answered`` is that of ``kb.retrieve_evidence``: whether documents or layers answer the question. ``cached_for`` is
    the wording that the documents were asked with where the cache had an answer for another than ``user_query``.
    """

    SILENT: ClassVar[frozenset[str]] = frozenset(
        {
            "empty_reason",
            "examples",
            "conversation_history",
            "task_context",
            "nearest",
            "unknown_words",
            "cached_for",
            "notes",
        }
    )

    system_role: str = ""
    task_context: str = ""
    retrieved_sections: list[ContextSection] = Field([])
    examples: list[ContextExample] = Field([])
    conversation_history: list[ContextMessage] = Field([])
    user_query: str = ""
    text: str = ""
    tokens: dict[str, int] = Field({})
    max_tokens: int = DEFAULT_CONTEXT_TOKENS
    strategy: Strategy = "hierarchical"
    snapshot_id: str = ""
    answered: Answered = "no"
    nearest: list[str] = Field([], description="Where nothing fits: URIs of the documents that come nearest.")
    unknown_words: list[str] = Field([], description="Key words of the question that nothing that was asked holds.")
    notes: list[str] = Field([], description="What could not be asked, and where layers disagree.")
    cached_for: str | None = None
    empty_reason: EmptyReason | None = None


class ContextInput(Request):
    """Arguments of `KnowledgeBase.compose_context`."""

    query: Question = Field(description="The question, as a full sentence.")
    max_tokens: int = Field(
        DEFAULT_CONTEXT_TOKENS,
        ge=MIN_CONTEXT_TOKENS,
        le=MAX_CONTEXT_TOKENS,
        description="Tokens of the whole context.",
    )
    strategy: Strategy = Field("hierarchical", description="flat takes whole chunks in order of score.")
    filters: Filters = Field(default_factory=Filters, description="Which documents, before ranking.")
    system_role: str | None = Field(None, max_length=20_000, description="Instructions in place of the default ones.")
    history: list[ContextMessage] = Field([], max_length=MAX_MESSAGES, description="The conversation, oldest first.")
    layers: Layers = Field([])


class SearchContextInput(PagedInput):
    """Arguments of search_context."""

    query: Question = Field(
        description="The question; what it has in quotation marks or code marks is also looked for to the letter."
    )
    max_results: int = Field(10, ge=1, le=MAX_TOP_K, description="How many results of all levels together.")
    min_relevance: float = Field(RELEVANT, ge=0, le=1, description="Leave out what is less relevant.")
    levels: list[HierarchyLevel] = Field(
        [1, 2, 3, 4], min_length=1, max_length=4, description="1 concepts, 2 sections, 3 chunks, 4 exact matches."
    )
    filters: Filters = Field(default_factory=Filters, description="Which documents, before ranking.")


class OptimizeContextInput(Request):
    """Arguments of optimize_context."""

    current_context: str = Field(max_length=MAX_TEXT_CHARS, description="The text to shorten; Markdown is understood.")
    target_tokens: int = Field(
        DEFAULT_CONTEXT_TOKENS, ge=1, le=MAX_CONTEXT_TOKENS, description="Most tokens of the result."
    )
    query: Question | None = Field(None, description="What the text has to answer; by default its own subject decides.")


class KeptSpan(Answer):
    """A span of a text that an optimized context keeps: ``text[at:at + end_char - start_char]`` is the source's."""

    start_char: int
    end_char: int
    at: int


class OptimizedContext(Answer):
    """A shortened text: spans of the source in its order, and what was left out.

    Attributes:
        text: the kept spans, with an ellipsis line or a line break between them.
        tokens, source_tokens: of the text and of the source.
        kept: where each span of the text is in the source.
        repeated: sentences that were left out since they repeat others.
        cut: blocks of code, tables and lists of which only a part is kept or nothing, by kind.
    """

    text: str
    tokens: int
    source_tokens: int
    kept: list[KeptSpan]
    repeated: int = 0
    cut: dict[str, int] = Field({})
