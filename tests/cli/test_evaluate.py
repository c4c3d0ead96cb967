"""``graphctx eval`` as it is typed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from graphctx.cli.app import app
from graphctx.knowledge_base import KnowledgeBase

DOCUMENTS = {
    "ada.md": "# Ada Merriweather\n\nAda Merriweather was the first keeper. She was born in the village of Thornby.\n",
    "boat.md": "# The boat\n\nThe boat of Gull Point is called Kittiwake. It was built in Saltby.\n",
    "lamp.md": "# The lamp\n\nThe lamp burns rape oil, and it is trimmed every four hours.\n",
}
ROWS: list[dict[str, Any]] = [
    {
        "id": "born",
        "question": "Where was Ada Merriweather born?",
        "type": "single",
        "answers": ["Thornby"],
        "gold_spans": [{"doc": "ada.md", "text": "She was born in the village of Thornby."}],
    },
    {"id": "boat", "question": "What is the boat called?", "answers": ["Kittiwake"], "gold_docs": ["boat.md"]},
    {"id": "none", "question": "Who painted the ceiling of the chapel?", "answerable": False},
]


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A golden file with its documents beside it."""
    folder = tmp_path_factory.mktemp("suite")
    (folder / "docs").mkdir()
    for name, text in DOCUMENTS.items():
        (folder / "docs" / name).write_text(text)
    (folder / "light.suite.toml").write_text('corpus = "docs"\n')
    return write(folder / "light.jsonl", ROWS)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the one knowledge base of the suite is kept."""
    return tmp_path_factory.mktemp("work")


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def run(*arguments: object, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["eval", *map(str, arguments)])
    assert done.exit_code == code, done.output
    return done.stdout


def test_a_suite_is_ingested_asked_and_shown(suite: Path, work: Path) -> None:
    shown = run(suite, "--work", work)
    heads, values = (line.split("\t") for line in shown.splitlines()[:2])
    row = dict(zip(heads, values, strict=True))
    assert (row["suite"], row["variant"], row["n"]) == ("light", "hybrid_local", "3")
    assert (row["R@5"], row["answer"], row["exact"]) == ("100.0", "100.0", "100.0")
    assert "light: 2 answerable and 1 unanswerable questions; span over 1" in shown
    assert [path.name.rpartition("-")[0] for path in work.iterdir()] == ["docs"]


def test_the_json_object_holds_suites_and_comparisons(suite: Path, work: Path) -> None:
    found = json.loads(run(suite, "--work", work, "--variants", "bm25,hybrid_local", "--json"))
    assert found["schema"] == "graphctx-eval/1"
    (one,) = found["suites"]
    assert list(one["variants"]) == ["bm25", "hybrid_local"]
    assert one["variants"]["hybrid_local"]["measures"]["answer"] == {"mean": 1.0, "n": 2}
    assert list(one["variants"]["bm25"]["types"]) == ["single"]
    assert {(item["variant"], item["against"]) for item in found["comparisons"]} == {("bm25", "hybrid_local")}
    assert found["regressions"] == found["entities"] == []


def test_marked_entities_are_measured_beside_questions(suite: Path, work: Path, tmp_path: Path) -> None:
    (tmp_path / "marks").mkdir()
    ada = {"id": "e1", "name": "Ada Merriweather", "type": "person", "mentions": [[0, 16]]}
    text = "Ada Merriweather was the first keeper."
    write(
        tmp_path / "marks" / "gold.jsonl", [{"id": "1", "title": "", "text": text, "entities": [ada], "relations": []}]
    )
    found = json.loads(run(suite, tmp_path / "marks", "--work", work, "--json"))
    assert [one["suite"] for one in found["suites"]] == ["light"]
    (entities,) = found["entities"]
    assert (entities["suite"], entities["overlap"]["recall"]) == ("marks", 1.0)


def test_a_run_that_is_worse_than_its_baseline_fails(suite: Path, work: Path, tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    run(suite, "--work", work, "--write-baseline", baseline)
    assert "No measure is significantly below" in run(suite, "--work", work, "--baseline", baseline)
    fewer = run(suite, "--work", work, "--baseline", baseline, "--limit", 1, "--json", code=1)
    assert json.loads(fewer)["regressions"][0]["kind"] == "missing"


def test_a_report_is_written(suite: Path, work: Path, tmp_path: Path) -> None:
    run(suite, "--work", work, "--html", tmp_path / "out" / "report.html")
    assert "light" in (tmp_path / "out" / "report.html").read_text()


def test_one_question_is_explained_by_its_id_or_its_words(suite: Path, work: Path) -> None:
    by_id = json.loads(run(suite, "--work", work, "--explain", "born", "--json"))
    assert by_id["question"] == "Where was Ada Merriweather born?"
    (folder,) = work.glob("docs-*")
    by_words = json.loads(run("--kb", folder, "--explain", by_id["question"], "--variants", "rrf", "--json"))
    assert (by_words["variant"], by_words["snapshot_id"]) == ("rrf", by_id["snapshot_id"])
    assert "Thornby" in run("--kb", folder, "--explain", by_id["question"])


def test_a_knowledge_base_that_is_there_is_asked_and_left_as_it_is(
    suite: Path, make_kb: Callable[..., KnowledgeBase], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kb = make_kb(DOCUMENTS)
    found = json.loads(run(suite, "--kb", kb.path, "--json"))
    assert found["suites"][0]["snapshot_id"] == kb.snapshot_id
    without_corpus = write(tmp_path / "light.jsonl", ROWS)
    monkeypatch.setenv("GRAPHCTX_KB", str(kb.path))
    assert json.loads(run(without_corpus, "--json"))["suites"][0]["snapshot_id"] == kb.snapshot_id


def test_gold_that_is_not_in_the_knowledge_base_stops_the_run(
    suite: Path, make_kb: Callable[..., KnowledgeBase]
) -> None:
    kb = make_kb({name: text for name, text in DOCUMENTS.items() if name != "boat.md"})
    error = json.loads(run(suite, "--kb", kb.path, "--json", code=1))["error"]
    assert error["code"] == "INVALID_ARGUMENT"
    assert "line 2: there is no document 'boat.md'" in error["message"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--variants", "bm52"], "bm52"),
        (["--variants", ","], "--variants"),
        (["--judge", "pages"], "pages"),
        (["--corpus", "nowhere"], "nowhere"),
        (["--baseline", "nothing.json"], "nothing.json"),
    ],
)
def test_a_wrong_option_is_refused_with_its_value(suite: Path, work: Path, arguments: list[str], named: str) -> None:
    error = json.loads(run(suite, "--work", work, *arguments, "--json", code=1))["error"]
    assert error["code"] == "INVALID_ARGUMENT"
    assert named in error["message"]


def test_a_suite_must_be_named_and_only_once(suite: Path) -> None:
    assert "Name a suite" in json.loads(run("--json", code=1))["error"]["message"]
    assert "'light'" in json.loads(run(suite, suite, "--json", code=1))["error"]["message"]
