"""Excerpts: bounded whatever is asked for, exact, and read on to the end of the passage."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from graphctx.errors import BudgetExceeded, InvalidArgument
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.answers import ExcerptAnswer
from graphctx.model.budgets import Limits, weigh
from graphctx.text.graphemes import is_boundary

from .calls import call, context_over, unit_with, units_of
from .documents import FAMILY


def ask(kb: KnowledgeBase, tool: str, limits: Limits | None = None, **arguments: Any) -> ExcerptAnswer:
    """Return an excerpt that is exact and within its hard caps."""
    context = context_over(kb, limits)
    structure, text = call(context, tool, **arguments)
    answer = ExcerptAnswer.model_validate(structure)
    assert kb.document(answer.doc_uri).text[answer.start_char : answer.end_char] == answer.excerpt
    assert context.count(answer.excerpt) <= 800
    assert len(answer.excerpt.encode()) <= 32 * 1024
    assert answer.budget.tokens >= weigh([text, answer.model_dump_json()], context.count).tokens
    assert answer.truncated == (answer.limit_reason != "none")
    return answer


@given(max_tokens=st.integers(12, 120), max_bytes=st.integers(60, 2_000))
@settings(deadline=None, max_examples=25)
def test_reading_on_gives_the_whole_passage_between_graphemes(
    kb: KnowledgeBase, max_tokens: int, max_bytes: int
) -> None:
    unit, read, start = unit_with(kb, "odd/marks.md", "The "), [], 0
    limits = {"max_tokens": max_tokens, "max_bytes": max_bytes}
    while start is not None:
        answer = ask(kb, "kb.read_excerpt", passage_id=unit.section_id, start_char=start, **limits)
        assert kb.tokens.count(answer.excerpt) <= max_tokens
        assert len(answer.excerpt.encode()) <= max_bytes
        assert is_boundary(unit.text, start)
        assert answer.truncated == (answer.next_start_char is not None)
        read.append(answer.excerpt)
        start = answer.next_start_char
    assert "".join(read) == unit.text


def test_a_start_within_a_character_moves_to_where_it_begins(kb: KnowledgeBase) -> None:
    unit = unit_with(kb, "odd/marks.md", FAMILY)
    family = unit.text.index(FAMILY)
    answer = ask(kb, "kb.read_excerpt", passage_id=unit.section_id, start_char=family + 3)
    assert answer.start_char == unit.start_char + family


def test_a_start_past_the_end_is_refused_with_the_length(kb: KnowledgeBase) -> None:
    unit = unit_with(kb, "glossary.txt", "Ledger")
    with pytest.raises(InvalidArgument, match=str(len(unit.text))):
        ask(kb, "kb.read_excerpt", passage_id=unit.section_id, start_char=9999)


def test_a_limit_below_one_character_is_refused_with_what_it_needs(kb: KnowledgeBase) -> None:
    unit = unit_with(kb, "odd/marks.md", FAMILY)
    family = unit.text.index(FAMILY)
    with pytest.raises(BudgetExceeded) as caught:
        ask(kb, "kb.read_excerpt", passage_id=unit.section_id, start_char=family, max_bytes=5)
    needed = caught.value.details["needed_bytes"]
    assert ask(kb, "kb.read_excerpt", passage_id=unit.section_id, start_char=family, max_bytes=needed).excerpt


@given(
    before=st.integers(0, 800), after=st.integers(0, 800), max_tokens=st.integers(8, 800), size=st.integers(60, 32_768)
)
@example(before=800, after=0, max_tokens=800, size=1_200)
@example(before=150, after=150, max_tokens=310, size=32_768)
@settings(deadline=None, max_examples=40)
@pytest.mark.parametrize("uri", ["odd/marks.md", "odd/line.txt"])
def test_an_expanded_excerpt_is_one_span_that_holds_its_passage_whenever_that_fits(
    kb: KnowledgeBase, uri: str, before: int, after: int, max_tokens: int, size: int
) -> None:
    units = units_of(kb, uri)
    unit, document = units[len(units) // 2], kb.document(uri).text
    limits = {"passage_id": unit.section_id, "max_tokens": max_tokens, "max_bytes": size}
    alone = ask(kb, "kb.expand_excerpt", before_tokens=0, after_tokens=0, **limits)
    answer = ask(kb, "kb.expand_excerpt", before_tokens=before, after_tokens=after, **limits)
    assert kb.tokens.count(answer.excerpt) <= max_tokens
    assert len(answer.excerpt.encode()) <= size
    assert is_boundary(document, answer.start_char)
    assert is_boundary(document, answer.end_char)
    assert answer.line == 1 + document.count("\n", 0, answer.start_char)
    if unit.text in alone.excerpt:
        assert unit.text in answer.excerpt
    else:
        assert answer.excerpt == alone.excerpt


@pytest.mark.parametrize("limits", [Limits(1_600, 30_000), Limits(8_000, 4_000)], ids=["tokens", "bytes"])
def test_an_expanded_excerpt_holds_its_passage_in_a_small_response(kb: KnowledgeBase, limits: Limits) -> None:
    unit = units_of(kb, "odd/line.txt")[5]
    wide = {"before_tokens": 800, "after_tokens": 0, "max_tokens": 800}
    answer = ask(kb, "kb.expand_excerpt", limits, passage_id=unit.section_id, **wide)
    assert unit.text in answer.excerpt
    assert answer.truncated
