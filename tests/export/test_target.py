from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.export.options import ExportFormat
from graphctx.export.target import check_target, written_file, written_folder
from tests.export.conftest import Export


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
    export(place, format_, replace=True)
    assert place.read_bytes() == before


@pytest.mark.parametrize("format_", ["graphml", "html"])
@pytest.mark.parametrize(
    "text", ["years of work", "<!doctype html><title>mine</title>", '<?xml version="1.0"?><graphml/>']
)
def test_a_file_that_no_export_wrote_is_never_replaced(
    export: Export, tmp_path: Path, format_: ExportFormat, text: str
) -> None:
    (tmp_path / "x").write_text(text)
    with pytest.raises(InvalidArgument, match="never replaced"):
        export(tmp_path / "x", format_, replace=True)
    assert (tmp_path / "x").read_text() == text


def test_an_empty_file_is_filled_on_request(export: Export, tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    export(tmp_path / "x", "graphml", replace=True)
    assert (tmp_path / "x").stat().st_size


def test_a_folder_that_no_export_wrote_is_never_replaced(export: Export, tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "thesis.txt").write_text("years of work")
    with pytest.raises(InvalidArgument, match="never replaced"):
        export(tmp_path / "t", "parquet", replace=True)
    assert (tmp_path / "t" / "thesis.txt").exists()


def test_an_empty_folder_is_filled(export: Export, tmp_path: Path) -> None:
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


def test_a_failure_in_the_middle_leaves_the_earlier_file_and_nothing_else(tmp_path: Path) -> None:
    def fail() -> None:
        with written_file(tmp_path / "x") as file:
            file.write(b"half")
            raise KeyboardInterrupt

    (tmp_path / "x").write_text("before")
    with pytest.raises(KeyboardInterrupt):
        fail()
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("x", "before")]


def test_a_failure_in_the_middle_leaves_the_earlier_folder_and_nothing_else(tmp_path: Path) -> None:
    def fail() -> None:
        with written_folder(tmp_path / "t") as folder:
            (folder / "a").write_text("half")
            raise KeyboardInterrupt

    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "a").write_text("before")
    with pytest.raises(KeyboardInterrupt):
        fail()
    assert [path.name for path in tmp_path.iterdir()] == ["t"]
    assert (tmp_path / "t" / "a").read_text() == "before"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a limit of the file's size stands in for a full disk")
def test_a_full_disk_is_told_with_what_to_do(python: Callable[..., str], tmp_path: Path) -> None:
    code = """
import resource, signal, sys
from pathlib import Path
from graphctx.errors import BackendUnavailable
from graphctx.export.options import ExportFormat
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
