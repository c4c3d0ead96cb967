"""``graphctx eval`` of questions about the whole, as it is typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from graphctx.cli.app import app

GOLDEN = Path(__file__).resolve().parents[2] / "eval" / "golden" / "handbook_global.jsonl"
TWO = (GOLDEN, "--limit", "2")
EIGHT = (GOLDEN, "--limit", "8")  # so many that a fall of all is no accident


def asked(*arguments: object, code: int = 0) -> Any:
    done = CliRunner().invoke(app, ["eval", *map(str, arguments)])
    assert done.exit_code == code, done.output
    return done


def test_the_table_has_global_search_and_its_rivals_at_three_budgets(handbook_path: Path) -> None:
    lines = [line.split("\t") for line in asked(*TWO, "--kb", handbook_path).stdout.splitlines()]
    assert {"points@500", "points@1000", "points@2000", "rated"} <= set(lines[0])
    assert [line[1] for line in lines[1:5]] == ["global", "hybrid", "summaries", "evidence"]


def test_the_json_has_every_measure_and_every_comparison(handbook_path: Path) -> None:
    found = json.loads(asked(*TWO, "--kb", handbook_path, "--json").stdout)
    (suite,) = found["suites"]
    assert (suite["suite"], suite["judge"], suite["questions"]["asked"]) == ("handbook_global", "points", 2)
    assert suite["variants"]["global"]["measures"]["points@1000"]["n"] == 2
    assert {one["variant"] for one in found["comparisons"]} == {"hybrid", "summaries", "evidence"}
    assert {one["against"] for one in found["comparisons"]} == {"global"}


def test_a_fall_below_the_baseline_is_told_and_fails(handbook_path: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    asked(*EIGHT, "--write-baseline", kept, "--kb", handbook_path)
    asked(*EIGHT, "--baseline", kept, "--kb", handbook_path)
    better = json.loads(kept.read_text("utf-8"))
    for row in better["suites"]["handbook_global"]["questions"].values():
        row["global"] = [1, 1, 1]
    kept.write_text(json.dumps(better), "utf-8")
    fall = asked(*EIGHT, "--baseline", kept, "--kb", handbook_path, code=1)
    assert "handbook_global, global: points@500 fell from 100.0%" in fall.stderr


def test_an_explanation_says_where_each_point_was_lost(handbook_path: Path) -> None:
    shown = asked(GOLDEN, "--kb", handbook_path, "--explain", "hg03").stdout
    assert shown.startswith("hg03: Two buoys broke loose")
    assert "Where 9 points ended" in shown
    found = json.loads(asked(GOLDEN, "--kb", handbook_path, "--explain", "all", "--json").stdout)
    assert len(found["questions"]) == 22
    assert sum(found["totals"]["500"].values()) == 204


@pytest.mark.parametrize("question", ["hg99", "What about it?"])
def test_only_a_suites_own_question_can_be_explained(handbook_path: Path, question: str) -> None:
    done = asked(GOLDEN, "--kb", handbook_path, "--explain", question, code=1)
    assert f"has no question {question!r}" in done.stderr.replace("\n", " ")
