"""Parts that the benchmarks share: command line, a process for each size, times of stages, tables.

A `Stopwatch` takes the times of the stages inside a call without a line for it in the measured code. Each stage is one
or more functions. While it is installed, every name in graphctx that is bound to one of them is bound to a wrapper; a
stage inside another is taken off the outer one, so that the stages of a call add up to the call.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(".kb/bench")
CLOCKS = {"wall": time.perf_counter, "cpu": time.thread_time}

Row = dict[str, Any]
Clock = Callable[[], float]


def _in_a_process(module: str, size: int, arguments: argparse.Namespace) -> Row:
    """Measure one size in a process that has measured nothing else."""
    given = {name: str(getattr(arguments, name)) for name in ("folder", "questions", "clock")} | {"measure": str(size)}
    command = [sys.executable, "-m", module, *(f"--{name}={value}" for name, value in given.items())]
    measured: Row = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return measured


class Stopwatch:
    """Own times of stages, in seconds, added up until they are taken.

    Args:
        stages: for each stage the functions whose time it is: ``module:function`` or ``module:Class.method``. One that
            does not exist is an error: the table would be wrong without a word.
        clock: returns seconds.
    """

    def __init__(self, stages: Mapping[str, Sequence[str]], clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._stages = stages
        self._own = dict.fromkeys(stages, 0.0)
        self._inner: list[float] = []

    def take(self) -> dict[str, float]:
        """Return the seconds of each stage since the last call of this, and start again from 0."""
        taken, self._own = self._own, dict.fromkeys(self._stages, 0.0)
        return taken

    @contextmanager
    def installed(self) -> Iterator[Stopwatch]:
        """Take times in this block."""
        undo: list[Callable[[], None]] = []
        try:
            for stage, places in self._stages.items():
                for place in places:
                    undo += self._wrap(stage, place)
            yield self
        finally:
            for restore in reversed(undo):
                restore()

    def _wrap(self, stage: str, place: str) -> list[Callable[[], None]]:
        name, _, path = place.partition(":")
        *owners, attribute = path.split(".")
        owner: Any = functools.reduce(getattr, owners, importlib.import_module(name))
        original = getattr(owner, attribute)
        timed = self._timed(stage, original)
        if owners:
            holders = [owner]
        else:
            modules = [module for key, module in sorted(sys.modules.items()) if key.startswith("graphctx.")]
            holders = [module for module in modules if getattr(module, attribute, None) is original]
        for holder in holders:
            setattr(holder, attribute, timed)
        return [functools.partial(setattr, holder, attribute, original) for holder in holders]

    def _timed(self, stage: str, work: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(work)
        def timed(*args: Any, **kwargs: Any) -> Any:
            self._inner.append(0.0)
            started = self._clock()
            try:
                return work(*args, **kwargs)
            finally:
                whole = self._clock() - started
                self._own[stage] += whole - self._inner.pop()
                if self._inner:
                    self._inner[-1] += whole

        return timed


def table(head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    """Print one Markdown table, numbers to the right."""
    cells = [head, *([f"{value:,}" if isinstance(value, int | float) else str(value) for value in row] for row in rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(head))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    for row in (head, rule, *cells[1:]):
        first, *others = row
        numbers = " | ".join(value.rjust(width) for value, width in zip(others, widths[1:], strict=True))
        print(f"| {first.ljust(widths[0])} | {numbers} |")
    print()


def seconds(work: Callable[[], object], clock: Clock) -> float:
    """Return the seconds of a call."""
    started = clock()
    work()
    return clock() - started


def percentiles(taken: Sequence[float]) -> dict[str, float]:
    """Return median and 95th percentile in milliseconds."""
    return {f"p{p}": round(float(np.percentile(taken, p)) * 1000, 2) for p in (50, 95)}


def memory_taken(before: Any, after: Any) -> dict[str, int]:
    """Return the MB of own memory and of mapped pages between two ``psutil`` readings."""
    mapped = after.shared - before.shared
    return {"own": round((after.rss - before.rss - mapped) / 1e6), "mapped": round(mapped / 1e6)}


def run_sizes(
    module: str,
    about: str,
    *,
    sizes: str,
    unit: str,
    questions: int,
    make: Callable[[Path, int], object],
    measure: Callable[[Path, int, int, Clock], Row],
    show: Callable[[list[Row]], None],
) -> None:
    """Run a benchmark over several sizes, each in a process of its own.

    Args:
        module: as ``python -m`` names it.
        about: its docstring.
        sizes: default sizes, separated by commas.
        unit: what a size counts.
        questions: default number of questions.
        make: makes the knowledge base of a size, outside of the measured process.
        measure: measures one size.
        show: prints the results as tables.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=about.splitlines()[0])
    parser.add_argument("--sizes", default=sizes, help=f"{unit}, separated by commas")
    parser.add_argument("--questions", type=int, default=questions, help="questions for each size")
    parser.add_argument("--folder", type=Path, default=FOLDER, help=f"where corpora are kept; default: {FOLDER}")
    parser.add_argument(
        "--clock", choices=CLOCKS, default="wall", help="cpu: of this thread, for a machine that is busy"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)  # in the process of one size
    arguments = parser.parse_args()
    if arguments.measure is not None:
        print(json.dumps(measure(arguments.folder, arguments.measure, arguments.questions, CLOCKS[arguments.clock])))
        return
    measured = []
    for size in map(int, arguments.sizes.split(",")):
        make(arguments.folder, size)
        measured.append(_in_a_process(module, size, arguments))
    if arguments.json:
        print(json.dumps(measured, indent=2))
    else:
        show(measured)
