"""mark_useful: feedback on an item."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from graphctx.server.call_context import CallContext
from graphctx.server.tool import Description, Reply, Tool
from graphctx.server.tools.memory.base import (
    MemoryInput,
)

if TYPE_CHECKING:
    pass
from graphctx.server.tools.iteration.base import ContextChange, change_of, writing_client


class MarkUsefulInput(MemoryInput):
    """Arguments of mark_useful."""

    item_id: str = Field(min_length=1, max_length=100, description="Id of an item, m_….")
    helpful: bool = Field(description="Whether it helped; false if it misled or was noise.")
    reason: str | None = Field(None, max_length=500, description="Why.")


class MarkUsefulAnswer(ContextChange):
    """Output of mark_useful."""

    stored: bool
    item_id: str
    usefulness_score: float = Field(description="Afterwards.")
    helpful: int
    harmful: int


def _mark_useful(context: CallContext, asked: MarkUsefulInput) -> Reply[MarkUsefulAnswer]:
    found = writing_client(context, asked).mark_useful(asked.item_id, asked.helpful, asked.reason)
    return change_of(
        context,
        MarkUsefulAnswer,
        found,
        lambda answer: (
            f"{answer.item_id} now has usefulness {answer.usefulness_score:.2f} "
            f"({answer.helpful} helpful, {answer.harmful} not)."
        ),
    )


MARK_USEFUL = Tool(
    name="mark_useful",
    toolset="iteration",
    title="Say whether an item helped",
    description=Description(
        use_when="an item of get_relevant_context or get_skills helped, or misled you.",
        not_when="you did not use it.",
        returns="one usefulness, which ranks the item from now on.",
        follow_up="mark other items.",
    ),
    input=MarkUsefulInput,
    output=MarkUsefulAnswer,
    run=_mark_useful,
    effect="append",
)
