"""The lifecycle of what is remembered: summaries of what is old, states by age, pruning, retention."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import groupby
from typing import Any, Literal, Protocol

from graphctx.errors import InvalidArgument
from graphctx.memory.compress import CitedSentence, summarise_items, write_summaries
from graphctx.memory.database import MemoryDatabase
from graphctx.memory.items import (
    ITERATIONS_TAG,
    STATES,
    MemoryDraft,
    MemoryFilter,
    MemoryItem,
    MemoryScope,
    MemoryState,
    Moment,
    to_micros,
)
from graphctx.memory.store import OF_ITERATIONS, ItemStore
from graphctx.nlp.tokens import AnswerCounter
from graphctx.settings import LlmSettings, MemorySettings

CompressLevel = Literal["working", "session", "epoch"]

ITEMS_PER_SUMMARY = 20

_MAINTAINED_ITEMS = 200
_LIVE: tuple[MemoryState, ...] = ("active", "aging")
_WORKING = "project = ? AND tier = 0 AND kind = 'turn' AND session = ? AND state IN ('active', 'aging')"


@dataclass(frozen=True, slots=True)
class CompressOutcome:
    """What a compression did.

    Attributes:
        summaries: the new ones.
        source_ids: ids of the items that they stand for.
        model: the language model that wrote some of them, or empty.
        degraded: why some are extractive although a language model is set, or empty.
    """

    summaries: tuple[MemoryItem, ...]
    source_ids: tuple[str, ...]
    model: str = ""
    degraded: str = ""


@dataclass(frozen=True, slots=True)
class MaintainOutcome:
    """What `Memory.maintain` did: new summaries, changed states, deleted items."""

    summaries: tuple[MemoryItem, ...]
    n_states: int
    n_deleted: int


class AddSummary(Protocol):
    """Stores the draft of a summary and marks the items that it stands for."""

    def __call__(self, draft: MemoryDraft, scope: MemoryScope, now: Moment, summarised: Sequence[str]) -> MemoryItem:
        """Return the stored item; raises InvalidArgument if one of ``summarised`` was deleted or summarised."""


class MemoryLifecycle:
    """Compression, ageing, pruning and retention; an attribute of `Memory`.

    Usage::

        memory.lifecycle.compress("working", scope, now).summaries

    Args:
        database: the file.
        items: its items.
        settings: the group ``[memory]``.
        add: stores a summary.
        delete: deletes items by id, from the disk too, and returns how many there were.
        llm: the language model that writes the summaries which are asked for; ``None`` for extractive ones.
        llm_seconds: what it may take in all.
    """

    def __init__(
        self,
        database: MemoryDatabase,
        items: ItemStore,
        settings: MemorySettings,
        add: AddSummary,
        delete: Callable[[Sequence[str]], int],
        llm: LlmSettings | None,
        llm_seconds: float,
    ) -> None:
        self._database, self._items, self._settings = database, items, settings
        self._add, self._delete = add, delete
        self._llm, self._llm_seconds = llm, llm_seconds
        self._counter = AnswerCounter()

    def working(self, scope: MemoryScope, now: Moment) -> list[MemoryItem]:
        """Return the turns of the session's working memory, the oldest first."""
        return self._items.select(
            scope, MemoryFilter(), now, newest_first=False, where=_WORKING, values=[scope.project, scope.session]
        )

    def compress(self, level: CompressLevel, scope: MemoryScope, now: Moment) -> CompressOutcome:
        """Compress a level into summaries that name and cite their sources.

        The sources become ``summarized``: they stay searchable, and leave the tier. The language model writes the
        summaries if one is set.

        Args:
            level: ``working`` makes a session summary of the session's turns, ``session`` an epoch summary of the
                project's session summaries, ``epoch`` one of its epoch summaries.
            scope: who asks.
            now: when the summary is made.
        """
        limits = self._settings.compression
        if level == "working":
            return self._summarise(self.working(scope, now), 1, limits.session_summary_tokens, now, self._llm)
        tier = 1 if level == "session" else 2
        return self._summarise(self.summaries(scope, now, tier), 2, limits.epoch_summary_tokens, now, self._llm)

    def summarise_old(
        self, scope: MemoryScope, now: Moment, older_than: int | None = None, *, limit: int | None = None
    ) -> CompressOutcome:
        """Compress what iterations stored some iterations ago, by default those of the settings; the oldest first.

        Args:
            scope: who asks.
            now: the iteration from which ages count.
            older_than: only items of a greater age in iterations.
            limit: items at most; their summaries are extractive.
        """
        least = self._settings.lifecycle.summarize_after_iterations if older_than is None else older_than
        items = self._items.select(
            scope,
            MemoryFilter(states=_LIVE),
            now,
            newest_first=False,
            limit=limit,
            where="tier < 3 AND kind IN ('iteration', 'file', 'output', 'error') AND created_iteration < ?",
            values=[now.iteration - least],
        )
        llm = self._llm if limit is None else None
        limit_tokens = self._settings.compression.session_summary_tokens
        return self._summarise(items, 1, limit_tokens, now, llm, (ITERATIONS_TAG,))

    def maintain(self, scope: MemoryScope, now: Moment) -> MaintainOutcome:
        """Bring states to the iteration: summarise, age and archive, then delete what may be pruned or is expired.

        Some hundred items are summarised in a call; more wait for the next one.
        """
        self.end_sessions(scope, now)
        summarised = self.summarise_old(scope, now, limit=_MAINTAINED_ITEMS)
        n_states = len(summarised.source_ids) + self._items.age(scope, now)
        lifecycle = self._settings.lifecycle
        n_deleted = self.prune(scope, now, lifecycle.prune_min_usefulness, lifecycle.prune_after_iterations)
        return MaintainOutcome(summarised.summaries, n_states, n_deleted + self.expire(scope, now))

    def prune(self, scope: MemoryScope, now: Moment, min_usefulness: float, older_than: int | None = None) -> int:
        """Delete what iterations stored and is of a lower usefulness, but core items; return how many.

        Args:
            scope: who asks.
            now: the iteration from which ages count.
            min_usefulness: items of this usefulness and above stay.
            older_than: only items of a greater age in iterations.
        """
        condition, values = f"tier < 3 AND usefulness < ? AND {OF_ITERATIONS}", [min_usefulness]
        if older_than is not None:
            condition += " AND created_iteration < ?"
            values.append(now.iteration - older_than)
        everything = MemoryFilter(states=STATES, history=True)
        items = self._items.select(scope, everything, now, where=condition, values=values)
        return self._delete([item.id for item in items])

    def expire(self, scope: MemoryScope, now: Moment) -> int:
        """Delete items that are older than ``[memory.storage] retention_days``, core ones too; return how many."""
        days = self._settings.storage.retention_days
        if not days:
            return 0
        before = to_micros(now.at) - days * 86_400 * 1_000_000
        with self._database.read() as connection:  # those of other sessions and projects too
            query = "SELECT id FROM items WHERE principal = ? AND created_at < ?"
            ids = connection.execute(query, (scope.principal, before)).fetchall()
        return self._delete([each[0] for each in ids])

    def summaries(self, scope: MemoryScope, now: Moment, tier: int) -> list[MemoryItem]:
        """Return the live summaries of conversations of a tier in the project, the oldest first."""
        chosen = MemoryFilter(kinds=("summary",), tiers=(tier,), states=_LIVE)
        found = self._items.select(
            scope, chosen, now, newest_first=False, where="kind = 'summary' AND project = ?", values=[scope.project]
        )
        return [item for item in found if ITERATIONS_TAG not in item.tags]

    def end_sessions(self, scope: MemoryScope, now: Moment) -> tuple[MemoryItem, ...]:
        """Summarise the turns of other sessions of the project that have ended, the oldest first.

        Some hundred turns are summarised in a call; further sessions wait for the next one. The summaries are
        extractive. A session of one turn stays as it is.
        """
        limits = self._settings.compression
        if not limits.session_idle_minutes:
            return ()
        query = (
            "SELECT session FROM items WHERE principal = ? AND project = ? AND tier = 0 AND kind = 'turn' "
            "AND state IN ('active', 'aging') AND session <> ? GROUP BY 1 HAVING COUNT(*) > 1 AND MAX(created_at) < ? "
            "ORDER BY MAX(created_at), 1"
        )
        before = to_micros(now.at) - limits.session_idle_minutes * 60_000_000
        values = (scope.principal, scope.project, scope.session, before)
        with self._database.read() as connection:
            ended = [session for (session,) in connection.execute(query, values)]
        turns: list[MemoryItem] = []
        for session in ended:
            if len(turns) < _MAINTAINED_ITEMS:
                turns += self.working(replace(scope, session=session), now)
        return self._summarise(turns, 1, limits.session_summary_tokens, now).summaries

    def promote(self, scope: MemoryScope, now: Moment, n_new: int = 1) -> tuple[MemoryItem, ...]:
        """Compress what new turns leave behind, and return the summaries.

        That is, sessions that have ended before this one began or went on, the oldest turns of a working memory that
        overflows, and session summaries that are many.

        Args:
            scope: of the turns.
            now: when they were stored.
            n_new: how many they are.
        """
        turns = self.working(scope, now)
        idle = timedelta(minutes=self._settings.compression.session_idle_minutes)
        before = turns[:-n_new]
        ended: tuple[MemoryItem, ...] = ()
        if not before or now.at - before[-1].created_at > idle:
            ended = self.end_sessions(scope, now)
        done = ended + self._overflow(turns, now)
        return done + self._consolidate(scope, now) if done else ()

    def _overflow(self, turns: Sequence[MemoryItem], now: Moment) -> tuple[MemoryItem, ...]:
        """Summarise the oldest turns of a working memory that has too many tokens."""
        counts = self._counter.count_many([turn.text for turn in turns])
        total = sum(counts)
        if total <= self._settings.compression.tier0_overflow_threshold:
            return ()
        n_oldest = 0
        while total > self._settings.token_budgets.tier0_working and n_oldest < len(turns) - 1:
            total -= counts[n_oldest]
            n_oldest += 1
        limit = self._settings.compression.session_summary_tokens
        return self._summarise(turns[:n_oldest], 1, limit, now).summaries

    def _consolidate(self, scope: MemoryScope, now: Moment) -> tuple[MemoryItem, ...]:
        """Make an epoch summary of the session summaries of the project if they are many."""
        sessions, limits = self.summaries(scope, now, 1), self._settings.compression
        if len(sessions) < limits.tier1_consolidation_count:
            return ()
        return self._summarise(sessions, 2, limits.epoch_summary_tokens, now).summaries

    def _summarise(
        self,
        items: Sequence[MemoryItem],
        tier: int,
        max_tokens: int,
        now: Moment,
        llm: LlmSettings | None = None,
        tags: tuple[str, ...] = (),
    ) -> CompressOutcome:
        """Summarise items, each of their places by itself, at most `ITEMS_PER_SUMMARY` at a time."""

        def place(item: MemoryItem) -> tuple[str, str, str, str]:
            return item.principal, item.persistence, item.project, item.session if tier == 1 else ""

        groups: list[list[MemoryItem]] = []
        for _, group in groupby(sorted(items, key=place), key=place):
            found = list(group)
            groups += [found[start : start + ITEMS_PER_SUMMARY] for start in range(0, len(found), ITEMS_PER_SUMMARY)]
        if llm is None:
            made, degraded = [summarise_items(group, max_tokens, self._counter) for group in groups], ""
        else:
            made, degraded = write_summaries(groups, max_tokens, self._counter, llm, self._llm_seconds)
        summaries: list[MemoryItem] = []
        source_ids: list[str] = []
        for sources, summary in zip(groups, made, strict=True):
            ids = [item.id for item in sources]
            first = sources[0]
            draft = MemoryDraft(
                "summary",
                summary.text,
                tier=tier,
                verbatim=False,
                source_ids=tuple(ids),
                tags=tags,
                metadata={"sentences": [_citation(each) for each in summary.sentences]}
                | ({"model": summary.model} if summary.model else {}),
                persistence=first.persistence,
                source="graphctx",
                triples=(),
            )
            there = MemoryScope(first.principal, first.project, first.session if tier == 1 else sources[-1].session)
            with suppress(InvalidArgument):  # another process was faster
                summaries.append(self._add(draft, there, now, ids))
                source_ids += ids
        model = next((summary.model for summary in made if summary.model), "")
        return CompressOutcome(tuple(summaries), tuple(source_ids), model, degraded)


def _citation(cited: CitedSentence) -> dict[str, Any]:
    return {"item": cited.item_id, "start_char": cited.start_char, "end_char": cited.end_char, "line": cited.line}
