"""Suites asked of real knowledge bases."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.eval.ask import Asker, run_suite
from graphctx.eval.records import SuiteRun
from graphctx.eval.run import open_for
from graphctx.eval.show import notes
from graphctx.eval.suites import Suite, load_suite
from graphctx.eval.summary import summary
from graphctx.knowledge_base import KnowledgeBase
from graphctx.retrieve.variants import VARIANTS

KEEPERS = ("Ada", "Silas", "Maud", "Piran", "Tamsin")
LIGHT = {
    f"keepers/{name.lower()}.md": f"# {name} Merriweather\n\n{name} Merriweather kept the light of Gull Point in "
    f"{1871 + at}. {name} was born in the village of {village}.\n"
    for at, (name, village) in enumerate(
        zip(KEEPERS, ("Thornby", "Saltby", "Wexley", "Ormsby", "Netherton"), strict=True)
    )
}


@pytest.fixture(scope="module")
def handbook_run(handbook_kb: KnowledgeBase) -> SuiteRun:
    golden = Path(__file__).resolve().parents[2] / "eval" / "golden" / "handbook.jsonl"
    suite = load_suite(golden)
    some = replace(suite, rows=tuple(item for item in suite.rows if int(item.row.id[2:]) % 7 == 1))
    return run_suite(some, handbook_kb, ["bm25", "hybrid_local"], ranking_only=["bm25"])


def suite_of(tmp_path: Path, *rows: dict[str, Any], **options: Any) -> Suite:
    path = tmp_path / "golden.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return load_suite(path, **options)


def test_rankings_hold_each_document_once_and_unanswerable_questions_have_none(handbook_run: SuiteRun) -> None:
    for one in handbook_run.outcomes["hybrid_local"]:
        assert len(one.ranked) == len(set(one.ranked)) == (10 if one.golden.answerable else 0)
        assert ("MRR" in one.measures) == one.golden.answerable
        if one.golden.answerable:
            found = len(one.relevant & set(one.ranked[:5])) / len(one.relevant)
            assert one.measures["R@5"] == pytest.approx(found)


def test_a_variant_that_only_ranks_asks_for_no_quotes(handbook_run: SuiteRun) -> None:
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


def test_long_documents_are_judged_by_the_units_that_hold_the_gold(
    make_kb: Callable[..., KnowledgeBase], tmp_path: Path
) -> None:
    chapters = [f"## Night {n}\n\nOn night {n} the keeper saw {n * 7} ships pass the point.\n" for n in range(1, 31)]
    kb = make_kb({"log.md": "# The log\n\n" + "\n".join(chapters)})
    text = "On night 12 the keeper saw 84 ships pass the point."
    rows = [{"question": "How many ships passed on night 12?", "gold_spans": [{"doc": "log.md", "text": text}]}]
    run = run_suite(suite_of(tmp_path, *rows), kb)
    (one,) = run.outcomes["hybrid_local"]
    assert run.judge == "units"
    (key,) = one.relevant
    start, end = map(int, key.removeprefix("log.md@").split("-"))
    assert text in kb.document("log.md").text[start:end]
    assert len(one.ranked) == len(set(one.ranked)) == 10
    assert one.measures["R@5"] == 1
    assert run_suite(suite_of(tmp_path, *rows, judge="documents"), kb).judge == "documents"
    told = {"question": "How many ships passed on night 13?", "answers": ["91"]}
    assert run_suite(suite_of(tmp_path, *rows, told), kb).judge == "units"
    unmarked = {"question": "What is this?", "gold_docs": ["log.md"]}
    assert run_suite(suite_of(tmp_path, *rows, unmarked), kb).judge == "documents"


def test_gold_that_units_cannot_judge_is_counted(make_kb: Callable[..., KnowledgeBase], tmp_path: Path) -> None:
    kb = make_kb(LIGHT)
    rows = [
        {"id": "whole", "question": "Where was Ada born?", "gold_docs": ["keepers/ada.md"]},
        {"id": "mark", "question": "Who is Ada?", "gold_spans": [{"doc": "keepers/ada.md", "start": 0, "end": 1}]},
        {
            "id": "good",
            "question": "Where was Maud born?",
            "gold_spans": [{"doc": "keepers/maud.md", "text": "Wexley"}],
        },
        {"id": "none", "question": "Who is Ned?", "answerable": False},
    ]
    run = run_suite(suite_of(tmp_path, *rows, judge="units"), kb, ranking_only=["hybrid_local"])
    assert run.not_ranked == ("whole", "mark")
    found = summary(run)
    assert (found["questions"]["not_ranked"], found["questions"]["spans_outside"]) == (2, 1)
    assert found["variants"]["hybrid_local"]["measures"]["R@5"]["n"] == 1
    assert "2 in no measure of ranking" in notes([found])[0]
    assert "1 gold span that no unit overlaps" in notes([found])[0]
    by_documents = run_suite(suite_of(tmp_path, *rows, judge="documents"), kb, ranking_only=["hybrid_local"])
    assert (by_documents.not_ranked, by_documents.spans_outside) == ((), 0)


def test_a_question_with_answers_only_counts_in_quotes_and_in_no_ranking(
    make_kb: Callable[..., KnowledgeBase], tmp_path: Path
) -> None:
    kb = make_kb(LIGHT)
    rows = [
        {"question": "Where was Maud born?", "gold_spans": [{"doc": "keepers/maud.md", "text": "Wexley"}]},
        {"question": "Where was Silas born?", "answers": ["Nowhere at all"]},
    ]
    found = summary(run_suite(suite_of(tmp_path, *rows), kb))
    measures = found["variants"]["hybrid_local"]["measures"]
    assert (measures["R@5"]["n"], measures["span"]["n"], measures["quotes"]["n"]) == (1, 1, 2)
    assert measures["answer"] == {"mean": 0.0, "n": 1}
    assert found["questions"]["without_gold"] == 1
    assert "1 without gold, of which no ranking and no span is measured" in notes([found])[0]


def test_every_quote_is_asked_for_until_no_cursor_is_left(make_kb: Callable[..., KnowledgeBase]) -> None:
    kb = make_kb(LIGHT)
    whole = list(Asker(kb).pages("Who kept the light of Gull Point?"))
    assert len(whole) == 1
    weight = whole[0].budget.tokens
    pages = list(Asker(kb).pages("Who kept the light of Gull Point?", max_tokens=weight * 2 // 3))
    assert len(pages) > 1
    assert [quote for page in pages for quote in page.quotes] == whole[0].quotes


def test_what_is_asked_here_is_answered_as_to_a_user(make_kb: Callable[..., KnowledgeBase]) -> None:
    kb, question = make_kb(LIGHT), "Where was Silas born?"
    (answer,) = Asker(kb).pages(question)
    assert answer == kb.retrieve_evidence(question)
    assert Asker(kb).search(question, top_k=5) == kb.search(question)


def test_a_variant_that_does_not_exist_is_refused_before_anything_is_asked(
    make_kb: Callable[..., KnowledgeBase], tmp_path: Path
) -> None:
    suite = suite_of(tmp_path, {"question": "Who?", "gold_docs": ["keepers/ada.md"]})
    with pytest.raises(InvalidArgument, match=r"bm52.*bm25"):
        run_suite(suite, make_kb(LIGHT), ["hybrid", "bm52"])


def test_a_corpus_is_ingested_once_and_what_leaves_it_is_dropped(tmp_path: Path) -> None:
    folder = tmp_path / "light"
    folder.mkdir()
    documents = [
        {"id": uri, "title": name, "text": text} for name, (uri, text) in zip(KEEPERS, LIGHT.items(), strict=True)
    ]
    questions = [
        {"question": f"Where was {name} born?", "gold_ids": [f"keepers/{name.lower()}.md"]} for name in KEEPERS
    ]
    write = lambda name, rows: (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))  # noqa: E731
    write("corpus.jsonl", documents)
    write("questions.jsonl", questions[:3])
    work, none = tmp_path / "work", tmp_path / "none"

    def opened(**options: Any) -> tuple[str, list[str], list[str]]:
        with open_for(load_suite(folder, **options), kb=None, default_kb=none, work=work) as kb:
            documents = kb.searcher().index.documents
            assert run_suite(load_suite(folder, **options), kb).outcomes["hybrid_local"][0].measures["R@10"] == 1
            return kb.snapshot_id, documents["uri"].to_pylist(), documents["title"].to_pylist()

    first = opened()
    assert opened() == first
    assert len(first[1]) == 5
    write("corpus.jsonl", documents[:3])
    changed = opened()
    assert changed[0] != first[0]
    assert sorted(changed[1]) == sorted(f"corpus.jsonl#{row['id']}" for row in documents[:3])
    blank = opened(blank_titles=True)
    assert sorted(blank[1]) == sorted(changed[1])
    assert not set(KEEPERS) & set(blank[2])
    assert len([path for path in work.iterdir() if (path / "kb.toml").exists()]) == 2


def test_a_suite_without_a_corpus_asks_the_knowledge_base_that_is_there(
    make_kb: Callable[..., KnowledgeBase], tmp_path: Path
) -> None:
    suite = suite_of(tmp_path, {"question": "Where was Ada born?", "gold_docs": ["keepers/ada.md"]})
    kb = make_kb(LIGHT)
    with open_for(suite, kb=None, default_kb=kb.path, work=tmp_path / "work") as found:
        assert found.snapshot_id == kb.snapshot_id
    with pytest.raises(BackendUnavailable):
        open_for(suite, kb=None, default_kb=tmp_path / "nothing", work=tmp_path / "work")
    KnowledgeBase.open(tmp_path / "empty", create=True).close()
    with pytest.raises(BackendUnavailable, match="Nothing is published"):
        open_for(suite, kb=tmp_path / "empty", default_kb=kb.path, work=tmp_path / "work")


def test_every_variant_answers_the_same_questions(handbook_kb: KnowledgeBase, golden_folder: Path) -> None:
    run = run_suite(load_suite(golden_folder / "handbook.jsonl", limit=1), handbook_kb, [*VARIANTS, "bm25"])
    assert list(run.outcomes) == list(VARIANTS)
    for (one,) in run.outcomes.values():
        assert one.golden.id == "hb001"
        assert one.measures["exact"] == 1
