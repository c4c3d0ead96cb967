"""The handbook is asked about the whole by global search and by simpler ways to fill the budget."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from graphctx.errors import InvalidArgument
from graphctx.eval.baseline import check, write
from graphctx.eval.compare import compare
from graphctx.eval.global_ask import Rivals, run_global_suite
from graphctx.eval.global_explain import STAGES, as_dict, explain_points, points_table, totals_table
from graphctx.eval.measures import POINT_BUDGETS, filled
from graphctx.eval.records import GLOBAL, SuiteRun
from graphctx.eval.report import write_html
from graphctx.eval.show import comparisons_table, main_table
from graphctx.eval.suites import Suite, load_suite
from graphctx.eval.summary import summary
from graphctx.knowledge_base import KnowledgeBase
from graphctx.nlp.tokens import WordPieceCounter

VARIANTS = ["global", "hybrid", "summaries", "evidence"]
HOW = "graphctx eval eval/golden/handbook_global.jsonl --write-baseline eval/baselines/handbook_global.json"


@pytest.fixture(scope="module")
def suite(golden_folder: Path) -> Suite:
    return load_suite(golden_folder / "handbook_global.jsonl")


@pytest.fixture(scope="module")
def run(handbook_kb: KnowledgeBase, suite: Suite) -> SuiteRun:
    return run_global_suite(suite, handbook_kb)


@pytest.fixture(scope="module")
def baseline(golden_folder: Path) -> Path:
    return golden_folder.parent / "baselines" / "handbook_global.json"


@pytest.mark.slow
def test_nothing_is_worse_than_it_was_and_root_summaries_would_be(run: SuiteRun, baseline: Path) -> None:
    worse = check(baseline, [run])
    assert not worse, "\n".join([*map(str, worse), f"If that is the price of something better: {HOW}"])
    kept = json.loads(baseline.read_text("utf-8"))["suites"][run.suite]
    assert kept["questions"].keys() == {one.golden.id for one in run.outcomes[GLOBAL]}, f"Write it again: {HOW}"
    assert kept["variants"] == [GLOBAL]
    passed_off = replace(run, outcomes={**run.outcomes, GLOBAL: run.outcomes["summaries"]})
    fallen = {(one.kind, one.variant, one.measure) for one in check(baseline, [passed_off])}
    assert fallen == {("fell", GLOBAL, f"points@{budget}") for budget in POINT_BUDGETS}


@pytest.mark.parametrize("budget", POINT_BUDGETS)
def test_global_search_has_more_of_the_points_than_any_simple_way(run: SuiteRun, budget: int) -> None:
    """On the mean of all questions: of a single one a simple way may well have more."""
    of = {variant: [one.measures[f"points@{budget}"] for one in outcomes] for variant, outcomes in run.outcomes.items()}
    means = {variant: sum(values) / len(values) for variant, values in of.items()}
    assert list(means) == VARIANTS
    least = 0.015 if budget == POINT_BUDGETS[0] else 0.0  # the best few sentences of a plain search are as good
    assert means[GLOBAL] >= max(means.values()) - least, means


def test_a_point_that_moves_makes_a_question_another_one(run: SuiteRun, tmp_path: Path) -> None:
    write(tmp_path / "kept.json", [run])
    (first, *rest) = run.outcomes[GLOBAL]
    fewer = replace(first, golden=replace(first.golden, points=first.golden.points[1:]))
    with pytest.raises(InvalidArgument, match=r"hg01.*is not the one that the baseline"):
        check(tmp_path / "kept.json", [replace(run, outcomes={GLOBAL: [fewer, *rest]})])


def test_every_point_is_exact_and_few_communities_are_no_reason_to_rate_none(run: SuiteRun) -> None:
    for outcomes in run.outcomes.values():
        for one in outcomes:
            assert all(one.measures[f"tokens@{budget}"] <= budget for budget in POINT_BUDGETS)
    for one in run.outcomes[GLOBAL]:
        assert one.measures["exact"] == 1
        assert one.measures["in_budget"] == 1
        assert 0 < one.measures["rated"] <= 64
        assert one.measures["descended"] < one.measures["rated"]


def test_the_tables_show_recall_at_each_budget_beside_what_it_took(run: SuiteRun, tmp_path: Path) -> None:
    heads, rows = main_table([summary(run)])
    assert {"variant", "points@500", "points@1000", "points@2000", "rated"} <= set(heads)
    assert "R@5" not in heads
    assert len(rows) == len(VARIANTS)
    comparisons = compare(run, GLOBAL)
    compared = [(row[1], row[2]) for row in comparisons_table(comparisons)[1]]
    assert compared == [(f"points@{budget}", rival) for budget in POINT_BUDGETS for rival in VARIANTS[1:]]
    write_html(tmp_path / "report.html", [run], comparisons)
    page = (tmp_path / "report.html").read_text("utf-8")
    for shown in ("points@500", "points@2000", "Gold points stated, by budget"):
        assert shown in page


def test_rivals_give_sentences_of_the_documents_as_they_are(handbook_kb: KnowledgeBase) -> None:
    rivals = Rivals(handbook_kb, WordPieceCounter().count).by_name
    assert list(rivals) == VARIANTS[1:]
    for rival in rivals.values():
        pieces = filled(rival("What did the organisation learn from its mistakes?"), 1000)
        assert sum(piece.tokens for piece in pieces) > 700
        for piece in pieces:
            text = handbook_kb.document(piece.doc_uri).text
            assert text[piece.start_char : piece.end_char] == piece.text
        assert len({(piece.doc_uri, piece.start_char) for piece in pieces}) == len(pieces)


def test_what_became_of_each_point_agrees_with_what_was_measured(
    run: SuiteRun, suite: Suite, handbook_kb: KnowledgeBase
) -> None:
    found = explain_points(replace(suite, rows=suite.rows[:4]), handbook_kb, "all")
    n_points = sum(len(losses.points) for losses in found)
    for losses, outcome in zip(found, run.outcomes[GLOBAL], strict=False):
        assert losses.id == outcome.golden.id
        for budget in POINT_BUDGETS:
            stated = sum(point.stages[budget] == "stated" for point in losses.points)
            assert stated / len(losses.points) == pytest.approx(outcome.measures[f"points@{budget}"])
        assert losses.rated == outcome.measures["rated"]
        for point in losses.points:
            assert (point.rank is None) == (point.stages[500] not in ("stated", "near copy", "budget", "no evidence"))
    values = as_dict(suite.name, found)["totals"]
    for budget in POINT_BUDGETS:
        assert sum(values[str(budget)].values()) == n_points
        assert values[str(budget)].keys() == STAGES.keys()
    assert sum(int(row[1]) for row in totals_table(found)[1]) == n_points


def test_one_question_is_explained_by_its_id_or_its_words(suite: Suite, handbook_kb: KnowledgeBase) -> None:
    (by_id,) = explain_points(suite, handbook_kb, "hg03")
    assert [by_id] == explain_points(suite, handbook_kb, suite.rows[2].row.question)
    assert len(points_table(by_id)[1]) == 9
    assert by_id.chosen[0].rating >= by_id.chosen[-1].rating
    with pytest.raises(InvalidArgument, match=r"no question 'hg99'.*'hg01'.*'all'"):
        explain_points(suite, handbook_kb, "hg99")
