"""Worker processes for the steps that run a document at a time: read, split, extract.

A document may make a library run for hours or exhaust the memory. One that exceeds its limit of processor time or
memory ends its process and is refused; a fresh process goes on with the others.

`concurrent.futures` and loky cannot do this: they have no limits, and when a process dies they fail all waiting tasks
and do not say which one killed it.
"""

from __future__ import annotations

import atexit
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
from typing import Any, Generic, Protocol, Self, TypeVar

from graphctx.errors import InternalError
from graphctx.ingest.worker import Task, TaskResult
from graphctx.nlp.base import Embedder
from graphctx.settings import IngestSettings
from graphctx.store.processes import start_process

SIZE_FOR_MORE_WORKERS = 200_000
"""Starting a worker that extracts takes about 2 s, in which one extracts 60,000 characters or more; below about three
times that a second one costs more than it saves (measured on two cores)."""

SIZE_OF_LIMIT = 100_000
"""A document may take ``document_seconds`` of CPU time per this many characters or bytes, rounded up."""

WALL_FACTOR = 10
"""A task that exceeds this multiple of its CPU limit in wall time is killed: it is hung."""

START_SECONDS = 600.0
"""Startup timeout of a worker, in seconds."""

LONGEST_WAIT_SECONDS = 3600.0
"""A longer wait is made of several: operating systems refuse very long timeouts."""

_PROGRAM = "import sys; from graphctx.ingest.worker import main; main(int(sys.argv[1]))"

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Refused:
    """A document that a step was not done for, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class DocumentStep(Generic[Result]):
    """A function that is run for every document.

    Attributes:
        name: what it does to a document, for messages: ``reading``.
        run: an importable function; its arguments and its result are pickled.
        prepare: called in every process before its first document, within no limit.
        pack: makes a document's arguments independent of this machine's files, for another machine.

    Example:
        >>> DocumentStep("measuring", len).of_all([("a text",)], [6], IngestSettings())  # doctest: +SKIP
        [6]
    """

    name: str
    run: Callable[..., Result]
    prepare: Callable[[], object] | None = None
    pack: Callable[..., tuple[Any, ...]] | None = None

    def of_all(
        self,
        documents: Sequence[tuple[Any, ...]],
        sizes: Sequence[int],
        settings: IngestSettings,
        on_done: Callable[[int, Result | Refused], None] = lambda number, result: None,
    ) -> list[Result | Refused]:
        """Run the step for documents, the largest first. The results are the same with any number of processes.

        Args:
            documents: the function's arguments for each.
            sizes: characters or bytes of each.
            settings: number of processes, and the limits of a document.
            on_done: called in this thread with the number of each finished document and its result.

        Returns:
            The result for each, in their order.

        Raises:
            InternalError: a worker process cannot be started, or ends with an error of its own.
            GraphctxError: what the function raised.
        """
        waiting = deque(
            Task(
                number=number,
                run=self.run,
                arguments=documents[number],
                prepare=self.prepare,
                seconds=settings.document_seconds * max(1, -(-sizes[number] // SIZE_OF_LIMIT)),
                memory_mb=settings.document_memory_mb,
            )
            for number in sorted(range(len(documents)), key=lambda number: (-sizes[number], number))
        )
        processes = (settings.processes or os.cpu_count() or 1) if sum(sizes) >= SIZE_FOR_MORE_WORKERS else 1
        results: dict[int, Result | Refused] = {}
        with _workers(min(processes, len(waiting))) as workers:
            while waiting or any(worker.task for worker in workers):
                for worker in workers:
                    if waiting and worker.task is None:
                        worker.give(waiting.popleft())
                for worker in _finished(workers):
                    task = worker.task
                    assert task is not None
                    result = worker.take(self.name)
                    if result is not None:
                        results[task.number] = result.value
                        on_done(task.number, result.value)
        return [results[number] for number in range(len(documents))]


class Executor(Protocol):
    """Where the steps of documents and the embedder run; a context manager."""

    texts_at_once: int
    """Texts to embed in one call: what an interruption can cost at most."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...

    def run(
        self,
        step: DocumentStep[Result],
        documents: Sequence[tuple[Any, ...]],
        sizes: Sequence[int],
        settings: IngestSettings,
        on_done: Callable[[int, Result | Refused], None] = lambda number, result: None,
    ) -> list[Result | Refused]:
        """Run a step for documents; see `DocumentStep.of_all`."""

    def embedder(self, own: Embedder) -> Embedder:
        """Return an embedder that works here and has the vectors of one of this process."""


class LocalExecutor:
    """Worker processes of this machine."""

    texts_at_once = 512

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def run(
        self,
        step: DocumentStep[Result],
        documents: Sequence[tuple[Any, ...]],
        sizes: Sequence[int],
        settings: IngestSettings,
        on_done: Callable[[int, Result | Refused], None] = lambda number, result: None,
    ) -> list[Result | Refused]:
        """Run a step for documents; see `DocumentStep.of_all`."""
        return step.of_all(documents, sizes, settings, on_done)

    def embedder(self, own: Embedder) -> Embedder:
        """Return the embedder itself."""
        return own


class _Worker:
    """A process and its task."""

    def __init__(self) -> None:
        self.parent = os.getpid()
        self.task: Task | None = None
        self._start()

    @property
    def idle(self) -> bool:
        """Whether the process runs and waits for tasks of this process."""
        return self.parent == os.getpid() and self.task is None and self._process.poll() is None

    def give(self, task: Task) -> None:
        """Send a task to the process, which has none."""
        self.task, self._crashed = task, False
        self._send(task)

    def take(self, doing: str) -> TaskResult | None:
        """Return the result of the task, or ``None`` if its process was killed and it runs again in a fresh one.

        Raises:
            InternalError: the process ended with an error of its own.
            GraphctxError: what the task raised.
        """
        task = self.task
        assert task is not None
        timed_out = time.monotonic() >= self.deadline and not self.connection.poll()
        if timed_out:
            self._process.kill()
        try:
            result: TaskResult = self.connection.recv()
        except (EOFError, OSError):
            code = self._ended()
            self._start()
            if timed_out or code == -signal.SIGPROF:
                result = TaskResult(_over(doing, f"{task.seconds:g} seconds", "document_seconds"))
            elif not self._crashed:
                self._crashed = True  # perhaps it was idle for too long, or killed for what others did
                self._send(task)
                return None
            else:
                how = signal.Signals(-code).name if code else "exit code 0"
                reason = f"{doing} it ended the process that did so, twice ({how}); the machine may be out of memory"
                result = TaskResult(Refused(reason))
        if result.error is not None:
            raise result.error
        self.task = None
        if result.out_of_memory:  # what the task left behind would count against the tasks after it
            self.stop()
            self._start()
            return TaskResult(_over(doing, f"{task.memory_mb} MB of memory", "document_memory_mb"))
        return result

    def stop(self) -> None:
        """End the process at once."""
        self._process.kill()
        self.connection.close()
        self._process.wait()

    def _start(self) -> None:
        self._ready = False
        self.connection, theirs = Pipe()
        with theirs:
            self._process = start_process(
                [sys.executable, "-c", _PROGRAM, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )

    def _send(self, task: Task) -> None:
        with suppress(EOFError, OSError):
            self._ready = self._ready or (self.connection.poll(START_SECONDS) and bool(self.connection.recv()))
        if not self._ready:
            self._process.kill()
            self._ended()
        with suppress(OSError):  # the process has ended, as `take` sees
            self.connection.send(task)
        self.deadline = time.monotonic() + WALL_FACTOR * task.seconds

    def _ended(self) -> int:
        """Return the exit code of a process that has closed its connection. Raises InternalError if it failed."""
        self.connection.close()
        code = self._process.wait()
        if code > 0 or not self._ready:
            raise InternalError(
                f"A worker process ended with code {code} before its work was done. Look for what it printed above.",
                exit_code=code,
            )
        return code


def _over(doing: str, limit: str, setting: str) -> Refused:
    return Refused(f"{doing} it takes more than {limit}; the setting {setting} in [ingest] allows more")


def _finished(workers: Sequence[_Worker]) -> list[_Worker]:
    """Wait for workers that have a result, have ended or are past their deadline."""
    busy = [worker for worker in workers if worker.task]
    left = min(worker.deadline for worker in busy) - time.monotonic()
    ready = wait([worker.connection for worker in busy], min(max(0.0, left), LONGEST_WAIT_SECONDS))
    now = time.monotonic()
    return [worker for worker in busy if worker.connection in ready or now >= worker.deadline]


_idle: list[_Worker] = []
_idle_lock = threading.Lock()


@contextmanager
def _workers(count: int) -> Iterator[list[_Worker]]:
    """Yield workers for one step. They stay for the next one, unless an error or Ctrl-C leaves them with a task."""
    workers: list[_Worker] = []
    try:
        with _idle_lock:
            while _idle and len(workers) < count:
                workers.append(_idle.pop())
        for worker in [worker for worker in workers if not worker.idle]:
            workers.remove(worker)
            worker.stop()
        while len(workers) < count:
            workers.append(_Worker())
        yield workers
    finally:
        for worker in workers:
            if worker.idle:
                with _idle_lock:
                    _idle.append(worker)
            else:
                worker.stop()


@atexit.register
def _stop_idle() -> None:
    with _idle_lock:
        while _idle:
            _idle.pop().stop()
