"""Worker processes for the steps that see documents as they come: read, split, extract.

A document may make a library run for hours or fill the memory. So these steps run in processes of their own, and a
document that takes more than its limit of time or memory costs its process and nothing else: the tasks behind it go
to a fresh one. The results are the same with any number of workers.
"""

from __future__ import annotations

import atexit
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Pipe, wait
from typing import Any, Generic, TypeVar

from graphctx.errors import InternalError
from graphctx.ingest.worker import Batch, Task, TaskResult
from graphctx.settings import IngestSettings
from graphctx.store.processes import start_process

SIZE_FOR_MORE_WORKERS = 200_000
"""Starting a worker that extracts takes about 2 s, in which one extracts 60,000 characters or more; below about three
times that a second one costs more than it saves (measured on two cores)."""

BATCH_SIZE = 40_000
"""What a worker is given at a time: about 1.5 s of extraction, so that the last batches end together."""

SIZE_OF_LIMIT = 100_000
"""A document may take ``document_seconds`` for each started stretch of so many characters or bytes."""

WALL_FACTOR = 10
"""A task that takes so many times its processor time by the clock is ended too: it waits for what never comes."""

START_SECONDS = 600.0
"""A process that is not ready by then never is."""

LONGEST_WAIT_SECONDS = 3600.0
"""A longer wait is made of several: operating systems refuse very long timeouts."""

_PROGRAM = "import sys; from graphctx.ingest.worker import main; main(int(sys.argv[1]))"

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Refused:
    """A document that a step was not done for, and why, in words for a person."""

    reason: str


@dataclass(frozen=True, slots=True)
class DocumentStep(Generic[Result]):
    """What is done for every document.

    Attributes:
        name: what it does to a document, for a person: ``reading``.
        run: an importable function; its arguments and its result are pickled.
        prepare: called in every process before its first document, within no limit.
    """

    name: str
    run: Callable[..., Result]
    prepare: Callable[[], object] | None = None

    def of_all(
        self,
        documents: Sequence[tuple[Any, ...]],
        sizes: Sequence[int],
        settings: IngestSettings,
        on_done: Callable[[int, Result | Refused], None] = lambda number, result: None,
    ) -> list[Result | Refused]:
        """Run the step for documents.

        Args:
            documents: the function's arguments for each.
            sizes: characters or bytes of each.
            settings: number of processes, and the limits of a document.
            on_done: called in this thread with the place of what was just finished and its result, so that it can be
                kept should the rest be interrupted.

        Returns:
            The result for each, in their order.

        Raises:
            InternalError: a worker process cannot be started.
            GraphctxError: what the function raised.
        """
        limit, memory_mb = settings.document_seconds, settings.document_memory_mb
        tasks = [
            Task(number, arguments, limit * max(1, -(-size // SIZE_OF_LIMIT)), memory_mb)
            for number, (arguments, size) in enumerate(zip(documents, sizes, strict=True))
        ]
        waiting = deque(_batches(tasks, sizes))
        processes = (settings.processes or os.cpu_count() or 1) if sum(sizes) >= SIZE_FOR_MORE_WORKERS else 1
        results: dict[int, Result | Refused] = {}
        with _hired(min(processes, len(waiting))) as workers:
            while waiting or any(worker.tasks for worker in workers):
                for worker in workers:
                    if waiting and not worker.tasks:
                        worker.give(self, waiting.popleft())
                for worker in _with_news(workers):
                    for number, result in worker.take():
                        results[number] = result
                        on_done(number, result)
        return [results[number] for number in range(len(tasks))]


def _batches(tasks: Sequence[Task], sizes: Sequence[int]) -> Iterator[list[Task]]:
    """Batches of about equal size, the largest documents first, so that no process ends long after the others."""
    batch: list[Task] = []
    size = 0
    for task in sorted(tasks, key=lambda task: (-sizes[task.number], task.number)):
        batch.append(task)
        size += sizes[task.number]
        if size >= BATCH_SIZE:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class _Worker:
    """A process, the tasks that it has not answered yet, and what follows when it ends in the middle of one.

    A plain subprocess, not a pool of `concurrent.futures` or loky: those lose every waiting task with a process that
    dies, do not say which task killed it, and (the first) import the caller's main module again, which breaks every
    script without a main guard.
    """

    def __init__(self) -> None:
        self.parent = os.getpid()
        self.tasks: deque[Task] = deque()
        self.deadline = math.inf
        self._ready = False
        self._step: DocumentStep[Any] | None = None
        self._crashed: set[int] = set()  # tasks that a process died of
        self._start()

    def give(self, step: DocumentStep[Any], tasks: Sequence[Task]) -> None:
        """Send tasks to the process, which has none, and begin to watch the time."""
        self._step, self.tasks = step, deque(tasks)
        self._crashed.clear()
        self._send()

    def take(self) -> list[tuple[int, Any]]:
        """The first task's number with its result, or with why it is refused; nothing while that is not known.

        Raises:
            InternalError: the process could not be started, or fails whatever it is given.
            GraphctxError: what the task raised.
        """
        if time.monotonic() >= self.deadline and not self.connection.poll():
            self._process.kill()
            return self._ended(timed_out=True)
        try:
            answer = self.connection.recv()
        except (EOFError, OSError):
            return self._ended(timed_out=False)
        if not self._ready:
            self._ready = True
            self._watch()
            return []
        assert isinstance(answer, TaskResult)
        if answer.error is not None:
            raise answer.error
        task = self.tasks.popleft()
        self._watch()
        return [(task.number, self._over_memory(task) if answer.out_of_memory else answer.value)]

    @property
    def idle(self) -> bool:
        """Whether the process runs and waits for tasks of this process."""
        return self.parent == os.getpid() and not self.tasks and self._process.poll() is None

    def stop(self) -> None:
        """End the process at once."""
        self.connection.close()
        self._process.kill()
        self._process.wait()

    def _start(self) -> None:
        self.connection, theirs = Pipe()
        with theirs:
            self._process = start_process(
                [sys.executable, "-c", _PROGRAM, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        self._ready = False

    def _send(self) -> None:
        with suppress(OSError):  # the process has ended, as `take` sees
            assert self._step is not None
            self.connection.send(Batch(self._step.run, self._step.prepare, tuple(self.tasks)))
        self._watch()

    def _watch(self) -> None:
        """Set the time at which the process is ended from here."""
        if not self._ready:
            self.deadline = time.monotonic() + START_SECONDS
        elif self.tasks:
            self.deadline = time.monotonic() + WALL_FACTOR * self.tasks[0].seconds
        else:
            self.deadline = math.inf

    def _ended(self, *, timed_out: bool) -> list[tuple[int, Refused]]:
        """Give the tasks of a process that has ended to another one, without the one that ended it."""
        self.connection.close()
        code = self._process.wait()
        was_ready, task = self._ready, self.tasks[0]
        if code > 0 or not was_ready:
            raise InternalError(
                f"A worker process ended with code {code} before its work was done. Look for what it printed above.",
                exit_code=code,
            )
        refused = None
        if timed_out or code == -signal.SIGPROF:
            refused = self._over_time(task)
        elif code < 0 and task.number in self._crashed:
            refused = Refused(
                f"{self._name} it ended the process that did so, twice ({signal.Signals(-code).name}); "
                "the machine may be out of memory"
            )
        elif code < 0:
            self._crashed.add(task.number)  # it may have been killed for what others did
        if refused:
            self.tasks.popleft()
        self._start()
        self._send()
        return [(task.number, refused)] if refused else []

    @property
    def _name(self) -> str:
        return self._step.name if self._step else ""

    def _over_time(self, task: Task) -> Refused:
        return Refused(
            f"{self._name} it takes more than {task.seconds:g} seconds; "
            "the setting document_seconds in [ingest] allows more"
        )

    def _over_memory(self, task: Task) -> Refused:
        return Refused(
            f"{self._name} it takes more than {task.memory_mb} MB of memory; "
            "the setting document_memory_mb in [ingest] allows more"
        )


def _with_news(workers: Sequence[_Worker]) -> list[_Worker]:
    """Wait for workers that have answered, have ended or are past their time."""
    busy = [worker for worker in workers if worker.tasks]
    left = min(worker.deadline for worker in busy) - time.monotonic()
    answered = wait([worker.connection for worker in busy], min(max(0.0, left), LONGEST_WAIT_SECONDS))
    now = time.monotonic()
    return [worker for worker in busy if worker.connection in answered or now >= worker.deadline]


_idle: list[_Worker] = []
_idle_lock = threading.Lock()


@contextmanager
def _hired(count: int) -> Iterator[list[_Worker]]:
    """Workers for one step. They stay for the next one, unless an error or Ctrl-C leaves tasks with them."""
    workers: list[_Worker] = []
    try:
        with _idle_lock:
            while _idle and len(workers) < count:
                workers.append(_idle.pop())
        for number in range(count):
            if number == len(workers):
                workers.append(_Worker())
            elif not workers[number].idle:
                workers[number].stop()
                workers[number] = _Worker()
        yield workers
    finally:
        for worker in workers:
            if worker.idle:
                with _idle_lock:
                    _idle.append(worker)
            else:  # nothing that it holds is worth keeping
                worker.stop()


@atexit.register
def _dismiss() -> None:
    with _idle_lock:
        while _idle:
            _idle.pop().stop()
