"""Variants compared question by question: differences of means, how sure they are, and a table of them.

For each measure the differences of the questions that both variants have it for are averaged. A 95 % bootstrap
interval and a randomisation test say how sure the average is. Where several variants are compared on one measure of a
suite, their p-values are also adjusted by Holm's method; measures and suites are not pooled.

The draws depend on the number of questions alone, so they are made once for all measures and variants of a suite, and
each test is one product of arrays.
``scipy.stats`` has both tests and gives the same figures, but draws again for each call and takes 10 to 400 times as
long.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from statistics import fmean
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from graphctx.errors import InvalidArgument
from graphctx.eval.records import Outcome, SuiteRun

Values = npt.NDArray[np.float64]
Weights = npt.NDArray[np.int8]
Draw = Literal["resamples", "signs"]

RESAMPLES = 9_999
"""Of the bootstrap and of the randomisation test: the smallest p-value is 1/10,000, and a p-value of 0.05 is known
to ± 0.004 (two standard errors, sqrt(0.05 * 0.95 / 9999))."""

SEED = 20_240_229
"""Of every draw, so that equal outcomes have equal figures; any number would do."""

SIGNIFICANT = 0.05
"""The conventional level at which a difference is called sure."""

COVERAGE = 0.95
"""Of the intervals."""

_EXACT_UP_TO = 13
"""With this many questions that differ, all 2^n assignments of signs, fewer than the resamples, are tried."""

_BLOCK_ROWS = 512  # draws made at a time: numpy draws eight bytes each, and they are kept as one

_SAME = 1e-9
"""Sums closer than this are the same number but for rounding; differences are rounded to as many places."""


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the percentile bootstrap interval of a mean (Efron 1979), at a coverage of 95 %.

    Args:
        values: one for each question, or the differences of one question each.

    Returns:
        Both ends; 0 twice where there are no values.
    """
    if not len(values):
        return 0.0, 0.0
    means = _sums(_draws("resamples", len(values)), np.array(values, dtype=np.float64)) / len(values)
    low, high = np.quantile(means, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
    return round(float(low), 6), round(float(high), 6)


def p_value(differences: Sequence[float], *, fell: bool = False) -> float:
    """Return the probability of so large a mean difference if the two variants were exchangeable on every question.

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
        sums, observed_too = _sums(_draws("signs", len(values)), values), 1
    extreme = sums <= observed + _SAME if fell else np.abs(sums) >= abs(observed) - _SAME
    return round((int(extreme.sum()) + observed_too) / (len(sums) + observed_too), 6)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values of a family of tests, adjusted by Holm's method (1979)."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for done, at in enumerate(sorted(range(len(p_values)), key=lambda at: (p_values[at], at))):
        largest = max(largest, min(1.0, (len(p_values) - done) * p_values[at]))
        adjusted[at] = round(largest, 6)
    return adjusted


@lru_cache(maxsize=4)
def _draws(draw: Draw, n: int) -> Weights:
    """Return how often each of ``n`` questions is drawn, or a random sign for each: int8 [RESAMPLES, n].

    A question is drawn more than 127 times with a probability below 1e-200, so that a byte holds the count.
    """
    random = np.random.default_rng(SEED)
    made = np.empty((RESAMPLES, n), dtype=np.int8)
    for start in range(0, RESAMPLES, _BLOCK_ROWS):  # a multiple of four: one number makes four signs
        block = made[start : start + _BLOCK_ROWS]
        if draw == "resamples":
            block[:] = random.multinomial(n, np.full(n, 1 / n), size=len(block))
        else:
            block[:] = random.integers(0, 2, size=block.shape, dtype=np.int8) * 2 - 1
    return made


def _sums(weights: npt.NDArray[np.integer], values: Values) -> Values:
    """Return weighted sums. Not a BLAS product, whose last bits depend on the number of threads."""
    sums: Values = np.einsum("ij,j->i", weights, values)
    return sums


@dataclass(frozen=True, slots=True)
class Comparison:
    """How one variant differs from another on one measure of a suite.

    Attributes:
        suite: its name.
        measure: its name; shares count in 0..1, sizes in their own units.
        variant: what is compared.
        against: with what.
        n: questions that both have the measure for.
        mean: of the variant over these questions; ``mean_against`` of the other.
        difference: of the means, the variant's minus the other's.
        low, high: the 95 % interval of the difference.
        p_value: two-sided, of this comparison alone; ``p_adjusted`` by Holm over all variants that are compared with
            the same one on this measure of this suite.
        higher, lower: questions on which the variant's value is higher, or lower.
    """

    suite: str
    measure: str
    variant: str
    against: str
    n: int
    mean: float
    mean_against: float
    difference: float
    low: float
    high: float
    p_value: float
    p_adjusted: float
    higher: int
    lower: int

    @property
    def sure(self) -> bool:
        """Whether the difference is significant among all that were tried."""
        return self.p_adjusted < SIGNIFICANT

    def as_dict(self) -> dict[str, Any]:
        """Return the same as JSON values, with ``sure``."""
        return {**asdict(self), "sure": self.sure}


def compare(run: SuiteRun, against: str) -> list[Comparison]:
    """Compare every other variant of a run with one of them.

    Args:
        run: at least the variant ``against``.
        against: the reference.

    Returns:
        By measure in the order in which they occur, then by variant as in the run. Measures that no question has for
        both are left out.

    Raises:
        InvalidArgument: the run has no such variant, or its variants were not asked the same questions.
    """
    if against not in run.outcomes:
        raise InvalidArgument(
            f"Suite {run.suite!r} was not run with variant {against!r}, so nothing can be compared with it. "
            f"It was run with: {', '.join(run.outcomes)}.",
            suite=run.suite,
            variant=against,
        )
    reference = run.outcomes[against]
    others = {name: outcomes for name, outcomes in run.outcomes.items() if name != against}
    for name, outcomes in others.items():
        _same_questions(run.suite, name, outcomes, against, reference)
    comparisons = []
    for measure in measures_of([reference, *others.values()]):
        found = [
            _compared(run.suite, measure, name, against, pairs)
            for name, outcomes in others.items()
            if (pairs := paired(outcomes, reference, measure))
        ]
        adjusted = holm([one.p_value for one in found])
        comparisons += [replace(one, p_adjusted=p) for one, p in zip(found, adjusted, strict=True)]
    return comparisons


def measures_of(variants: Iterable[Sequence[Outcome]]) -> list[str]:
    """Return the names of the measures of some outcomes, in the order in which they first occur."""
    return list(dict.fromkeys(name for outcomes in variants for one in outcomes for name in one.measures))


def paired(outcomes: Sequence[Outcome], reference: Sequence[Outcome], measure: str) -> list[tuple[float, float]]:
    """Return the values of both for each question that both have the measure for."""
    return [
        (one.measures[measure], other.measures[measure])
        for one, other in zip(outcomes, reference, strict=True)
        if measure in one.measures and measure in other.measures
    ]


def _compared(suite: str, measure: str, variant: str, against: str, pairs: Sequence[tuple[float, float]]) -> Comparison:
    differences = [round(one - other, 9) for one, other in pairs]
    low, high = interval(differences)
    p = p_value(differences)
    return Comparison(
        suite=suite,
        measure=measure,
        variant=variant,
        against=against,
        n=len(pairs),
        mean=round(fmean(one for one, _ in pairs), 6),
        mean_against=round(fmean(other for _, other in pairs), 6),
        difference=round(fmean(differences), 6),
        low=low,
        high=high,
        p_value=p,
        p_adjusted=p,
        higher=sum(difference > 0 for difference in differences),
        lower=sum(difference < 0 for difference in differences),
    )


def _same_questions(
    suite: str, name: str, outcomes: Sequence[Outcome], against: str, reference: Sequence[Outcome]
) -> None:
    asked, expected = [one.golden.id for one in outcomes], [one.golden.id for one in reference]
    if asked != expected:
        differ = next((pair for pair in zip(asked, expected, strict=False) if pair[0] != pair[1]), None)
        where = (
            f"question {differ[0]!r} is paired with {differ[1]!r}" if differ else f"{len(asked)} and {len(expected)}"
        )
        raise InvalidArgument(
            f"Variants {name!r} and {against!r} of suite {suite!r} were not asked the same questions ({where}), so "
            "they cannot be compared pair by pair. Run both again together.",
            suite=suite,
            variant=name,
        )
