"""Variants compared pair by pair."""

from __future__ import annotations

import json

import pytest
from eval_made import outcomes, suite

from graphctx.errors import InvalidArgument
from graphctx.eval.compare import compare
from graphctx.eval.records import SuiteRun


def test_a_variant_that_loses_ten_questions_and_wins_none_is_surely_worse() -> None:
    run = suite(full={"R@5": [1.0] * 40}, less={"R@5": [0.0] * 10 + [1.0] * 30})
    (one,) = compare(run, "full")
    assert (one.variant, one.against, one.n) == ("less", "full", 40)
    assert (one.mean, one.mean_against, one.difference) == (0.75, 1.0, -0.25)
    assert one.low < -0.25 < one.high < 0
    assert (one.higher, one.lower) == (0, 10)
    assert one.p_value == pytest.approx(2 / 1024, abs=1e-6)
    assert one.sure


def test_a_difference_of_one_question_is_not_sure() -> None:
    run = suite(full={"R@5": [1.0] * 40}, less={"R@5": [0.0] + [1.0] * 39})
    (one,) = compare(run, "full")
    assert one.p_value == 1.0
    assert not one.sure


def test_only_questions_that_both_have_the_measure_for_are_paired() -> None:
    run = suite(a={"answer": [1.0, None, 1.0, 0.0]}, b={"answer": [None, 1.0, 0.0, 0.0]})
    (one,) = compare(run, "a")
    assert (one.n, one.mean, one.mean_against, one.lower) == (2, 0.0, 0.5, 1)


def test_a_measure_that_only_one_variant_has_is_left_out() -> None:
    run = suite(a={"R@5": [1.0, 0.0], "answer": [1.0, 1.0]}, b={"R@5": [1.0, 1.0]})
    assert [one.measure for one in compare(run, "a")] == ["R@5"]


def test_more_variants_make_each_difference_less_sure() -> None:
    values = {name: {"R@5": [0.0] * 7 + [1.0] * 33} for name in ("b", "c", "d", "e")}
    alone = compare(suite(a={"R@5": [1.0] * 40}, b=values["b"]), "a")
    family = compare(suite(a={"R@5": [1.0] * 40}, **values), "a")
    assert alone[0].sure
    assert [one.p_value for one in family] == [alone[0].p_value] * 4
    assert family[0].p_adjusted == pytest.approx(4 * alone[0].p_value)
    assert not family[0].sure


def test_measures_are_tested_apart() -> None:
    run = suite(a={"R@5": [1.0] * 20, "MRR": [1.0] * 20}, b={"R@5": [0.0] * 8 + [1.0] * 12, "MRR": [1.0] * 20})
    first, second = compare(run, "a")
    assert (first.measure, second.measure) == ("R@5", "MRR")
    assert first.p_adjusted == first.p_value
    assert second.p_value == 1.0


def test_the_same_run_gives_the_same_bytes() -> None:
    values = {"nDCG@10": [round((at * 37 % 101) / 101, 4) for at in range(120)]}
    other = {"nDCG@10": [round((at * 53 % 97) / 97, 4) for at in range(120)]}
    made = [json.dumps([one.as_dict() for one in compare(suite(a=values, b=other), "a")]) for _ in range(2)]
    assert made[0] == made[1]
    assert json.loads(made[0])[0]["sure"] is False


def test_a_reference_that_was_not_run_is_named() -> None:
    with pytest.raises(InvalidArgument, match=r"not run with variant 'rrf'.*: a, b"):
        compare(suite(a={"R@5": [1.0]}, b={"R@5": [1.0]}), "rrf")


def test_variants_that_were_asked_different_questions_are_refused() -> None:
    run = SuiteRun("made", "sn", {"a": outcomes({"R@5": [1.0]}), "b": outcomes({"R@5": [1.0]}, prefix="x")})
    with pytest.raises(InvalidArgument, match="'x000' stands beside 'q000'"):
        compare(run, "a")
