"""memory_forget: deprecate, correct or delete a memory (memory design, section 4.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, field_validator

from graphctx.errors import InvalidArgument
from graphctx.model.answers import Budget
from graphctx.server.call_context import CallContext
from graphctx.server.render import one_line
from graphctx.server.tool import Description, Reply, Tool

if TYPE_CHECKING:
    pass
from graphctx.server.tools.memory.base import MAX_CONTENT_CHARS, MemoryChange, MemoryInput, change_reply


class MemoryForgetInput(MemoryInput):
    """Arguments of memory_forget."""

    memory_id: str = Field(
        min_length=1, max_length=100, description="Id of a memory, m_…, or the 4 characters that texts show."
    )
    action: Literal["deprecate", "correct", "delete"] = Field(
        description="deprecate halves the confidence; correct replaces the content and keeps the old in the history; "
        "delete removes it for good, from the disk too."
    )
    correction: str | None = Field(None, min_length=1, max_length=MAX_CONTENT_CHARS, description="For correct.")

    @field_validator("correction")
    @classmethod
    def _has_words(cls, value: str | None) -> str | None:
        if value is not None and not value.strip():
            raise ValueError("must not be blank")
        return value


class MemoryForgetAnswer(MemoryChange):
    """Output of memory_forget."""

    SILENT: ClassVar[frozenset[str]] = MemoryChange.SILENT | {"replaced_by", "confidence"}

    id: str
    action: Literal["deprecate", "correct", "delete"]
    confidence: float | None = Field(None, description="Afterwards.")
    replaced_by: str = Field("", description="Id of the corrected memory.")


def _forget(context: CallContext, asked: MemoryForgetInput) -> Reply[MemoryForgetAnswer]:
    context.require_writer("the memory")
    if (asked.correction is None) == (asked.action == "correct"):
        raise InvalidArgument(
            "action correct needs the correction, and the other actions take none. Send correction with action "
            "correct, or leave it out.",
            field="correction",
            value=asked.correction[:200] if asked.correction else "nothing",
        )
    scope, memory = context.memory_scope(asked.scope), context.open_memory()
    memory_id = memory.get(asked.memory_id, scope).id
    confidence, replaced_by, notes = None, "", []
    if asked.action == "delete":
        memory.forget([memory_id], scope)
    elif asked.action == "deprecate":
        confidence = round(memory.deprecate(memory_id, scope).confidence, 4)
    else:
        outcome = memory.correct(memory_id, asked.correction or "", scope, context.moment())
        replaced_by, notes = outcome.item.id, [outcome.degraded] if outcome.degraded else []

    def build(n: int, budget: Budget) -> MemoryForgetAnswer:
        return MemoryForgetAnswer(
            id=memory_id,
            action=asked.action,
            confidence=confidence,
            replaced_by=replaced_by,
            notes=notes,
            session_id=context.session_id,
            budget=budget,
        )

    def render(answer: MemoryForgetAnswer) -> str:
        done = {
            "delete": "is deleted, with its facts, from the disk too.",
            "deprecate": f"now has confidence {answer.confidence}.",
            "correct": f"is corrected by {answer.replaced_by}; the old content stays in the history until it is "
            "deleted.",
        }[answer.action]
        return "\n".join([f"{answer.id} {done}", *map(one_line, answer.notes)])

    return change_reply(context, build, render)


MEMORY_FORGET = Tool(
    name="memory_forget",
    toolset="memory",
    title="Correct or delete a memory",
    description=Description(
        use_when="a memory is outdated (deprecate), wrong (correct) or must go (delete).",
        not_when="a fact has changed: store the new one with memory_store, which ends the older.",
        returns="what was done. delete cannot be undone.",
        follow_up="call memory_retrieve to see what is left.",
    ),
    input=MemoryForgetInput,
    output=MemoryForgetAnswer,
    run=_forget,
    effect="delete",
)
