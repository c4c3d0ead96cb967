"""store_iteration_result, store_context and mark_useful: what an iteration leaves for later ones."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, WithJsonSchema

from graphctx.model.requests import Label
from graphctx.server.call_context import CallContext
from graphctx.server.render import counted
from graphctx.server.tool import Description, Reply, Tool
from graphctx.server.tools.iteration.base import MAX_NUMBER, ContextChange, context_change, writing_client
from graphctx.server.tools.memory.base import (
    MAX_CONTENT_CHARS,
    MemoryInput,
)


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

    return context_change(context, IterationResultAnswer, found, render)


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


class StoreContextInput(MemoryInput):
    """Arguments of store_context."""

    content: str = Field(min_length=1, max_length=MAX_CONTENT_CHARS, pattern=r"\S", description="What to keep.")
    context_type: Literal["task", "iteration", "skill", "file", "output", "error"] = Field(
        description="skill is a lesson for later; error is what went wrong, and its solution."
    )
    tags: list[Label] | None = Field(None, max_length=50, description="For get_skills.")
    metadata: Annotated[dict[str, Any], WithJsonSchema({"type": "object"})] | None = Field(
        None, description="Anything else, as JSON; returned as it is."
    )
    source: Literal["orchestrator", "agent", "user", "tool"] = Field("agent", description="Who says it.")


class StoreContextAnswer(ContextChange):
    """Output of store_context."""

    stored: bool
    item_id: str
    created: bool = Field(description="Whether it is new.")
    context_type: str
    iteration: int
    pruned: int = Field(description="Items that made room for it.")


def _store_context(context: CallContext, asked: StoreContextInput) -> Reply[StoreContextAnswer]:
    found = writing_client(context, asked).store_context(
        asked.content, asked.context_type, asked.tags, asked.metadata, source=asked.source
    )
    return context_change(
        context,
        StoreContextAnswer,
        found,
        lambda answer: (
            f"Stored as {answer.item_id} ({answer.context_type}, iteration {answer.iteration})."
            if answer.created
            else f"Known already as {answer.item_id}."
        ),
    )


STORE_CONTEXT = Tool(
    name="store_context",
    toolset="iteration",
    title="Keep something for later iterations",
    description=Description(
        use_when="you found out what a later iteration should know: a lesson, an error with its solution, a result.",
        not_when="the iteration is over: store_iteration_result.",
        returns="one id, when it is safely on the disk.",
        follow_up="call get_relevant_context, which finds it.",
    ),
    input=StoreContextInput,
    output=StoreContextAnswer,
    run=_store_context,
    effect="append",
)


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
    return context_change(
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
