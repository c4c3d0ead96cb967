"""The HTML report: whole, self-contained and safe with any text; its plots show what their values say."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from eval_made import NASTY, outcomes, run_of
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from graphctx.eval.compare import compare
from graphctx.eval.plots import HEIGHT, WIDTH, bar_plot, line_plot, range_plot
from graphctx.eval.records import SuiteRun
from graphctx.eval.report import marked, write_html
from graphctx.eval.worst import Gold, Miss


def written(tmp_path: Path, run: SuiteRun) -> str:
    gold = Gold(f"b/{NASTY}.md", "gold", 3, 9, {"bm25": None, "vector": 17, "final": 31}, None, True, "Lost: 31.")
    misses = [Miss(one, 0.25, (gold,)) for one in run.outcomes["hybrid_local"][:3]]
    write_html(tmp_path / "new" / "report.html", [run], compare(run, "hybrid_local"), {run.suite: misses})
    return (tmp_path / "new" / "report.html").read_text("utf-8")


@pytest.fixture
def page(tmp_path: Path) -> str:
    return written(tmp_path, run_of())


def test_it_loads_nothing(page: str) -> None:
    tree = LexborHTMLParser(page)
    assert not tree.css("script, link, iframe, img, object, [src], [style]")
    assert [link.attributes["href"] for link in tree.css("[href]")] == ["#suite-1"]
    assert not re.search(r"url\(|@import|https?:", page)


def test_any_text_is_shown_as_it_is_and_never_becomes_markup(tmp_path: Path) -> None:
    tree = LexborHTMLParser(written(tmp_path, run_of(name=NASTY, question=NASTY)))
    assert not tree.css("script, img")
    assert [node.text() for node in tree.css("h2")] == [NASTY]
    assert tree.css_first(".question").text() == f"{NASTY} 0"
    assert tree.css_first("blockquote").text() == f"It says {NASTY}, word for word."
    assert tree.css_first("blockquote mark").text() == NASTY
    assert NASTY in tree.css_first(".quotes .place").text()


def test_tables_hold_means_intervals_types_and_sure_differences(page: str) -> None:
    tree = LexborHTMLParser(page)
    rows = {
        row.css_first("th.name").text(): [cell.text(separator=" ") for cell in row.css("td")]
        for row in tree.css("section table")[0].css("tbody tr")
    }
    assert rows["hybrid_local"] == ["30", "100.0", "100.0", "100.0"]
    assert rows["bm25"][0] == "30"
    assert re.fullmatch(r"40\.0 20\.0 to 60\.0", rows["bm25"][1])
    assert {node.text() for node in tree.css(".best")} == {"100.0"}  # not the tokens, which are alike
    assert re.search(r'scope="row">even</th><td class="quiet">15</td>', page)
    assert re.search(r'class="worse">−60\.0</td><td class="name quiet">−80\.0 to −40\.0</td>', page)
    assert "&lt; 0.001" in page


def test_plots_show_each_variant_and_both_kinds_of_question(page: str) -> None:
    tree = LexborHTMLParser(page)
    assert [node.text() for node in tree.css("figcaption")] == [
        "Gold found among the first k",
        "Answers inside the quotes, by budget",
        "Confidence of the best quote",
        "Time of a call: median, and from p5 to p95",
    ]
    assert [len(node.css("polyline")) for node in tree.css("figure")] == [2, 2, 0, 0]
    says = [node.text() for node in tree.css("figure title")]
    assert {"hybrid_local: 0.0% at 1", "bm25: 40.0% at 2", "unanswerable: 40% from 0.6 to 0.7"} <= set(says)


def test_the_worst_questions_show_gold_ranks_and_why(page: str) -> None:
    details = LexborHTMLParser(page).css("details.miss")
    assert len(details) == 3
    cells = [cell.text() for cell in details[0].css("table.gold tbody td")]
    assert cells[1:] == ["–", "17", "31", "–"]
    assert "Lost: 31." in cells[0]
    assert "[3, 9)" in cells[0]


def test_a_run_without_quotes_types_times_or_comparisons_is_reported_too(tmp_path: Path) -> None:
    write_html(tmp_path / "r.html", [SuiteRun("bare", "sn_made", {"rrf": outcomes({"R@5": [1.0, 0.0]})})])
    tree = LexborHTMLParser((tmp_path / "r.html").read_text("utf-8"))
    assert [node.text() for node in tree.css("section h3")] == ["Finding"]
    assert not tree.css("figure")


@pytest.mark.parametrize(
    ("text", "answers", "pieces"),
    [
        ("The Averil line", ["averil LINE"], [("The ", False), ("Averil line", True)]),
        ("a.b axb", ["a.b"], [("a.b", True), (" axb", False)]),
        ("in 1996", ["", "  "], [("in 1996", False)]),
        ("one two", ["one", "one two"], [("one two", True)]),
    ],
)
def test_answers_are_marked_whole_and_literally(text: str, answers: list[str], pieces: list[tuple[str, bool]]) -> None:
    assert marked(text, answers) == pieces


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
        heights = [-line.dots[at].y for at in sorted(range(len(ys)), key=ys.__getitem__)]
        assert heights == sorted(heights)
    marks = [float(tick.label) for tick in plot.y_ticks]
    assert 2 <= len(marks) <= 8
    assert marks == sorted(set(marks))
    assert marks[0] <= min(map(min, curves)) * 100 + 1e-6
    assert marks[-1] >= max(map(max, curves)) * 100 - 1e-6


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
