"""``graphctx eval``: suites of questions, and of questions about the whole."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from tests.conftest import REPO

from .runner import Done, run

GOLDEN = REPO / "eval" / "golden" / "handbook_global.jsonl"

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


@pytest.fixture(scope="session")
def suite(run_folder: Path) -> Path:
    """A golden file with its documents beside it; ``work`` beside it holds its knowledge base."""
    folder = run_folder / "suite"
    with FileLock(run_folder / "suite.lock"):
        if not folder.exists():
            (folder / "docs").mkdir(parents=True)
            for name, text in DOCUMENTS.items():
                (folder / "docs" / name).write_text(text)
            (folder / "light.suite.toml").write_text('corpus = "docs"\n')
            evaluate(write(folder / "light.jsonl", ROWS), "--work", folder / "work", "--ranking-only")
    return folder / "light.jsonl"


@pytest.fixture(scope="session")
def work(suite: Path) -> Path:
    """Where the one knowledge base of the suite is kept."""
    return suite.parent / "work"


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def evaluate(*words: object, code: int = 0) -> Done:
    done = run("eval", *words, env={"GRAPHCTX_INGEST__PROCESSES": "1"})
    assert done.code == code, done.out + done.err
    return done


def test_a_suite_is_ingested_asked_and_shown(suite: Path, work: Path) -> None:
    shown = evaluate(suite, "--work", work).out
    heads, values = (line.split("\t") for line in shown.splitlines()[:2])
    row = dict(zip(heads, values, strict=True))
    assert (row["suite"], row["variant"], row["n"]) == ("light", "hybrid_local", "3")
    assert (row["R@5"], row["answer"], row["exact"]) == ("100.0", "100.0", "100.0")
    assert "light: 2 answerable and 1 unanswerable questions; span over 1" in shown
    assert [path.name.rpartition("-")[0] for path in work.iterdir()] == ["docs"]


def test_the_json_object_holds_suites_and_comparisons(suite: Path, work: Path) -> None:
    found = evaluate(suite, "--work", work, "--variants", "bm25,hybrid_local", "--json").json
    assert found["schema"] == "graphctx-eval/1"
    (one,) = found["suites"]
    assert list(one["variants"]) == ["bm25", "hybrid_local"]
    assert one["variants"]["hybrid_local"]["measures"]["answer"] == {"mean": 1.0, "n": 2}
    assert list(one["variants"]["bm25"]["types"]) == ["(none)", "single"]
    assert {(item["variant"], item["against"]) for item in found["comparisons"]} == {("bm25", "hybrid_local")}
    assert found["regressions"] == found["entities"] == []


def test_marked_entities_are_measured_beside_questions(suite: Path, work: Path, tmp_path: Path) -> None:
    (tmp_path / "marks").mkdir()
    ada = {"id": "e1", "name": "Ada Merriweather", "type": "person", "mentions": [[0, 16]]}
    text = "Ada Merriweather was the first keeper."
    write(
        tmp_path / "marks" / "gold.jsonl", [{"id": "1", "title": "", "text": text, "entities": [ada], "relations": []}]
    )
    found = evaluate(suite, tmp_path / "marks", "--work", work, "--json").json
    assert [one["suite"] for one in found["suites"]] == ["light"]
    (entities,) = found["entities"]
    assert (entities["suite"], entities["overlap"]["recall"]) == ("marks", 1.0)


def test_a_run_that_is_worse_than_its_baseline_fails(suite: Path, work: Path, tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    evaluate(suite, "--work", work, "--write-baseline", baseline)
    assert "No measure is significantly below" in evaluate(suite, "--work", work, "--baseline", baseline).out
    held = json.loads(baseline.read_text())
    held["suites"]["light"]["questions"]["gone"] = held["suites"]["light"]["questions"]["born"]
    baseline.write_text(json.dumps(held))
    fewer = evaluate(suite, "--work", work, "--baseline", baseline, "--json", code=1)
    assert json.loads(fewer.out)["regressions"][0]["kind"] == "missing"
    before = baseline.read_bytes()
    evaluate(suite, "--work", work, "--baseline", baseline, "--write-baseline", baseline, code=1)
    assert baseline.read_bytes() == before


def test_with_a_limit_only_the_questions_that_were_asked_are_compared_and_reported(
    suite: Path, work: Path, tmp_path: Path
) -> None:
    baseline = tmp_path / "baseline.json"
    assert f"written to {baseline}" in evaluate(suite, "--work", work, "--write-baseline", baseline).err
    report = tmp_path / "report.html"
    shown = evaluate(suite, "--work", work, "--baseline", baseline, "--limit", 1, "--html", report).err
    assert "2 of the baseline's questions were not asked" in shown
    assert f"report written to {report}" in shown
    assert "light" in report.read_text()


def test_on_a_terminal_every_table_fits_its_width(suite: Path, work: Path) -> None:
    terminal = {"FORCE_COLOR": "1", "NO_COLOR": "1", "TERM": "xterm", "COLUMNS": "80"}
    variants = "bm25,vector,rrf,hybrid,hybrid_local"
    shown = run("eval", suite, "--work", work, "--variants", variants, env=terminal).out
    tables = re.sub(r"\x1b\[[0-9;]*m", "", shown).partition("answerable and")[0]
    for measure in ("R@5", "all@10", "answer@500", "AUROC", "single", "(none)"):
        assert re.search(rf"^{re.escape(measure)} ", tables, re.M), measure
    assert max(map(len, tables.splitlines())) <= 80
    assert "3 questions are too few to tell variants apart" in shown


def test_what_is_odd_about_a_golden_file_is_reported_beside_the_measures(
    suite: Path, work: Path, tmp_path: Path
) -> None:
    rows = [ROWS[0], {"question": "What is the boat called?", "answer": "Kittiwake"}]
    odd = write(tmp_path / "odd.jsonl", rows)
    arguments = (odd, "--corpus", suite.parent / "docs", "--work", work, "--json")
    (one,) = evaluate(*arguments).json["suites"]
    assert "did you mean 'answers'?" in one["warnings"][0]
    assert "line 2" in one["warnings"][1]
    assert evaluate(*arguments).err.count("warning: odd.jsonl") == 2


def test_an_explanation_in_a_pipe_wraps_no_place(suite: Path, work: Path) -> None:
    unknown = run("eval", suite, "--work", work, "--explain", "no-such-id", env={"COLUMNS": "25"})
    assert "no question of the id 'no-such-id'" in unknown.err.replace("\n", " ")
    shown = run("eval", suite, "--work", work, "--explain", "born", env={"COLUMNS": "25"}).out
    rows = [line for line in shown.splitlines() if re.match(r" *1 .*ada\.md:", line)]
    assert rows
    assert all("Ada Merriweather" in row for row in rows)


def test_one_question_is_explained_by_its_id_or_its_words(suite: Path, work: Path) -> None:
    by_id = evaluate(suite, "--work", work, "--explain", "born", "--json").json
    assert by_id["question"] == "Where was Ada Merriweather born?"
    (folder,) = work.glob("docs-*")
    by_words = evaluate("--kb", folder, "--explain", by_id["question"], "--variants", "rrf", "--json").json
    assert (by_words["variant"], by_words["snapshot_id"]) == ("rrf", by_id["snapshot_id"])
    assert "Thornby" in evaluate("--kb", folder, "--explain", by_id["question"]).out


def test_a_knowledge_base_that_exists_is_asked_and_left_as_it_is(
    suite: Path, lighthouse: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = (lighthouse / "CURRENT").read_bytes()
    found = evaluate(suite, "--kb", lighthouse, "--json").json
    assert found["suites"][0]["snapshot_id"] == before.decode().strip()
    without_corpus = write(tmp_path / "light.jsonl", ROWS)
    by_environment = run("eval", without_corpus, "--json", env={"GRAPHCTX_KB": str(lighthouse)}).json
    assert by_environment["suites"][0]["snapshot_id"] == found["suites"][0]["snapshot_id"]
    assert (lighthouse / "CURRENT").read_bytes() == before


def test_gold_that_is_not_in_the_knowledge_base_stops_the_run(lighthouse: Path, tmp_path: Path) -> None:
    rows = [ROWS[0], {**ROWS[1], "gold_docs": ["gone.md"]}]
    error = evaluate(write(tmp_path / "gone.jsonl", rows), "--kb", lighthouse, "--json", code=1).error
    assert error["code"] == "INVALID_ARGUMENT"
    assert "line 2: there is no document 'gone.md'" in error["message"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--variants", "bm52"], "bm52"),
        (["--variants", ","], "--variants"),
        (["--judge", "pages"], "pages"),
        (["--corpus", "nowhere"], "nowhere"),
        (["--baseline", "nothing.json"], "nothing.json"),
        (["--html", "nowhere/report.html"], "nowhere"),
        (["--write-baseline", "nowhere/base.json"], "nowhere"),
        (["--explain", "born", "--html", "report.html"], "--html"),
        (["--explain", "all"], "--explain all follows the points"),
        (["--kb", ".", "--corpus", "."], "--corpus"),
    ],
)
def test_a_wrong_option_is_refused_with_its_value(suite: Path, work: Path, arguments: list[str], named: str) -> None:
    error = evaluate(suite, "--work", work, *arguments, "--json", code=1).error
    assert error["code"] == "INVALID_ARGUMENT"
    assert named in error["message"]


def test_a_suite_must_be_named_and_only_once(suite: Path) -> None:
    assert "Name a suite" in evaluate("--json", code=1).error["message"]
    assert "'light'" in evaluate(suite, suite, "--json", code=1).error["message"]


@pytest.mark.slow
def test_global_search_and_its_rivals_are_measured_at_three_budgets(handbook_path: Path) -> None:
    done = evaluate(GOLDEN, "--limit", 2, "--kb", handbook_path)
    lines = [line.split("\t") for line in done.out.splitlines()]
    assert {"points@500", "points@1000", "points@2000", "rated"} <= set(lines[0])
    assert [line[1] for line in lines[1:5]] == ["global", "hybrid", "summaries", "evidence"]


@pytest.mark.slow
def test_an_explanation_says_where_each_point_was_lost(handbook_path: Path) -> None:
    shown = evaluate(GOLDEN, "--kb", handbook_path, "--explain", "hg03").out
    assert shown.startswith("hg03: Two buoys broke loose")
    assert "Where 9 points ended" in shown
    found = evaluate(GOLDEN, "--kb", handbook_path, "--explain", "all", "--json").json
    assert len(found["questions"]) == 22
    assert sum(found["totals"]["500"].values()) == 204


@pytest.mark.parametrize("question", ["hg99", "What about it?"])
def test_only_a_suites_own_question_can_be_explained(handbook_path: Path, question: str) -> None:
    done = evaluate(GOLDEN, "--kb", handbook_path, "--explain", question, code=1)
    assert f"has no question {question!r}" in done.err.replace("\n", " ")
