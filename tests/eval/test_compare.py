"""Variants compared pair by pair, and the statistics against what can be counted exactly."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from eval_made import outcomes, suite
from hypothesis import given
from hypothesis import strategies as st

from graphctx.errors import InvalidArgument
from graphctx.eval.compare import RESAMPLES, SEED, compare, holm, interval, p_value
from graphctx.eval.records import SuiteRun

differences = st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=1, max_size=40)


def test_a_variant_that_loses_ten_questions_and_wins_none_is_surely_worse() -> None:
    run = suite(full={"R@5": [1.0] * 40}, less={"R@5": [0.0] * 10 + [1.0] * 30}, one={"R@5": [0.0] + [1.0] * 39})
    less, one = compare(run, "full")
    assert (less.variant, less.against, less.n) == ("less", "full", 40)
    assert (less.mean, less.mean_against, less.difference) == (0.75, 1.0, -0.25)
    assert less.low < -0.25 < less.high < 0
    assert (less.higher, less.lower) == (0, 10)
    assert less.p_value == pytest.approx(2 / 1024, abs=1e-6)
    assert less.sure
    assert (one.p_value, one.sure) == (1.0, False)


def test_only_questions_and_measures_that_both_have_are_paired() -> None:
    run = suite(a={"answer": [1.0, None, 1.0, 0.0]}, b={"answer": [None, 1.0, 0.0, 0.0]})
    (one,) = compare(run, "a")
    assert (one.n, one.mean, one.mean_against, one.lower) == (2, 0.0, 0.5, 1)
    run = suite(a={"R@5": [1.0, 0.0], "answer": [1.0, 1.0]}, b={"R@5": [1.0, 1.0]})
    assert [one.measure for one in compare(run, "a")] == ["R@5"]


def test_more_variants_make_each_difference_less_sure_and_more_measures_do_not() -> None:
    worse = {"R@5": [0.0] * 7 + [1.0] * 33, "MRR": [1.0] * 40}
    full = {"R@5": [1.0] * 40, "MRR": [1.0] * 40}
    alone, mrr = compare(suite(a=full, b=worse), "a")
    family = compare(suite(a=full, **dict.fromkeys("bcde", worse)), "a")[:4]
    assert alone.sure
    assert alone.p_adjusted == alone.p_value
    assert mrr.p_value == 1.0
    assert [one.p_value for one in family] == [alone.p_value] * 4
    assert family[0].p_adjusted == pytest.approx(4 * alone.p_value)
    assert not family[0].sure


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"not run with variant 'rrf'.*: a, b"):
        compare(suite(a={"R@5": [1.0]}, b={"R@5": [1.0]}), "rrf")
    run = SuiteRun("made", "sn", {"a": outcomes({"R@5": [1.0]}), "b": outcomes({"R@5": [1.0]}, prefix="x")})
    with pytest.raises(InvalidArgument, match="'x000' is paired with 'q000'"):
        compare(run, "a")


def test_few_differences_are_tested_exactly() -> None:
    assert p_value([-1.0] * 5 + [0.0] * 9, fell=True) == 1 / 32
    assert p_value([1.0] * 5) == 2 / 32
    assert p_value([3.0, -1.0, -1.0]) == 1.0
    assert p_value([2.0, 2.0, -1.0]) == 0.5  # of the eight sums, 5 and 3 lie as far out on either side
    assert p_value([0.0] * 30) == p_value([]) == 1.0
    assert interval([]) == (0.0, 0.0)
    assert interval([0.25] * 7) == (0.25, 0.25)


@pytest.mark.parametrize(("n", "losses"), [(14, 11), (200, 115), (1000, 520)])
def test_many_differences_agree_with_the_exact_sign_test(n: int, losses: int) -> None:
    exact = float(Fraction(sum(math.comb(n, k) for k in range(n - losses + 1)), 2**n))
    estimate = p_value([-1.0] * losses + [1.0] * (n - losses) + [0.0] * 50, fell=True)
    assert abs(estimate - exact) < 4 * math.sqrt(exact * (1 - exact) / RESAMPLES) + 1 / RESAMPLES


def test_the_interval_of_a_share_is_about_the_binomial_one() -> None:
    spread = 1.96 * math.sqrt(0.75 * 0.25 / 200)
    assert interval([1.0] * 150 + [0.0] * 50) == pytest.approx((0.75 - spread, 0.75 + spread), abs=0.012)


@given(differences)
def test_reversing_every_difference_reverses_the_interval(values: list[float]) -> None:
    low, high = interval(values)
    assert interval([-value for value in values]) == pytest.approx((-high, -low), abs=1e-6)
    assert min(values) <= low <= high <= max(values)
    assert 0 < p_value(values) <= 1
    assert p_value([-value for value in values]) == pytest.approx(p_value(values), abs=0.02)


@given(st.lists(st.floats(0.0001, 1.0), min_size=1, max_size=12))
def test_adjusting_keeps_the_order_and_never_makes_surer(values: list[float]) -> None:
    adjusted = holm(values)
    assert all(one >= round(value, 6) for one, value in zip(adjusted, values, strict=True))
    assert max(adjusted) <= 1
    order = sorted(range(len(values)), key=values.__getitem__)
    assert [adjusted[at] for at in order] == sorted(adjusted)
    assert holm([0.03, 0.01, 0.04]) == [0.06, 0.03, 0.06]


@pytest.mark.parametrize("n", [7, 150])
def test_draws_in_blocks_are_those_of_one_draw(n: int) -> None:
    values = np.random.default_rng(n).normal(0.05, 1, n).round(3)
    counts = np.random.default_rng(SEED).multinomial(n, np.full(n, 1 / n), size=RESAMPLES)
    assert interval(values.tolist()) == pytest.approx(np.quantile(counts @ values / n, [0.025, 0.975]), abs=2e-6)
    if n > 13:
        signs = np.random.default_rng(SEED).integers(0, 2, size=(RESAMPLES, n), dtype=np.int8) * 2.0 - 1
        extreme = np.abs(signs @ values) >= abs(values.sum()) - 1e-9
        assert p_value(values.tolist()) == pytest.approx((extreme.sum() + 1) / (RESAMPLES + 1), abs=1e-6)
