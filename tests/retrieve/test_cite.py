"""Spans of quotes, their contexts, and previews."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.model.requests import MAX_QUOTE_CHARS
from graphctx.nlp.tokens import AnswerCounter
from graphctx.retrieve.cite import around, cut_span, preview_span
from graphctx.retrieve.documents import DocumentText
from graphctx.text.graphemes import first_end, is_boundary

COUNTER = AnswerCounter()
TEXTS = st.text(max_size=400) | st.lists(
    st.sampled_from(["gate", " ", "\n", "e\u0301", "👨‍👩‍👧", "。", "x" * 80, "a.b"]), max_size=60
).map("".join)


def document(text: str) -> DocumentText:
    return DocumentText(0, "d_x", "x", "X", (), None, (), text, [0])


@given(TEXTS, st.data())
def test_a_cut_span_is_a_prefix_within_its_limits(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    limit = data.draw(st.integers(8, 200))
    cut = cut_span(text, start, end, limit, COUNTER)
    assert start == cut.start_char <= cut.end_char <= end
    assert cut.truncated is (cut.end_char < end)
    assert cut.end_char - cut.start_char <= MAX_QUOTE_CHARS
    assert COUNTER.count(text[cut.start_char : cut.end_char]) <= limit or cut.end_char == first_end(text, start)
    if is_boundary(text, start) and is_boundary(text, end):
        assert is_boundary(text, cut.end_char)


def test_a_cut_falls_between_words() -> None:
    text = "The harbour gate opens at noon and closes at sunset, every day of the whole year."
    cut = cut_span(text, 0, len(text), 9, COUNTER)
    assert cut.truncated
    assert not text[cut.end_char].isalnum() or not text[cut.end_char - 1].isalnum()


@pytest.mark.parametrize(
    "link", ["[tide\ntable](https://a.org/tides#of-the-year)", "https://a.org/tides/of/the/year?x=1"]
)
def test_a_cut_leaves_a_link_whole_unless_it_is_most_of_the_span(link: str) -> None:
    text = f"The gate opens by the tide, and the watch of the harbour writes it down. See {link} of the harbour."
    ends = {cut_span(text, 0, len(text), limit, COUNTER).end_char for limit in range(8, 60)}
    assert not any(text.index(link) < end < text.index(link) + len(link) for end in ends)
    assert {text.index(link) - 1, len(text)} <= ends
    cut = cut_span(link, 0, len(link), 8, COUNTER)
    assert cut.truncated
    assert cut.end_char > 8


@given(TEXTS, st.data())
def test_context_is_contiguous_with_its_span_and_keeps_its_limit(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    limit = data.draw(st.integers(0, 60))
    before, after = around(document(text), start, end, limit, COUNTER)
    assert text[:start].endswith(before)
    assert text[end:].startswith(after)
    assert COUNTER.count(before) <= limit
    assert COUNTER.count(after) <= limit
    assert before.strip() or not before
    assert after.strip() or not after
    if is_boundary(text, start):
        assert is_boundary(text, start - len(before))
    if is_boundary(text, end):
        assert is_boundary(text, end + len(after))
    low, high = data.draw(st.integers(0, start)), data.draw(st.integers(end, len(text)))
    inner = around(document(text), start, end, limit, COUNTER, (low, high))
    assert text[low:start].endswith(inner[0])
    assert text[end:high].startswith(inner[1])
    assert max(map(COUNTER.count, inner)) <= limit


def test_context_within_bounds_that_split_a_word_or_a_grapheme_is_found() -> None:
    text = "one two three four e\u0301te\u0301 five"
    assert around(document(text), 4, 7, 60, COUNTER, (2, 11)) == ("e ", " thr")
    assert around(document(text), 19, 24, 60, COUNTER, (20, 24)) == ("", "")


@given(st.lists(st.integers(1, 300), min_size=1, max_size=12), st.data())
def test_a_preview_is_one_to_three_consecutive_sentences_around_the_best(
    lengths: list[int], data: st.DataObject
) -> None:
    spans, at = [], 0
    for length in lengths:
        spans.append((at, at + length))
        at += length + 1
    values = data.draw(st.lists(st.floats(0, 1), min_size=len(spans), max_size=len(spans)))
    limit = data.draw(st.integers(40, 1000))
    start, end = preview_span(spans, values, limit)
    best = max(range(len(spans)), key=lambda i: (values[i], -i))
    assert start <= spans[best][0] < end
    inside = [span for span in spans if start <= span[0] and span[1] <= end]
    assert 1 <= len(inside) <= 3
    assert (inside[0][0], inside[-1][1]) == (start, end)
    assert end - start <= limit or len(inside) == 1
