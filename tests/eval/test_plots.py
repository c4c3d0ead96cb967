"""Plots: whatever the values, points lie where their values say, inside the frame."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from graphctx.eval.plots import HEIGHT, WIDTH, bar_plot, line_plot, range_plot

shares = st.floats(0, 1)
times = st.floats(0.001, 1e6)


@given(st.lists(st.lists(shares, min_size=1, max_size=10), min_size=1, max_size=12))
def test_a_curve_stays_inside_and_rises_where_its_values_rise(curves: list[list[float]]) -> None:
    plot = line_plot("t", {f"v{at}": list(enumerate(ys, 1)) for at, ys in enumerate(curves)}, "x", "y")
    assert [line.series for line in plot.lines] == list(range(len(curves)))
    for line, ys in zip(plot.lines, curves, strict=True):
        for dot, y in zip(line.dots, ys, strict=True):
            assert plot.left <= dot.x <= plot.right <= WIDTH
            assert plot.top <= dot.y <= plot.bottom <= HEIGHT
            assert f"{y:.1%}" in dot.says
        order = sorted(range(len(ys)), key=ys.__getitem__)
        heights = [-line.dots[at].y for at in order]
        assert heights == sorted(heights)


@given(st.lists(shares, min_size=1, max_size=12))
def test_axes_are_marked_with_few_round_numbers_that_hold_all_values(values: list[float]) -> None:
    plot = line_plot("t", {"v": list(enumerate(values, 1))}, "x", "y")
    marks = [float(tick.label) for tick in plot.y_ticks]
    assert 2 <= len(marks) <= 8
    assert marks == sorted(set(marks))
    assert marks[0] <= min(values) * 100 + 1e-6
    assert marks[-1] >= max(values) * 100 - 1e-6


@given(st.lists(shares, min_size=4, max_size=4), st.lists(shares, min_size=4, max_size=4))
def test_bars_stand_on_the_axis_and_beside_each_other(first: list[float], second: list[float]) -> None:
    plot = bar_plot("t", ["0", "1", "2", "3", "4"], {"a": first, "b": second}, "x", "y")
    assert len(plot.bars) == sum(value > 0 for value in first + second)
    ordered = sorted(plot.bars, key=lambda bar: bar.x)
    for bar in ordered:
        assert plot.top - 0.2 <= bar.y
        assert abs(bar.y + bar.height - plot.bottom) <= 0.2
    assert all(one.x + one.width <= other.x + 0.2 for one, other in itertools.pairwise(ordered))


@given(st.lists(st.tuples(times, times, times), min_size=1, max_size=20))
def test_ranges_lie_in_order_below_each_other(rows: list[tuple[float, float, float]]) -> None:
    plot = range_plot("t", [(0, f"row {at}", *sorted(row)) for at, row in enumerate(rows)], "ms")
    for one in plot.ranges:
        assert plot.left <= one.low <= one.middle <= one.high <= plot.right
        assert plot.top <= one.y <= plot.bottom
    assert [one.y for one in plot.ranges] == sorted({one.y for one in plot.ranges})
