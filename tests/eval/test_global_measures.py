"""When a text states a point, and how a budget is filled."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.eval.global_measures import Piece, filled, point_measures, stated, states
from graphctx.eval.records import GoldPoint, GoldSpan
from graphctx.eval.scale import direction, is_share

RANGES = st.tuples(st.integers(0, 60), st.integers(1, 60)).map(lambda at: (at[0], at[0] + at[1]))


def piece(start: int, end: int, *, doc: str = "a.md", tokens: int = 1) -> Piece:
    return Piece(doc, start, end, "x" * (end - start), tokens)


def point(*spans: tuple[int, int], doc: str = "a.md") -> GoldPoint:
    return GoldPoint("p", tuple(GoldSpan(doc, start, end) for start, end in spans))


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (0, 100, True),  # holds it
        (20, 26, True),  # lies in it
        (5, 20, True),  # 10 of 15
        (5, 15, True),  # half of the shorter
        (4, 14, False),  # 4 of 10
        (29, 200, False),  # 1 of 20
        (30, 40, False),  # beside it
    ],
)
def test_a_text_states_a_point_by_half_of_the_shorter_of_both(start: int, end: int, expected: bool) -> None:
    assert states(piece(start, end), GoldSpan("a.md", 10, 30)) is expected


def test_the_same_place_in_another_document_states_nothing() -> None:
    assert not states(piece(10, 30, doc="b.md"), GoldSpan("a.md", 10, 30))


@given(RANGES, RANGES)
def test_overlap_is_the_same_either_way(one: tuple[int, int], other: tuple[int, int]) -> None:
    assert states(piece(*one), GoldSpan("a.md", *other)) == states(piece(*other), GoldSpan("a.md", *one))


def test_one_of_a_points_places_is_enough() -> None:
    assert stated(point((0, 10), (50, 60)), [piece(50, 60)])
    assert not stated(point((0, 10), (50, 60)), [piece(20, 30)])


def test_recall_counts_each_point_once() -> None:
    points = [point((0, 10)), point((20, 30)), point((40, 50)), point((60, 70))]
    pieces = [piece(0, 10, tokens=3), piece(0, 30, tokens=7), piece(80, 90, tokens=2)]
    assert point_measures(points, pieces, 500) == {"points@500": 0.5, "tokens@500": 12.0, "quotes@500": 3.0}


def test_what_does_not_fit_gives_way_to_what_does() -> None:
    pieces = [piece(0, 1, tokens=6), piece(1, 2, tokens=5), piece(2, 3, tokens=4), piece(3, 4, tokens=1)]
    assert filled(pieces, 10) == [pieces[0], pieces[2]]


@given(st.lists(st.integers(1, 300), max_size=40), st.integers(1, 2000))
def test_a_budget_is_never_exceeded_and_never_left_where_something_fits(sizes: list[int], budget: int) -> None:
    pieces = [piece(at, at + 1, tokens=size) for at, size in enumerate(sizes)]
    taken = filled(pieces, budget)
    spent = sum(one.tokens for one in taken)
    assert spent <= budget
    assert all(one in taken or one.tokens > budget - spent for one in pieces)
    assert taken == [one for one in pieces if one in taken]


def test_recall_is_a_share_of_which_more_is_better_and_the_counts_are_none() -> None:
    assert is_share("points@500")
    assert direction("points@500") == 1
    for count in ("rated", "descended", "dropped", "tokens@500", "quotes@500"):
        assert not is_share(count)
