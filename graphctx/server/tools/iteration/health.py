"""health_check: whether the memory works."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from graphctx.server.call_context import CallContext
from graphctx.server.render import one_line
from graphctx.server.tool import Description, Reply, Tool
from graphctx.server.tools.memory.base import (
    MemoryInput,
)

if TYPE_CHECKING:
    pass
from graphctx.server.tools.iteration.base import ContextChange, change_of, client_of


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

    return change_of(context, HealthCheckAnswer, found, render)


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
