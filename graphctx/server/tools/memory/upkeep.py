"""memory_forget, memory_compress, memory_status, memory_wipe: what becomes of memories (memory design, 4.1 and 7.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, field_validator

from graphctx.errors import InvalidArgument
from graphctx.model.answers import Answer, Budget
from graphctx.model.requests import Scope, Strict
from graphctx.server.call_context import CallContext
from graphctx.server.render import clean, counted, one_line
from graphctx.server.tool import Description, Reply, Tool
from graphctx.server.tools.memory.base import (
    DATA_NOTE,
    MAX_CONTENT_CHARS,
    MemoryChange,
    MemoryInput,
    SessionName,
    change_of,
    change_reply,
)

if TYPE_CHECKING:
    from graphctx.memory import Memory, MemoryItem, MemoryScope


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


class MemoryCompressInput(Strict):
    """Arguments of memory_compress."""

    scope: Literal["working", "session", "epoch"] = Field(
        description="working: the turns of this session; session: the session summaries; epoch: the epoch summaries."
    )
    session_id: SessionName | None = None


class RememberedItem(Answer):
    """A memory and where it comes from."""

    SILENT: ClassVar[frozenset[str]] = frozenset({"author", "source", "source_ids", "tags"})

    id: str
    kind: str
    tier: int = Field(description="0 working, 1 session, 2 epoch, 3 core.")
    text: str = Field(description="Exactly as it was stored.")
    created_at: str
    author: str = ""
    source: str = ""
    confidence: float
    source_ids: list[str] = Field([], description="Ids of the memories that it is made from or corrects.")
    tags: list[str] = Field([], description="As they were stored.")

    @classmethod
    def of(cls, item: MemoryItem) -> RememberedItem:
        """Return an item as answers show it."""
        return cls(
            id=item.id,
            kind=item.kind,
            tier=item.tier,
            text=item.text,
            created_at=item.created_at.isoformat(),
            author=item.author,
            source=item.source,
            confidence=round(item.confidence, 4),
            source_ids=list(item.source_ids),
            tags=list(item.tags),
        )


class MemoryCompressAnswer(MemoryChange):
    """Output of memory_compress."""

    SILENT: ClassVar[frozenset[str]] = MemoryChange.SILENT | {"model", "degraded"}

    summaries: list[RememberedItem] = Field(description="The new summaries, which cite their source_ids.")
    n_sources: int = Field(description="Memories that they stand for; these stay searchable.")
    model: str = Field("", description="The language model that wrote them; else they are sentences of the memories.")
    degraded: str = Field("", description="Why some are extractive although a language model is set.")


def _compress(context: CallContext, asked: MemoryCompressInput) -> Reply[MemoryCompressAnswer]:
    context.require_writer("the memory")
    outcome = context.open_memory().lifecycle.compress(asked.scope, context.memory_scope(Scope()), context.moment())

    def build(n: int, budget: Budget) -> MemoryCompressAnswer:
        left = len(outcome.summaries) - n
        return MemoryCompressAnswer(
            summaries=[RememberedItem.of(item) for item in outcome.summaries[:n]],
            n_sources=len(outcome.source_ids),
            model=outcome.model,
            degraded=outcome.degraded,
            notes=[f"{counted(left, 'further summary')} not shown."] if left > 0 else [],
            session_id=context.session_id,
            budget=budget,
        )

    def render(answer: MemoryCompressAnswer) -> str:
        if not answer.n_sources:
            return f"There is nothing to compress at the level {asked.scope}."
        by = f" by {one_line(answer.model)}" if answer.model else ""
        said = f"{counted(answer.n_sources, 'memory')} compressed{by}. {DATA_NOTE}"
        blocks = [f"[{item.id}, tier {item.tier}]\n{_indented(item.text)}" for item in answer.summaries]
        degraded = [f"Degraded: {one_line(answer.degraded)}"] if answer.degraded else []
        return "\n\n".join([said, *blocks, *answer.notes, *degraded])

    return change_reply(context, build, render)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in clean(text).splitlines())


MEMORY_COMPRESS = Tool(
    name="memory_compress",
    toolset="memory",
    title="Compress working memory",
    description=Description(
        use_when="the conversation has turned to another topic, or working memory is large. It also happens by "
        "itself when working memory overflows.",
        not_when="you can write a better summary yourself: memory_store with memory_type summary and source_ids.",
        returns="the new summaries, which cite the sentences of the memories that they name; these stay searchable.",
        follow_up="call memory_retrieve.",
    ),
    input=MemoryCompressInput,
    output=MemoryCompressAnswer,
    run=_compress,
    effect="append_once",
)


class MemoryStatusInput(MemoryInput):
    """Arguments of memory_status."""


class MemoryStatusAnswer(MemoryChange):
    """Output of memory_status."""

    project_id: str
    as_of: str
    n_items: int
    by_kind: dict[str, int]
    by_tier: dict[str, int] = Field(description="0 working, 1 session, 2 epoch, 3 core.")
    by_state: dict[str, int]
    n_facts: int = Field(
        description="Triples that the memories state, one or several each; those of turns count once graph_query has "
        "extracted them."
    )
    n_facts_holding: int = Field(description="Facts without an end.")
    n_entities: int
    oldest: str | None
    newest: str | None
    store_bytes: int
    max_bytes: int
    persistence: str = Field(description="Where memories are visible by default.")
    retention_days: int = Field(description="Days after which a memory is deleted; 0 keeps it.")


def status_fields(memory: Memory, scope: MemoryScope) -> dict[str, Any]:
    """Return what `MemoryStatusAnswer` and the resource memory://stats say of a memory."""
    stats, storage = memory.statistics.counts(scope), memory.settings.storage
    for name in ("mean_usefulness", "last_iteration"):
        del stats[name]
    return {
        "project_id": scope.project,
        **stats,
        "persistence": storage.persistence,
        "retention_days": storage.retention_days,
    }


def _status(context: CallContext, asked: MemoryStatusInput) -> Reply[MemoryStatusAnswer]:
    fields = status_fields(context.open_memory(), context.memory_scope(asked.scope))

    def render(answer: MemoryStatusAnswer) -> str:
        kinds = ", ".join(f"{count} {kind}" for kind, count in answer.by_kind.items()) or "none"
        return "\n".join(
            [
                f"{counted(answer.n_items, 'memory')} in project {one_line(answer.project_id)}: {kinds}.",
                f"Tiers: {', '.join(f'{tier}: {count}' for tier, count in answer.by_tier.items()) or 'none'}.",
                f"{counted(answer.n_facts, 'fact')}, {answer.n_facts_holding} without an end, about "
                f"{counted(answer.n_entities, 'entity')}.",
                f"From {answer.oldest or 'never'} to {answer.newest or 'never'}; {answer.store_bytes:,} of "
                f"{answer.max_bytes:,} bytes.",
            ]
        )

    return change_of(context, MemoryStatusAnswer, {**fields, "as_of": context.now.isoformat()}, render)


MEMORY_STATUS = Tool(
    name="memory_status",
    toolset="memory",
    title="See how much is remembered",
    description=Description(
        use_when="you want to know how much is remembered, of what kind, and since when.",
        not_when="you want the memories: memory_retrieve.",
        returns="one set of counts.",
        follow_up="call memory_retrieve or graph_query.",
    ),
    input=MemoryStatusInput,
    output=MemoryStatusAnswer,
    run=_status,
)


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
    said = f"{counted(n_deleted, 'memory')} deleted for good, with all facts."
    return change_of(context, MemoryWipeAnswer, {"n_deleted": n_deleted}, lambda answer: said)


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
