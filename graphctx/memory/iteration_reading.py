"""What earlier iterations learned, read back: relevant context, history, skills, counts, health."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Any, Concatenate, Literal, ParamSpec, Self, TypeVar, get_args

from graphctx.errors import BackendUnavailable, GraphctxError, InvalidArgument
from graphctx.memory.items import (
    ITERATIONS_TAG,
    STATES,
    MemoryFilter,
    MemoryItem,
    MemoryKind,
    MemoryScope,
    Moment,
)
from graphctx.memory.iteration_block import render_block
from graphctx.memory.iteration_records import (
    RESULT_TAG,
    found_record,
    iteration_number,
    result_record,
    skill_record,
)
from graphctx.memory.memory import Memory
from graphctx.memory.search import MemoryHit, MemoryQuery
from graphctx.memory.skillbook import sync_skillbook
from graphctx.nlp.tokens import AnswerCounter
from graphctx.settings import MemorySettings
from graphctx.version import __version__

ContextType = Literal["task", "iteration", "skill", "file", "output", "error", "summary"]
"""Kinds of items that iterations use; a ``summary`` is made by compression."""

CONTEXT_TYPES: tuple[ContextType, ...] = get_args(ContextType)

MAX_QUERY_CHARS = 500
"""Characters of a query that are used."""

MAX_ITEMS = 50

P = ParamSpec("P")
Result = dict[str, Any]
Reader = TypeVar("Reader", bound="ContextReader")


def degrading(
    **fallback: Any,
) -> Callable[[Callable[Concatenate[Reader, P], Result]], Callable[Concatenate[Reader, P], Result]]:
    """Answer ``fallback`` and why where the memory cannot be used, unless the client is strict."""

    def wrap(method: Callable[Concatenate[Reader, P], Result]) -> Callable[Concatenate[Reader, P], Result]:
        @wraps(method)
        def call(self: Reader, /, *args: P.args, **kwargs: P.kwargs) -> Result:
            try:
                return method(self, *args, **kwargs)
            except BackendUnavailable as error:
                if self.strict:
                    raise
                return {**fallback, "degraded": error.message}

        return call

    return wrap


class ContextReader:
    """The reading half of `graphctx.memory.iteration.IterationClient`, whose arguments it has."""

    def __init__(
        self,
        memory: Memory | Callable[[], Memory] | Path | str,
        scope: MemoryScope | None = None,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        settings: MemorySettings | None = None,
        strict: bool = False,
    ) -> None:
        self.scope = scope or MemoryScope()
        self.strict = strict
        self._memory = memory if isinstance(memory, Memory) else None
        self._owned = isinstance(memory, Path | str)
        if isinstance(memory, Path | str):
            folder = Path(memory)
            self._opener: Callable[[], Memory] = lambda: Memory(folder, settings)
        elif not isinstance(memory, Memory):
            self._opener = memory
        self._settings = settings
        self._clock = clock
        self._counter = AnswerCounter()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the memory if the client opened it. Idempotent."""
        if self._owned and self._memory is not None:
            self._memory.close()
            self._memory = None

    @degrading(items=[], stats={}, stage="none")
    def get_relevant_context(
        self,
        query: str,
        max_items: int | None = None,
        context_types: Sequence[str] | None = None,
        min_score: float | None = None,
        *,
        iteration: int | None = None,
        record_use: bool = True,
    ) -> Result:
        """Return the items that bear on a task, the best first; each text once.

        Args:
            query: the task; its first `MAX_QUERY_CHARS` characters are used.
            max_items: 1 to `MAX_ITEMS`; by default that of ``[memory.retrieval]``, 10.
            context_types: only these of `CONTEXT_TYPES`; all by default, of which those of ``[memory.retrieval]``
                match in the score.
            min_score: 0 to 1; by default that of ``[memory.retrieval]``, 0.3.
            iteration: from which ages count, as the orchestrator counts; the current one by default.
            record_use: count the use of what is returned.

        Returns:
            ``items`` with ``score``; ``stats``; ``stage``, which is ``semantic``, ``text``, ``cached`` or ``none``;
            ``degraded``, why it is not ``semantic``, or empty; ``as_of`` and ``iteration``, from which ages count.
        """
        memory = self._open()
        defaults = memory.settings.retrieval
        limit = defaults.max_items_per_query if max_items is None else max_items
        least = defaults.min_relevance_score if min_score is None else min_score
        if not 1 <= limit <= MAX_ITEMS:
            raise InvalidArgument(f"max_items is {limit}; give 1 to {MAX_ITEMS}.", field="max_items", value=limit)
        kinds = kinds_of(context_types)
        try:
            now, degraded = self._moment(iteration), self._sync(memory)
        except BackendUnavailable:  # a cached answer does not depend on the iteration
            now, degraded = Moment(self._clock(), iteration or 0), ""
        start = perf_counter()
        found = memory.search(
            MemoryQuery(
                query[:MAX_QUERY_CHARS],
                self.scope,
                now,
                MemoryFilter(kinds=kinds or CONTEXT_TYPES, summary_tag=ITERATIONS_TAG),
                limit=2 * limit,  # some may be repetitions
                ranking="iteration",
                min_score=least,
                preferred=kinds,
            ),
            record_use=False,
        )
        distinct: dict[tuple[str, str], MemoryHit] = {}
        for hit in found.hits:
            distinct.setdefault((hit.item.kind, " ".join(hit.item.text.split())), hit)
        hits = list(distinct.values())[:limit]
        if record_use and found.stage in ("semantic", "text"):
            memory.record_use([hit.item.id for hit in hits], now)
        return {
            "items": [found_record(hit, memory.settings, self._counter) for hit in hits],
            "stats": {
                "query_embedding_time_ms": round(found.embedding_ms, 3),
                "search_time_ms": round((perf_counter() - start) * 1000, 3),
                "total_candidates": found.n_candidates,
                "filtered_count": found.n_below + len(found.hits) - len(distinct),
            },
            "stage": found.stage,
            "degraded": "; ".join(filter(None, (found.degraded, degraded))),
            "as_of": now.at.isoformat(),
            "iteration": now.iteration,
        }

    def get_context_block(
        self,
        query: str,
        max_items: int | None = None,
        context_types: Sequence[str] | None = None,
        min_score: float | None = None,
        *,
        max_tokens: int | None = None,
        iteration: int | None = None,
    ) -> Result:
        """Return the block for a prompt: relevant context as Markdown under a token limit.

        Args:
            query: as the other arguments, of `get_relevant_context`.
            max_items: as there.
            context_types: as there.
            min_score: as there.
            max_tokens: at most; by default ``max_context_tokens`` of ``[memory.retrieval]``, 4000.
            iteration: as there.

        Returns:
            ``block``, empty if there is nothing; its ``tokens``; the ``items`` that are in it; the other fields of
            `get_relevant_context`.
        """
        found = self.get_relevant_context(query, max_items, context_types, min_score, iteration=iteration)
        limit = max_tokens
        if limit is None:
            settings = self._memory.settings if self._memory else self._settings or MemorySettings()
            limit = settings.retrieval.max_context_tokens
        block, shown = render_block(found["items"], limit, self._counter)
        return {**found, "items": shown, "block": block, "tokens": self._counter.count(block)}

    @degrading(iterations=[], total=0)
    def get_iteration_history(self, last_n: int = 5) -> Result:
        """Return the results of the last iterations, the newest first, and how many there are in ``total``.

        Args:
            last_n: how many, 1 to 100.
        """
        if not 1 <= last_n <= 100:
            raise InvalidArgument(f"last_n is {last_n}; give 1 to 100.", field="last_n", value=last_n)
        results = self._results(self._clock())
        return {"iterations": [result_record(item) for item in results[:last_n]], "total": len(results), "degraded": ""}

    @degrading(skills=[], total=0)
    def get_skills(self, tags: Sequence[str] | None = None, min_score: float = 0.5) -> Result:
        """Return skills, those of the skillbook too, the most useful first.

        Args:
            tags: only skills with one of these; the section of a skillbook is a tag.
            min_score: least usefulness, 0 to 1.

        Returns:
            ``skills``, each with how often it was ``helpful`` or ``harmful``, and how many there are in ``total``.
        """
        check_share("min_score", min_score)
        memory = self._open()
        degraded = self._sync(memory)
        found = memory.select(self.scope, self._moment(), MemoryFilter(kinds=("skill",), tags=tuple(tags or ())))
        found = sorted((item for item in found if item.usefulness >= min_score), key=lambda i: (-i.usefulness, i.id))
        return {"skills": [skill_record(item) for item in found], "total": len(found), "degraded": degraded}

    @degrading(total_items=0)
    def get_context_stats(self) -> Result:
        """Return counts of what is stored in this project: by type and state, usefulness, iterations, bytes."""
        memory, now = self._open(), self._moment()
        stats = memory.statistics.counts(self.scope)
        n_results, success_rate = memory.statistics.success_rate(RESULT_TAG, self.scope, now)
        return {
            "total_items": stats["n_items"],
            "by_type": stats["by_kind"],
            "by_state": stats["by_state"],
            "mean_usefulness": stats["mean_usefulness"],
            "oldest": stats["oldest"],
            "newest": stats["newest"],
            "iterations": n_results,
            "current_iteration": now.iteration,
            "success_rate": None if success_rate is None else round(success_rate, 4),
            "storage_bytes": stats["store_bytes"],
            "max_bytes": stats["max_bytes"],
            "degraded": "",
        }

    def health_check(self) -> Result:
        """Return a ``status``, ``healthy``, ``degraded`` or ``unavailable``, and the ``checks`` behind it."""
        checks = {"store": "ok", "search": "ok", "skillbook": "ok"}
        try:
            memory = self._open()
            memory.statistics.is_empty(self.scope)
        except BackendUnavailable as error:
            return {
                "status": "unavailable",
                "checks": {"store": error.message},
                "version": __version__,
                "degraded": error.message,
            }
        query = MemoryQuery("health", self.scope, self._moment(), limit=1)
        checks["search"] = memory.search(query, record_use=False).degraded or "ok"
        checks["skillbook"] = (self._sync(memory) or "ok") if memory.settings.skillbook else "none"
        degraded = "; ".join(said for said in checks.values() if said not in ("ok", "none"))
        return {
            "status": "degraded" if degraded else "healthy",
            "checks": checks,
            "version": __version__,
            "degraded": degraded,
        }

    def _open(self) -> Memory:
        if self._memory is None:
            self._memory = self._opener()
        return self._memory

    def _sync(self, memory: Memory) -> str:
        """Read the skillbook if there is one; return why it could not be read."""
        if not memory.settings.skillbook:
            return ""
        try:
            sync_skillbook(memory, Path(memory.settings.skillbook), self.scope, self._moment())
        except GraphctxError as error:
            return f"the skillbook was not read: {error.message}"
        return ""

    def _results(self, at: datetime, session: str | None = None, limit: int | None = None) -> list[MemoryItem]:
        """Return the results of iterations, the newest first."""
        chosen = MemoryFilter(kinds=("iteration",), states=STATES, tags=(RESULT_TAG,), session=session)
        return self._open().select(self.scope, Moment(at), chosen, limit=limit)

    def _moment(self, iteration: int | None = None, *, begins: bool = False) -> Moment:
        """Return the moment of a call in the memory's own count of iterations.

        Args:
            iteration: as the orchestrator counts; the current one by default.
            begins: whether a number that the session has had begins a new run; otherwise it is a look back.
        """
        at = self._clock()
        last = self._results(at, limit=1)
        if not last:
            return Moment(at, iteration or 0)
        in_session = last[0].session == self.scope.session
        own = last if in_session else self._results(at, self.scope.session, limit=1)
        if iteration is None:
            return Moment(at, (own or last)[0].created_iteration + 1)
        if own and (iteration > iteration_number(own[0]) or not begins):
            return Moment(at, max(0, own[0].created_iteration + iteration - iteration_number(own[0])))
        return Moment(at, max(iteration, last[0].created_iteration + 1))

    def _next_number(self) -> int:
        try:
            own = self._results(self._clock(), self.scope.session, limit=1)
        except BackendUnavailable:
            return 1
        return iteration_number(own[0]) + 1 if own else 1


def kinds_of(context_types: Sequence[str] | None) -> tuple[MemoryKind, ...]:
    """Return the kinds of context types; raises InvalidArgument if one is unknown."""
    kinds: list[MemoryKind] = []
    for name in context_types or ():
        kind = next((known for known in CONTEXT_TYPES if known == name), None)
        if kind is None:
            raise InvalidArgument(
                f"There is no context type {name!r}; choose among {', '.join(CONTEXT_TYPES)}.",
                field="context_type",
                value=name,
            )
        kinds.append(kind)
    return tuple(kinds)


def check_share(name: str, value: float) -> None:
    """Raise InvalidArgument unless a value is from 0 to 1."""
    if not 0 <= value <= 1:
        raise InvalidArgument(f"{name} is {value}; give a number from 0 to 1.", field=name, value=value)
