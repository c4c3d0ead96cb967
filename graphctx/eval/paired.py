"""Paired statistics: how sure a difference between two variants is, when both were asked the same questions.

What is drawn depends on the number of questions alone, so it is drawn once for all measures and variants of a suite
(of very many questions it is drawn anew, to hold less in memory), and each test is one product of arrays. That is why
this is plain numpy: ``scipy.stats`` has both tests and gives the same figures, but draws anew for each call and takes
10 to 400 times as long, which is most of an hour where a dozen variants are compared on a dozen suites.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]
Weights = npt.NDArray[np.int8]
Draw = Literal["resamples", "signs"]

RESAMPLES = 9_999
"""Of the bootstrap and of the randomisation test: the smallest p-value is 1/10,000, and a p-value of 0.05 is known
to ± 0.004 (two standard errors, sqrt(0.05 * 0.95 / 9999))."""

SEED = 20_240_229
"""Of every draw, so that the same outcomes give the same figures; any number does."""

COVERAGE = 0.95
"""Of the intervals."""

_EXACT_UP_TO = 13
"""With so many questions that differ, all 2^n assignments of signs are fewer than the resamples, and are all tried."""

_BLOCK_CELLS = 2**20
"""Draws are made so many cells at a time (8 MiB, as they come in eight bytes each), and held in one byte each."""

_KEPT_UP_TO = 2_000
"""Draws for so many questions are kept (20 MB at most, 160 MB for all that are kept at a time); for more they are
added up block by block, and drawn again for the next measure."""

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
    means = _drawn_sums("resamples", np.array(values, dtype=np.float64)) / len(values)
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
        sums, observed_too = _drawn_sums("signs", values), 1
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


def _drawn_sums(draw: Draw, values: Values) -> Values:
    """The sums of values by each draw, [RESAMPLES]."""
    n = len(values)
    blocks = _kept(draw, n) if n <= _KEPT_UP_TO else _blocks(draw, n)
    return np.concatenate([_sums(block, values) for block in blocks])


@lru_cache(maxsize=8)
def _kept(draw: Draw, n: int) -> tuple[Weights, ...]:
    return tuple(_blocks(draw, n))


def _blocks(draw: Draw, n: int) -> Iterator[Weights]:
    """How often each of ``n`` questions is drawn, or a random sign for each: [RESAMPLES, n] in blocks of rows.

    A block changes no draw. One question is drawn once on average, and more than 127 times with a probability below
    1e-200, so that a byte holds it.
    """
    random = np.random.default_rng(SEED)
    rows = max(4, _BLOCK_CELLS // n // 4 * 4)  # four signs are made of one number: no block may begin inside of one
    for start in range(0, RESAMPLES, rows):
        size = min(rows, RESAMPLES - start)
        if draw == "resamples":
            yield random.multinomial(n, np.full(n, 1 / n), size=size).astype(np.int8)
        else:
            yield random.integers(0, 2, size=(size, n), dtype=np.int8) * np.int8(2) - np.int8(1)


def _sums(weights: npt.NDArray[np.integer], values: Values) -> Values:
    """The weighted sums of values. Not a BLAS product: its last bits would depend on the number of threads."""
    sums: Values = np.einsum("ij,j->i", weights, values)
    return sums
