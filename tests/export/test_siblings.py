from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from graphctx.errors import BackendUnavailable
from graphctx.export import siblings
from graphctx.export.target import check_target, written_file, written_folder

REPLACE = """
import os, sys
from pathlib import Path
from graphctx.export import siblings
from graphctx.export.target import written_folder
rename, left = Path.rename, [int(sys.argv[2])]
def counted(path, target):
    if not left[0]:
        os._exit(0)  # as when it is killed
    left[0] -= 1
    return rename(path, target)
Path.rename = counted
if sys.argv[3] == "in steps":
    siblings._exchanged = lambda one, other: False
with written_folder(Path(sys.argv[1])) as folder:
    (folder / "SHA256SUMS").write_text("new")
"""


@pytest.fixture
def gone() -> int:
    """The number of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def folder(path: Path, text: str) -> Path:
    path.mkdir()
    (path / "SHA256SUMS").write_text(text)
    return path


def names(path: Path) -> set[str]:
    return {inside.name for inside in path.iterdir()}


@pytest.mark.parametrize("renames", [0, 1, 2])
@pytest.mark.parametrize("how", ["at once", "in steps"])
def test_a_process_that_is_killed_leaves_the_earlier_folder_or_the_new_one(
    python: Callable[..., str], tmp_path: Path, renames: int, how: str
) -> None:
    target = folder(tmp_path / "t", "old")
    python(REPLACE, target, renames, how)
    check_target(target, folder=True, replace=True)
    assert (target / "SHA256SUMS").read_text() in ("old", "new")
    assert names(tmp_path) == {"t"}


def test_what_a_killed_process_moved_aside_is_there_again_for_the_next(tmp_path: Path, gone: int) -> None:
    folder(tmp_path / f".t.{gone}.old", "old")
    folder(tmp_path / f".t.{gone}.tmp", "half")
    with pytest.raises(RuntimeError), written_folder(tmp_path / "t"):
        raise RuntimeError
    assert (tmp_path / "t" / "SHA256SUMS").read_text() == "old"
    assert names(tmp_path) == {"t"}


def test_what_others_left_is_deleted_and_what_is_in_use_stays(tmp_path: Path, gone: int) -> None:
    folder(tmp_path / "t", "old")
    folder(tmp_path / f".t.{gone}.old", "older")
    (tmp_path / f".t.{gone}.tmp").write_text("half")
    stay = {".t.x.tmp", ".t.1.bak", f".tt.{gone}.tmp", f".t.{os.getppid()}.tmp", "t"}
    for name in stay - {"t"}:
        (tmp_path / name).touch()
    check_target(tmp_path / "t", folder=True, replace=True)
    assert names(tmp_path) == stay


def test_a_half_written_file_of_a_killed_process_is_deleted(tmp_path: Path, gone: int) -> None:
    (tmp_path / f".x.{gone}.tmp").write_text("half")
    with written_file(tmp_path / "x") as file:
        file.write(b"whole")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("x", "whole")]


@pytest.mark.parametrize("failure", [OSError(errno.EIO, "broken"), KeyboardInterrupt()])
def test_where_the_exchange_fails_halfway_the_earlier_folder_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    rename = Path.rename

    def failing(path: Path, target: Path) -> Path:
        if path.suffix == f".{siblings.WRITTEN}":
            raise failure
        return rename(path, target)

    target = folder(tmp_path / "t", "old")
    monkeypatch.setattr(Path, "rename", failing)
    monkeypatch.setattr(siblings, "_exchanged", lambda one, other: False)
    with pytest.raises((BackendUnavailable, KeyboardInterrupt)), written_folder(target) as made:
        (made / "SHA256SUMS").write_text("new")
    assert (target / "SHA256SUMS").read_text() == "old"
    assert names(tmp_path) == {"t"}
