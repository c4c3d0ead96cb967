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
        empty_reason: why there is nothing.
    """

    sections: Sequence[ContextSection] = ()
    examples: Sequence[ContextExample] = ()
    task: str = ""
    empty_reason: EmptyReason | None = None


class ContextSource(Protocol):
    """Finds sections for a question: documents, themes, layers, memory."""

    def retrieve(self, request: ContextInput, budget: int) -> RetrievedPart:
        """Return sections that weigh at most about ``budget`` tokens as `graphctx.context.render` writes them."""
