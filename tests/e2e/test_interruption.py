"""Ingests that are stopped, killed or run side by side."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from .house import HANDBOOK, answer_of, error_of, published, started, wait_for_step


@pytest.mark.parametrize("step", ["split", "write"], ids=["in-extraction", "in-publication"])
def test_ctrl_c_leaves_the_published_snapshot_and_no_process(own_kb: Path, step: str) -> None:
    before = published(own_kb)
    with started("ingest", HANDBOOK / "people", "--kb", own_kb) as process:
        wait_for_step(process, step)
        os.killpg(process.pid, signal.SIGINT)  # as the terminal does
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.strip().splitlines()[-1] == "stopped; the published snapshot is untouched"
    assert "Traceback" not in errors
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    assert published(own_kb) == before
    assert answer_of("ask", "Who lit the lamp?", "--kb", own_kb)["quotes"]


def test_ctrl_c_in_a_first_ingest_says_that_nothing_is_published_and_what_is_kept(tmp_path: Path) -> None:
    with started("ingest", HANDBOOK / "people", "--kb", tmp_path / "kb") as process:
        wait_for_step(process, "split")
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "nothing is published yet" in errors.strip().splitlines()[-1]


def test_a_second_ingest_at_the_same_time_is_refused_and_a_killed_one_does_no_harm(own_kb: Path) -> None:
    before = published(own_kb)
    with started("ingest", HANDBOOK / "people", "--kb", own_kb) as first:
        wait_for_step(first, "split")
        error = error_of("ingest", HANDBOOK / "notes", "--kb", own_kb)
        os.killpg(first.pid, signal.SIGKILL)
        first.communicate(timeout=60)
    assert error["code"] == "BACKEND_UNAVAILABLE"
    assert str(first.pid) in error["message"]
    assert published(own_kb) == before
    report = answer_of("ingest", HANDBOOK / "notes", "--kb", own_kb)
    assert report["added"] == len(list((HANDBOOK / "notes").iterdir()))
