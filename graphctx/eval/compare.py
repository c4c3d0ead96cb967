"""Variants compared question by question: differences of means, how sure they are, and a table of them.

For each measure the differences of the questions that both variants have it for are averaged. A 95 % bootstrap
interval and a randomisation test (`graphctx.eval.paired`) say how sure the average is. Where several variants are
compared on one measure of a suite, their p-values are also given as Holm adjusts them; measures and suites are not
pooled, since they answer questions of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any

from graphctx.errors import InvalidArgument
from graphctx.eval.paired import holm, interval, p_value
from graphctx.eval.records import Outcome, SuiteRun

SIGNIFICANT = 0.05
"""The level at which a difference is called sure: the field's habit."""


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
        """The same as JSON values, with ``sure``."""
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
    """The names of the measures of some outcomes, in the order in which they first occur."""
    return list(dict.fromkeys(name for outcomes in variants for one in outcomes for name in one.measures))


def paired(outcomes: Sequence[Outcome], reference: Sequence[Outcome], measure: str) -> list[tuple[float, float]]:
    """The values of both for each question that both have the measure for."""
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
        where = f"question {differ[0]!r} stands beside {differ[1]!r}" if differ else f"{len(asked)} and {len(expected)}"
        raise InvalidArgument(
            f"Variants {name!r} and {against!r} of suite {suite!r} were not asked the same questions ({where}), so "
            "they cannot be compared pair by pair. Run both again together.",
            suite=suite,
            variant=name,
        )
