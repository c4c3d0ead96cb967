"""Pages of lists: within every budget, and together the whole list."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphctx.errors import BudgetExceeded
from graphctx.model.answers import ListAnswer, Quote
from graphctx.model.assemble import SHORTER_QUOTE
from graphctx.model.budgets import Limits, weigh
from graphctx.model.cursors import HEAVIEST_ID, Cursors
from graphctx.model.pages import MIN_CHARS, Pager, Part
from graphctx.model.requests import GraphInput, Scope
from graphctx.model.results import Results
from graphctx.nlp.tokens import AnswerCounter
from graphctx.text.graphemes import is_boundary

COUNT = AnswerCounter().count
SERVER = Limits(2_000, 9_000)
texts = st.lists(
    st.sampled_from(["word ", "Lamp", ". ", "\n", "☕", "e\u0301", "\U0001f468\u200d\U0001f469", "\u202e", "語"]),
    min_size=1,
    max_size=60,
).map("".join)


class Quotes(ListAnswer):
    """A list of quotes."""

    quotes: list[Quote]


def quote_of(number: int, text: str) -> Quote:
    return Quote(
        quote=text,
        doc_uri="a.md",
        start_char=100 * number,
        end_char=100 * number + len(text),
        line=1,
        title="A",
        section_id=f"u_{number}",
        confidence=0.5,
        context_before="before it",
    )


def build(part: Part[Quote]) -> Quotes:
    return Quotes(quotes=part.items, **part.fields)


def render(answer: Quotes) -> str:
    return "\n".join([*(quote.quote for quote in answer.quotes), answer.next_cursor or ""])


def weight(answer: Quotes) -> tuple[int, int]:
    weight = weigh([render(answer), answer.model_dump_json()], COUNT)
    return weight.tokens, weight.bytes


@given(
    words=st.lists(texts, min_size=1, max_size=25),
    limits=st.lists(st.tuples(st.integers(1, 3_000), st.integers(1, 12_000)), min_size=1, max_size=4),
    page_size=st.integers(1, 30),
)
@settings(deadline=None)
def test_pages_of_any_budgets_give_every_item_once_and_in_order(
    words: list[str], limits: list[tuple[int, int]], page_size: int
) -> None:
    listing = Results(items=[quote_of(*numbered) for numbered in enumerate(words)], snapshot_id="sn")
    pager = Pager(SERVER, COUNT, cursors=Cursors(b"key"))
    scope = Scope(project_id="p", environment="dev")
    seen: list[Quote] = []
    cursor, turn = None, 0
    while len(seen) < len(words):
        max_tokens, max_bytes = limits[turn % len(limits)] if turn < len(limits) else (2_000, 9_000)
        turn += 1
        request = GraphInput(
            scope=scope, cursor=cursor, page_size=page_size, max_tokens=max_tokens, max_bytes=max_bytes
        )
        try:
            answer, text = pager.page(request, listing, build, render, SHORTER_QUOTE)
        except BudgetExceeded as error:
            refused = error.details
        else:
            refused = {}
        if refused:
            assert refused["needed_tokens"] > max_tokens or refused["needed_bytes"] > max_bytes
            continue
        tokens, size = weight(answer)
        assert text == render(answer)
        assert tokens <= answer.budget.tokens <= min(max_tokens, SERVER.max_tokens)
        assert size <= answer.budget.bytes <= min(max_bytes, SERVER.max_bytes)
        seen += answer.quotes
        assert answer.partial == (answer.next_cursor is not None) == (len(seen) < len(words))
        assert answer.truncated == (answer.limit_reason in ("token_cap", "byte_cap"))
        assert (answer.limit_reason == "none") == (not answer.partial and not answer.truncated)
        cursor = answer.next_cursor
    assert [quote.section_id for quote in seen] == [f"u_{number}" for number in range(len(words))]
    for quote, whole in zip(seen, listing.items, strict=True):
        assert whole.quote.startswith(quote.quote)
        assert quote.end_char - quote.start_char == len(quote.quote) > 0
        assert is_boundary(whole.quote, len(quote.quote))
        assert quote.truncated == (quote.quote != whole.quote)
        assert quote.quote == whole.quote or not quote.context_before


@given(text=texts)
@settings(deadline=None)
def test_what_the_refusal_says_is_needed_is_enough(text: str) -> None:
    listing = Results(items=[quote_of(0, text)], snapshot_id="sn")
    pager = Pager(SERVER, COUNT)
    scope = Scope(project_id="p", environment="dev")
    with pytest.raises(BudgetExceeded, match="max_tokens and max_bytes") as caught:
        pager.page(GraphInput(scope=scope, max_tokens=10, max_bytes=10), listing, build, render, SHORTER_QUOTE)
    needed = {"max_tokens": caught.value.details["needed_tokens"], "max_bytes": caught.value.details["needed_bytes"]}
    answer, _ = pager.page(GraphInput(scope=scope, **needed), listing, build, render, SHORTER_QUOTE)
    assert len(answer.quotes[0].quote) >= min(len(text), MIN_CHARS // 2)


def test_a_call_never_widens_what_the_server_allows() -> None:
    listing = Results(items=[quote_of(number, "word " * 40) for number in range(60)], snapshot_id="sn")
    request = GraphInput(scope=Scope(), page_size=100, max_tokens=1_000_000, max_bytes=100_000_000)
    answer, _ = Pager(SERVER, COUNT).page(request, listing, build, render)
    assert (answer.budget.max_tokens, answer.budget.max_bytes) == (SERVER.max_tokens, SERVER.max_bytes)
    assert weight(answer)[0] <= SERVER.max_tokens
    assert answer.truncated


def test_an_item_that_is_shortened_loses_its_surroundings_first() -> None:
    text = "The lamp is lit at dusk. " * 6
    listing = Results(items=[quote_of(0, text)], snapshot_id="sn")
    pager, scope = Pager(SERVER, COUNT), Scope(project_id="p", environment="dev")
    whole, _ = pager.page(GraphInput(scope=scope), listing, build, render, SHORTER_QUOTE)
    less, _ = pager.page(
        GraphInput(scope=scope, max_tokens=whole.budget.tokens - 2), listing, build, render, SHORTER_QUOTE
    )
    assert less.quotes[0].quote == text
    assert not less.quotes[0].context_before
    assert less.truncated
    assert not less.quotes[0].truncated
    least, _ = pager.page(
        GraphInput(scope=scope, max_tokens=whole.budget.tokens - 40), listing, build, render, SHORTER_QUOTE
    )
    assert text.startswith(least.quotes[0].quote)
    assert least.quotes[0].truncated


def test_a_cap_of_the_request_itself_is_reported_on_the_last_page() -> None:
    items = [quote_of(number, "word") for number in range(3)]
    listing = Results(items=items, snapshot_id="sn", capped="node_cap")
    pager = Pager(SERVER, COUNT, cursors=Cursors())
    first, _ = pager.page(GraphInput(page_size=2), listing, build)
    assert (first.limit_reason, first.truncated) == ("page_size", False)
    last, _ = pager.page(GraphInput(page_size=2, cursor=first.next_cursor), listing, build)
    assert (last.limit_reason, last.truncated, last.partial) == ("node_cap", True, False)
    assert json.loads(last.model_dump_json())["limit_reason"] == "node_cap"


class Stamped(Quotes):
    """A list that says which snapshot it comes from."""

    snapshot_id: str


ids = st.binary(min_size=10, max_size=10).map(lambda drawn: f"sn_{base64.b32encode(drawn).decode('ascii').lower()}")


@given(one=ids, other=ids, max_tokens=st.integers(300, 2_000))
@settings(deadline=None)
def test_the_id_of_a_snapshot_does_not_decide_what_fits(one: str, other: str, max_tokens: int) -> None:
    request = GraphInput(scope=Scope(project_id="p", environment="dev"), page_size=30, max_tokens=max_tokens)
    answers = []
    for snapshot_id in (one, other):
        listing = Results(items=[quote_of(n, "The lamp burns. " * 5) for n in range(30)], snapshot_id=snapshot_id)
        answer, _ = Pager(SERVER, COUNT).page(
            request,
            listing,
            lambda part, made_of=snapshot_id: Stamped(quotes=part.items, snapshot_id=made_of, **part.fields),
            lambda made: f"{render(made)}\nsnapshot {made.snapshot_id}",
        )
        assert weight(answer)[0] <= answer.budget.tokens <= max_tokens
        answers.append(answer.model_dump_json().replace(snapshot_id, "SNAPSHOT"))
    assert answers[0] == answers[1]


@given(drawn=ids, prefix=st.sampled_from(["sn_", "p_", "x_", "u_", "c_"]), length=st.integers(11, 16))
def test_no_id_weighs_more_than_the_one_that_stands_for_it(drawn: str, prefix: str, length: int) -> None:
    one, stands = (f'"id":"{prefix}{letters[:length]}"' for letters in (drawn[3:], HEAVIEST_ID))
    assert weigh([one], COUNT).tokens <= weigh([stands], COUNT).tokens
