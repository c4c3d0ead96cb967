"""Composed contexts: the request, and the parts that go into a model's context window.

What is verbatim has its span in ``metadata``: ``document.text[start_char:end_char]`` is ``content``.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from graphctx.model.answers import Answer, EmptyReason
from graphctx.model.requests import MAX_TOP_K, Filters, PagedInput, Question, Request

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
    ``section_id`` or ``community_id``.
    """

    label: str
    relevance_score: float
    content: str
    metadata: dict[str, Any]
    hierarchy_level: HierarchyLevel


class OptimalContext(Answer):
    """A context window: what matters most stands first and last.

    ``tokens`` holds the tokens of each part of the text, and ``total`` their sum, which is at most ``max_tokens``.
    """

    SILENT: ClassVar[frozenset[str]] = frozenset({"empty_reason", "examples", "conversation_history", "task_context"})

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


class SearchContextInput(PagedInput):
    """Arguments of search_context."""

    query: Question = Field(
        description="The question; what it has in quotation marks or code marks is also looked for to the letter."
    )
    max_results: int = Field(10, ge=1, le=MAX_TOP_K, description="How many results of all levels together.")
    min_relevance: float = Field(0.7, ge=0, le=1, description="Leave out what is less relevant.")
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
