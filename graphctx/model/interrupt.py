"""Stopping work that nobody waits for any more.

A call that ran out of time or was cancelled goes on in its thread until it comes to a checkpoint. Long work has one
between its steps and in its loops.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from graphctx.errors import TimedOut

_stopped: ContextVar[threading.Event | None] = ContextVar("graphctx_stopped", default=None)


@contextmanager
def stoppable(stopped: threading.Event) -> Iterator[None]:
    """Let `checkpoint` watch an event while the block runs, in this thread or in a copy of this context."""
    token = _stopped.set(stopped)
    try:
        yield
    finally:
        _stopped.reset(token)


def checkpoint() -> None:
    """Go on, unless the caller of this work has gone.

    Raises:
        TimedOut: it has. Nobody reads this.
    """
    stopped = _stopped.get()
    if stopped is not None and stopped.is_set():
        raise TimedOut("The call was given up.")
