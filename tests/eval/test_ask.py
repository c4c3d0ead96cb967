"""Suites asked of real knowledge bases."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graphctx.errors import BackendUnavailable
from graphctx.eval.ask import Asker, run_suite
from graphctx.eval.records import SuiteRun
from graphctx.eval.run import open_for
from graphctx.eval.show import notes
from graphctx.eval.suites import Suite, load_suite
from graphctx.eval.summary import summary
from graphctx.knowledge_base import KnowledgeBase
from graphctx.retrieve.variants import VARIANTS


@pytest.fixture(scope="module")
def handbook_run(handbook_kb: KnowledgeBase, golden_folder: Path) -> SuiteRun:
    suite = load_suite(golden_folder / "handbook.jsonl")
    some = replace(suite, rows=tuple(item for item in suite.rows if int(item.row.id[2:]) % 7 == 1))
    return run_suite(some, handbook_kb, ["bm25", "hybrid_local"], ranking_only=["bm25"])


def suite_of(tmp_path: Path, *rows: dict[str, Any], **options: Any) -> Suite:
    path = tmp_path / "golden.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return load_suite(path, **options)


def test_rankings_hold_each_document_once_and_unanswerable_questions_have_none(handbook_run: SuiteRun) -> None:
    assert handbook_run.judge == "documents"
    for one in handbook_run.outcomes["hybrid_local"]:
        assert len(one.ranked) == len(set(one.ranked)) == (10 if one.golden.answerable else 0)
        assert ("MRR" in one.measures) == one.golden.answerable
        if one.golden.answerable:
            found = len(one.relevant & set(one.ranked[:5])) / len(one.relevant)
            assert one.measures["R@5"] == pytest.approx(found)


def test_a_variant_that_only_ranks_is_not_asked_for_quotes(handbook_run: SuiteRun) -> None:
    for one in handbook_run.outcomes["bm25"]:
        assert not one.quotes
        assert "answer" not in one.measures
        assert "retrieve_evidence" not in one.milliseconds
    assert summary(handbook_run)["variants"]["bm25"]["abstention"] == {}


def test_summaries_count_what_each_mean_is_over(handbook_run: SuiteRun) -> None:
    found = summary(handbook_run)
    counts = found["questions"]
    assert counts["asked"] == counts["answerable"] + counts["unanswerable"] == 9
    values = found["variants"]["hybrid_local"]
    assert values["measures"]["R@5"]["n"] == counts["answerable"]
    assert sum(group["confidence"]["n"] for group in values["types"].values()) == 9
    assert values["abstention"]["unanswerable"] == counts["unanswerable"]
    assert 0 <= values["abstention"]["auroc"] <= 1
    assert values["milliseconds"]["search"]["p50"] <= values["milliseconds"]["search"]["p95"]


def test_every_variant_answers_the_same_questions(handbook_kb: KnowledgeBase, golden_folder: Path) -> None:
    run = run_suite(load_suite(golden_folder / "handbook.jsonl", limit=1), handbook_kb, [*VARIANTS, "bm25"])
    assert list(run.outcomes) == list(VARIANTS)
    for (one,) in run.outcomes.values():
        assert one.golden.id == "hb001"
        assert one.measures["exact"] == 1


def test_long_documents_are_judged_by_the_units_that_hold_the_gold(small_kb: KnowledgeBase, tmp_path: Path) -> None:
    text = "On night 12 the keeper saw 84 ships pass the point."
    rows = [{"question": "How many ships passed on night 12?", "gold_spans": [{"doc": "log.md", "text": text}]}]
    run = run_suite(suite_of(tmp_path, *rows), small_kb)
    (one,) = run.outcomes["hybrid_local"]
    assert run.judge == "units"
    (key,) = one.relevant
    start, end = map(int, key.removeprefix("log.md@").split("-"))
    assert text in small_kb.document("log.md").text[start:end]
    assert len(one.ranked) == len(set(one.ranked)) == 10
    assert one.measures["R@5"] == 1
    without_gold = {"question": "How many ships passed on night 13?", "answers": ["91"]}
    without_span = {"question": "What is this?", "gold_docs": ["log.md"]}
    for rows_, options, judge in (
        ([*rows], {"judge": "documents"}, "documents"),
        ([*rows, without_gold], {}, "units"),
        ([*rows, without_span], {}, "documents"),
    ):
        run = run_suite(suite_of(tmp_path, *rows_, **options), small_kb, ranking_only=["hybrid_local"])
        assert run.judge == judge


def test_gold_that_units_cannot_judge_is_counted(small_kb: KnowledgeBase, tmp_path: Path) -> None:
    maud = [{"doc": "keepers/maud.md", "text": "Wexley"}]
    rows = [
        {"id": "whole", "question": "Where was Ada born?", "gold_docs": ["keepers/ada.md"]},
        {"id": "mark", "question": "Who is Ada?", "gold_spans": [{"doc": "keepers/ada.md", "start": 0, "end": 1}]},
        {"id": "good", "question": "Where was Maud born?", "gold_spans": maud},
        {"id": "none", "question": "Who is Ned?", "answerable": False},
    ]
    run = run_suite(suite_of(tmp_path, *rows, judge="units"), small_kb, ranking_only=["hybrid_local"])
    assert run.not_ranked == ("whole", "mark")
    found = summary(run)
    assert (found["questions"]["not_ranked"], found["questions"]["spans_outside"]) == (2, 1)
    assert found["variants"]["hybrid_local"]["measures"]["R@5"]["n"] == 1
    assert "2 in no measure of ranking" in notes([found])[0]
    assert "1 gold span that no unit overlaps" in notes([found])[0]
    by_documents = run_suite(suite_of(tmp_path, *rows, judge="documents"), small_kb, ranking_only=["hybrid_local"])
    assert (by_documents.not_ranked, by_documents.spans_outside) == ((), 0)


def test_a_question_with_answers_only_counts_in_quotes_and_in_no_ranking(
    small_kb: KnowledgeBase, tmp_path: Path
) -> None:
    rows = [
        {"question": "Where was Maud born?", "gold_spans": [{"doc": "keepers/maud.md", "text": "Wexley"}]},
        {"question": "Where was Silas born?", "answers": ["Nowhere at all"]},
    ]
    found = summary(run_suite(suite_of(tmp_path, *rows), small_kb))
    measures = found["variants"]["hybrid_local"]["measures"]
    assert (measures["R@5"]["n"], measures["span"]["n"], measures["quotes"]["n"]) == (1, 1, 2)
    assert measures["answer"] == {"mean": 0.0, "n": 1}
    assert found["questions"]["without_gold"] == 1
    assert "1 without gold, of which no ranking and no span is measured" in notes([found])[0]


def test_the_evaluation_asks_as_a_user_does_until_no_cursor_is_left(small_kb: KnowledgeBase) -> None:
    question = "Who kept the light of Gull Point?"
    (whole,) = Asker(small_kb).pages(question)
    assert whole == small_kb.retrieve_evidence(question)
    assert Asker(small_kb).search(question, top_k=5) == small_kb.search(question)
    pages = list(Asker(small_kb).pages(question, max_tokens=whole.budget.tokens * 2 // 3))
    assert len(pages) > 1
    assert [quote for page in pages for quote in page.quotes] == whole.quotes


def test_a_corpus_is_ingested_into_a_knowledge_base_that_is_kept_for_it(tmp_path: Path) -> None:
    folder, work = tmp_path / "light", tmp_path / "work"
    folder.mkdir()
    corpus = [
        {"id": name.lower(), "title": name, "text": f"The keeper of {name} was born in Thornby."}
        for name in ("Hook", "Skerry")
    ]
    questions = [{"question": "Where was the keeper of Hook born?", "gold_ids": ["hook"]}]
    for name, rows in (("corpus", corpus), ("questions", questions)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    titles = []
    for blank in (False, True):
        suite = load_suite(folder, blank_titles=blank)
        with open_for(suite, kb=None, default_kb=tmp_path / "none", work=work) as kb:
            documents = kb.searcher().index.documents
            assert sorted(documents["uri"].to_pylist()) == ["corpus.jsonl#hook", "corpus.jsonl#skerry"]
            assert run_suite(suite, kb).outcomes["hybrid_local"][0].measures["R@10"] == 1
            titles.append(set(documents["title"].to_pylist()))
    assert titles[0] == {"Hook", "Skerry"}
    assert not titles[0] & titles[1]
    assert len(list(work.glob("*/kb.toml"))) == 2


def test_a_suite_without_a_corpus_asks_the_knowledge_base_that_is_there(
    small_kb: KnowledgeBase, tmp_path: Path
) -> None:
    suite = suite_of(tmp_path, {"question": "Where was Ada born?", "gold_docs": ["keepers/ada.md"]})
    with open_for(suite, kb=None, default_kb=small_kb.path, work=tmp_path / "work") as found:
        assert found.snapshot_id == small_kb.snapshot_id
    with pytest.raises(BackendUnavailable):
        open_for(suite, kb=None, default_kb=tmp_path / "nothing", work=tmp_path / "work")
    KnowledgeBase.open(tmp_path / "empty", create=True).close()
    with pytest.raises(BackendUnavailable, match="Nothing is published"):
        open_for(suite, kb=tmp_path / "empty", default_kb=small_kb.path, work=tmp_path / "work")
