"""Documents at their limits: what one of them costs, and what becomes of those beside it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from graphctx.errors import InternalError, InvalidArgument
from graphctx.ingest import workers
from graphctx.ingest.workers import DocumentStep, Refused
from graphctx.settings import IngestSettings

HANG_GUARD_SECONDS = 120


def act(what: str, mark: str = "") -> str:
    """Behave as a document does that is good or bad."""
    if what == "spin":
        while True:
            pass
    if what == "sleep":
        time.sleep(10**6)
    if what == "fill":
        return "x" * 10**12
    if what == "fill slowly":
        held = [bytearray(2**20) for _ in range(10**6)]
        return str(len(held))
    if what == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "die once" and not Path(mark).exists():
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "fail":
        raise InvalidArgument("no such thing", what=what)
    if what == "leave":
        os._exit(3)
    return f"{what} in {os.getpid()}" if what == "pid" else what


STEP = DocumentStep("acting on", act)


def run(
    *documents: str, seconds: float = 60.0, memory_mb: int = 200, processes: int = 1, mark: str = ""
) -> list[object]:
    settings = IngestSettings(processes=processes).model_copy(
        update={"document_seconds": seconds, "document_memory_mb": memory_mb}
    )
    return list(STEP.of_all([(one, mark) for one in documents], [1000] * len(documents), settings))


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("spin", "acting on it takes more than 0.3 seconds; the setting document_seconds in [ingest] allows more"),
        (
            "fill",
            "acting on it takes more than 200 MB of memory; the setting document_memory_mb in [ingest] allows more",
        ),
        ("fill slowly", "acting on it takes more than 200 MB of memory"),
        ("die", "ended the process that did so, twice (SIGKILL)"),
    ],
)
def test_a_document_over_its_limit_is_refused_and_costs_no_other(bad: str, reason: str) -> None:
    first, refused, *others = run("a", bad, "b", "c", seconds=0.3 if bad == "spin" else 60.0)
    assert [first, *others] == ["a", "b", "c"]
    assert isinstance(refused, Refused)
    assert reason in refused.reason


def test_a_document_that_waits_for_what_never_comes_is_ended_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "WALL_FACTOR", 1)
    assert isinstance(run("sleep", seconds=1.0)[0], Refused)


def test_a_process_that_was_killed_once_costs_no_document(tmp_path: Path) -> None:
    assert run("a", "die once", "b", mark=str(tmp_path / "mark")) == ["a", "die once", "b"]


def test_the_results_are_the_same_with_any_number_of_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "SIZE_FOR_MORE_WORKERS", 0)
    documents = [*"abc", "die", *"def", "fill", "g"]
    assert run(*documents, processes=3) == run(*documents)


def test_the_next_step_finds_the_process_of_the_last_one() -> None:
    assert run("pid") == run("pid")


def test_a_process_that_ended_while_it_was_idle_is_replaced() -> None:
    (told,) = run("pid")
    before = psutil.Process(int(str(told).rpartition(" ")[2]))
    before.kill()
    assert run("a") == ["a"]
    assert not before.is_running()


def test_an_error_of_a_document_is_raised_here() -> None:
    with pytest.raises(InvalidArgument, match="no such thing") as caught:
        run("a", "fail", "b")
    assert caught.value.details == {"what": "fail"}


def test_a_process_that_leaves_by_itself_is_a_fault() -> None:
    with pytest.raises(InternalError, match="code 3"):
        run("leave")


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone ends a process with its parent")
def test_a_worker_in_the_middle_of_a_document_ends_with_its_parent(tmp_path: Path) -> None:
    program = "import sys; sys.path.insert(0, sys.argv[1])\nfrom test_workers import run\nrun('spin', seconds=1e6)"
    parent = psutil.Popen(
        [sys.executable, "-c", program, str(Path(__file__).parent)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + HANG_GUARD_SECONDS
    spinning: list[psutil.Process] = []
    while not spinning and time.monotonic() < deadline:
        assert parent.poll() is None
        spinning = [child for child in parent.children() if child.cpu_times().user > 0.5]
    parent.kill()
    parent.wait()
    assert spinning
    assert psutil.wait_procs(spinning, timeout=HANG_GUARD_SECONDS)[0] == spinning
