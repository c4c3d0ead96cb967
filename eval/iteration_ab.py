"""The A/B benchmark of iterations: any orchestrator with and without context, and how sure the difference is.

    python -m eval.iteration_ab [--tasks FILE] [--runs N] [--max-iterations N] [--json FILE] [-- COMMAND…]

Every task is run N times (10) in both variants, ``baseline`` and ``mcp_enabled``, in random order. COMMAND, by default
`eval.scripted_orchestrator`, works on a task until it is done. It runs in an empty folder and gets

- ``GRAPHCTX_AB_TASK``, ``GRAPHCTX_AB_PROMPT``: the task's name and its text,
- ``GRAPHCTX_AB_SEED``: the number of the run, the same for both variants, which are compared pair by pair,
- ``GRAPHCTX_AB_MAX_ITERATIONS``: when to give up,
- ``GRAPHCTX_MEMORY__FOLDER``: in the variant mcp_enabled alone, an empty folder for the memory of this run.

The last line of its output is a JSON object with ``success``, ``iterations`` and, if known, ``tokens_used``,
``retrievals``, ``helpful``, ``errors``, ``errors_recovered`` and ``retrieval_ms`` (a list). Of a command that prints no
such line, the exit code is the success, and lines that match ``--iteration-line`` are counted. A run without success
counts as one of the most iterations.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

import numpy as np

from graphctx.eval.compare import SIGNIFICANT, holm, interval, p_value

Variant = Literal["baseline", "mcp_enabled"]
VARIANTS: tuple[Variant, ...] = ("baseline", "mcp_enabled")

TASKS = Path(__file__).with_name("iteration_tasks.toml")
SCRIPTED = (sys.executable, str(Path(__file__).with_name("scripted_orchestrator.py")))
"""The command by default."""

LEAST_REDUCTION = 0.15
"""Of the iterations of tasks of medium and high complexity (iteration design, success criteria)."""

MOST_LATENCY_MS = 100
"""Of the 99th percentile of retrieval (the same)."""


@dataclass(frozen=True, slots=True)
class AbTask:
    """A task: what a command is asked, and the reduction of iterations that is expected of context."""

    name: str
    complexity: Literal["low", "medium", "high"]
    prompt: str
    expected_improvement: tuple[float, float]


@dataclass(frozen=True, slots=True)
class AbRun:
    """One run of a command on a task."""

    task: str
    variant: Variant
    number: int
    success: bool
    iterations: int
    tokens_used: int = 0
    retrievals: int = 0
    helpful: int = 0
    errors: int = 0
    errors_recovered: int = 0
    retrieval_ms: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class AbDifference:
    """What context changed in the iterations of a task, or of all of them.

    Attributes:
        task: its name; ``all`` for all.
        complexity: of the task, or empty.
        n: pairs of runs.
        baseline, enabled: mean iterations without and with context.
        reduction: share of the iterations that context saved.
        low, high: 95 % interval of the mean number of iterations saved.
        p_value: of the paired randomisation test, adjusted by Holm over the tasks.
    """

    task: str
    complexity: str
    n: int
    baseline: float
    enabled: float
    reduction: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True, slots=True)
class AbReport:
    """Differences by task, the primary metrics of the design, and whether its criteria hold."""

    tasks: tuple[AbDifference, ...]
    overall: AbDifference
    metrics: dict[str, float | None]
    criteria: dict[str, bool]


def load_tasks(path: Path = TASKS) -> tuple[AbTask, ...]:
    """Read a file of tasks."""
    return tuple(
        AbTask(task["name"], task["complexity"], task["prompt"], tuple(task["expected_improvement"]))
        for task in tomllib.loads(path.read_text(encoding="utf-8"))["task"]
    )


def run_all(
    tasks: Iterable[AbTask],
    command: Sequence[str],
    *,
    runs: int,
    max_iterations: int,
    timeout: float = 600.0,
    iteration_line: str = r"(?i)^\W*iteration\b",
    seed: int = 0,
) -> list[AbRun]:
    """Run every task in both variants, in random order.

    Args:
        tasks: what to run.
        command: program and arguments.
        runs: of each task and variant.
        max_iterations: when a command gives up.
        timeout: seconds of a run; a longer one has no success.
        iteration_line: matches the lines that begin an iteration, of a command that prints no JSON.
        seed: of the order.
    """
    order = [(task, variant, number) for task in tasks for variant in VARIANTS for number in range(runs)]
    random.Random(seed).shuffle(order)
    done = []
    for at, (task, variant, number) in enumerate(order, start=1):
        if sys.stderr.isatty():
            print(f"\r{at}/{len(order)} {task.name}, {variant}\x1b[K", end="\r", file=sys.stderr)
        done.append(_run(task, variant, number, command, max_iterations, timeout, iteration_line))
    return done


def _run(
    task: AbTask,
    variant: Variant,
    number: int,
    command: Sequence[str],
    max_iterations: int,
    timeout: float,
    iteration_line: str,
) -> AbRun:
    with tempfile.TemporaryDirectory() as folder:
        memory = {"GRAPHCTX_MEMORY__FOLDER": str(Path(folder) / "memory")} if variant == "mcp_enabled" else {}
        work = Path(folder) / "work"
        work.mkdir()
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GRAPHCTX_MEMORY")}
        environment = {
            **kept,
            "GRAPHCTX_AB_TASK": task.name,
            "GRAPHCTX_AB_PROMPT": task.prompt,
            "GRAPHCTX_AB_SEED": str(number),
            "GRAPHCTX_AB_MAX_ITERATIONS": str(max_iterations),
            **memory,
        }
        try:
            ended = subprocess.run(
                command, cwd=work, env=environment, capture_output=True, text=True, timeout=timeout, check=False
            )
        except subprocess.TimeoutExpired:
            return AbRun(task.name, variant, number, False, max_iterations)
    lines = ended.stdout.strip().splitlines()
    try:
        found = json.loads(lines[-1]) if lines else None
    except ValueError:
        found = None
    if not isinstance(found, dict):
        n_matching = sum(bool(re.search(iteration_line, line)) for line in lines)
        found = {"success": ended.returncode == 0, "iterations": max(1, n_matching)}
    success = bool(found.get("success"))
    counts = {
        name: int(found.get(name, 0)) for name in ("tokens_used", "retrievals", "helpful", "errors", "errors_recovered")
    }
    return AbRun(
        task.name,
        variant,
        number,
        success,
        min(int(found["iterations"]), max_iterations) if success else max_iterations,
        retrieval_ms=tuple(float(each) for each in found.get("retrieval_ms", ())),
        **counts,
    )


def report_of(tasks: Sequence[AbTask], runs: Sequence[AbRun]) -> AbReport:
    """Compare the variants pair by pair.

    Raises:
        ValueError: a run has no partner of the other variant.
    """
    iterations: dict[tuple[str, int], dict[str, int]] = {}
    for run in runs:
        iterations.setdefault((run.task, run.number), {})[run.variant] = run.iterations
    if lone := [key for key, pair in iterations.items() if len(pair) != len(VARIANTS)]:
        raise ValueError(f"Run {lone[0][1]} of task {lone[0][0]!r} has one variant only; run both.")
    compared = []
    for task in tasks:
        pairs = [pair for (name, _), pair in sorted(iterations.items()) if name == task.name]
        compared.append(_difference(task.name, task.complexity, pairs))
    adjusted = holm([each.p_value for each in compared])
    by_task = tuple(AbDifference(**{**asdict(each), "p_value": p}) for each, p in zip(compared, adjusted, strict=True))
    overall = _difference("all", "", [pair for _, pair in sorted(iterations.items())])
    enabled = [run for run in runs if run.variant == "mcp_enabled"]
    latencies = [each for run in enabled for each in run.retrieval_ms]
    metrics = {
        "iteration_efficiency": overall.enabled / overall.baseline,
        "context_relevance": _share(enabled, "helpful", "retrievals"),
        "error_recovery": _share(enabled, "errors_recovered", "errors"),
        "error_recovery_baseline": _share(
            [run for run in runs if run.variant == "baseline"], "errors_recovered", "errors"
        ),
        "tokens_per_run": fmean(run.tokens_used for run in enabled),
        "tokens_per_run_baseline": fmean(run.tokens_used for run in runs if run.variant == "baseline"),
        "retrieval_p99_ms": float(np.percentile(latencies, 99)) if latencies else None,
    }
    harder = [each for each in by_task if each.complexity != "low"]
    criteria = {
        f"p < {SIGNIFICANT} for fewer iterations": overall.p_value < SIGNIFICANT and overall.reduction > 0,
        f"reduction >= {LEAST_REDUCTION:.0%} on medium and high complexity": all(
            each.reduction >= LEAST_REDUCTION for each in harder
        ),
        "no regression on simple tasks": all(each.high >= 0 for each in by_task if each.complexity == "low"),
        f"retrieval p99 < {MOST_LATENCY_MS} ms": not latencies or (metrics["retrieval_p99_ms"] or 0) < MOST_LATENCY_MS,
    }
    return AbReport(by_task, overall, metrics, criteria)


def _difference(task: str, complexity: str, pairs: Sequence[dict[str, int]]) -> AbDifference:
    saved = [float(pair["baseline"] - pair["mcp_enabled"]) for pair in pairs]
    baseline = fmean(pair["baseline"] for pair in pairs)
    low, high = interval(saved)
    return AbDifference(
        task,
        complexity,
        len(pairs),
        baseline,
        fmean(pair["mcp_enabled"] for pair in pairs),
        fmean(saved) / baseline,
        low,
        high,
        p_value(saved),
    )


def _share(runs: Sequence[AbRun], part: str, whole: str) -> float | None:
    total = sum(getattr(run, whole) for run in runs)
    return sum(getattr(run, part) for run in runs) / total if total else None


def table(report: AbReport) -> str:
    """Return a report as text."""
    lines = [f"{'task':<24}{'':<8}{'pairs':>6}{'baseline':>10}{'context':>9}{'saved':>8}{'95 % of saved':>18}{'p':>9}"]
    for each in (*report.tasks, report.overall):
        between = f"{each.low:.2f} … {each.high:.2f}"
        lines.append(
            f"{each.task:<24}{each.complexity:<8}{each.n:>6}{each.baseline:>10.2f}{each.enabled:>9.2f}"
            f"{each.reduction:>8.0%}{between:>18}{each.p_value:>9.4f}"
        )
    lines += [
        "",
        *(f"{name}: {'unknown' if value is None else f'{value:.3g}'}" for name, value in report.metrics.items()),
    ]
    lines += ["", *(f"{'holds' if holds else 'FAILS'}: {name}" for name, holds in report.criteria.items())]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit code is 1 if a criterion fails."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    own, command = (given[: given.index("--")], given[given.index("--") + 1 :]) if "--" in given else (given, [])
    parser = argparse.ArgumentParser(prog="eval.iteration_ab", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tasks", type=Path, default=TASKS)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--max-iterations", type=int, default=50)
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds of a run")
    parser.add_argument("--iteration-line", default=r"(?i)^\W*iteration\b")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args(own)
    tasks = load_tasks(asked.tasks)
    runs = run_all(
        tasks,
        command or SCRIPTED,
        runs=asked.runs,
        max_iterations=asked.max_iterations,
        timeout=asked.timeout,
        iteration_line=asked.iteration_line,
    )
    report = report_of(tasks, runs)
    print(f"Command: {shlex.join(command) or 'eval.scripted_orchestrator'}\n\n{table(report)}")
    if asked.json:
        whole: dict[str, Any] = {"report": asdict(report), "runs": [asdict(run) for run in runs]}
        asked.json.write_text(json.dumps(whole, indent=2), encoding="utf-8")
    return 0 if all(report.criteria.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
