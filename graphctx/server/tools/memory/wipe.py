"""memory_wipe: delete everything of a project (memory design, section 7.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from graphctx.errors import InvalidArgument
from graphctx.model.answers import Budget
from graphctx.server.call_context import CallContext
from graphctx.server.render import counted
from graphctx.server.tool import Description, Reply, Tool

if TYPE_CHECKING:
    pass
from graphctx.server.tools.memory.base import MemoryChange, MemoryInput, change_reply

WIPE_WORD = "wipe"
"""The word that confirms memory_wipe."""


class MemoryWipeInput(MemoryInput):
    """Arguments of memory_wipe."""

    confirm: str = Field("", max_length=100, description=f"The word {WIPE_WORD}; ask the person first.")


class MemoryWipeAnswer(MemoryChange):
    """Output of memory_wipe."""

    n_deleted: int


def _wipe(context: CallContext, asked: MemoryWipeInput) -> Reply[MemoryWipeAnswer]:
    context.require_writer("the memory")
    if asked.confirm.strip().casefold() != WIPE_WORD:
        raise InvalidArgument(
            f"memory_wipe deletes everything that is remembered in this project, for good. If the person wants that, "
            f"call it again with confirm={WIPE_WORD!r}.",
            field="confirm",
            value=asked.confirm[:100],
            allowed=WIPE_WORD,
        )
    n_deleted = context.open_memory().wipe(context.memory_scope(asked.scope))

    def build(n: int, budget: Budget) -> MemoryWipeAnswer:
        return MemoryWipeAnswer(n_deleted=n_deleted, session_id=context.session_id, budget=budget)

    return change_reply(
        context, build, lambda answer: f"{counted(answer.n_deleted, 'memory')} deleted for good, with all facts."
    )


MEMORY_WIPE = Tool(
    name="memory_wipe",
    toolset="memory",
    title="Delete everything that is remembered",
    description=Description(
        use_when=f"the person asks to forget everything, and has confirmed it; confirm is the word {WIPE_WORD}.",
        not_when="one memory must go: memory_forget.",
        returns="the number of deleted memories of this project. It cannot be undone.",
        follow_up="nothing is left.",
    ),
    input=MemoryWipeInput,
    output=MemoryWipeAnswer,
    run=_wipe,
    effect="delete",
)
