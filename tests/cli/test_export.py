"""``graphctx export`` as it is typed."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from .runner import run


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Everything is written into an empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("format_", "name"),
    [("graphml", "light-house.graphml"), ("html", "light-house.html"), ("parquet", "light-house-tables")],
)
def test_an_export_bears_the_project_and_stays_in_the_working_directory(
    lighthouse: Path, here: Path, format_: str, name: str
) -> None:
    done = run("export", "--format", format_, "--kb", lighthouse)
    assert done.code == 0, done.err
    assert [path.name for path in here.iterdir()] == [name]
    assert done.out.startswith(f"{name}  ")
    assert run("export", "--format", format_, "--kb", lighthouse).code == 1  # it is there already
    assert run("export", "--format", format_, "--kb", lighthouse, "--force").code == 0


def test_json_tells_files_with_their_checksums(lighthouse: Path, here: Path) -> None:
    done = run("export", "--format", "graphml", "--out", "x.xml", "--kb", lighthouse, "--json")
    told = done.json
    data = (here / "x.xml").read_bytes()
    assert told["files"] == [{"name": "x.xml", "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}]
    assert told["counts"]["entities"] > 0
    assert told["path"] == "x.xml"


def test_progress_and_what_was_left_out_go_to_standard_error(lighthouse: Path) -> None:
    done = run("export", "--format", "html", "--max-entities", "1", "--kb", lighthouse)
    assert "The 1 names" not in done.out
    assert "--max-entities 1" in done.err
    assert "quotes" in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--format", "pdf"], "use graphml, parquet, html or redis"),
        (["--format", "graphml", "--max-entities", "5"], "--format html only"),
        (["--format", "html", "--documents"], "--format graphml only"),
        (["--format", "parquet", "--tag", "x"], "whole"),
        (["--format", "html", "--tag", "x"], "nothing to export"),
        (["--format", "html", "--out", "no/such/folder.html"], "no folder"),
        (["--format", "html", "--to", "redis://localhost"], "--to has no effect"),
        (["--format", "redis"], "needs --to"),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_reason_and_nothing_is_written(
    lighthouse: Path, here: Path, arguments: list[str], said: str
) -> None:
    done = run("export", "--kb", lighthouse, *arguments)
    assert done.code == 1
    assert "INVALID_ARGUMENT" in done.err
    assert said in done.err
    assert list(here.iterdir()) == []
