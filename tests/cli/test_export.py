"""``graphctx export`` as it is typed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from graphctx.cli.app import app
from graphctx.knowledge_base import KnowledgeBase


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli-export")
    (folder / "docs").mkdir()
    (folder / "docs" / "ada.md").write_text(
        "# Ada\n\nAda Merriweather keeps Gull Point. Gull Point pays Ada Merriweather.\n"
    )
    with KnowledgeBase.open(folder / "kb", create=True, project_id="../light house") as made:
        made.ingest(folder / "docs", processes=1)
    return folder / "kb"


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
    kb: Path, here: Path, format_: str, name: str
) -> None:
    done = CliRunner().invoke(app, ["export", "--format", format_, "--kb", str(kb)])
    assert done.exit_code == 0, done.output
    assert [path.name for path in here.iterdir()] == [name]
    assert done.stdout.startswith(f"{name}  ")


def test_json_tells_files_with_their_checksums(kb: Path, here: Path) -> None:
    done = CliRunner().invoke(app, ["export", "--format", "graphml", "--out", "x.xml", "--kb", str(kb), "--json"])
    told = json.loads(done.stdout)
    data = (here / "x.xml").read_bytes()
    assert told["files"] == [{"name": "x.xml", "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}]
    assert told["counts"]["entities"] > 0
    assert told["path"] == "x.xml"


def test_progress_and_what_was_left_out_go_to_standard_error(kb: Path) -> None:
    done = CliRunner().invoke(app, ["export", "--format", "html", "--max-entities", "1", "--kb", str(kb)])
    assert "The 1 names" not in done.stdout
    assert "--max-entities 1" in done.stderr
    assert "quotes" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--format", "pdf"], "use graphml, parquet or html"),
        (["--format", "graphml", "--max-entities", "5"], "--format html only"),
        (["--format", "html", "--documents"], "--format graphml only"),
        (["--format", "parquet", "--tag", "x"], "whole"),
        (["--format", "html", "--tag", "x"], "nothing to export"),
        (["--format", "html", "--out", "no/such/folder.html"], "no folder"),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_reason_and_nothing_is_written(
    kb: Path, here: Path, arguments: list[str], said: str
) -> None:
    done = CliRunner().invoke(app, ["export", "--kb", str(kb), *arguments])
    assert done.exit_code == 1
    assert "INVALID_ARGUMENT" in done.stderr
    assert said in done.stderr
    assert list(here.iterdir()) == []


def test_what_is_there_is_replaced_with_force_only(kb: Path, here: Path) -> None:
    arguments = ["export", "--format", "html", "--out", "x.html", "--kb", str(kb)]
    assert CliRunner().invoke(app, [*arguments, "--max-entities", "1"]).exit_code == 0
    before = (here / "x.html").read_bytes()
    refused = CliRunner().invoke(app, [*arguments, "--json"])
    assert refused.exit_code == 1
    assert json.loads(refused.stdout)["error"]["code"] == "INVALID_ARGUMENT"
    assert (here / "x.html").read_bytes() == before
    assert CliRunner().invoke(app, [*arguments, "--force"]).exit_code == 0
    assert (here / "x.html").read_bytes() != before


def test_where_nothing_is_published_it_says_what_to_do(here: Path) -> None:
    KnowledgeBase.open(here / "kb", create=True)
    done = CliRunner().invoke(app, ["export", "--format", "html", "--kb", "kb", "--out", "x.html"])
    assert done.exit_code == 1
    assert "BACKEND_UNAVAILABLE Nothing is published" in done.stderr
    assert not (here / "x.html").exists()


def test_a_format_has_to_be_named(kb: Path) -> None:
    assert CliRunner().invoke(app, ["export", "--kb", str(kb)]).exit_code == 2
