"""The A/B benchmark of iterations: its statistics, and a scripted orchestrator that does as it is told."""

from __future__ import annotations

import random
import sys

import pytest

from eval.iteration_ab import SCRIPTED, VARIANTS, AbRun, load_tasks, report_of, run_all, table
from eval.scripted_orchestrator import attempt, failed

TASKS = load_tasks()


def runs_of(baseline: list[int], enabled: list[int]) -> list[AbRun]:
    """The same iterations for every task; those of the simple one are equal."""
    return [
        AbRun(task.name, variant, number, True, baseline[number] if task.complexity == "low" else counts[number])
        for task in TASKS
        for variant, counts in zip(VARIANTS, (baseline, enabled), strict=True)
        for number in range(len(counts))
    ]


BASELINE = [8, 10, 9, 11, 8, 12, 10, 9, 10, 11]


@pytest.mark.parametrize(
    ("enabled", "reduction", "holds"),
    [
        ([6, 8, 7, 9, 6, 10, 8, 7, 8, 9], 2 / 9.8, [True, True, True, True]),
        ([7, 9, 8, 10, 7, 11, 9, 8, 9, 10], 1 / 9.8, [True, False, True, True]),
        (BASELINE, 0.0, [False, False, True, True]),
        ([9, 11, 10, 12, 9, 13, 11, 10, 11, 12], -1 / 9.8, [False, False, True, True]),
    ],
)
def test_the_criteria_follow_from_the_pairs(enabled: list[int], reduction: float, holds: list[bool]) -> None:
    report = report_of(TASKS, runs_of(BASELINE, enabled))
    bug = next(each for each in report.tasks if each.task == "Bug Fix")
    assert bug.reduction == pytest.approx(reduction)
    assert bug.low == bug.high == pytest.approx(reduction * 9.8)
    # All of ten pairs differ alike, so that two of 2**10 assignments of signs are as extreme; Holm's factor is 5.
    assert bug.p_value == pytest.approx(1.0 if reduction == 0 else 5 * 2 / 1024, abs=1e-5)
    assert list(report.criteria.values()) == holds
    assert f"{bug.reduction:.0%}" in table(report)


def test_a_simple_task_that_needs_more_iterations_is_a_regression() -> None:
    runs = runs_of(BASELINE, BASELINE)
    worse = [
        AbRun(run.task, run.variant, run.number, True, run.iterations + 3)
        if run.variant == "mcp_enabled" and run.task == "Simple File Creation"
        else run
        for run in runs
    ]
    assert report_of(TASKS, worse).criteria["no regression on simple tasks"] is False
    with pytest.raises(ValueError, match="one variant"):
        report_of(TASKS, runs[:-1])


def test_the_script_tries_what_its_prompt_does_not_speak_against() -> None:
    approaches = ["retry", "wait", "restart"]
    told = " ".join(failed(each, "keep uploads alive") for each in approaches[:2])
    assert {attempt("keep uploads alive", approaches, told, random.Random(n)) for n in range(20)} == {"restart"}
    assert {attempt("keep uploads alive", approaches, "", random.Random(n)) for n in range(20)} == set(approaches)
    assert {attempt("read the log", approaches, told, random.Random(n)) for n in range(20)} == set(approaches)


@pytest.mark.slow
def test_context_saves_iterations_of_the_scripted_orchestrator() -> None:
    tasks = [task for task in TASKS if task.name in ("Simple File Creation", "Error Recovery")]
    runs = run_all(tasks, SCRIPTED, runs=4, max_iterations=50)
    assert all(run.success for run in runs)
    simple, hard = report_of(tasks, runs).tasks
    assert (simple.baseline, simple.enabled) == (1, 1)
    assert hard.enabled < hard.baseline
    told = [run for run in runs if run.variant == "mcp_enabled" and run.task == "Error Recovery"]
    assert all(run.iterations <= 10 and run.helpful <= run.retrievals for run in told)
    assert all(not run.retrievals for run in runs if run.variant == "baseline")


@pytest.mark.parametrize(
    ("said", "success", "iterations"),
    [
        ("print('Iteration 1'); print('iteration 2: done')", True, 2),
        ("print('Iteration 1'); raise SystemExit(1)", False, 9),
        ("import os; print('{\"success\": true, \"iterations\": %s}' % os.environ['GRAPHCTX_AB_SEED'])", True, 0),
        ("import os; assert not os.listdir('.'); print(len(os.environ['GRAPHCTX_AB_PROMPT']))", True, 1),
        ("while True: pass", False, 9),
    ],
)
def test_any_command_can_be_measured(said: str, success: bool, iterations: int) -> None:
    command = (sys.executable, "-c", said)
    runs = run_all(TASKS[:1], command, runs=1, max_iterations=9, timeout=1.5)
    assert {(run.success, run.iterations) for run in runs} == {(success, iterations)}


def test_only_the_variant_with_context_has_a_memory() -> None:
    said = "import os; print('{\"success\": true, \"iterations\": %d}' % ('GRAPHCTX_MEMORY__FOLDER' in os.environ))"
    runs = run_all(TASKS[:1], (sys.executable, "-c", said), runs=1, max_iterations=9)
    assert {run.variant: run.iterations for run in runs} == {"baseline": 0, "mcp_enabled": 1}
