"""Measures on cases that are worked out by hand, and what holds for all of them."""

from __future__ import annotations

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, R, Success, nDCG

from graphctx.eval.measures import (
    QuotedText,
    answer_measures,
    auroc,
    filled,
    point_measures,
    quote_measures,
    ranking_measures,
    states,
    within,
)
from graphctx.eval.records import Golden, GoldPoint, GoldSpan
from graphctx.eval.summary import direction, is_share
from graphctx.model.answers import Budget, Diagnostics, EvidenceAnswer, Quote
from graphctx.model.requests import Scope

KEYS = st.lists(st.sampled_from("abcdefghijkl"), unique=True, max_size=10)
TEXTS = {"a.md": "Ada lit the lamp."}


def quote(text: str, start: int = 0, uri: str = "a.md", confidence: float = 0.5) -> Quote:
    place = {"start_char": start, "end_char": start + len(text), "line": 1}
    return Quote(quote=text, doc_uri=uri, section_id="u", title="", confidence=confidence, **place)


def words(text: str) -> int:
    return len(text.split())


def of(golden: Golden, *texts: str) -> dict[str, float]:
    return quote_measures(golden, [quote(text) for text in texts], words)


def of_answer(golden: Golden, *quotes: Quote, calls: int = 1, truncated: bool = False) -> dict[str, float]:
    answer = EvidenceAnswer(
        quotes=list(quotes),
        partial=False,
        truncated=truncated,
        limit_reason="none",
        scope=Scope(),
        budget=Budget(tokens=70, bytes=300, max_tokens=8000, max_bytes=30000),
        diagnostics=Diagnostics(mode="hybrid_local", candidates=1, snapshot_id="sn"),
    )
    return answer_measures(golden, answer, TEXTS.__getitem__, words, calls=calls)


@given(ranked=KEYS, relevant=st.frozensets(st.sampled_from("abcdef"), min_size=1))
def test_a_ranking_is_measured_as_trec_eval_does(ranked: list[str], relevant: frozenset[str]) -> None:
    found = ranking_measures({"q": ranked}, {"q": relevant})["q"]
    same = {R @ 2: "R@2", R @ 5: "R@5", R @ 10: "R@10", Success @ 1: "hit@1", RR: "MRR", nDCG @ 10: "nDCG@10"}
    run = {"q": {key: float(len(ranked) - at) for at, key in enumerate(ranked)}}
    theirs = ir_measures.calc_aggregate(list(same), {"q": dict.fromkeys(relevant, 1)}, run) if ranked else {}
    for measure, name in same.items():
        assert found[name] == pytest.approx(theirs.get(measure, 0.0))
    for k in (2, 5, 10):
        assert found[f"all@{k}"] == (relevant <= set(ranked[:k]))


@pytest.mark.parametrize(
    ("wanted", "text", "holds"),
    [
        ("Skua Queen", "master of the *Skua  QUEEN*.", True),
        ("Skua Queen", "master of the _Skua\nQueen_", True),
        ("20,000 crowns", "over 20,000 crowns", True),
        ("6", "in 1996", False),
        ("art", "the cart", False),
        ("ﬁve", "five", True),
        ("max_retries", "`max_retries = 3`", True),
        ("…", "and so on …", False),
    ],
)
def test_an_answer_is_held_if_its_words_occur_in_a_row(wanted: str, text: str, holds: bool) -> None:
    assert of(Golden("1", "?", answers=(wanted,)), "first", text)["answer"] == holds


def test_any_answer_in_one_quote_is_enough_but_a_list_needs_all() -> None:
    assert of(Golden("1", "?", answers=("one two", "two")), "one", "two three")["answer"] == 1
    assert of(Golden("1", "?", answers=("Skua Queen",)), "the Skua", "Queen")["answer"] == 0
    assert of(Golden("1", "?", "list", answers=("one", "two")), "one")["answer"] == 0
    assert of(Golden("1", "?", "list", answers=("one", "two")), "one", "two")["answer"] == 1


@pytest.mark.parametrize(
    "golden",
    [
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
    # At 4 the last would fit, but it follows one that does not.
    assert [len(within(quotes, budget, words)) for budget in (1, 2, 4, 6)] == [0, 1, 1, 3]


def test_an_answer_has_its_exactness_confidence_and_cost() -> None:
    found = of_answer(Golden("1", "?"), quote("Ada"), quote("lit", 5, confidence=0.2), truncated=True)
    assert (found["exact"], found["confidence"], found["empty"]) == (0.5, 0.5, 0)
    assert (found["calls"], found["truncated"], found["tokens"], found["bytes"]) == (1, 1, 70, 300)
    assert "in_budget" not in found
    nothing = of_answer(Golden("1", "?"))
    assert (nothing["confidence"], nothing["empty"], "exact" in nothing) == (0, 1, False)
    for tokens, most_calls, calls, expected in ((2, 1, 1, 1), (1, 1, 1, 0), (0, 1, 2, 0), (2, 0, 3, 1)):
        golden = Golden("1", "?", max_tokens=tokens, max_calls=most_calls)
        assert of_answer(golden, quote("Ada lit"), calls=calls)["in_budget"] == expected


def test_auroc_is_the_chance_that_an_answerable_question_is_ahead() -> None:
    assert auroc([0.9, 0.8], [0.1, 0.2]) == 1
    assert auroc([0.1], [0.2, 0.3]) == 0
    assert auroc([0.9, 0.3], [0.3, 0.1]) == pytest.approx((2 + 0.5 + 1) / 4)


def piece(start: int, end: int, *, doc: str = "a.md", tokens: int = 1) -> QuotedText:
    return QuotedText(doc, start, end, "x" * (end - start), tokens)


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (0, 100, True),  # holds it
        (20, 26, True),  # lies in it
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


def test_a_point_counts_once_if_any_of_its_places_is_stated() -> None:
    spans = [((0, 10), (90, 99)), ((20, 30),), ((40, 50),), ((60, 70),)]
    points = [GoldPoint("p", tuple(GoldSpan("a.md", *span) for span in some)) for some in spans]
    pieces = [piece(90, 99, tokens=3), piece(0, 30, tokens=7), piece(80, 85, tokens=2)]
    assert point_measures(points, pieces, 500) == {"points@500": 0.5, "tokens@500": 12.0, "quotes@500": 3.0}
    assert is_share("points@500")
    assert direction("points@500") == 1
    assert not any(map(is_share, ("rated", "descended", "dropped", "tokens@500", "quotes@500")))


@given(st.lists(st.integers(1, 300), max_size=40), st.integers(1, 2000))
def test_a_budget_is_never_exceeded_and_never_left_where_something_fits(sizes: list[int], budget: int) -> None:
    pieces = [piece(at, at + 1, tokens=size) for at, size in enumerate(sizes)]
    taken = filled(pieces, budget)
    spent = sum(one.tokens for one in taken)
    assert spent <= budget
    assert all(one in taken or one.tokens > budget - spent for one in pieces)
    assert taken == [one for one in pieces if one in taken]
