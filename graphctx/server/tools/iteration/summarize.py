"""summarize_old_context: compress old items."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from graphctx.model.answers import Answer
from graphctx.server.call_context import CallContext
from graphctx.server.render import counted, quoted
from graphctx.server.tool import Description, Reply, Tool
from graphctx.server.tools.memory.base import (
    DATA_NOTE,
    MemoryInput,
)

if TYPE_CHECKING:
    pass
from graphctx.server.tools.iteration.base import MAX_NUMBER, ContextChange, change_of, writing_client


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

    return change_of(context, SummarizeAnswer, found, render)


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
