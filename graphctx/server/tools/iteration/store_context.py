"""store_context: keep something for later iterations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from graphctx.model.requests import Label
from graphctx.server.call_context import CallContext
from graphctx.server.tool import Description, Reply, Tool
from graphctx.server.tools.memory.base import (
    MAX_CONTENT_CHARS,
    MemoryInput,
)

if TYPE_CHECKING:
    pass
from graphctx.server.tools.iteration.base import ContextChange, change_of, writing_client


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
    return change_of(
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
