"""Ingests that are stopped, killed or run side by side."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil
import pytest

from graphctx.store.lock import IngestLock
from tests.processes import COMMAND, environment

from .house import (
    HANDBOOK,
    SECONDS,
    answer_of,
    error_of,
    published,
    started,
    wait_for_step,
)


@pytest.mark.parametrize("step", [pytest.param("split", marks=pytest.mark.slow), "write"])
def test_ctrl_c_leaves_the_published_snapshot_and_no_process(own_kb: Path, step: str) -> None:
    before = published(own_kb)
    with started("ingest", HANDBOOK / "people", "--kb", own_kb) as process:
        wait_for_step(process, step)
        os.killpg(process.pid, signal.SIGINT)  # as the terminal does
        _, errors = process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    assert errors.strip().splitlines()[-1] == "stopped; the published snapshot is untouched"
    assert "Traceback" not in errors
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    assert published(own_kb) == before
    assert answer_of("ask", "Who lit the lamp?", "--kb", own_kb)["quotes"]


@pytest.mark.slow
def test_ctrl_c_in_a_first_ingest_says_that_nothing_is_published_and_what_is_kept(tmp_path: Path) -> None:
    with started("ingest", HANDBOOK / "people", "--kb", tmp_path / "kb") as process:
        wait_for_step(process, "split")
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    assert "nothing is published yet" in errors.strip().splitlines()[-1]


def test_a_second_ingest_at_the_same_time_is_refused_and_a_killed_one_does_no_harm(own_kb: Path) -> None:
    before = published(own_kb)
    with started("ingest", HANDBOOK / "people", "--kb", own_kb) as first:
        wait_for_step(first, "split")
        error = error_of("ingest", HANDBOOK / "notes", "--kb", own_kb)
        os.killpg(first.pid, signal.SIGKILL)
        first.communicate(timeout=SECONDS)
    assert error["code"] == "BACKEND_UNAVAILABLE"
    assert str(first.pid) in error["message"]
    assert published(own_kb) == before
    report = answer_of("ingest", HANDBOOK / "notes", "--kb", own_kb)
    assert report["added"] == len(list((HANDBOOK / "notes").iterdir()))


def child_with(parent: psutil.Popen, module: str, library: str) -> psutil.Process:
    """The child that runs a module, once it has loaded a library and so is in the middle of its work."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline and parent.is_running():
        for child in parent.children(recursive=True):
            with suppress(psutil.Error, OSError):
                if module in " ".join(child.cmdline()) and library in Path(f"/proc/{child.pid}/maps").read_text():
                    return child
        time.sleep(0.005)
    raise AssertionError(f"no child ran {module}")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="a stopped process is killed with its parent on Linux")
def test_no_process_outlives_an_ingest_that_was_killed(tmp_path: Path) -> None:
    for name in ("one", "two"):  # workers are started for 200,000 characters or more
        (tmp_path / f"{name}.txt").write_text("Ada Merriweather keeps the lamp. " * 4_000, encoding="utf-8")
    command = [*COMMAND, "ingest", *(tmp_path / f"{name}.txt" for name in ("one", "two")), "--processes", "2"]
    quiet = subprocess.DEVNULL
    with psutil.Popen([*command, "--kb", tmp_path / "kb"], stdout=quiet, stderr=quiet, env=environment()) as parent:
        caught = child_with(parent, "graphctx.ingest.worker", "/spacy/")
        caught.suspend()  # what is stopped can notice nothing by itself
        children = parent.children(recursive=True)
        assert caught in children
        parent.kill()
    _, alive = psutil.wait_procs(children, timeout=SECONDS)
    for process in alive:
        process.kill()
    assert alive == []


@pytest.mark.slow
def test_a_watch_publishes_what_changes_survives_a_broken_file_and_ends_on_sigterm(tmp_path: Path) -> None:
    folder, kb = tmp_path / "docs", tmp_path / "kb"
    folder.mkdir()
    (folder / "lamp.md").write_text("# Lamp\n\nThe lamp is lit at dusk.\n")
    with started("ingest", folder, "--kb", kb, "--watch") as process:
        wait_for_step(process, "watching")
        (folder / "broken.pdf").write_bytes(b"no pdf")
        (folder / "gate.md").write_text("# Gate\n\nThe tide gate shuts at noon.\n")
        wait_for_step(process, "watching")
        quotes = answer_of("ask", "When does the tide gate shut?", "--kb", kb)["quotes"]
        os.kill(process.pid, signal.SIGTERM)
        output, errors = process.communicate(timeout=SECONDS)
    assert "noon" in quotes[0]["quote"]
    assert "broken.pdf" in output
    assert process.returncode == 0
    assert "Traceback" not in errors
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


@pytest.mark.slow
def test_a_watch_tries_again_when_another_ingest_is_done(tmp_path: Path) -> None:
    folder, kb = tmp_path / "docs", tmp_path / "kb"
    folder.mkdir()
    (folder / "gate.md").write_text("# Gate\n\nThe tide gate shuts at noon.\n")
    with ExitStack() as lock:
        lock.enter_context(IngestLock(kb))
        with started("ingest", folder, "--kb", kb, "--watch") as process:
            wait_for_step(process, "The watch goes on")
            lock.close()
            wait_for_step(process, "watching")
            os.kill(process.pid, signal.SIGTERM)
            process.communicate(timeout=SECONDS)
    assert "noon" in answer_of("ask", "When does the tide gate shut?", "--kb", kb)["quotes"][0]["quote"]
