"""memory_status: how much is remembered (memory design, section 4.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from graphctx.model.answers import Budget
from graphctx.server.call_context import CallContext
from graphctx.server.render import counted, one_line
from graphctx.server.tool import Description, Reply, Tool

if TYPE_CHECKING:
    from graphctx.memory import Memory, MemoryScope
from graphctx.server.tools.memory.base import MemoryChange, MemoryInput, change_reply


class MemoryStatusInput(MemoryInput):
    """Arguments of memory_status."""


class MemoryStatusAnswer(MemoryChange):
    """Output of memory_status."""

    project_id: str
    as_of: str
    n_items: int
    by_kind: dict[str, int]
    by_tier: dict[str, int] = Field(description="0 working, 1 session, 2 epoch, 3 core.")
    by_state: dict[str, int]
    n_facts: int = Field(
        description="Triples that the memories state, one or several each; those of turns count once graph_query has "
        "extracted them."
    )
    n_facts_holding: int = Field(description="Facts without an end.")
    n_entities: int
    oldest: str | None
    newest: str | None
    store_bytes: int
    max_bytes: int
    persistence: str = Field(description="Where memories are visible by default.")
    retention_days: int = Field(description="Days after which a memory is deleted; 0 keeps it.")


def status_fields(memory: Memory, scope: MemoryScope) -> dict[str, Any]:
    """Return what `MemoryStatusAnswer` and the resource memory://stats say of a memory."""
    stats, storage = memory.statistics.counts(scope), memory.settings.storage
    for name in ("mean_usefulness", "last_iteration"):
        del stats[name]
    return {
        "project_id": scope.project,
        **stats,
        "persistence": storage.persistence,
        "retention_days": storage.retention_days,
    }


def _status(context: CallContext, asked: MemoryStatusInput) -> Reply[MemoryStatusAnswer]:
    fields = status_fields(context.open_memory(), context.memory_scope(asked.scope))

    def build(n: int, budget: Budget) -> MemoryStatusAnswer:
        return MemoryStatusAnswer(**fields, as_of=context.now.isoformat(), session_id=context.session_id, budget=budget)

    def render(answer: MemoryStatusAnswer) -> str:
        kinds = ", ".join(f"{count} {kind}" for kind, count in answer.by_kind.items()) or "none"
        return "\n".join(
            [
                f"{counted(answer.n_items, 'memory')} in project {one_line(answer.project_id)}: {kinds}.",
                f"Tiers: {', '.join(f'{tier}: {count}' for tier, count in answer.by_tier.items()) or 'none'}.",
                f"{counted(answer.n_facts, 'fact')}, {answer.n_facts_holding} without an end, about "
                f"{counted(answer.n_entities, 'entity')}.",
                f"From {answer.oldest or 'never'} to {answer.newest or 'never'}; {answer.store_bytes:,} of "
                f"{answer.max_bytes:,} bytes.",
            ]
        )

    return change_reply(context, build, render)


MEMORY_STATUS = Tool(
    name="memory_status",
    toolset="memory",
    title="See how much is remembered",
    description=Description(
        use_when="you want to know how much is remembered, of what kind, and since when.",
        not_when="you want the memories: memory_retrieve.",
        returns="one set of counts.",
        follow_up="call memory_retrieve or graph_query.",
    ),
    input=MemoryStatusInput,
    output=MemoryStatusAnswer,
    run=_status,
)
