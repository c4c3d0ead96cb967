"""Started processes end with the one that started them, also when that one is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from graphctx.store.processes import PARENT_VARIABLE, end_with_parent

SECONDS = 60

PARENT = """
import subprocess, sys
from graphctx.store.processes import start_process
child = start_process([sys.executable, "-c", sys.argv[1]], stdout=subprocess.PIPE, text=True)
print(child.pid, child.stdout.readline().strip(), flush=True)
child.wait()
"""
CHILD = """
import time
from graphctx.store.processes import end_with_parent
end_with_parent()
print("ready", flush=True)
time.sleep(600)
"""
WATCHING_CHILD = """
import os, threading, time
from graphctx.store.processes import watch
threading.Thread(target=watch, args=(os.getppid(),), daemon=True).start()
print("ready", flush=True)
time.sleep(600)
"""
LATE_CHILD = """
import os, time
parent = os.getppid()
print("ready", flush=True)
while os.getppid() == parent:
    time.sleep(0.01)
from graphctx.store.processes import end_with_parent
end_with_parent()
time.sleep(600)
"""


def gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has waited for yet counts as ended."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.mark.parametrize(
    ("code", "stopped"),
    [
        pytest.param(CHILD, True, marks=pytest.mark.skipif(sys.platform != "linux", reason="needs prctl")),
        (WATCHING_CHILD, False),
        (LATE_CHILD, False),
    ],
    ids=["while-it-is-stopped", "by-watching", "if-the-parent-was-quicker"],
)
def test_a_process_ends_when_its_parent_is_killed(code: str, stopped: bool) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", PARENT, code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as parent:
        assert parent.stdout is not None
        pid, said = parent.stdout.readline().split()
        assert said == "ready"
        if stopped:
            os.kill(int(pid), signal.SIGSTOP)
        parent.kill()
    deadline = time.monotonic() + SECONDS
    while not gone(int(pid)):
        if time.monotonic() > deadline:
            os.kill(int(pid), signal.SIGKILL)
            pytest.fail(f"process {pid} lives on without its parent")
        time.sleep(0.02)


def test_a_process_that_a_person_started_lives_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PARENT_VARIABLE, raising=False)
    end_with_parent()
