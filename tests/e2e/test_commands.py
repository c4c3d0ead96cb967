"""What the commands do to a small knowledge base, one after the other, as a person would type them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .house import answer_of, error_of, graphctx, published, succeeded, write_lighthouse

QUESTION = "Where was Ada Merriweather born?"


def test_a_folder_becomes_answers_in_two_commands(tmp_path: Path) -> None:
    write_lighthouse(tmp_path / "docs")
    done = graphctx("ingest", "docs", cwd=tmp_path)
    assert "3  documents (3 added)" in succeeded(done)
    assert "\x1b" not in done.stdout + done.stderr
    steps = [line.split()[0] for line in done.stderr.splitlines() if line]
    assert set(steps) == set("read split extract resolve embed link relate cluster summarise write publish".split())
    assert (steps[0], steps[-1]) == ("read", "publish")
    assert re.search(r'Next: .* ask "your question"', done.stdout)
    shown = succeeded(graphctx("ask", QUESTION, cwd=tmp_path))
    assert "She was born in the village of Thornby." in shown
    assert "docs/keepers/ada.md:3 · confidence" in shown


def test_the_environment_names_the_knowledge_base(lighthouse_kb: Path, tmp_path: Path) -> None:
    done = graphctx("ask", QUESTION, "--json", cwd=tmp_path, GRAPHCTX_KB=str(lighthouse_kb))
    assert "Thornby" in succeeded(done)


def test_filters_narrow_what_is_quoted(lighthouse_kb: Path) -> None:
    tagged = answer_of("ask", "Who lit the lamp?", "--kb", lighthouse_kb, "--tag", "light")
    assert {quote["doc_uri"] for quote in tagged["quotes"]} == {"lamp.md"}
    below = answer_of("search", "Ada Merriweather", "--kb", lighthouse_kb, "--path-prefix", "keepers/")
    assert {result["doc_uri"] for result in below["results"]} == {"keepers/ada.md"}


def test_going_back_to_the_snapshot_before_brings_its_answers_back(own_kb: Path, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "boat.md").write_text("# The boat\n\nThe boat of Gull Point is called Kittiwake.\n")
    first = (own_kb / "CURRENT").read_text().strip()
    report = answer_of("ingest", tmp_path / "more", "--kb", own_kb)
    assert report["added"] == 1
    listed = answer_of("snapshots", "list", "--kb", own_kb)["snapshots"]
    assert [info["current"] for info in listed].count(True) == 1
    assert {info["id"] for info in listed} == {first, report["snapshot_id"]}
    answer_of("snapshots", "rollback", first, "--kb", own_kb)
    assert answer_of("status", "--kb", own_kb)["snapshot_id"] == first
    assert answer_of("snapshots", "prune", "--keep", 1, "--kb", own_kb)["deleted"] == [report["snapshot_id"]]


def test_the_graph_answers_cypher(lighthouse_kb: Path) -> None:
    query = "MATCH (d:Document) WHERE d.uri STARTS WITH $prefix RETURN d.uri AS uri, d.n_units AS units ORDER BY uri"
    answer = answer_of("cypher", query, "--param", "prefix=keepers/", "--kb", lighthouse_kb)
    assert answer == {"columns": ["uri", "units"], "rows": [["keepers/ada.md", 1]], "truncated": False}
    lines = succeeded(graphctx("cypher", query, "--param", "prefix=", "--max-rows", 1, "--kb", lighthouse_kb))
    assert lines == "uri\tunits\nkeepers/ada.md\t1\n"


def test_pruning_more_than_half_of_the_documents_needs_a_yes(own_kb: Path, tmp_path: Path) -> None:
    before = published(own_kb)
    documents = write_lighthouse(tmp_path / "documents")
    sources = (own_kb / "kb.toml").read_text()
    known = re.search(r'path = "(.+)"', sources)
    assert known is not None
    (own_kb / "kb.toml").write_text(sources.replace(known[1], str(documents)))
    (documents / "rules.txt").unlink()
    (documents / "lamp.md").unlink()
    error = error_of("ingest", documents, "--kb", own_kb, "--prune")
    assert error["code"] == "INVALID_ARGUMENT"
    assert "2 of 3 documents" in error["message"]
    assert "--yes" in error["message"]
    assert published(own_kb) == before
    plan = answer_of("ingest", documents, "--kb", own_kb, "--prune", "--dry-run")
    assert plan["removed"] == ["lamp.md", "rules.txt"]
    assert plan["notes"] == [error["message"]]
    assert answer_of("ingest", documents, "--kb", own_kb, "--prune", "--yes")["removed"] == 2


def test_a_job_file_says_what_to_ingest_relative_to_itself(tmp_path: Path) -> None:
    write_lighthouse(tmp_path / "corpus")
    (tmp_path / "jobs").mkdir()
    job = tmp_path / "jobs" / "light.toml"
    job.write_text('paths = ["../corpus"]\nkb = "../kb"\nproject_id = "gull"\n[ingest]\nprocesses = 1\n')
    report = answer_of("ingest", "--pipeline", job)
    assert (report["project_id"], report["documents"]) == ("gull", 3)
    assert (tmp_path / "kb" / "CURRENT").exists()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('paths = ["a"]\nprun = true\n', "prun"),
        ('paths = ["a"]\n[ingest]\nunit_token = 3\n', "unit_token"),
        ('paths = ["a"]\n[ingest]\nunit_tokens = 3\n', "unit_tokens"),
        ("paths = []\n", "paths"),
        ("paths = [", "job.toml"),
    ],
)
def test_a_job_file_with_a_fault_is_refused_by_its_name(tmp_path: Path, text: str, named: str) -> None:
    (tmp_path / "job.toml").write_text(text)
    error = error_of("ingest", "--pipeline", tmp_path / "job.toml")
    assert error["code"] == "INVALID_ARGUMENT"
    assert named in error["message"]


def test_the_doctor_says_what_is_well_and_what_to_do_about_a_damaged_knowledge_base(own_kb: Path) -> None:
    (own_kb / "CURRENT").write_text("sn_aaaaaaaaaaaaaaaa\n")
    done = graphctx("doctor", "--kb", own_kb)
    assert done.returncode == 1
    assert "1 of" in done.stdout
    assert "→ See what it says: graphctx status" in done.stdout
