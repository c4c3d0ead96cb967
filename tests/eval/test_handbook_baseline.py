"""The sample handbook is asked all its golden questions, and nothing may be worse than what is kept of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphctx import KnowledgeBase
from graphctx.eval.ask import run_suite
from graphctx.eval.baseline import check
from graphctx.eval.records import SuiteRun
from graphctx.eval.suites import load_suite
from graphctx.retrieve.variants import DEFAULT_VARIANT

HOW = "graphctx eval eval/golden/handbook.jsonl --write-baseline eval/baselines/handbook.json"


@pytest.fixture(scope="module")
def baseline(golden_folder: Path) -> Path:
    return golden_folder.parent / "baselines" / "handbook.json"


@pytest.fixture(scope="module")
def run(handbook_kb: KnowledgeBase, golden_folder: Path) -> SuiteRun:
    return run_suite(load_suite(golden_folder / "handbook.jsonl"), handbook_kb, [DEFAULT_VARIANT])


def test_nothing_is_worse_than_it_was(run: SuiteRun, baseline: Path) -> None:
    worse = check(baseline, [run])
    assert not worse, "\n".join([*map(str, worse), f"If that is the price of something better: {HOW}"])
    kept = json.loads(baseline.read_text("utf-8"))["suites"][run.suite]["questions"]
    asked = {one.golden.id for one in run.outcomes[DEFAULT_VARIANT]}
    assert kept.keys() == asked, f"Write it again: {HOW}"
