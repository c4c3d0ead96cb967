"""Measures on cases that are worked out by hand, and what holds for all of them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.eval.measures import (
    Piece,
    answer_measures,
    auroc,
    filled,
    point_measures,
    quote_measures,
    ranking_measures,
    stated,
    states,
    within,
)
from graphctx.eval.records import Golden, GoldPoint, GoldSpan
from graphctx.eval.summary import direction, is_share
from graphctx.model.answers import Budget, Diagnostics, EvidenceAnswer, Quote
from graphctx.model.requests import Scope

KEYS = st.lists(st.sampled_from("abcdefghijkl"), unique=True, max_size=10)


def quote(text: str, start: int = 0, uri: str = "a.md", confidence: float = 0.5) -> Quote:
    return Quote(
        quote=text,
        doc_uri=uri,
        section_id="u",
        title="",
        start_char=start,
        end_char=start + len(text),
        line=1,
        confidence=confidence,
    )


def answer(quotes: list[Quote], *, partial: bool = False, truncated: bool = False) -> EvidenceAnswer:
    return EvidenceAnswer(
        quotes=quotes,
        partial=partial,
        truncated=truncated,
        limit_reason="none",
        scope=Scope(),
        budget=Budget(tokens=70, bytes=300, max_tokens=8000, max_bytes=30000),
        diagnostics=Diagnostics(mode="hybrid_local", candidates=1, snapshot_id="sn"),
    )


def words(text: str) -> int:
    return len(text.split())


def of(golden: Golden, *texts: str) -> dict[str, float]:
    return quote_measures(golden, [quote(text) for text in texts], words)


def test_a_ranking_is_measured_as_trec_eval_does() -> None:
    found = ranking_measures({"q": ["x", "a", "y", "b", "z", "c"]}, {"q": frozenset("abcd")})["q"]
    ideal = sum(1 / math.log2(rank + 1) for rank in (1, 2, 3, 4))
    assert found == pytest.approx(
        {
            "R@2": 1 / 4,
            "R@5": 2 / 4,
            "R@10": 3 / 4,
            "all@2": 0,
            "all@5": 0,
            "all@10": 0,
            "hit@1": 0,
            "MRR": 1 / 2,
            "nDCG@10": sum(1 / math.log2(rank + 1) for rank in (2, 4, 6)) / ideal,
        }
    )
    assert list(found)[:6] == ["R@2", "R@5", "R@10", "all@2", "all@5", "all@10"]


@given(ranked=KEYS, relevant=st.frozensets(st.sampled_from("abcdef"), min_size=1))
def test_rankings_are_measured_within_bounds_and_by_their_definitions(
    ranked: list[str], relevant: frozenset[str]
) -> None:
    found = ranking_measures({"q": ranked}, {"q": relevant})["q"]
    assert all(0 <= value <= 1 for value in found.values())
    first = next((rank for rank, key in enumerate(ranked, 1) if key in relevant), 0)
    assert found["MRR"] == pytest.approx(1 / first if first else 0)
    assert found["hit@1"] == (first == 1)
    for k in (2, 5, 10):
        assert found[f"R@{k}"] == pytest.approx(len(relevant & set(ranked[:k])) / len(relevant))
        assert found[f"all@{k}"] == (relevant <= set(ranked[:k]))


@pytest.mark.parametrize(
    ("wanted", "text", "holds"),
    [
        ("Skua Queen", "master of the *Skua  QUEEN*.", True),
        ("Skua Queen", "master of the _Skua\nQueen_", True),
        ("20,000 crowns", "over 20,000 crowns", True),
        ("6", "in 1996", False),
        ("art", "the cart", False),
        ("Averil Line", "the Averil Line's ferries", True),
        ("ﬁve", "five", True),
        ("max_retries", "`max_retries = 3`", True),
        ("…", "and so on …", False),
    ],
)
def test_an_answer_is_held_where_its_words_stand_in_a_row(wanted: str, text: str, holds: bool) -> None:
    assert of(Golden("1", "?", answers=(wanted,)), "first", text)["answer"] == holds


def test_any_answer_will_do_but_a_list_needs_all() -> None:
    assert of(Golden("1", "?", answers=("one two", "two")), "one", "two three")["answer"] == 1
    assert of(Golden("1", "?", answers=("Skua Queen",)), "the Skua", "Queen")["answer"] == 0
    assert of(Golden("1", "?", "list", answers=("one", "two")), "one")["answer"] == 0
    assert of(Golden("1", "?", "list", answers=("one", "two")), "one", "two")["answer"] == 1


@pytest.mark.parametrize(
    "golden",
    [
        Golden("1", "?", answers=("Yes",)),
        Golden("1", "?", answers=("no", "yes ")),
        Golden("1", "?"),
        Golden("1", "?", answers=("Ada",), answerable=False, gold_spans=(GoldSpan("a.md", 0, 3),)),
    ],
)
def test_what_quotes_cannot_hold_is_left_out(golden: Golden) -> None:
    assert of(golden, "Ada said yes and no") == {"quote_tokens": 5}


def test_gold_spans_are_touched_and_covered() -> None:
    golden = Golden("1", "?", gold_spans=(GoldSpan("a.md", 0, 10), GoldSpan("a.md", 5, 20), GoldSpan("b.md", 0, 20)))
    quotes = [quote("x" * 6, 4), quote("x" * 6, 4), quote("x" * 5, 20), quote("x" * 5, 30, "b.md")]
    found = quote_measures(golden, quotes, words)
    assert found["span"] == pytest.approx(2 / 3)
    assert found["cover"] == pytest.approx(6 / 40)
    assert quote_measures(golden, [], words, "@250") == {"quote_tokens@250": 0, "span@250": 0, "cover@250": 0}


def test_a_budget_takes_the_leading_quotes_that_fit() -> None:
    quotes = [quote("one two"), quote("three four five"), quote("six")]
    assert within(quotes, 2, words) == quotes[:1]
    assert within(quotes, 4, words) == quotes[:1]  # the last would fit, but stands behind one that does not
    assert within(quotes, 6, words) == quotes
    assert within(quotes, 1, words) == []


def test_quotes_that_do_not_slice_back_are_counted() -> None:
    texts = {"a.md": "Ada lit the lamp."}
    good, bad = quote("Ada"), quote("lit", 5)
    found = answer_measures(Golden("1", "?"), answer([good, bad]), texts.__getitem__, words, calls=1)
    assert (found["exact"], found["confidence"]) == (0.5, 0.5)
    nothing = answer_measures(Golden("1", "?"), answer([]), texts.__getitem__, words, calls=1)
    assert (nothing["confidence"], nothing["empty"]) == (0, 1)
    assert "exact" not in nothing


def test_what_an_answer_costs_is_held_against_what_it_may() -> None:
    texts = {"a.md": "Ada lit the lamp."}

    def in_budget(max_tokens: int, max_calls: int, calls: int = 1) -> float:
        golden = Golden("1", "?", max_tokens=max_tokens, max_calls=max_calls)
        return answer_measures(golden, answer([quote("Ada lit")]), texts.__getitem__, words, calls=calls)["in_budget"]

    assert in_budget(2, 1) == 1
    assert in_budget(1, 1) == 0
    assert in_budget(0, 1, calls=2) == 0
    assert in_budget(2, 0, calls=3) == 1
    found = answer_measures(Golden("1", "?"), answer([quote("Ada")], truncated=True), texts.__getitem__, words, calls=1)
    assert (found["calls"], found["truncated"], found["tokens"], found["bytes"]) == (1, 1, 70, 300)
    assert "in_budget" not in found


def test_auroc_is_the_chance_that_an_answerable_question_is_ahead() -> None:
    assert auroc([0.9, 0.8], [0.1, 0.2]) == 1
    assert auroc([0.1], [0.2, 0.3]) == 0
    assert auroc([0.5, 0.5], [0.5]) == 0.5
    assert auroc([0.9, 0.3], [0.3, 0.1]) == pytest.approx((2 + 0.5 + 1) / 4)


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
    assert states(piece(10, 30), GoldSpan("a.md", start, end)) is expected
    assert not states(piece(start, end, doc="b.md"), GoldSpan("a.md", 10, 30))


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
