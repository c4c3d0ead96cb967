"""The program of a worker process: receive a task, do it within its limits, send the result.

A timer of the kernel limits the processor time of a task; its signal ends the process even inside a library's code.
``RLIMIT_DATA`` limits its memory.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from graphctx.store.processes import end_with_parent

IDLE_SECONDS = 2.0
"""A worker without a task for this long ends. Until then the next ingest of its parent can use it."""

_MEMORY_IN_USE = Path("/proc/self/statm")
_DATA_FIELD = 5  # pages of data, which RLIMIT_DATA limits (proc_pid_statm(5))


@dataclass(frozen=True, slots=True)
class Task:
    """One step for one document.

    Attributes:
        number: its place among the documents.
        run: the step's function.
        arguments: of the function.
        prepare: called before, within no limit.
        seconds: processor time that it may take.
        memory_mb: memory that it may take beside what the process holds already.
    """

    number: int
    run: Callable[..., Any]
    arguments: tuple[Any, ...]
    prepare: Callable[[], object] | None
    seconds: float
    memory_mb: int


@dataclass(frozen=True, slots=True)
class TaskResult:
    """A task's value, an error to raise, or neither if its memory did not suffice."""

    value: Any = None
    error: Exception | None = None
    out_of_memory: bool = False


def main(descriptor: int) -> None:
    """Serve until the parent closes the connection, or sends nothing for `IDLE_SECONDS`."""
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides, and ends this process itself
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with Connection(descriptor) as connection, suppress(EOFError, BrokenPipeError, ConnectionResetError):
        connection.send("ready")
        while connection.poll(IDLE_SECONDS):
            connection.send(_run(connection.recv()))


def _run(task: Task) -> TaskResult:
    try:
        if task.prepare:
            task.prepare()
        _limit_memory(task.memory_mb)
        signal.setitimer(signal.ITIMER_PROF, task.seconds)
        return TaskResult(task.run(*task.arguments))
    except MemoryError:
        return TaskResult(out_of_memory=True)
    except Exception as error:  # the parent raises it
        return TaskResult(error=error)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        _limit_memory(None)


def _limit_memory(megabytes: int | None) -> None:
    """Limit the memory of this process beyond what it holds now; ``None`` lifts the limit. Works on Linux only."""
    if not _MEMORY_IN_USE.exists():
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    soft = hard
    if megabytes is not None:
        soft = int(_MEMORY_IN_USE.read_text().split()[_DATA_FIELD]) * resource.getpagesize() + megabytes * 2**20
    resource.setrlimit(resource.RLIMIT_DATA, (soft if hard < 0 else min(soft, hard), hard))
