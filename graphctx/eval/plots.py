"""The plots of one suite, as geometry that the report's template draws as inline SVG.

They are drawn here because the page must follow its reader's light or dark theme by style sheet and load nothing:
plotting libraries write fixed colours or need scripts, and weigh tens of megabytes for three simple kinds of plot.

Coordinates are in SVG user units, y downwards, rounded to a tenth.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from graphctx.eval.records import Outcome, SuiteRun

WIDTH, HEIGHT = 460, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 14, 12, 40
_ROW = 22
"""Height of a row of a range plot."""

_CHAR = 6.4
"""Mean width of a character of the style sheet's 11.5 px text, with a little to spare."""

_LEAST_SPREAD = 5.0
"""Percentage points that a y axis spans at least, so that noise does not look like a fall."""

_NICE = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis: where, and what is written there."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Dot:
    """A point, with what it says when it is pointed at."""

    x: float
    y: float
    says: str


@dataclass(frozen=True, slots=True)
class Curve:
    """A series: its colour's number, its name, its points."""

    series: int
    name: str
    dots: tuple[Dot, ...]

    @property
    def path(self) -> str:
        """The points as SVG's ``points``."""
        return " ".join(f"{dot.x},{dot.y}" for dot in self.dots)


@dataclass(frozen=True, slots=True)
class Bar:
    """A rectangle of a series, with what it says when it is pointed at."""

    series: int
    x: float
    y: float
    width: float
    height: float
    says: str


@dataclass(frozen=True, slots=True)
class Range:
    """A row from a low to a high value with a middle."""

    series: int
    name: str
    y: float
    low: float
    middle: float
    high: float
    says: str


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot: its frame, its axes, and whatever it holds of lines, bars and ranges."""

    title: str
    x_label: str
    y_label: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...] = ()
    lines: tuple[Curve, ...] = ()
    bars: tuple[Bar, ...] = ()
    ranges: tuple[Range, ...] = ()
    legend: tuple[tuple[int, str], ...] = ()
    width: int = WIDTH
    height: int = HEIGHT
    left: int = _LEFT

    @property
    def right(self) -> int:
        """Where the frame ends."""
        return self.width - _RIGHT

    @property
    def top(self) -> int:
        """Where the frame begins."""
        return _TOP

    @property
    def bottom(self) -> int:
        """The x axis."""
        return self.height - _BOTTOM


def line_plot(
    title: str, series: Mapping[str, Sequence[tuple[float, float]]], x_label: str, y_label: str, *, even: bool = False
) -> Plot:
    """Return curves of shares (0..1, written in percent) over numbers; the y axis spans what the curves do.

    Args:
        title: above the plot.
        series: name to points by rising x; the position in the mapping is the colour's number.
        x_label, y_label: of the axes.
        even: place the x values at even distances, whatever they are.
    """
    xs = sorted({x for points in series.values() for x, _ in points})
    ys = [y * 100 for points in series.values() for _, y in points]
    high = min(100.0, max(*ys, min(ys) + _LEAST_SPREAD))
    y_marks = _marks(min(*ys, high - _LEAST_SPREAD), high)
    places = {x: float(at) if even else x for at, x in enumerate(xs)}
    across = _scale(min(places.values()), max(places.values()), _LEFT + 10, WIDTH - _RIGHT - 10)
    up = _scale(y_marks[0], y_marks[-1], HEIGHT - _BOTTOM, _TOP)
    lines = tuple(
        Curve(
            number,
            name,
            tuple(Dot(_at(across, places[x]), _at(up, y * 100), f"{name}: {y:.1%} at {x:,.0f}") for x, y in points),
        )
        for number, (name, points) in enumerate(series.items())
    )
    return Plot(
        title,
        x_label,
        y_label,
        tuple(Tick(_at(across, places[x]), f"{x:,.0f}") for x in xs),
        tuple(Tick(_at(up, mark), f"{mark:g}") for mark in y_marks),
        lines,
        legend=tuple(enumerate(series)),
    )


def bar_plot(
    title: str, labels: Sequence[str], series: Mapping[str, Sequence[float]], x_label: str, y_label: str
) -> Plot:
    """Shares (0..1, written in percent) in bins, one bar for each series beside the others.

    Args:
        title: above the plot.
        labels: one more than there are bins: their edges.
        series: name to one share for each bin.
        x_label, y_label: of the axes.
    """
    highest = max((value for values in series.values() for value in values), default=0.0) * 100
    marks = _marks(0.0, max(highest, 1.0))
    across = _scale(0, len(labels) - 1, _LEFT, WIDTH - _RIGHT)
    up = _scale(marks[0], marks[-1], HEIGHT - _BOTTOM, _TOP)
    thick = (across(1) - across(0)) * 0.8 / len(series)
    bars = tuple(
        Bar(
            number,
            round(across(at + 0.1) + number * thick, 1),
            _at(up, value * 100),
            round(thick - 1, 1),
            round(up(0) - up(value * 100), 1),
            f"{name}: {value:.0%} from {labels[at]} to {labels[at + 1]}",
        )
        for number, (name, values) in enumerate(series.items())
        for at, value in enumerate(values)
        if value
    )
    return Plot(
        title,
        x_label,
        y_label,
        tuple(Tick(_at(across, at), label) for at, label in enumerate(labels)),
        tuple(Tick(_at(up, mark), f"{mark:g}") for mark in marks),
        bars=bars,
        legend=tuple(enumerate(series)),
    )


def range_plot(title: str, rows: Sequence[tuple[int, str, float, float, float]], unit: str) -> Plot:
    """Return rows from a low to a high value with a dot in the middle, from 0.

    Args:
        title: above the plot.
        rows: the colour's number, the name, and low, middle and high.
        unit: of the values.
    """
    marks = _marks(0.0, max(high for *_, high in rows))
    left = 16 + round(_CHAR * max(len(name) for _, name, *_ in rows))
    across = _scale(0, marks[-1], left, WIDTH - _RIGHT)
    return Plot(
        title,
        unit,
        "",
        tuple(Tick(_at(across, mark), f"{mark:g}") for mark in marks),
        ranges=tuple(
            Range(
                series,
                name,
                _TOP + _ROW * (at + 0.5),
                _at(across, low),
                _at(across, middle),
                _at(across, high),
                f"{name}: {middle:,.1f} {unit} (p5 {low:,.1f}, p95 {high:,.1f})",
            )
            for at, (series, name, low, middle, high) in enumerate(rows)
        ),
        height=_TOP + _BOTTOM + _ROW * len(rows),
        left=left,
    )


@dataclass(frozen=True, slots=True)
class _Scale:
    low: float
    start: float
    factor: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) * self.factor


def _scale(low: float, high: float, start: float, end: float) -> _Scale:
    """From values to coordinates; a single value stands in the middle."""
    if high <= low:
        return _Scale(low, (start + end) / 2, 0.0)
    return _Scale(low, start, (end - start) / (high - low))


def _at(scale: _Scale, value: float) -> float:
    return round(scale(value), 1)


def _marks(low: float, high: float) -> list[float]:
    """Return round numbers from at most ``low`` to at least ``high``, about five of them."""
    spread = max(high - low, 1e-6)
    magnitude = 10 ** math.floor(math.log10(spread / 5))
    step = magnitude * next(nice for nice in _NICE if nice * magnitude >= spread / 5)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(step * at, 6) for at in range(first, max(last, first + 1) + 1)]


_BUDGETS = {
    "answer": ("Answers inside the quotes, by budget", "questions, %"),
    "points": ("Gold points stated, by budget", "points, %"),
}
_BUDGET = re.compile(r"(answer|points)@(\d+)")
_BINS = 10


def figures(run: SuiteRun, variant: str) -> list[Plot]:
    """Return the plots for which a run has outcomes.

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
    """Return a measure by how many tokens the quotes may weigh."""
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
    """Return the best quote's confidence, of questions that the documents answer and of those that they do not."""
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
    """Return how many values lie in each bin; 1 lies in the last."""
    places = [min(int(value * _BINS + 1e-9), _BINS - 1) for value in values]
    return [places.count(at) for at in range(_BINS)]


def _times(run: SuiteRun) -> Plot | None:
    """Return how long each call took, by variant."""
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
