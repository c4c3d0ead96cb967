"""The memory as a source of composed contexts."""

from __future__ import annotations

from typing import Any

from graphctx.errors import BackendUnavailable
from graphctx.memory.assembler import BlockEntry, assemble_block
from graphctx.memory.items import MemoryItem, MemoryScope, Moment
from graphctx.memory.memory import Memory
from graphctx.memory.search import MemoryQuery
from graphctx.model.budgets import CountTokens
from graphctx.model.context import ContextInput, ContextSection
from graphctx.model.context_source import RetrievedPart


class MemoryContextSource:
    """Finds what is remembered for a question; a `graphctx.model.context_source.ContextSource`.

    Usage::

        source = MemoryContextSource(memory, MemoryScope(project="handbook"), Moment(now), kb.tokens.count)
        kb.compose_context("Who cancels a warning?", sources=[source])

    Args:
        memory: to ask. A memory that cannot be asked contributes a note alone.
        scope: whose memory, of which project and session; a request's own scope narrows documents alone.
        now: as of when.
        count: counts the tokens of a text.
    """

    def __init__(self, memory: Memory, scope: MemoryScope, now: Moment, count: CountTokens) -> None:
        self._memory, self._scope, self._now, self._count = memory, scope, now, count

    def retrieve(self, request: ContextInput, budget: int) -> RetrievedPart:
        """Return items and facts within a budget, core memory first."""
        query = MemoryQuery(request.query, self._scope, self._now, limit=self._memory.settings.ranking.top_k)
        try:
            block = assemble_block(self._memory, query, budget, self._count, record_use=False)
        except BackendUnavailable as error:
            return RetrievedPart(notes=[f"The memory was not searched: {error.message}"])
        notes = [f"The memory is degraded: {block.degraded}."] if block.degraded else []
        return RetrievedPart([_section(entry) for entry in block.entries], notes=notes)


def _section(entry: BlockEntry) -> ContextSection:
    content = entry.content
    metadata: dict[str, Any] = {"fact_id": content.id}
    if isinstance(content, MemoryItem):
        start, end = entry.excerpt or (0, len(content.text))
        metadata = {
            "item_id": content.id,
            "kind": content.kind,
            "author": content.author,
            "verbatim": content.verbatim,
            "created_at": content.created_at.isoformat(),
            "start_char": start,
            "end_char": end,
        }
    return ContextSection(
        label=entry.label,
        relevance_score=round(min(1.0, max(0.0, entry.score)), 3),
        content=entry.shown,
        metadata=metadata,
        hierarchy_level=3,
        origin="memory",
    )
