"""What the benchmarks over several sizes share: their command line, and a process of its own for each size."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

CLOCKS = {"wall": time.perf_counter, "cpu": time.thread_time}

Row = dict[str, Any]
Clock = Callable[[], float]


def arguments_of(module: str, about: str, *, sizes: str, unit: str, questions: int, folder: Path) -> argparse.Namespace:
    """Read the command line of a benchmark.

    Args:
        module: as ``python -m`` names it.
        about: its docstring.
        sizes, questions, folder: the defaults.
        unit: what a size counts.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=about.splitlines()[0])
    parser.add_argument("--sizes", default=sizes, help=f"{unit}, with commas between")
    parser.add_argument("--questions", type=int, default=questions, help="questions for each size")
    parser.add_argument("--folder", type=Path, default=folder, help=f"where corpora are kept; default: {folder}")
    parser.add_argument(
        "--clock", choices=CLOCKS, default="wall", help="cpu: of this thread, for a machine that is busy"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)  # in the process of one size
    return parser.parse_args()


def in_a_process(module: str, size: int, arguments: argparse.Namespace) -> Row:
    """Measure one size in a process that has measured nothing else."""
    given = {name: str(getattr(arguments, name)) for name in ("folder", "questions", "clock")} | {"measure": str(size)}
    command = [sys.executable, "-m", module, *(f"--{name}={value}" for name, value in given.items())]
    measured: Row = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return measured
