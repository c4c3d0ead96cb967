"""What a context is composed of: sections that sources find for a question, the best first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from graphctx.model.answers import EmptyReason
from graphctx.model.context import ContextExample, ContextInput, ContextSection


@dataclass(frozen=True, slots=True)
class RetrievedPart:
    """What a source contributes.

    Attributes:
        sections: the best first; those of one place stand together, in its order.
        examples: the best first.
        task: what the question asks for, in a sentence.
        confidence: of the best sentence, 0..1, on the scale of ``kb.retrieve_evidence``; 0 where a source has none.
        unknown_words: key words of the question that no document in scope holds, and no layer that was asked.
        nearest: where nothing bears on the question, URIs of the documents that come nearest.
        question: what it was found for; a cache may return what was found for another wording.
        empty_reason: why there is nothing.
        notes: what could not be asked, and where sources disagree, in sentences.
        tokens: of the sections as `graphctx.context.render` writes them; ``None`` where nobody counted.
    """

    sections: Sequence[ContextSection] = ()
    examples: Sequence[ContextExample] = ()
    task: str = ""
    confidence: float = 0.0
    unknown_words: Sequence[str] = ()
    nearest: Sequence[str] = ()
    question: str = ""
    empty_reason: EmptyReason | None = None
    notes: Sequence[str] = ()
    tokens: int | None = None


class ContextSource(Protocol):
    """Finds sections for a question: documents, layers, memory."""

    def retrieve(self, request: ContextInput, budget: int) -> RetrievedPart:
        """Return sections that weigh at most about ``budget`` tokens as `graphctx.context.render` writes them."""
