"""store_iteration_result: what an iteration did."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from graphctx.model.requests import Label
from graphctx.server.call_context import CallContext
from graphctx.server.render import counted
from graphctx.server.tool import Description, Reply, Tool
from graphctx.server.tools.memory.base import (
    MAX_CONTENT_CHARS,
    MemoryInput,
)

if TYPE_CHECKING:
    pass
from graphctx.server.tools.iteration.base import MAX_NUMBER, ContextChange, change_of, writing_client


class IterationResultInput(MemoryInput):
    """Arguments of store_iteration_result."""

    iteration: int = Field(ge=0, le=MAX_NUMBER, description="Its number, as the orchestrator counts.")
    summary: str = Field(min_length=1, max_length=MAX_CONTENT_CHARS, pattern=r"\S", description="What was done.")
    success: bool = Field(description="Whether it did what it was for.")
    duration_ms: int = Field(0, ge=0, le=10**12, description="Milliseconds it took.")
    tokens_used: int = Field(0, ge=0, le=10**12, description="Tokens it cost.")
    cost: float = Field(0.0, ge=0, le=10**12, description="What it cost, in any currency.")
    tool_calls: list[Label] | None = Field(None, max_length=200, description="Names of the tools that were called.")
    artifacts: list[Label] | None = Field(None, max_length=200, description="What was made, such as files.")
    error: str | None = Field(None, max_length=20_000, description="What went wrong, and its solution if there is one.")


class IterationResultAnswer(ContextChange):
    """Output of store_iteration_result."""

    SILENT: ClassVar[frozenset[str]] = ContextChange.SILENT | {"error_id"}

    stored: bool
    item_id: str
    error_id: str | None = Field(None, description="Of the item that has the error.")
    iteration: int = Field(description="In the memory's count, which goes on over sessions.")
    summarized: int = Field(description="Summaries made of old items.")
    pruned: int = Field(description="Items deleted.")


def _store_iteration_result(context: CallContext, asked: IterationResultInput) -> Reply[IterationResultAnswer]:
    found = writing_client(context, asked).store_iteration_result(
        **asked.model_dump(include=set(IterationResultInput.__annotations__))
    )

    def render(answer: IterationResultAnswer) -> str:
        said = f"Stored as {answer.item_id}"
        said += f", and its error as {answer.error_id}." if answer.error_id else "."
        if answer.summarized or answer.pruned:
            said += f" {counted(answer.summarized, 'summary')} made, {counted(answer.pruned, 'item')} pruned."
        return said

    return change_of(context, IterationResultAnswer, found, render)


STORE_ITERATION_RESULT = Tool(
    name="store_iteration_result",
    toolset="iteration",
    title="Store the result of an iteration",
    description=Description(
        use_when="an iteration is over, whether it succeeded or failed.",
        not_when="it still runs: store_context.",
        returns="one id, when it is safely on the disk. Older items age, are summarized, and are pruned if they are "
        "of no use.",
        follow_up="call get_iteration_history.",
    ),
    input=IterationResultInput,
    output=IterationResultAnswer,
    run=_store_iteration_result,
    effect="append",
)
