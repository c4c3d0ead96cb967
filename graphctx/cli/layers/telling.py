"""Progress of long work on layers, shown like the steps of an ingest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

OnProgress = Callable[[str, int, int, str], None]
"""Called with a step's name, how much of it is done, how much there is (0 where unknown), and what is counted."""


@contextmanager
def told_progress() -> Iterator[OnProgress]:
    """Something to call as work advances; what it is told is on standard error."""
    from graphctx.cli.progress import progress_view
    from graphctx.ingest.report import Progress

    with progress_view() as view:

        def told(step: str, done: int, total: int, unit: str) -> None:
            view(Progress(cast(Any, step), done, total, unit))

        yield told
