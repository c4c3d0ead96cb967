"""memory_compress: summaries of a level (memory design, section 4.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from graphctx.model.answers import Answer, Budget
from graphctx.model.requests import Scope, Strict
from graphctx.server.call_context import CallContext
from graphctx.server.render import clean, counted, one_line
from graphctx.server.tool import Description, Reply, Tool

if TYPE_CHECKING:
    from graphctx.memory import MemoryItem
from graphctx.server.tools.memory.base import DATA_NOTE, MemoryChange, SessionName, change_reply


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
