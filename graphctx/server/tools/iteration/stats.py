"""get_context_stats: how much is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from graphctx.server.call_context import CallContext
from graphctx.server.render import counted
from graphctx.server.tool import Description, Reply, Tool
from graphctx.server.tools.memory.base import (
    MemoryInput,
)

if TYPE_CHECKING:
    pass
from graphctx.server.tools.iteration.base import ContextChange, change_of, client_of


class ContextStatsInput(MemoryInput):
    """Arguments of get_context_stats."""


class ContextStatsAnswer(ContextChange):
    """Output of get_context_stats."""

    total_items: int
    by_type: dict[str, int]
    by_state: dict[str, int]
    mean_usefulness: float | None
    oldest: str | None
    newest: str | None
    iterations: int = Field(description="Results that are stored.")
    current_iteration: int
    success_rate: float | None
    storage_bytes: int
    max_bytes: int


def _get_context_stats(context: CallContext, asked: ContextStatsInput) -> Reply[ContextStatsAnswer]:
    found = client_of(context, asked, strict=True).get_context_stats()

    def render(answer: ContextStatsAnswer) -> str:
        types = ", ".join(f"{count} {kind}" for kind, count in answer.by_type.items()) or "none"
        states = ", ".join(f"{count} {state}" for state, count in answer.by_state.items()) or "none"
        return (
            f"{counted(answer.total_items, 'item')} at iteration {answer.current_iteration}: {types}.\n"
            f"States: {states}.\n"
            f"{answer.storage_bytes:,} of {answer.max_bytes:,} bytes."
        )

    return change_of(context, ContextStatsAnswer, found, render)


GET_CONTEXT_STATS = Tool(
    name="get_context_stats",
    toolset="iteration",
    title="See how much context is stored",
    description=Description(
        use_when="you want to know how much is stored, of which type and state.",
        not_when="you want the items: get_relevant_context.",
        returns="one set of counts.",
        follow_up="call summarize_old_context or prune_low_value_context if it is too much.",
    ),
    input=ContextStatsInput,
    output=ContextStatsAnswer,
    run=_get_context_stats,
)
