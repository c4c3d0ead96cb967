from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from graphctx.errors import BackendUnavailable
from graphctx.store.lock import IngestLock

HOLD = (
    "import sys; from pathlib import Path; from graphctx.store.lock import IngestLock\n"
    "with IngestLock(Path(sys.argv[1])):\n    print('held', flush=True); sys.stdin.read()\n"
)


@contextmanager
def another_process(kb_dir: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", HOLD, str(kb_dir)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process


def test_the_error_of_a_second_process_names_the_holder_and_a_killed_holder_frees_the_lock(tmp_path: Path) -> None:
    with another_process(tmp_path) as process:
        with pytest.raises(BackendUnavailable, match=str(process.pid)) as caught, IngestLock(tmp_path):
            pass
        assert caught.value.details["pid"] == process.pid
        assert caught.value.details["started_at"].startswith("20")
        process.kill()
    assert (tmp_path / "ingest.lock.json").exists()
    with IngestLock(tmp_path):
        assert str(os.getpid()) in (tmp_path / "ingest.lock.json").read_text()
    assert not (tmp_path / "ingest.lock.json").exists()


def test_it_holds_against_the_same_process_and_its_threads_until_the_work_ends_or_fails(tmp_path: Path) -> None:
    errors: list[str] = []

    def attempt() -> None:
        try:
            with IngestLock(tmp_path / "new" / "kb"):
                pass
        except BackendUnavailable as error:
            errors.append(error.message)

    def work() -> None:
        with IngestLock(tmp_path / "new" / "kb"):
            attempt()
            thread = threading.Thread(target=attempt)
            thread.start()
            thread.join()
            raise KeyError

    with pytest.raises(KeyError):
        work()
    attempt()
    assert len(errors) == 2


@pytest.mark.parametrize("text", ["", "[]", '{"pid": "x"}'])
def test_an_unreadable_note_about_the_holder_is_ignored(tmp_path: Path, text: str) -> None:
    with IngestLock(tmp_path):
        (tmp_path / "ingest.lock.json").write_text(text)
        with pytest.raises(BackendUnavailable, match="Another process"), IngestLock(tmp_path):
            pass
