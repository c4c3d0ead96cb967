from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from graphctx.errors import BackendUnavailable
from graphctx.store.lock import IngestLock

HOLD = (
    "import sys; from pathlib import Path; from graphctx.store.lock import IngestLock\n"
    "with IngestLock(Path(sys.argv[1])):\n    print('held', flush=True); sys.stdin.read()\n"
)


def holder(kb_dir: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(kb_dir)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def finish(process: subprocess.Popen[str]) -> None:
    with process:
        pass


def test_the_error_of_a_second_process_names_the_holder(tmp_path: Path) -> None:
    process = holder(tmp_path)
    with pytest.raises(BackendUnavailable, match=str(process.pid)) as caught, IngestLock(tmp_path):
        pass
    assert caught.value.details["pid"] == process.pid
    assert caught.value.details["started_at"].startswith("20")
    finish(process)
    with IngestLock(tmp_path):
        pass


def test_a_lock_whose_holder_was_killed_is_free(tmp_path: Path) -> None:
    process = holder(tmp_path)
    process.send_signal(signal.SIGKILL)
    finish(process)
    assert (tmp_path / "ingest.lock.json").exists()
    with IngestLock(tmp_path):
        assert str(os.getpid()) in (tmp_path / "ingest.lock.json").read_text()
    assert not (tmp_path / "ingest.lock.json").exists()


def test_it_holds_against_the_same_process_and_its_threads(tmp_path: Path) -> None:
    errors: list[str] = []

    def attempt() -> None:
        try:
            with IngestLock(tmp_path):
                pass
        except BackendUnavailable as error:
            errors.append(error.message)

    with IngestLock(tmp_path):
        attempt()
        thread = threading.Thread(target=attempt)
        thread.start()
        thread.join()
    assert len(errors) == 2
    attempt()
    assert len(errors) == 2


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": "x"}'])
def test_an_unreadable_note_is_no_obstacle(tmp_path: Path, text: str) -> None:
    with IngestLock(tmp_path):
        (tmp_path / "ingest.lock.json").write_text(text)
        with pytest.raises(BackendUnavailable, match="Another process"), IngestLock(tmp_path):
            pass
