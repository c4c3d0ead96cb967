"""Progress of long work, on standard error: bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from graphctx.cli.console import errors_console

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import TaskID

    from graphctx.ingest.report import Progress

_PLAIN_SECONDS = 10.0
"""Seconds between two lines about one step without a terminal: enough to see life, too rare to fill a log."""


class ProgressView(ABC):
    """Shows how far a step is. A context manager; a step that raises is not shown as done.

    Usage::

        with progress_view() as view:
            base.ingest(folder, on_progress=view)
            base.export(path, "html", on_progress=view.step)
    """

    def __call__(self, progress: Progress) -> None:
        """Show the progress of an ingest."""
        self.step(progress.step, progress.done, progress.total, progress.unit)

    @abstractmethod
    def step(self, step: str, done: int, total: int, unit: str) -> None:
        """Show that ``done`` of ``total`` units of a step are done; ``total`` is 0 if it is unknown."""

    def __enter__(self) -> ProgressView:
        return self

    @abstractmethod
    def __exit__(self, kind: Any, error: Any, trace: Any) -> None: ...


def progress_view() -> ProgressView:
    """Return bars if standard error is a terminal, else lines without control codes."""
    console = errors_console()
    return _Bars(console) if console.is_terminal else _Lines(console)


class _Bars(ProgressView):
    def __init__(self, console: Console) -> None:
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        self._bars = Progress(
            SpinnerColumn(finished_text="✓"),
            TextColumn("{task.description:<8}"),
            BarColumn(bar_width=28),
            TextColumn("{task.fields[count]:<26}"),
            TextColumn("{task.fields[rate]:>12}", style="dim"),
            TimeElapsedColumn(),
            console=console,
        )
        self._step = ""
        self._task: TaskID | None = None

    def step(self, step: str, done: int, total: int, unit: str) -> None:
        if self._task is None or step != self._step:
            self._finish()
            self._step = step
            self._task = self._bars.add_task(step, total=None, count="", rate="")
        rate = _rate(done, self._bars.tasks[self._task].elapsed or 0.0)
        self._bars.update(self._task, completed=done, total=total or None, count=_count(done, total, unit), rate=rate)

    def _finish(self) -> None:
        if self._task is not None:
            total = self._bars.tasks[self._task].total or 1
            self._bars.update(self._task, completed=total, total=total)
            self._bars.stop_task(self._task)

    def __enter__(self) -> ProgressView:
        self._bars.start()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self._finish()
        self._bars.stop()


class _Lines(ProgressView):
    def __init__(self, console: Console) -> None:
        self._console = console
        self._last: tuple[str, int, int, str] | None = None
        self._began = self._printed = 0.0

    def step(self, step: str, done: int, total: int, unit: str) -> None:
        now = time.monotonic()
        if self._last is None or step != self._last[0]:
            self._finish(now)
            self._began = self._printed = now
        elif now - self._printed >= _PLAIN_SECONDS:
            self._printed = now
            self._print(step, done, total, unit, now, "…")
        self._last = (step, done, total, unit)

    def _finish(self, now: float) -> None:
        if self._last is not None:
            self._print(*self._last, now)

    def _print(self, step: str, done: int, total: int, unit: str, now: float, more: str = "") -> None:
        seconds = now - self._began
        count = _count(done, total, unit) if done else ""
        parts = [f"{step:<8}", count, _rate(done, seconds), f"{seconds:.1f} s{more}"]
        self._console.print("  ".join(part for part in parts if part))

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self._finish(time.monotonic())


def _count(done: int, total: int, unit: str) -> str:
    if total:
        return f"{done:,}/{total:,} {unit}"
    return f"{done:,} {unit}" if done else unit


def _rate(done: int, seconds: float) -> str:
    return f"{done / seconds:,.0f}/s" if done and seconds > 0.05 else ""
