"""Measures on cases that are worked out by hand, and what holds for all of them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.eval.measures import answer_measures, auroc, quote_measures, ranking_measures, within
from graphctx.eval.records import Golden, GoldSpan
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


def test_all_at_k_says_whether_nothing_is_missing() -> None:
    found = ranking_measures({"both": ["a", "b"], "nothing": []}, {"both": frozenset("ab"), "nothing": frozenset("ab")})
    assert (found["both"]["all@2"], found["both"]["nDCG@10"]) == (1, 1)
    assert set(found["nothing"].values()) == {0}


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


def test_an_answer_does_not_stand_across_two_quotes() -> None:
    assert of(Golden("1", "?", answers=("Skua Queen",)), "the Skua", "Queen")["answer"] == 0


def test_any_answer_will_do_but_a_list_needs_all() -> None:
    assert of(Golden("1", "?", answers=("one", "two")), "one")["answer"] == 1
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
    assert found["exact"] == 0.5
    assert "exact" not in answer_measures(Golden("1", "?"), answer([]), texts.__getitem__, words, calls=1)


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


def test_confidence_is_that_of_the_best_quote_and_0_without_one() -> None:
    texts = {"a.md": "Ada lit the lamp."}
    quotes = [quote("Ada", confidence=0.2), quote("lit", 4, confidence=0.7)]
    assert answer_measures(Golden("1", "?"), answer(quotes), texts.__getitem__, words, calls=1)["confidence"] == 0.7
    nothing = answer_measures(Golden("1", "?"), answer([]), texts.__getitem__, words, calls=1)
    assert (nothing["confidence"], nothing["empty"]) == (0, 1)


def test_auroc_is_the_chance_that_an_answerable_question_is_ahead() -> None:
    assert auroc([0.9, 0.8], [0.1, 0.2]) == 1
    assert auroc([0.1], [0.2, 0.3]) == 0
    assert auroc([0.5, 0.5], [0.5]) == 0.5
    assert auroc([0.9, 0.3], [0.3, 0.1]) == pytest.approx((2 + 0.5 + 1) / 4)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_auroc_turns_round_when_the_kinds_are_exchanged(one: list[float], other: list[float]) -> None:
    assert auroc(one, other) == pytest.approx(1 - auroc(other, one))
