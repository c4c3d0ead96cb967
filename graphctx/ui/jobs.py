"""The one job that may change the published documents at a time: its progress, its result, and its end."""

from __future__ import annotations

import json
import logging
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from graphctx.errors import BackendUnavailable
from graphctx.ingest.read.source import Source
from graphctx.store.processes import start_module

log = logging.getLogger(__name__)

_CRASHED = (
    "The process that was reading the documents ended without a result (exit code {code}). Look at the server's log."
)


class PublishTask(BaseModel):
    """An ingest, or a removal of documents.

    Attributes:
        kb: the folder of the knowledge base; an ingest makes it if there is none.
        kind: which of the two.
        paths: of an ingest: files, folders, addresses of web pages, and sources.
        ignore_files: whether .gitignore files hold; ``None`` for what the settings say.
        prune: whether an ingest drops documents whose file is gone.
        documents: of a removal: ids.
    """

    model_config = ConfigDict(frozen=True)

    kb: Path
    kind: Literal["ingest", "remove"]
    paths: list[Source | str] = []
    ignore_files: bool | None = None
    prune: bool = False
    documents: list[str] = []


class JobStep(BaseModel):
    """A step of a job. ``total`` is 0 if unknown; ``unit`` names what is counted."""

    step: str
    done: int = 0
    total: int = 0
    unit: str = ""
    seconds: float = 0.0


class JobState(BaseModel):
    """A job as the page shows it; ``number`` is 0 before the first one."""

    number: int = 0
    kind: Literal["ingest", "remove", ""] = ""
    state: Literal["idle", "running", "done", "failed", "cancelled"] = "idle"
    seconds: float = 0.0
    steps: list[JobStep] = Field([], description="Those that have begun, in the order of their beginning.")
    result: dict[str, Any] | None = Field(None, description="The report of an ingest or a removal.")
    error: dict[str, Any] | None = Field(None, description="Code, message and details.")


class PublishJobs:
    """Runs jobs one after another. Thread-safe.

    Args:
        opened: called after a job has published, in the job's thread, to open what it published.
    """

    def __init__(self, opened: Callable[[], object]) -> None:
        self._opened = opened
        self._lock = threading.Lock()
        self._job = JobState()
        self._process: subprocess.Popen[str] | None = None
        self._began = self._step_began = 0.0

    def start(self, task: PublishTask, after: Callable[[dict[str, Any]], object] = lambda result: None) -> JobState:
        """Start a job and return its state.

        Args:
            task: what to do.
            after: called with the result of a job that succeeds.

        Raises:
            BackendUnavailable: one is running.
        """
        with self._lock:
            if self._job.state == "running":
                raise BackendUnavailable(
                    "Documents are being ingested or removed already. Wait until that is done, or cancel it."
                )
            self._job = JobState(number=self._job.number + 1, kind=task.kind, state="running")
            self._began = self._step_began = time.monotonic()
            number = self._job.number
        # The process ends with the thread that starts it.
        threading.Thread(target=self._run, args=(number, task, after), name="graphctx-job", daemon=True).start()
        return self.state()

    def state(self) -> JobState:
        """Return the state of the latest job."""
        with self._lock:
            if self._job.state == "running":
                self._count_time()
            return self._job.model_copy(deep=True)

    def cancel(self) -> JobState:
        """Stop the job; what was published before stays. Does nothing if none is running, or if it has published."""
        with self._lock:
            published = any(step.step == "open" for step in self._job.steps)
            if self._job.state == "running" and not published:
                self._end("cancelled")
                if self._process is not None:
                    self._process.kill()
        return self.state()

    def _run(self, number: int, task: PublishTask, after: Callable[[dict[str, Any]], object]) -> None:
        try:
            code, answer = self._published(number, task)
        except OSError as error:
            reason = f"The process that reads the documents cannot be started: {error.strerror}."
            code, answer = 1, BackendUnavailable(reason, errno=error.errno).envelope()
        if "result" in answer:
            self._show(number, {"step": "open"})
            for finish in (self._opened, lambda: after(answer["result"])):
                try:
                    finish()
                except Exception as error:  # it is published; the next call opens it, and reports what is wrong
                    log.warning("after job %d: %s", number, error)
        with self._lock:
            if not self._runs(number):
                return
            self._process = None
            if "result" in answer:
                self._job.result = answer["result"]
                self._end("done")
            else:
                crash = BackendUnavailable(_CRASHED.format(code=code)).envelope()
                self._job.error = (answer if "error" in answer else crash)["error"]
                self._end("failed")

    def _published(self, number: int, task: PublishTask) -> tuple[int, dict[str, Any]]:
        """Run the process of a job; return its exit code and the last object that it wrote."""
        options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "encoding": "utf-8", "errors": "replace"}
        answer: dict[str, Any] = {}
        with start_module("graphctx.ui.publishing", **options) as process:
            with self._lock:
                if self._runs(number):
                    self._process = process
                else:
                    process.kill()
            assert process.stdin is not None
            assert process.stdout is not None
            with suppress(OSError):  # it was killed
                process.stdin.write(task.model_dump_json())
                process.stdin.close()
            for line in process.stdout:
                with suppress(ValueError):
                    said = json.loads(line)
                    if isinstance(said, dict):  # a library may write a line of its own
                        answer = said
                        if "progress" in said:
                            self._show(number, said["progress"])
        return process.returncode, answer

    def _runs(self, number: int) -> bool:
        """Return whether a job is the latest, and runs; one that was cancelled may have been followed by another."""
        return self._job.number == number and self._job.state == "running"

    def _show(self, number: int, progress: dict[str, Any]) -> None:
        with self._lock:
            if not self._runs(number):
                return
            steps = self._job.steps
            if not steps or steps[-1].step != progress["step"]:
                self._count_time()
                steps.append(JobStep(**progress))
                self._step_began = time.monotonic()
            else:
                steps[-1] = JobStep(**progress)

    def _count_time(self) -> None:
        now = time.monotonic()
        self._job.seconds = round(now - self._began, 1)
        if self._job.steps:
            self._job.steps[-1].seconds = round(now - self._step_began, 1)

    def _end(self, state: Literal["done", "failed", "cancelled"]) -> None:
        self._count_time()
        self._job.state = state
