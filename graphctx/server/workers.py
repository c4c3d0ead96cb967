"""Blocking work in threads: so many calls at once, each with a limit of time, each stopped when nobody waits for it.

A call that runs out of time or is cancelled is left at once: the caller gets its answer, or none, and the call's slot
is free. Its thread is told to stop and does so at its next checkpoint (`graphctx.model.interrupt`).
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from mcp.server.context import ServerRequestContext

from graphctx.errors import BackendUnavailable, TimedOut
from graphctx.model.interrupt import stoppable

Done = TypeVar("Done")

MAX_LEFT_BEHIND = 32
"""Threads that were given up and have not come to a checkpoint yet. With more, calls are refused: somebody starts and
cancels calls faster than they stop."""

FIRST_PROGRESS_SECONDS = 1.0
"""Nobody wants to hear of calls that are answered sooner."""
PROGRESS_SECONDS = 1.5


class Job:
    """What one call is doing, as its progress is told; written by its thread and read by the event loop.

    Attributes:
        doing: in our words.
        tokens: what the answer weighs, once there is one that says so.
    """

    def __init__(self) -> None:
        self.doing = "waiting for a free worker"
        self.tokens: int | None = None


class Workers:
    """The threads of one server.

    Args:
        slots: calls that run at the same time; further ones wait.
        timeout: seconds after which a call is given up, its waiting included.
    """

    def __init__(self, slots: int, timeout: float) -> None:
        self._limiter = anyio.CapacityLimiter(slots)
        self._slots = slots
        self._timeout = timeout
        self._lock = threading.Lock()
        self._running = 0
        self._counts: Counter[str] = Counter()

    async def run(self, work: Callable[[Job], Done], job: Job | None = None) -> Done:
        """Do blocking work in a thread and wait for it.

        Raises:
            TimedOut: it took too long.
            BackendUnavailable: too many threads are busy with work that was given up.
        """
        if self._running >= self._slots + MAX_LEFT_BEHIND:
            raise BackendUnavailable(
                "The server is still busy with calls that were given up. Try again in a moment.", busy=self._running
            )
        job = job or Job()
        stopped = threading.Event()
        outcome = "cancelled"

        def watched() -> Done:
            with self._lock:
                self._running += 1
            try:
                with stoppable(stopped):
                    return work(job)
            finally:
                with self._lock:
                    self._running -= 1

        try:
            with anyio.move_on_after(self._timeout):
                result = await anyio.to_thread.run_sync(watched, abandon_on_cancel=True, limiter=self._limiter)
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
            f"The call took longer than {self._timeout:g} seconds and was given up while {job.doing}. Ask for less (a "
            "smaller top_k, max_nodes or max_hops), or raise the server's call timeout.",
            timeout_seconds=self._timeout,
            doing=job.doing,
        )

    def counts(self) -> dict[str, int]:
        """How calls ended since the start, and how many threads are busy now."""
        ended = {name: self._counts[name] for name in ("finished", "failed", "timed_out", "cancelled")}
        return {**ended, "running": self._running}


@asynccontextmanager
async def telling(ctx: ServerRequestContext[Any, Any], job: Job) -> AsyncIterator[None]:
    """Report the progress of a call while the block runs; the SDK sends it if the client asked for that."""
    async with anyio.create_task_group() as group:
        group.start_soon(_tell, ctx, job)
        yield
        group.cancel_scope.cancel()


async def _tell(ctx: ServerRequestContext[Any, Any], job: Job) -> None:
    started = anyio.current_time()
    await anyio.sleep(FIRST_PROGRESS_SECONDS)
    while True:
        seconds = anyio.current_time() - started
        try:
            await ctx.session.report_progress(round(seconds, 1), message=f"{job.doing}, for {seconds:.0f} s")
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return  # the client has gone; the call is cancelled by its transport
        await anyio.sleep(PROGRESS_SECONDS)
