"""get_iteration_history: the results of the last iterations."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from graphctx.model.answers import Answer
from graphctx.model.pages import Part
from graphctx.server.call_context import CallContext
from graphctx.server.render import counted, quoted
from graphctx.server.tool import Description, Reply, Tool
from graphctx.server.tools.memory.base import (
    DATA_NOTE,
)

if TYPE_CHECKING:
    pass
from graphctx.server.tools.iteration.base import IterationListAnswer, IterationListInput, client_of, list_reply


class IterationHistoryInput(IterationListInput):
    """Arguments of get_iteration_history."""

    last_n: int = Field(5, ge=1, le=100, description="How many iterations.")


class IterationRecord(Answer):
    """The result of an iteration."""

    SILENT: ClassVar[frozenset[str]] = frozenset(
        {"success", "duration_ms", "tokens_used", "cost", "tool_calls", "artifacts", "error"}
    )

    id: str
    iteration: int
    success: bool | None = None
    summary: str
    error: str | None = None
    duration_ms: int | None = None
    tokens_used: int | None = None
    cost: float | None = None
    tool_calls: list[str] | None = None
    artifacts: list[str] | None = None
    created_at: str
    created_iteration: int


class IterationHistoryAnswer(IterationListAnswer):
    """Output of get_iteration_history."""

    iterations: list[IterationRecord] = Field(description="The newest first.")
    total: int = Field(description="Results in this project.")


def _get_iteration_history(context: CallContext, asked: IterationHistoryInput) -> Reply[IterationHistoryAnswer]:
    found = client_of(context, asked).get_iteration_history(asked.last_n)

    def build(part: Part[IterationRecord]) -> IterationHistoryAnswer:
        return IterationHistoryAnswer(
            iterations=part.items, total=found["total"], degraded=found["degraded"], **part.fields
        )

    def render(answer: IterationHistoryAnswer) -> list[str]:
        if not answer.iterations:
            return ["No result of an iteration is stored."]
        lines = [f"The last {len(answer.iterations)} of {counted(answer.total, 'iteration')}. {DATA_NOTE}"]
        for each in answer.iterations:
            outcome = {True: "succeeded", False: "failed", None: "ended"}[each.success]
            error = f"\n  error:\n{quoted(each.error, '  ')}" if each.error else ""
            lines.append(f"Iteration {each.iteration} {outcome} ({each.id})\n{quoted(each.summary)}{error}")
        return lines

    records = [IterationRecord(**each) for each in found["iterations"]]
    return list_reply(context, asked, records, build, render, "get_iteration_history")


GET_ITERATION_HISTORY = Tool(
    name="get_iteration_history",
    toolset="iteration",
    title="See the last iterations",
    description=Description(
        use_when="you go on with a task and want to know what was tried last, and what succeeded or failed.",
        not_when="you look for something particular: get_relevant_context.",
        returns="the results of the last {last_n} iterations, the newest first, within {response}.",
        follow_up="call it with a larger last_n.",
    ),
    input=IterationHistoryInput,
    output=IterationHistoryAnswer,
    run=_get_iteration_history,
)
