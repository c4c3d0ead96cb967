"""The questions that went worst, and where their gold was lost."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from graphctx import KnowledgeBase
from graphctx.eval.ask import Asker, run_suite
from graphctx.eval.records import SuiteRun
from graphctx.eval.suites import load_suite
from graphctx.eval.worst import Miss, score_of, worst

VARIANT = "bm25"
"""Misses more than the default, so that there is more to explain."""


@pytest.fixture(scope="module")
def run(handbook_kb: KnowledgeBase, golden_folder: Path) -> SuiteRun:
    return run_suite(load_suite(golden_folder / "handbook.jsonl", limit=14), handbook_kb, [VARIANT])


@pytest.fixture(scope="module")
def misses(run: SuiteRun, handbook_kb: KnowledgeBase) -> list[Miss]:
    return worst(run, handbook_kb, VARIANT)


def test_the_worst_come_first_and_perfect_ones_not_at_all(run: SuiteRun, misses: list[Miss]) -> None:
    scores = [miss.score for miss in misses]
    assert scores == sorted(scores)
    assert scores[-1] < 1
    left = {one.golden.id for one in run.outcomes[VARIANT]} - {miss.outcome.golden.id for miss in misses}
    others = [score_of(one) for one in run.outcomes[VARIANT] if one.golden.id in left]
    assert min(others) >= scores[-1]


def test_gold_is_missed_where_no_quote_touches_it(misses: list[Miss]) -> None:
    pieces = [(miss, gold) for miss in misses for gold in miss.gold]
    assert {gold.missed for _, gold in pieces} == {True, False}
    for miss, gold in pieces:
        touching = [
            number
            for number, quote in enumerate(miss.outcome.quotes, 1)
            if quote.doc_uri == gold.doc_uri and quote.start_char < gold.end_char and quote.end_char > gold.start_char
        ]
        assert gold.quote == (touching[0] if touching else None)


def test_the_last_rank_is_that_of_a_search(handbook_kb: KnowledgeBase, misses: list[Miss]) -> None:
    seen = 0
    asker = Asker(handbook_kb, VARIANT)
    for miss in misses:
        results = asker.search(miss.outcome.golden.question, top_k=10, max_per_doc=10).results
        units = [handbook_kb.unit(result.section_id) for result in results]
        for gold in miss.gold:
            holding = [
                rank
                for rank, unit in enumerate(units, 1)
                if unit.doc_uri == gold.doc_uri and unit.start_char < gold.end_char and unit.end_char > gold.start_char
            ]
            final = gold.ranks["final"]
            assert (holding[0] if holding else None) == (final if final is not None and final <= 10 else None)
            seen += bool(holding)
    assert seen


def test_gold_without_a_span_is_its_whole_document(run: SuiteRun, handbook_kb: KnowledgeBase) -> None:
    first = next(one for one in run.outcomes[VARIANT] if one.golden.gold_docs)
    golden = dataclasses.replace(first.golden, gold_spans=())
    bare = dataclasses.replace(first, golden=golden, quotes=(), measures={"R@5": 0.0})
    (miss,) = worst(dataclasses.replace(run, outcomes={VARIANT: [bare]}), handbook_kb, VARIANT)
    assert [gold.doc_uri for gold in miss.gold] == list(golden.gold_docs)
    assert all(gold.missed and not gold.text and gold.ranks["final"] for gold in miss.gold)


def test_a_question_without_an_answer_goes_worse_the_surer_its_quotes_are(
    run: SuiteRun, handbook_kb: KnowledgeBase
) -> None:
    first = run.outcomes[VARIANT][0]
    golden = dataclasses.replace(first.golden, answerable=False, gold_docs=(), gold_spans=(), answers=())
    sure = first.quotes[0].model_copy(update={"confidence": 0.9})
    unsure = first.quotes[0].model_copy(update={"confidence": 0.2})
    made = [
        dataclasses.replace(first, golden=dataclasses.replace(golden, id=name), quotes=quotes)
        for name, quotes in (("unsure", (unsure,)), ("silent", ()), ("sure", (sure, unsure)))
    ]
    found = worst(dataclasses.replace(run, outcomes={VARIANT: made}), handbook_kb, VARIANT)
    assert [(one.outcome.golden.id, one.score, one.gold) for one in found] == [("sure", 0.1, ()), ("unsure", 0.8, ())]
