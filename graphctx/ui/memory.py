"""Operations of the view Memory: what is stored, one item, facts in time, sessions and budgets.

Search, correction and deletion are the tools ``memory_retrieve`` and ``memory_forget``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pydantic import Field

from graphctx.errors import BackendUnavailable
from graphctx.model.requests import Label, Strict
from graphctx.server.entities import entity_named
from graphctx.server.tools.memory.base import MemoryKindName, RememberedFact, optional_time, time_field
from graphctx.ui.operation import AnyOperation, Operation, PageCall

if TYPE_CHECKING:
    from graphctx.memory import Memory, MemoryItem, MemoryScope

MAX_TEXT_CHARS = 2_000
"""Characters of an item in a list; `_item` returns all."""

MAX_COUNTED = 500
"""Items whose tokens are counted for a part of the block."""

_PENDING = 200
"""Turns whose facts one call extracts at most, as ``graph_query`` does."""


class MemorySessionInput(Strict):
    """What the operations have in common."""

    session: Label | None = Field(None, description="Also what only this session sees.")


class MemoryItemsInput(MemorySessionInput):
    """Input of ``memory_items``."""

    ids: list[Label] = Field([], max_length=200, description="Only these; unknown ones are left out.")
    kinds: list[MemoryKindName] = Field([], max_length=12)
    tiers: list[int] = Field([], max_length=4)
    states: list[str] = Field([], max_length=4, description="Without any, archived items are left out.")
    after: str | None = time_field("Stored at this ISO 8601 time or later.")
    before: str | None = time_field("Stored before it.")
    corrected: bool = Field(False, description="Also items that were corrected.")
    offset: int = Field(0, ge=0, le=1_000_000)
    limit: int = Field(50, ge=1, le=200)


class MemoryItemInput(MemorySessionInput):
    """Input of ``memory_item``."""

    id: str = Field(min_length=1, max_length=100)


class MemoryFactsInput(MemorySessionInput):
    """Input of ``memory_facts``."""

    name: str = Field("", max_length=500, description="Only subjects with this in their name or in that of a value.")
    offset: int = Field(0, ge=0, le=1_000_000)
    limit: int = Field(20, ge=1, le=100, description="Subjects.")


def _opened(call: PageCall, asked: MemorySessionInput) -> tuple[Memory, MemoryScope]:
    """Return the memory and what the caller sees of it.

    Raises:
        BackendUnavailable: none is served, or it cannot be opened.
    """
    from graphctx.memory import MemoryScope

    kb = call.kb()
    if kb.memory is None:
        raise BackendUnavailable("No memory is served here. Start the page with --memory DIR.", setting="memory.folder")
    project = kb.searcher().boundary.project_id
    return kb.memory(), MemoryScope(call.caller.principal, project or "", asked.session or "")


def _names_sessions(call: PageCall) -> bool:
    """Return whether a caller may learn the names of sessions: callers without a token are one principal."""
    return bool(call.caller.principal) or call.server.access.is_local(call.caller)


def _overview(call: PageCall, asked: MemorySessionInput) -> dict[str, Any]:
    """Return counts, sessions, and the parts of a block with their budgets."""
    from graphctx.memory import MemoryFilter, Moment

    memory, scope = _opened(call, asked)
    now, count, budgets = Moment(datetime.now(UTC)), call.kb().count, memory.settings.token_budgets

    def part(name: str, budget: int, items: list[MemoryItem]) -> dict[str, Any]:
        tokens = sum(count(item.text) for item in items[:MAX_COUNTED])
        return {"name": name, "budget": budget, "n_items": len(items), "tokens": tokens}

    core = memory.select(scope, now, MemoryFilter(tiers=(3,)))
    parts = [
        part("core", budgets.tier3_core, core),
        part("session", budgets.tier1_session, memory.lifecycle.summaries(scope, now, 1)),
        part("epoch", budgets.tier2_epoch, memory.lifecycle.summaries(scope, now, 2)),
    ]
    if asked.session:
        threshold = memory.settings.compression.tier0_overflow_threshold
        parts.insert(0, part("working", threshold, memory.lifecycle.working(scope, now)))
    return {
        "project": scope.project,
        **memory.statistics.counts(scope),
        "persistence": memory.settings.storage.persistence,
        "retention_days": memory.settings.storage.retention_days,
        "sessions": memory.statistics.sessions(scope) if _names_sessions(call) else [],
        "parts": parts,
        "may_write": call.may_write,
    }


def _items(call: PageCall, asked: MemoryItemsInput) -> dict[str, Any]:
    """Return items by the time of storing, the newest first, or those of ``ids`` in their order."""
    from graphctx.memory import MemoryFilter, Moment

    memory, scope = _opened(call, asked)
    if asked.ids:
        found = memory.visible(asked.ids, scope)
        return {"items": _listed(call, memory, found), "more": False}
    chosen = MemoryFilter(
        kinds=tuple(asked.kinds),
        tiers=tuple(asked.tiers),
        states=tuple(asked.states),  # type: ignore[arg-type]  # checked there
        session=asked.session,
        after=optional_time(asked.after, "after"),
        before=optional_time(asked.before, "before"),
        history=asked.corrected,
    )
    end = asked.offset + asked.limit
    found = memory.select(scope, Moment(datetime.now(UTC)), chosen, limit=end + 1)
    return {"items": _listed(call, memory, found[asked.offset : end]), "more": len(found) > end}


def _item(call: PageCall, asked: MemoryItemInput) -> dict[str, Any]:
    """Return an item whole, the versions that it corrected, the items that it was made from, and its facts."""
    memory, scope = _opened(call, asked)
    item, *corrected = memory.history(asked.id, scope)
    sources = [] if corrected else memory.visible(item.source_ids[:50], scope)
    (shown,) = _listed(call, memory, [item])
    return {
        "item": {**shown, "text": item.text, "metadata": dict(item.metadata)},
        "corrected": _listed(call, memory, corrected),
        "sources": _listed(call, memory, sources),
        "facts": [RememberedFact.of(placed.fact).model_dump(mode="json") for placed in memory.facts_of(item.id)],
    }


def _facts(call: PageCall, asked: MemoryFactsInput) -> dict[str, Any]:
    """Return facts in time by subject and predicate, those with the newest facts first."""
    memory, scope = _opened(call, asked)
    memory.extraction.pending(_PENDING)
    found = memory.facts.timelines(scope, name=asked.name, limit=asked.limit + 1, offset=asked.offset)
    searcher, now = call.searcher(), datetime.now(UTC)
    subjects = []
    for lines in found[: asked.limit]:
        entity = entity_named(searcher, lines[0].subject)
        subjects.append(
            {
                "subject": lines[0].subject,
                "document_entity": entity.id if entity else "",
                "lines": [
                    {
                        "predicate": line.predicate,
                        "single_valued": line.single_valued,
                        "values": [
                            {**RememberedFact.of(fact).model_dump(mode="json"), "holds": fact.holds(now)}
                            for fact in line.values
                        ],
                    }
                    for line in lines
                ],
            }
        )
    return {"subjects": subjects, "more": len(found) > asked.limit, "as_of": now.isoformat()}


def _listed(call: PageCall, memory: Memory, items: Iterable[MemoryItem]) -> list[dict[str, Any]]:
    """Return items as JSON values, long ones by their beginning."""
    items = list(items)
    outdated = memory.facts.outdated([item.id for item in items], datetime.now(UTC))
    listed = []
    for item in items:
        fields = {
            name: value.isoformat() if isinstance(value, datetime) else value for name, value in asdict(item).items()
        }
        del fields["principal"], fields["metadata"]
        if not _names_sessions(call):
            fields["session"] = ""
        old = outdated.get(item.id)
        fields |= {"text": item.text[:MAX_TEXT_CHARS], "n_chars": len(item.text)}
        listed.append({**fields, "outdated_since": old.since.isoformat() if old else None})
    return listed


OPERATIONS: tuple[AnyOperation, ...] = (
    Operation("memory_overview", MemorySessionInput, _overview),
    Operation("memory_items", MemoryItemsInput, _items),
    Operation("memory_item", MemoryItemInput, _item),
    Operation("memory_facts", MemoryFactsInput, _facts),
)
