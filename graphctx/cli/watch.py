"""``graphctx ingest --watch``: publish again after files have changed, until SIGTERM."""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from types import FrameType
from typing import TYPE_CHECKING

from graphctx.cli.console import errors_console
from graphctx.errors import BackendUnavailable, GraphctxError, InvalidArgument

if TYPE_CHECKING:
    from graphctx.ingest.read.source import Source
    from graphctx.ingest.report import IngestReport

MAX_WAIT_SECONDS = 60
"""Files that never stop changing are ingested after so long."""

RETRY_SECONDS = 5.0
"""An ingest that could not run, as while another one holds the lock, is tried again after so long."""

FIRST_WAIT_MS = 100


def watched_paths(sources: Sequence[str | Source]) -> list[Path]:
    """Return the files and folders of sources; web pages are not followed."""
    from graphctx.ingest.read.source import sources_of

    return [Path(source.path).expanduser().absolute() for source in sources_of(sources, (), ()) if source.path]


def missing_paths(sources: Sequence[str | Source]) -> list[str]:
    """Return the files and folders of sources that do not exist."""
    return [str(path) for path in watched_paths(sources) if not os.path.exists(path)]  # noqa: PTH110 - may raise


def watch_sources(
    sources: Sequence[str | Source],
    kb_dir: Path,
    quiet_seconds: float,
    ingest: Callable[[], IngestReport],
    show: Callable[[IngestReport], None],
) -> None:
    """Ingest, and ingest again whenever files of the sources have changed and were quiet for a while.

    An ingest that fails is reported, and the watch goes on; one that the disk or another ingest prevents is tried
    again. SIGTERM ends it, in the middle of an ingest too: what is
    published stays, and finished work is kept.

    Args:
        sources: what is ingested.
        kb_dir: the knowledge base, whose own files are not watched.
        quiet_seconds: publish when nothing has changed for so long.
        ingest: runs one ingest.
        show: prints its report.

    Raises:
        InvalidArgument: there is no file or folder to follow.
        KeyboardInterrupt: on Ctrl-C.
    """
    from watchfiles import Change, watch

    paths, own = watched_paths(sources), kb_dir.resolve()
    if not paths:
        raise InvalidArgument("--watch follows files and folders, and only web pages are named. Leave --watch out.")
    # An editor replaces a file by another, which only its folder shows.
    folders = {path if path.is_dir() else path.parent for path in paths}
    stopped = Event()
    busy = False
    retry_at = math.inf

    def is_wanted(change: Change, name: str) -> bool:
        path = Path(name)
        return not path.resolve().is_relative_to(own) and any(path.is_relative_to(one) for one in paths)

    def on_signal(number: int, frame: FrameType | None) -> None:
        stopped.set()
        if busy:
            raise _Stopped

    changes = watch(
        *sorted(folders),
        watch_filter=is_wanted,
        step=round(quiet_seconds * 1000),
        debounce=MAX_WAIT_SECONDS * 1000,
        rust_timeout=FIRST_WAIT_MS,
        yield_on_timeout=True,
        stop_event=stopped,
    )
    before = signal.signal(signal.SIGTERM, on_signal)
    try:
        # The first item comes when the folders are being followed, so that nothing is missed during the first ingest.
        for number, found in enumerate(changes):
            if number == 0 or found or time.monotonic() >= retry_at:
                busy = True
                error = _attempt(ingest, show)
                busy = False
                retry_at = time.monotonic() + RETRY_SECONDS if isinstance(error, BackendUnavailable) else math.inf
                if error is not None and (number == 0 or found):
                    errors_console().print(f"error: {error.code} {error.message}\nThe watch goes on.", style="red")
    except _Stopped:
        pass
    finally:
        signal.signal(signal.SIGTERM, before)
    errors_console().print("stopped; what is published stays", style="yellow")


class _Stopped(KeyboardInterrupt):
    """SIGTERM came during an ingest."""


def _attempt(ingest: Callable[[], IngestReport], show: Callable[[IngestReport], None]) -> GraphctxError | None:
    """Ingest once and return the error, if there is one."""
    try:
        report = ingest()
    except GraphctxError as error:
        return error
    if report.changed:
        show(report)
    errors_console().print("watching; Ctrl-C or SIGTERM ends it", style="dim")
    return None
