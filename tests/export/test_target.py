from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.export.options import ExportFormat
from graphctx.export.target import check_target, written_file, written_folder
from tests.export.conftest import Export

REPLACE = """
import os, sys
from pathlib import Path
from graphctx.export.target import written_folder
rename, left = Path.rename, [int(sys.argv[2])]
def counted(path, target):
    if not left[0]:
        os._exit(0)  # as when it is killed
    left[0] -= 1
    return rename(path, target)
Path.rename = counted
with written_folder(Path(sys.argv[1])) as folder:
    (folder / "SHA256SUMS").write_text("new")
"""


@pytest.mark.parametrize("format_", ["graphml", "html"])
def test_what_an_export_wrote_is_kept_unless_it_may_be_replaced(
    export: Export, tmp_path: Path, format_: ExportFormat
) -> None:
    place = tmp_path / "x"
    export(place, format_)
    before = place.read_bytes()
    with pytest.raises(InvalidArgument, match="--force"):
        export(place, "graphml", documents=True)
    assert place.read_bytes() == before
    export(place, "graphml", documents=True, replace=True)
    assert place.read_bytes() != before


@pytest.mark.parametrize(
    "text", ["years of work", "<!doctype html><title>mine</title>", '<?xml version="1.0"?><graphml/>']
)
def test_a_file_that_no_export_wrote_is_never_replaced(tmp_path: Path, text: str) -> None:
    (tmp_path / "x").write_text(text)
    with pytest.raises(InvalidArgument, match="never replaced"):
        check_target(tmp_path / "x", folder=False, replace=True)


def test_a_folder_that_no_export_wrote_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(InvalidArgument, match="never replaced"):
        check_target(tmp_path, folder=True, replace=True)


def test_an_empty_file_or_folder_is_filled(export: Export, tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    export(tmp_path / "x", "graphml", replace=True)
    assert (tmp_path / "x").stat().st_size
    (tmp_path / "t").mkdir()
    export(tmp_path / "t", "parquet")
    assert (tmp_path / "t" / "SHA256SUMS").is_file()


@pytest.mark.parametrize(("folder", "word"), [(True, "is a file"), (False, "is a folder")])
def test_a_place_of_the_other_kind_is_refused(tmp_path: Path, folder: bool, word: str) -> None:
    place = tmp_path / "x"
    if folder:
        place.touch()
    else:
        place.mkdir()
    with pytest.raises(InvalidArgument, match=word):
        check_target(place, folder=folder, replace=True)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"no folder .*nowhere"):
        check_target(tmp_path / "nowhere" / "x.html", folder=False, replace=False)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(BackendUnavailable, match="may not be written"):
        check_target(tmp_path / "closed" / "x", folder=False, replace=False)


def test_a_failure_in_the_middle_leaves_what_was_there_and_nothing_else(tmp_path: Path) -> None:
    def fail() -> None:
        with written_folder(tmp_path / "t") as made, written_file(tmp_path / "x") as file:
            (made / "a").write_text("half")
            file.write(b"half")
            raise KeyboardInterrupt

    (tmp_path / "x").write_text("before")
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "a").write_text("before")
    with pytest.raises(KeyboardInterrupt):
        fail()
    assert names(tmp_path) == {"t", "x"}
    assert (tmp_path / "x").read_text() == (tmp_path / "t" / "a").read_text() == "before"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a limit of the file's size stands in for a full disk")
def test_a_full_disk_is_reported_with_what_to_do(python: Callable[..., str], tmp_path: Path) -> None:
    code = """
import resource, signal, sys
from pathlib import Path
from graphctx.errors import BackendUnavailable
from graphctx.export.target import written_file
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    with written_file(Path(sys.argv[1])) as file:
        for _ in range(4):
            file.write(bytes(1_000_000))
except BackendUnavailable as error:
    print(error.message)
"""
    said = python(code, tmp_path / "x")
    assert "File too large" in said
    assert "free some space" in said
    assert list(tmp_path.iterdir()) == []


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


@pytest.mark.parametrize("renames", [0, 1])
def test_a_process_that_is_killed_leaves_the_earlier_folder_or_the_new_one(
    python: Callable[..., str], tmp_path: Path, renames: int
) -> None:
    target = folder(tmp_path / "t", "old")
    python(REPLACE, target, renames)
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
def test_where_the_replacement_fails_halfway_the_earlier_folder_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    rename = Path.rename

    def failing(path: Path, target: Path) -> Path:
        if path.suffix == ".tmp":
            raise failure
        return rename(path, target)

    target = folder(tmp_path / "t", "old")
    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises((BackendUnavailable, KeyboardInterrupt)), written_folder(target) as made:
        (made / "SHA256SUMS").write_text("new")
    assert (target / "SHA256SUMS").read_text() == "old"
    assert names(tmp_path) == {"t"}
