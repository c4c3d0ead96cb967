"""prune_low_value_context: delete items of low usefulness."""

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
from graphctx.server.tools.iteration.base import ContextChange, change_of, writing_client


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
    return change_of(context, PruneAnswer, found, lambda answer: f"{counted(answer.pruned, 'item')} deleted for good.")


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
