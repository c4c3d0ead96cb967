"""Paired statistics, against what can be counted exactly."""

from __future__ import annotations

import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.eval.paired import RESAMPLES, SEED, holm, interval, p_value

differences = st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=1, max_size=40)


def binomial_tail(n: int, losses: int) -> float:
    """The chance of at most ``n - losses`` heads of n fair coins."""
    return float(Fraction(sum(math.comb(n, k) for k in range(n - losses + 1)), 2**n))


def test_few_differences_are_tested_exactly() -> None:
    assert p_value([-1.0] * 5 + [0.0] * 9, fell=True) == 1 / 32
    assert p_value([1.0] * 5) == 2 / 32
    assert p_value([1.0, -1.0]) == 1.0
    assert p_value([3.0, -1.0, -1.0]) == 1.0
    assert p_value([2.0, 2.0, -1.0]) == 0.5  # of the eight sums, 5 and 3 lie as far out on either side


@pytest.mark.parametrize(("n", "losses"), [(14, 11), (30, 20), (200, 115), (1000, 520)])
def test_many_differences_agree_with_the_exact_sign_test(n: int, losses: int) -> None:
    exact = binomial_tail(n, losses)
    estimate = p_value([-1.0] * losses + [1.0] * (n - losses) + [0.0] * 50, fell=True)
    assert abs(estimate - exact) < 4 * math.sqrt(exact * (1 - exact) / RESAMPLES) + 1 / RESAMPLES


def test_nothing_that_differs_is_no_evidence() -> None:
    assert p_value([0.0] * 30) == 1.0
    assert p_value([]) == 1.0
    assert interval([]) == (0.0, 0.0)
    assert interval([0.25] * 7) == (0.25, 0.25)


def test_the_interval_of_a_share_is_about_the_binomial_one() -> None:
    low, high = interval([1.0] * 150 + [0.0] * 50)
    spread = 1.96 * math.sqrt(0.75 * 0.25 / 200)
    assert low == pytest.approx(0.75 - spread, abs=0.012)
    assert high == pytest.approx(0.75 + spread, abs=0.012)


@given(differences)
def test_turning_every_difference_round_turns_the_interval_round(values: list[float]) -> None:
    low, high = interval(values)
    other_low, other_high = interval([-value for value in values])
    assert (other_low, other_high) == (pytest.approx(-high, abs=1e-6), pytest.approx(-low, abs=1e-6))
    assert p_value([-value for value in values]) == pytest.approx(p_value(values), abs=0.02)


@given(differences)
def test_a_p_value_is_a_probability_and_the_same_each_time(values: list[float]) -> None:
    first = p_value(values)
    assert 0 < first <= 1
    assert p_value(values) == first
    assert min(values) <= interval(values)[0] <= interval(values)[1] <= max(values)


@given(st.lists(st.floats(0.0001, 1.0), min_size=1, max_size=12))
def test_adjusting_keeps_the_order_and_never_makes_surer(values: list[float]) -> None:
    adjusted = holm(values)
    assert all(one >= round(value, 6) for one, value in zip(adjusted, values, strict=True))
    assert max(adjusted) <= 1
    order = sorted(range(len(values)), key=values.__getitem__)
    assert [adjusted[at] for at in order] == sorted(adjusted)


@pytest.mark.parametrize("n", [7, 150, 700])
def test_draws_in_blocks_are_those_of_one_draw(n: int) -> None:
    values = np.random.default_rng(n).normal(0.05, 1, n).round(3)
    counts = np.random.default_rng(SEED).multinomial(n, np.full(n, 1 / n), size=RESAMPLES)
    assert interval(values.tolist()) == pytest.approx(np.quantile(counts @ values / n, [0.025, 0.975]), abs=2e-6)
    if n > 13:
        signs = np.random.default_rng(SEED).integers(0, 2, size=(RESAMPLES, n), dtype=np.int8) * 2.0 - 1
        extreme = np.abs(signs @ values) >= abs(values.sum()) - 1e-9
        assert p_value(values.tolist()) == pytest.approx((extreme.sum() + 1) / (RESAMPLES + 1), abs=1e-6)


def test_very_many_questions_take_little_memory() -> None:
    values = [1.0, -0.9, 0.0, 0.0] * 750
    tracemalloc.start()
    try:
        low, high = interval(values)
        sure = p_value(values)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 40e6  # at eight bytes for each question and draw it would be 240 MB
    assert low < 0.025 < high
    assert sure == pytest.approx(math.erfc(0.025 / math.sqrt((1 + 0.81) / 4 / 3000) / math.sqrt(2)), abs=0.02)


def test_the_surest_of_a_family_is_adjusted_by_its_size() -> None:
    assert holm([0.03, 0.01, 0.04]) == [0.06, 0.03, 0.06]
