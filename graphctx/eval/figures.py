"""The plots of one suite: what is found by rank, answers by budget, confidences, times."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from statistics import fmean

from graphctx.eval.plots import Plot, bar_plot, line_plot, range_plot
from graphctx.eval.records import Outcome, SuiteRun

_BUDGETS = {
    "answer": ("Answers inside the quotes, by budget", "questions, %"),
    "points": ("Gold points stated, by budget", "points, %"),
}
_BUDGET = re.compile(r"(answer|points)@(\d+)")
_BINS = 10


def figures(run: SuiteRun, variant: str) -> list[Plot]:
    """The plots for which a run has outcomes.

    Args:
        run: a suite.
        variant: whose confidences are shown.
    """
    made = (
        _recall(run),
        *(_by_budget(run, name) for name in _BUDGETS),
        _confidence(run.outcomes[variant]),
        _times(run),
    )
    return [plot for plot in made if plot is not None]


def _recall(run: SuiteRun) -> Plot | None:
    """Recall at every rank down to the deepest that was asked for."""
    judged = {name: [one for one in outcomes if one.relevant] for name, outcomes in run.outcomes.items()}
    depth = max((len(one.ranked) for outcomes in judged.values() for one in outcomes), default=0)
    if depth < 2:
        return None
    curves = {
        name: [(float(k), fmean(_recall_at(one, k) for one in outcomes)) for k in range(1, depth + 1)]
        for name, outcomes in judged.items()
    }
    return line_plot("Gold found among the first k", curves, "k", "recall, %")


def _recall_at(outcome: Outcome, k: int) -> float:
    return len(outcome.relevant & set(outcome.ranked[:k])) / len(outcome.relevant)


def _by_budget(run: SuiteRun, name: str) -> Plot | None:
    """A measure by how many tokens the quotes may weigh."""
    curves = {}
    for variant, outcomes in run.outcomes.items():
        values: dict[int, list[float]] = {}
        for one in outcomes:
            for measure, value in one.measures.items():
                if (found := _BUDGET.fullmatch(measure)) and found[1] == name:
                    values.setdefault(int(found[2]), []).append(value)
        if values:
            curves[variant] = [(float(budget), fmean(found)) for budget, found in sorted(values.items())]
    if not curves:
        return None
    # Colours belong to variants by their place in the run, so one without quotes keeps its place, empty.
    series: Mapping[str, Sequence[tuple[float, float]]] = {variant: curves.get(variant, []) for variant in run.outcomes}
    title, unit = _BUDGETS[name]
    return line_plot(title, series, "tokens of all quotes", unit, even=True)


def _confidence(outcomes: Sequence[Outcome]) -> Plot | None:
    """The best quote's confidence, of questions that the documents answer and of those that they do not."""
    kinds = {"answerable": True, "unanswerable": False}
    values = {
        name: [
            one.measures["confidence"]
            for one in outcomes
            if one.golden.answerable is kind and "confidence" in one.measures
        ]
        for name, kind in kinds.items()
    }
    values = {name: found for name, found in values.items() if found}
    if not values:
        return None
    shares = {name: [share / len(found) for share in _histogram(found)] for name, found in values.items()}
    labels = [f"{at / _BINS:.1f}" for at in range(_BINS + 1)]
    return bar_plot("Confidence of the best quote", labels, shares, "confidence", "questions, %")


def _histogram(values: Sequence[float]) -> list[int]:
    """How many values lie in each bin; 1 lies in the last."""
    places = [min(int(value * _BINS + 1e-9), _BINS - 1) for value in values]
    return [places.count(at) for at in range(_BINS)]


def _times(run: SuiteRun) -> Plot | None:
    """How long each call took, by variant."""
    stages = list(dict.fromkeys(name for some in run.outcomes.values() for one in some for name in one.milliseconds))
    rows = []
    for stage in stages:
        for series, (variant, outcomes) in enumerate(run.outcomes.items()):
            taken = sorted(one.milliseconds[stage] for one in outcomes if stage in one.milliseconds)
            if taken:
                name = f"{stage}, {variant}" if len(run.outcomes) > 1 else stage
                rows.append((series, name, _quantile(taken, 0.05), _quantile(taken, 0.5), _quantile(taken, 0.95)))
    return range_plot("Time of a call: median, and from p5 to p95", rows, "ms") if rows else None


def _quantile(ordered: Sequence[float], share: float) -> float:
    """By the nearest rank, as `graphctx.eval.summary` has it."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
