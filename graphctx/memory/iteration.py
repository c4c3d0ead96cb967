"""Context across the iterations of an orchestrator: what was tried, what failed, what helped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.memory.items import (
    MemoryDraft,
)
from graphctx.memory.iteration_reading import MAX_QUERY_CHARS, ContextReader, Result, check_share, degrading, kinds_of
from graphctx.memory.iteration_records import (
    RESERVED,
    RESULT_TAG,
    feedback_counts,
)
from graphctx.memory.skillbook import SKILL, export_feedback


@dataclass(slots=True)
class IterationRun:
    """One iteration within `IterationClient.iteration`.

    Attributes:
        iteration: its number.
        block: Markdown for the prompt, empty if nothing is known.
        items: what the block shows; their ids are for `IterationClient.mark_useful`.
        degraded: why the block is poorer than it could be, empty if it is not.
        result: the result that `finish` was given; stored when the iteration ends.
    """

    iteration: int
    block: str
    items: list[Result]
    degraded: str
    result: Result | None = field(default=None, init=False)

    def finish(
        self,
        summary: str,
        success: bool = True,
        *,
        tokens_used: int = 0,
        cost: float = 0.0,
        tool_calls: Sequence[str] = (),
        artifacts: Sequence[str] = (),
        error: str | None = None,
    ) -> None:
        """Set the result of the iteration; see `IterationClient.store_iteration_result`."""
        self.result = {
            "summary": summary,
            "success": success,
            "tokens_used": tokens_used,
            "cost": cost,
            "tool_calls": tool_calls,
            "artifacts": artifacts,
            "error": error,
        }


class IterationClient(ContextReader):
    """The context of the iterations of a project, for an orchestrator in Python.

    Results are JSON values. Where the memory cannot be used, they are empty and ``degraded`` says why, so that the
    orchestrator goes on without it. Wrong arguments raise `InvalidArgument`.

    The memory counts iterations on across sessions: a session that begins anew at 1 follows the one before. The
    ``created_iteration`` of an item and the ``iteration`` of a retrieval are in that count.

    Usage::

        with IterationClient(folder, MemoryScope(project="shop")) as client:
            with client.iteration("Add the endpoint for orders") as run:
                answer = execute(f"{run.block}\\n\\n{prompt}")
                run.finish(answer.summary, answer.success, error=answer.error)

    Args:
        memory: an open memory or a function that opens one, which stays open; or the folder of one, opened at the
            first use.
        scope: who asks, in which project and session.
        clock: returns the time.
        settings: the group ``[memory]`` of a folder that is opened.
        strict: raise `BackendUnavailable` where the memory cannot be used, except for reading.
    """

    @degrading(stored=False, item_id=None)
    def store_context(
        self,
        content: str,
        context_type: str,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        source: str = "agent",
    ) -> Result:
        """Store something for later iterations; it is on the disk when this returns.

        Args:
            content: as it is to be returned.
            context_type: one of `CONTEXT_TYPES` but ``summary``.
            tags: for `get_skills`, and for people.
            metadata: anything that can be written as JSON.
            source: who says it: ``orchestrator``, ``agent``, ``user`` or ``tool``.

        Returns:
            ``stored``, ``item_id``, ``created`` (false if the same was stored in the same moment), ``iteration``,
            ``pruned`` items that made room, ``degraded``.
        """
        kind = kinds_of([context_type])[0]
        if kind == "summary":
            raise InvalidArgument(
                "A summary is made by summarize_old_context; choose another type.", field="context_type"
            )
        if reserved := [name for name in metadata or {} if str(name).startswith(RESERVED)]:
            raise InvalidArgument(
                f"metadata has {reserved[0]!r}; names that begin with {RESERVED} are reserved. Choose another.",
                field="metadata",
            )
        draft = MemoryDraft(kind, content, tags=tuple(tags or ()), metadata=dict(metadata or {}), source=source)
        now = self._moment()
        outcome = self._open().add([draft], self.scope, now)[0]
        return {
            "stored": True,
            "item_id": outcome.item.id,
            "created": outcome.created,
            "context_type": kind,
            "iteration": now.iteration,
            "pruned": outcome.pruned,
            "degraded": outcome.degraded,
        }

    @degrading(stored=False, item_id=None)
    def mark_useful(self, item_id: str, helpful: bool, reason: str | None = None) -> Result:
        """Raise or lower the usefulness of an item, and export it if the item is a skill of the skillbook.

        Args:
            item_id: from an answer.
            helpful: whether it helped.
            reason: why; the last one is kept.

        Raises:
            InvalidArgument: there is no such item in this project and session.
        """
        memory = self._open()
        item = memory.feedback(item_id, helpful, self.scope, (reason or "")[:MAX_QUERY_CHARS])
        degraded = ""
        if memory.settings.skillbook and SKILL in item.metadata:
            try:
                export_feedback(memory, Path(memory.settings.skillbook), self.scope, self._moment())
            except BackendUnavailable as error:
                degraded = error.message
        return {"stored": True, **feedback_counts(item), "item_id": item.id, "degraded": degraded}

    @degrading(stored=False, item_id=None)
    def store_iteration_result(
        self,
        iteration: int,
        summary: str,
        success: bool,
        duration_ms: int = 0,
        tokens_used: int = 0,
        cost: float = 0.0,
        tool_calls: Sequence[str] | None = None,
        artifacts: Sequence[str] | None = None,
        error: str | None = None,
    ) -> Result:
        """Store the result of an iteration, then age, summarise and prune what is older.

        An ``error`` is stored as an item of its own too, so that it is found as one.

        Args:
            iteration: its number, as the orchestrator counts.
            summary: what was done.
            success: whether it succeeded.
            duration_ms: milliseconds it took.
            tokens_used: tokens it cost.
            cost: in any currency.
            tool_calls: tools that were called.
            artifacts: what was made, such as paths of files.
            error: what went wrong, and how it was solved if it was.

        Returns:
            ``stored``, ``item_id``, ``error_id`` if there is an error, ``summarized``, ``pruned``, ``degraded``.
        """
        for name, value in {
            "iteration": iteration,
            "duration_ms": duration_ms,
            "tokens_used": tokens_used,
            "cost": cost,
        }.items():
            if not 0 <= value < 1e15:
                raise InvalidArgument(f"{name} is {value}; give a number of at least 0.", field=name, value=value)
        result = {
            "iteration": iteration,
            "success": success,
            "duration_ms": duration_ms,
            "tokens_used": tokens_used,
            "cost": cost,
            "tool_calls": list(tool_calls or ()),
            "artifacts": list(artifacts or ()),
            "error": error,
        }
        drafts = [MemoryDraft("iteration", summary, tags=(RESULT_TAG,), metadata=result, source="orchestrator")]
        if error and error.strip():
            drafts.append(MemoryDraft("error", error, metadata={"iteration": iteration}, source="orchestrator"))
        memory, now = self._open(), self._moment(iteration, begins=True)
        outcomes = memory.add(drafts, self.scope, now)
        summarised, n_deleted, degraded = 0, outcomes[-1].pruned, outcomes[0].degraded
        try:
            maintained = memory.lifecycle.maintain(self.scope, now)
            summarised, n_deleted = len(maintained.summaries), n_deleted + maintained.n_deleted
        except BackendUnavailable as failure:  # what was stored stays stored
            degraded = f"{degraded}; {failure.message}".removeprefix("; ")
        return {
            "stored": True,
            "item_id": outcomes[0].item.id,
            "error_id": outcomes[1].item.id if len(outcomes) > 1 else None,
            "iteration": now.iteration,
            "summarized": summarised,
            "pruned": n_deleted,
            "degraded": degraded,
        }

    @contextmanager
    def iteration(
        self, query: str, iteration: int | None = None, *, max_tokens: int | None = None
    ) -> Iterator[IterationRun]:
        """Run one iteration: retrieve its block, and store its result and duration at the end.

        An exception is stored as a failure, and raised again. Nothing is stored if `IterationRun.finish` is not called.

        Args:
            query: the task.
            iteration: its number; by default one more than the session's last.
            max_tokens: of the block.
        """
        number = self._next_number() if iteration is None else iteration
        found = self.get_context_block(query, iteration=number, max_tokens=max_tokens)
        run = IterationRun(number, found["block"], found["items"], found["degraded"])
        start = perf_counter()
        try:
            yield run
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
            run.finish(f"Stopped by {said}", False, error=said)
            raise
        finally:
            if run.result is not None:
                self.store_iteration_result(number, duration_ms=round((perf_counter() - start) * 1000), **run.result)

    # Maintenance

    @degrading(summarized=0, summaries=[])
    def summarize_old_context(self, older_than_iterations: int | None = None) -> Result:
        """Compress items into summaries that cite them; the items stay, and rank behind.

        Args:
            older_than_iterations: only items of a greater age; by default that of ``[memory.lifecycle]``, 20.

        Returns:
            How many items were ``summarized``, the new ``summaries``, the language ``model`` that wrote them or an
            empty string, and ``degraded``, why some are extractive although one is set.
        """
        if older_than_iterations is not None and older_than_iterations < 0:
            raise InvalidArgument(
                f"older_than_iterations is {older_than_iterations}; give 0 or more.",
                field="older_than_iterations",
                value=older_than_iterations,
            )
        outcome = self._open().lifecycle.summarise_old(self.scope, self._moment(), older_than_iterations)
        return {
            "summarized": len(outcome.source_ids),
            "summaries": [
                {"id": item.id, "content": item.text, "source_ids": list(item.source_ids)} for item in outcome.summaries
            ],
            "model": outcome.model,
            "degraded": outcome.degraded,
        }

    @degrading(pruned=0)
    def prune_low_value_context(self, min_score: float | None = None) -> Result:
        """Delete items of a lower usefulness, from the disk too, and return how many were ``pruned``.

        Args:
            min_score: items of this usefulness and above stay, 0 to 1; by default that of ``[memory.lifecycle]``, 0.3.
        """
        memory = self._open()
        least = memory.settings.lifecycle.prune_min_usefulness if min_score is None else min_score
        check_share("min_score", least)
        return {"pruned": memory.lifecycle.prune(self.scope, self._moment(), least), "degraded": ""}
