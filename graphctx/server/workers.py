"""Worker threads for blocking calls: a limit on calls at once, a time limit for each, cancellation and progress.

A call that runs out of time or is cancelled is abandoned at once: its client gets an answer, or none, and its slot is
free. Its thread stops at its next checkpoint (`graphctx.model.interrupt`).
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
import anyio.to_thread

from graphctx.errors import BackendUnavailable, TimedOut
from graphctx.model.interrupt import stoppable

Result = TypeVar("Result")
Report = Callable[..., Awaitable[None]]
"""Sends progress: the seconds so far, and a ``message``; as the SDK's ``report_progress``, which sends it only if the
client asked for it."""

MAX_ABANDONED = 32
"""Abandoned threads that have not come to a checkpoint yet. With more, calls are refused: some client starts and
cancels calls faster than they stop."""

FIRST_PROGRESS_SECONDS = 1.0
"""Most calls are answered sooner."""
PROGRESS_SECONDS = 1.5


class CallProgress:
    """What one call is doing; written by its thread and read by the event loop."""

    def __init__(self) -> None:
        self.message = "waiting for a free worker"


class Workers:
    """The worker threads of one server.

    Args:
        slots: calls that run at the same time; further ones wait.
        timeout: seconds after which a call is abandoned, its waiting included.
    """

    def __init__(self, slots: int, timeout: float) -> None:
        self._limiter = anyio.CapacityLimiter(slots)
        self._slots = slots
        self._timeout = timeout
        self._lock = threading.Lock()
        self._running = 0
        self._counts: Counter[str] = Counter()

    async def run(
        self, work: Callable[[CallProgress], Result], report: Report | None = None, timeout: float | None = None
    ) -> Result:
        """Run blocking work in a thread and wait for it.

        Args:
            work: what to run; it may set the message of its progress.
            report: sends the progress to the client.
            timeout: seconds, in place of those of all calls.

        Raises:
            TimedOut: the work took too long.
            BackendUnavailable: too many threads are busy with abandoned work.
        """
        progress = CallProgress()
        seconds = timeout or self._timeout
        if report is None:
            return await self._run(work, progress, seconds)
        async with anyio.create_task_group() as group:
            group.start_soon(_report, report, progress)
            try:
                return await self._run(work, progress, seconds)
            except Exception as error:
                failure = error  # raised outside of the group, which would wrap it
            finally:
                group.cancel_scope.cancel()
        raise failure

    def counts(self) -> dict[str, int]:
        """Return how many calls ended in which way since the start, and how many threads are busy now."""
        ended = {name: self._counts[name] for name in ("finished", "failed", "timed_out", "cancelled")}
        return {**ended, "running": self._running}

    async def _run(self, work: Callable[[CallProgress], Result], progress: CallProgress, seconds: float) -> Result:
        if self._running >= self._slots + MAX_ABANDONED:
            raise BackendUnavailable(
                "The server is still busy with abandoned calls. Try again in a moment.", busy=self._running
            )
        stopped = threading.Event()
        outcome = "cancelled"
        try:
            with anyio.move_on_after(seconds):
                result = await anyio.to_thread.run_sync(
                    self._in_thread, work, progress, stopped, abandon_on_cancel=True, limiter=self._limiter
                )
                outcome = "finished"
                return result
            outcome = "timed_out"
        except Exception:
            outcome = "failed"
            raise
        finally:
            stopped.set()
            self._counts[outcome] += 1
        raise TimedOut(
            f"The call took longer than {seconds:g} seconds and was stopped while {progress.message}. Ask for "
            "less (a smaller top_k, max_nodes or max_hops), or raise the server's call timeout.",
            timeout_seconds=seconds,
            doing=progress.message,
        )

    def _in_thread(
        self, work: Callable[[CallProgress], Result], progress: CallProgress, stopped: threading.Event
    ) -> Result:
        with self._lock:
            self._running += 1
        try:
            with stoppable(stopped):
                return work(progress)
        finally:
            with self._lock:
                self._running -= 1


async def _report(report: Report, progress: CallProgress) -> None:
    started = anyio.current_time()
    await anyio.sleep(FIRST_PROGRESS_SECONDS)
    while True:
        seconds = anyio.current_time() - started
        try:
            await report(round(seconds, 1), message=f"{progress.message}, for {seconds:.0f} s")
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return  # the client has gone; its transport cancels the call
        await anyio.sleep(PROGRESS_SECONDS)
