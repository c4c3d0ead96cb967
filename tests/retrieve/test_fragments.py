"""The fragments that stand for spans that are too long to be quoted whole."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.knowledge_base import KnowledgeBase
from graphctx.nlp.tokens import AnswerCounter
from graphctx.retrieve.cite import cut_span
from graphctx.retrieve.fragments import best_fragments, split_fragments
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import parse_question
from graphctx.text.graphemes import first_end
from tests.retrieve.test_cite import TEXTS

COUNTER = AnswerCounter()


@pytest.fixture(scope="module")
def index(handbook_kb: KnowledgeBase) -> SearchIndex:
    return handbook_kb.searcher().index


def quoted(index: SearchIndex, question: str, text: str, max_tokens: int) -> str:
    cut = best_fragments(parse_question(question, index), text, (0, len(text)), max_tokens, COUNTER)
    return text[cut.start_char : cut.end_char]


def test_a_long_block_is_quoted_from_the_lines_that_bear_on_the_question(index: SearchIndex) -> None:
    lines = [f"    setting_{i} = compute({i})" for i in range(40)]
    lines[30] = "    wanted = open_gate()"
    quote = quoted(index, "What opens the gate?", "\n".join(lines), 40)
    assert "wanted = open_gate()" in quote
    assert quote == quote.lstrip()


def test_a_long_list_of_names_is_quoted_from_the_name_that_is_asked_for(index: SearchIndex) -> None:
    names = [f"buoy {i} of the harbour" for i in range(60)]
    names[44] = "the sturdy Whistler"
    quote = quoted(index, "What about the Whistler?", f"The fleet has {', '.join(names)}.", 40)
    assert "the sturdy Whistler" in quote


@given(TEXTS.filter(str.strip), st.integers(8, 100))
def test_the_best_fragments_begin_with_a_line_or_a_clause(index: SearchIndex, text: str, limit: int) -> None:
    text = text.strip()
    cut = best_fragments(parse_question("When is the gate open?", index), text, (0, len(text)), limit, COUNTER)
    start = cut.start_char
    before = text[text.rfind("\n", 0, start) + 1 : start]
    assert start == 0 or not text[start].isspace()
    assert not before.strip() or (before[-1].isspace() and (before.rstrip()[-1] in ";:,." or text[start] in "(–—"))
    whole = cut_span(text, 0, len(text), limit, COUNTER)
    if not whole.truncated:
        assert (start, cut.end_char, cut.truncated) == (0, len(text), False)
    assert COUNTER.count(text[start : cut.end_char]) <= limit or cut.end_char == first_end(text, start)
    assert cut.end_char - start >= whole.end_char // 2


def test_a_link_over_two_lines_is_in_one_fragment() -> None:
    link = "[the buoy, the\nbell](https://a.org/bell)"
    text = f"The gate is green.\nIt has {link} and a lamp.\nIt is old."
    parts = [text[start:end] for start, end in split_fragments(text, 0, len(text), 8)]
    assert parts == ["The gate is green.", f"It has {link} and a lamp.", "It is old."]


@given(TEXTS, st.integers(8, 100))
def test_fragments_hold_all_that_is_not_white_space_in_order(text: str, limit: int) -> None:
    spans = split_fragments(text, 0, len(text), limit)
    assert "".join("".join(text[start:end].split()) for start, end in spans) == "".join(text.split())
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
