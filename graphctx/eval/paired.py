"""Paired statistics: how sure a difference between two variants is, when both were asked the same questions.

What is drawn depends on the number of questions alone, so it is drawn once for all measures and variants of a suite,
and each test is one product of arrays. That is why this is plain numpy: ``scipy.stats`` has both tests and gives
the same figures, but draws anew for each call and takes 10 to 400 times as long, which is most of an hour where a
dozen variants are compared on a dozen suites.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]

RESAMPLES = 9_999
"""Of the bootstrap and of the randomisation test: the smallest p-value is 1/10,000, and a p-value of 0.05 is known
to ± 0.004 (two standard errors, sqrt(0.05 * 0.95 / 9999))."""

SEED = 20_240_229
"""Of every draw, so that the same outcomes give the same figures; any number does."""

COVERAGE = 0.95
"""Of the intervals."""

_EXACT_UP_TO = 13
"""With so many questions that differ, all 2^n assignments of signs are fewer than the resamples, and are all tried."""

_SAME = 1e-9
"""Sums closer than this are the same number but for rounding; differences are rounded to as many places."""


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The percentile bootstrap interval of a mean (Efron 1979), at a coverage of 95 %.

    Args:
        values: one for each question, or the differences of one question each.

    Returns:
        Both ends; 0 twice where there are no values.
    """
    if not len(values):
        return 0.0, 0.0
    means = _sums(_resamples(len(values)), np.array(values, dtype=np.float64)) / len(values)
    low, high = np.quantile(means, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
    return round(float(low), 6), round(float(high), 6)


def p_value(differences: Sequence[float], *, fell: bool = False) -> float:
    """The probability of so large a mean difference if the two variants were exchangeable on every question.

    The randomisation test of paired differences (Fisher 1935): under the null hypothesis each difference is as likely
    to have the other sign. Exact where at most 13 questions differ; otherwise estimated from random signs, with the
    observed ones counted among them (Phipson and Smyth 2010), so that it is never 0.

    Args:
        differences: one for each question.
        fell: one-sided: how likely so *low* a mean is; otherwise so far from 0 either way.
    """
    values: Values = np.array([round(one, 9) for one in differences], dtype=np.float64)
    nonzero = values[values != 0]
    n = len(nonzero)
    if n == 0:
        return 1.0
    observed = float(nonzero.sum())
    if n <= _EXACT_UP_TO:
        signs = 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
        sums, observed_too = _sums(signs, nonzero), 0
    else:
        sums, observed_too = _sums(_signs(len(values)), values), 1
    extreme = sums <= observed + _SAME if fell else np.abs(sums) >= abs(observed) - _SAME
    return round((int(extreme.sum()) + observed_too) / (len(sums) + observed_too), 6)


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values of a family of tests, adjusted so that all of them together err at most as often (Holm 1979)."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for done, at in enumerate(sorted(range(len(p_values)), key=lambda at: (p_values[at], at))):
        largest = max(largest, min(1.0, (len(p_values) - done) * p_values[at]))
        adjusted[at] = round(largest, 6)
    return adjusted


@lru_cache(maxsize=4)
def _resamples(n: int) -> npt.NDArray[np.int8]:
    """How often each of ``n`` questions is drawn, [RESAMPLES, n]."""
    return np.random.default_rng(SEED).multinomial(n, np.full(n, 1 / n), size=RESAMPLES).astype(np.int8)


@lru_cache(maxsize=4)
def _signs(n: int) -> npt.NDArray[np.int8]:
    """A random sign for each of ``n`` questions, [RESAMPLES, n]."""
    return np.random.default_rng(SEED).integers(0, 2, size=(RESAMPLES, n), dtype=np.int8) * np.int8(2) - np.int8(1)


def _sums(weights: npt.NDArray[np.integer], values: Values) -> Values:
    """The weighted sums of values. Not a BLAS product: its last bits would depend on the number of threads."""
    sums: Values = np.einsum("ij,j->i", weights, values)
    return sums
