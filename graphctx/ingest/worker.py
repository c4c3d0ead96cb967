"""The process that works on documents: tasks in, answers out, each task held to a limit of time and memory.

The processor time of a task is limited by a timer of the kernel, whose signal ends the process also in the middle of
a library's code. Its memory is limited by what the kernel lets the process allocate.
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

IDLE_SECONDS = 60.0
"""A worker that is given nothing for so long ends; until then the next ingest of its parent need not start one."""

_MEMORY_IN_USE = Path("/proc/self/statm")
_DATA_FIELD = 5  # pages of data, which RLIMIT_DATA limits (proc_pid_statm(5))


@dataclass(frozen=True, slots=True)
class Task:
    """One document's part of a step.

    Attributes:
        number: its place among the tasks of the step.
        arguments: of the step's function.
        seconds: processor time that it may take.
        memory_mb: memory that it may take beside what the process holds already.
    """

    number: int
    arguments: tuple[Any, ...]
    seconds: float
    memory_mb: int


@dataclass(frozen=True, slots=True)
class Batch:
    """Tasks of one step, with its function and what the process does before its first task, within no limit."""

    run: Callable[..., Any]
    prepare: Callable[[], object] | None
    tasks: tuple[Task, ...]


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What came of a task: a value, an error to raise, or neither where its memory did not suffice."""

    number: int
    value: Any = None
    error: Exception | None = None
    out_of_memory: bool = False


def main(descriptor: int) -> None:
    """Serve until the parent closes the connection, or leaves this process idle."""
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides, and ends this process itself
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with Connection(descriptor) as connection, suppress(EOFError, BrokenPipeError, ConnectionResetError):
        connection.send("ready")
        while connection.poll(IDLE_SECONDS):
            batch: Batch = connection.recv()
            for task in batch.tasks:
                result = _run(batch, task)
                connection.send(result)
                if result.out_of_memory:
                    return  # what the task left behind would weigh on the tasks after it


def _run(batch: Batch, task: Task) -> TaskResult:
    try:
        if batch.prepare:
            batch.prepare()
        _limit_memory(task.memory_mb)
        signal.setitimer(signal.ITIMER_PROF, task.seconds)
        return TaskResult(task.number, batch.run(*task.arguments))
    except MemoryError:
        return TaskResult(task.number, out_of_memory=True)
    except Exception as error:  # the parent raises it
        return TaskResult(task.number, error=error)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        _limit_memory(None)


def _limit_memory(megabytes: int | None) -> None:
    """Limit what this process may hold beyond what it holds now; ``None`` lifts the limit. Linux alone can."""
    if not _MEMORY_IN_USE.exists():
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    soft = hard
    if megabytes is not None:
        soft = int(_MEMORY_IN_USE.read_text().split()[_DATA_FIELD]) * resource.getpagesize() + megabytes * 2**20
    resource.setrlimit(resource.RLIMIT_DATA, (soft if hard < 0 else min(soft, hard), hard))
