"""summarize_old_context, prune_low_value_context, get_context_stats and health_check: the state of what is stored."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from graphctx.model.answers import Answer
from graphctx.server.call_context import CallContext
from graphctx.server.render import counted, one_line, quoted
from graphctx.server.tool import Description, Reply, Tool
from graphctx.server.tools.iteration.base import MAX_NUMBER, ContextChange, client_of, context_change, writing_client
from graphctx.server.tools.memory.base import (
    DATA_NOTE,
    MemoryInput,
)


class SummarizeInput(MemoryInput):
    """Arguments of summarize_old_context."""

    older_than_iterations: int = Field(
        20, ge=0, le=MAX_NUMBER, description="Only items of a greater age; the default may be set otherwise."
    )


class ContextSummary(Answer):
    """A summary of old items."""

    id: str
    content: str
    source_ids: list[str] = Field(description="Ids of the items that it is made from.")


class SummarizeAnswer(ContextChange):
    """Output of summarize_old_context."""

    SILENT: ClassVar[frozenset[str]] = ContextChange.SILENT | {"model"}

    summarized: int = Field(description="Items that the summaries stand for; they stay searchable.")
    summaries: list[ContextSummary] = Field(description="The first of the new summaries.")
    model: str = Field("", description="The language model that wrote them; else they are sentences of the items.")


def _summarize_old_context(context: CallContext, asked: SummarizeInput) -> Reply[SummarizeAnswer]:
    given = "older_than_iterations" in asked.model_fields_set
    found = writing_client(context, asked).summarize_old_context(asked.older_than_iterations if given else None)

    def render(answer: SummarizeAnswer) -> str:
        if not answer.summarized:
            return "No item that is not summarized yet is old enough."
        said = f"{counted(answer.summarized, 'item')} summarized. {DATA_NOTE}"
        return "\n\n".join([said, *(f"[{each.id}]\n{quoted(each.content)}" for each in answer.summaries)])

    return context_change(context, SummarizeAnswer, found, render)


SUMMARIZE_OLD_CONTEXT = Tool(
    name="summarize_old_context",
    toolset="iteration",
    title="Compress old context",
    description=Description(
        use_when="much is stored. It also happens by itself when the result of an iteration is stored.",
        not_when="items are of no use: prune_low_value_context.",
        returns="the new summaries, which cite the sentences of the items that they name; these stay searchable.",
        follow_up="call get_context_stats.",
    ),
    input=SummarizeInput,
    output=SummarizeAnswer,
    run=_summarize_old_context,
    effect="append_once",
)


class PruneInput(MemoryInput):
    """Arguments of prune_low_value_context."""

    min_score: float = Field(
        0.3, ge=0, le=1, description="Items of this usefulness and above stay; the default may be set otherwise."
    )


class PruneAnswer(ContextChange):
    """Output of prune_low_value_context."""

    pruned: int


def _prune_low_value_context(context: CallContext, asked: PruneInput) -> Reply[PruneAnswer]:
    given = "min_score" in asked.model_fields_set
    found = writing_client(context, asked).prune_low_value_context(asked.min_score if given else None)
    return context_change(
        context, PruneAnswer, found, lambda answer: f"{counted(answer.pruned, 'item')} deleted for good."
    )


PRUNE_LOW_VALUE_CONTEXT = Tool(
    name="prune_low_value_context",
    toolset="iteration",
    title="Delete context of low usefulness",
    description=Description(
        use_when="items that feedback has marked as useless should go.",
        not_when="one item must go: memory_forget.",
        returns="one number of deleted items of usefulness below {min_score}. It cannot be undone.",
        follow_up="call get_context_stats.",
    ),
    input=PruneInput,
    output=PruneAnswer,
    run=_prune_low_value_context,
    effect="delete",
)


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

    return context_change(context, ContextStatsAnswer, found, render)


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


class HealthCheckInput(MemoryInput):
    """Arguments of health_check."""


class HealthCheckAnswer(ContextChange):
    """Output of health_check."""

    status: Literal["healthy", "degraded", "unavailable"]
    checks: dict[str, str] = Field(description="store, search, skillbook: ok, none, or what is wrong.")
    version: str


def _health_check(context: CallContext, asked: HealthCheckInput) -> Reply[HealthCheckAnswer]:
    found = client_of(context, asked).health_check()

    def render(answer: HealthCheckAnswer) -> str:
        return "\n".join([f"{answer.status}.", *(f"{name}: {one_line(said)}" for name, said in answer.checks.items())])

    return context_change(context, HealthCheckAnswer, found, render)


HEALTH_CHECK = Tool(
    name="health_check",
    toolset="iteration",
    title="Check the memory",
    description=Description(
        use_when="answers are degraded, or before a long run.",
        not_when="everything works.",
        returns="one status and what each part says.",
        follow_up="do what the failing part says, or call get_context_stats.",
    ),
    input=HealthCheckInput,
    output=HealthCheckAnswer,
    run=_health_check,
)
