"""A knowledge base that lost a file of its own: nothing that was published is lost with it, and nothing opens up."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .house import answer_of, error_of, graphctx, graphctx_process, succeeded, write_lighthouse


@pytest.fixture(scope="module")
def eight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A knowledge base of eight documents with a boundary and a token, whose last ingest knew of both."""
    home = tmp_path_factory.mktemp("eight")
    for number in range(5):
        (home / "documents").mkdir(exist_ok=True)
        (home / "documents" / f"{number}.md").write_text(f"# Log {number}\n\nThe keeper wrote page {number}.\n")
    write_lighthouse(home / "documents")
    assert answer_of("ingest", home / "documents", "--kb", home / "kb", "--project-id", "gull")["documents"] == 8
    with (home / "kb" / "kb.toml").open("a") as file:
        file.write(f'\n[server]\ndoc_tags = ["light"]\n\n[server.tokens]\nana = "{"secret" * 5}"\n')
    answer_of("ingest", home / "documents", "--kb", home / "kb")
    return home


@pytest.fixture
def documents(eight: Path) -> Path:
    return eight / "documents"


@pytest.fixture
def kb(eight: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(eight / "kb", tmp_path / "kb"))


def test_a_lost_current_is_no_empty_knowledge_base(kb: Path, documents: Path) -> None:
    newest = (kb / "CURRENT").read_text().strip()
    (kb / "CURRENT").unlink()
    asked = graphctx_process("ask", "Who lit the lamp?", "--kb", kb)
    assert "Ada Merriweather" in succeeded(asked)
    assert asked.stderr.startswith("CURRENT, which names the published snapshot, is missing. The newest whole snap")
    status = answer_of("status", "--kb", kb)
    assert (status["snapshot_id"], status["counts"]["documents"], status["verified"]) == (newest, 8, True)
    assert newest in status["notes"][0]
    assert answer_of("call", "kb.search", "query=lamp", "--kb", kb)["results"]
    plan = answer_of("ingest", documents, "--kb", kb, "--dry-run")
    assert (plan["documents"], plan["builds"]) == (8, False)
    assert not (kb / "CURRENT").exists()


def test_an_ingest_that_changes_nothing_writes_a_lost_current_again(kb: Path, documents: Path) -> None:
    before = (kb / "CURRENT").read_bytes()
    (kb / "CURRENT").unlink()
    report = answer_of("ingest", documents, "--kb", kb)
    assert (report["unchanged"], report["changed"]) == (8, False)
    assert (kb / "CURRENT").read_bytes() == before


def test_without_kb_toml_nothing_is_answered_until_an_ingest_restores_it_with_its_boundary(
    kb: Path, documents: Path
) -> None:
    (kb / "kb.toml").unlink()
    for command in (
        ["ask", "Who?"],
        ["status"],
        ["call", "kb.search", "query=log"],
        ["ingest", documents, "--dry-run"],
    ):
        error = error_of(*command, "--kb", kb)
        assert error["code"] == "BACKEND_UNAVAILABLE"
        assert "kb.toml is missing beside published snapshots" in error["message"]
    refused = graphctx("serve", "--transport", "http", "--port", "1", "--kb", kb)
    assert (refused.returncode, "kb.toml is missing" in refused.stderr) == (1, True)
    assert not (kb / "kb.toml").exists()

    done = graphctx_process("ingest", documents, "--kb", kb)
    assert "8 unchanged" in succeeded(done)
    assert "kb.toml was missing. It is restored as the last ingest knew it: project 'gull'" in done.stderr
    assert answer_of("status", "--kb", kb)["project_id"] == "gull"
    assert answer_of("ask", "Who wrote page 3?", "--kb", kb)["quotes"] == []
    assert answer_of("ask", "Who lit the lamp?", "--kb", kb)["quotes"]
    assert "secret" not in (kb / "kb.toml").read_text()
    refused = graphctx("serve", "--transport", "http", "--port", "1", "--kb", kb)
    assert (refused.returncode, "token" in refused.stderr) == (1, True)


def test_without_kb_toml_and_its_copy_an_ingest_makes_up_no_other_project(kb: Path, documents: Path) -> None:
    (kb / "kb.toml").unlink()
    (kb / "snapshots" / "kb.toml").unlink()
    error = error_of("ingest", documents, "--kb", kb)
    assert error["code"] == "BACKEND_UNAVAILABLE"
    assert "MANIFEST.json" in error["message"]
    assert not (kb / "kb.toml").exists()
