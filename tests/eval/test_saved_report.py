"""Reports as JSON: what is read is what was written, and two are compared question by question."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from eval_made import run_of

from graphctx.errors import InvalidArgument
from graphctx.eval.compare import compare
from graphctx.eval.run import Measured
from graphctx.eval.saved_report import compare_reports, read_report, write_report
from graphctx.eval.summary import SCHEMA, summary
from graphctx.eval.worst import Miss


def saved(path: Path, variant: str = "") -> Path:
    """A report of the made run, or of one of its variants under the name of the other."""
    run = run_of()
    if variant:
        run = replace(run, outcomes={"hybrid_local": run.outcomes[variant]})
    comparisons = compare(run, "hybrid_local") if len(run.outcomes) > 1 else []
    misses = [Miss(one, 0.25, ()) for one in run.outcomes["hybrid_local"][:3]]
    write_report(path, Measured([run], comparisons, {run.suite: misses}))
    return path


def test_a_report_holds_tables_plots_and_every_question(tmp_path: Path) -> None:
    (suite,) = read_report(saved(tmp_path / "reports" / "monday.json"))["suites"]
    assert suite["variant"] == "hybrid_local"
    assert suite["summary"] == json.loads(json.dumps(summary(run_of())))
    assert len(suite["questions"]) == 30
    assert [len(suite["misses"]), len(suite["plots"])] == [3, 4]
    assert {one["variant"] for one in suite["comparisons"]} == {"bm25"}


def test_two_reports_are_compared_by_their_questions(tmp_path: Path) -> None:
    before, after = saved(tmp_path / "a.json"), saved(tmp_path / "b.json", "bm25")
    (suite,) = compare_reports(read_report(before), read_report(after))
    measures = {one["name"]: one for one in suite["measures"]}
    assert measures["R@5"]["before"] - 0.6 == pytest.approx(measures["R@5"]["after"])
    assert measures["R@5"]["high"] < 0
    assert measures["R@5"]["p_adjusted"] < 0.05
    assert len(suite["changed"]) == 12
    assert all(one["after"] < one["before"] for one in suite["changed"])


def test_what_the_command_prints_is_a_report_without_questions(tmp_path: Path) -> None:
    printed = {"schema": SCHEMA, "suites": [summary(run_of())], "entities": [], "comparisons": [], "regressions": []}
    path = tmp_path / "printed.json"
    path.write_text(json.dumps(printed), "utf-8")
    (suite,) = read_report(path)["suites"]
    assert suite["questions"] == suite["plots"] == []
    assert "R@5" in {one["name"] for one in suite["measures"]}


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"schema": "graphctx-eval-report/1"}', '{"schema": "graphctx-eval/2"}']
)
def test_other_files_are_refused_by_their_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text, "utf-8")
    with pytest.raises(InvalidArgument, match=r"other\.json is not a report"):
        read_report(path)
