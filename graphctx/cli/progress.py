"""How far an ingest is: bars on a terminal, plain lines elsewhere. Everything on standard error."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from graphctx.cli.console import errors_console

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import TaskID

    from graphctx.ingest.report import Progress

_PLAIN_SECONDS = 10.0
"""Without a terminal, a step that takes long says so this often: enough to see life, too rare to fill a log."""


class ProgressView(Protocol):
    """A context manager that is told of progress."""

    def __call__(self, progress: Progress) -> None:
        """Take notice."""

    def __enter__(self) -> ProgressView:
        """Begin to show."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop showing; also when the ingest fails."""


def progress_view() -> ProgressView:
    """Bars if standard error is a terminal, else lines without control codes."""
    console = errors_console()
    return _Bars(console) if console.is_terminal else _Lines(console)


class _Bars:
    def __init__(self, console: Console) -> None:
        from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bars

        self._bars = Bars(
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

    def __call__(self, progress: Progress) -> None:
        if progress.step != self._step:
            self._finish()
            self._step = progress.step
            self._task = self._bars.add_task(progress.step, total=None, count="", rate="")
        if self._task is None:
            return
        task = self._bars.tasks[self._task]
        rate = _rate(progress, task.elapsed or 0.0)
        self._bars.update(
            self._task, completed=progress.done, total=progress.total or None, count=_count(progress), rate=rate
        )

    def _finish(self) -> None:
        if self._task is not None:
            total = self._bars.tasks[self._task].total or 1
            self._bars.update(self._task, completed=total, total=total)
            self._bars.stop_task(self._task)

    def __enter__(self) -> _Bars:
        self._bars.start()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self._finish()
        self._bars.stop()


class _Lines:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._last: Progress | None = None
        self._began = self._told = 0.0

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if self._last is None or progress.step != self._last.step:
            self._finish(now)
            self._began = self._told = now
        elif now - self._told >= _PLAIN_SECONDS:
            self._told = now
            self._say(progress, now, "…")
        self._last = progress

    def _finish(self, now: float) -> None:
        if self._last is not None:
            self._say(self._last, now)

    def _say(self, progress: Progress, now: float, more: str = "") -> None:
        seconds = now - self._began
        count = _count(progress) if progress.done else ""
        parts = [f"{progress.step:<8}", count, _rate(progress, seconds), f"{seconds:.1f} s{more}"]
        self._console.print("  ".join(part for part in parts if part), soft_wrap=True)

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self._finish(time.monotonic())


def _count(progress: Progress) -> str:
    if progress.total:
        return f"{progress.done:,}/{progress.total:,} {progress.unit}"
    return f"{progress.done:,} {progress.unit}" if progress.done else progress.unit


def _rate(progress: Progress, seconds: float) -> str:
    return f"{progress.done / seconds:,.0f}/s" if progress.done and seconds > 0.05 else ""
