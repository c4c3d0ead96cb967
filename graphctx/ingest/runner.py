"""Runs the steps of an ingest: the lock, the memo, progress, time, and documents over their limit."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from graphctx.ingest.report import OnProgress, Progress, StepName
from graphctx.ingest.state import Context, DocumentsRefused, State, Step
from graphctx.ingest.steps import STEPS
from graphctx.store.cache import Memo
from graphctx.store.lock import IngestLock

FIRST_OF_DOCUMENTS: StepName = "split"
"""Without some documents, the steps begin here again. What was extracted from the others comes from the memo."""


@contextmanager
def memo_of(kb_dir: Path) -> Iterator[Memo]:
    """Lock a knowledge base for one ingest, and open its memo.

    Raises:
        BackendUnavailable: another ingest is running, or the disk refuses a write.
    """
    with IngestLock(kb_dir), Memo(kb_dir / "cache" / "memo.sqlite") as memo:
        yield memo


@dataclass(slots=True)
class Runner:
    """One pass through the steps.

    Attributes:
        context: what the steps use.
        on_progress: called with the progress of each step.
        steps: in order.
        state: what the steps have made so far.
        seconds: wall-clock time by step.
    """

    context: Context
    on_progress: OnProgress
    steps: Sequence[Step] = STEPS
    state: State = field(default_factory=State)
    seconds: dict[StepName, float] = field(default_factory=dict)
    _next: int = 0

    def run(self, through: StepName) -> State:
        """Run the steps that have not run yet, up to and including one of them.

        Raises:
            GraphctxError: a step failed.
        """
        while self._next <= self._place(through):
            step = self.steps[self._next]
            self._next += 1
            if step.applies(self.context):
                try:
                    self._run(step)
                except DocumentsRefused as refused:
                    self.state["changes"] = self.state["changes"].without(refused.reasons)
                    self._next = self._place(FIRST_OF_DOCUMENTS)
        return self.state

    def _run(self, step: Step) -> None:
        def progress(done: int, total: int, unit: str) -> None:
            self.on_progress(Progress(step.name, done, total, unit))

        progress(0, 0, "")
        started = time.perf_counter()
        try:
            self.state.update(step.run(self.state, replace(self.context, progress=progress)))
        finally:
            self.seconds[step.name] = self.seconds.get(step.name, 0.0) + time.perf_counter() - started

    def _place(self, name: StepName) -> int:
        return [step.name for step in self.steps].index(name)
