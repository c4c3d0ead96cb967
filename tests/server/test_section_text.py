"""get_section_text ends between graphemes, whatever cuts it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from graphctx.errors import BudgetExceeded
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.budgets import Limits
from graphctx.text.graphemes import is_boundary

from .calls import call, context_over, unit_with


@given(st.integers(300, 1_500), st.integers(1_400, 5_000), st.integers(64, 1_200))
@settings(deadline=None, max_examples=60)
def test_a_shortened_section_ends_between_graphemes(
    kb: KnowledgeBase, max_tokens: int, max_bytes: int, size: int
) -> None:
    unit, document = unit_with(kb, "odd/marks.md", "The "), kb.document("odd/marks.md").text
    context = context_over(kb, Limits(max_tokens, max_bytes))
    try:
        answer, _ = call(context, "get_section_text", section_ids=[unit.section_id], max_bytes_per=size)
    except BudgetExceeded:
        return
    section = answer["sections"][0]
    assert document[section["start_char"] : section["end_char"]] == section["text"] != ""
    assert is_boundary(document, section["end_char"])
    assert section["truncated"] == (section["text"] != unit.text)


def test_the_text_says_how_many_sections_it_holds(kb: KnowledgeBase) -> None:
    unit = unit_with(kb, "odd/marks.md", "The ")
    _, text = call(context_over(kb), "get_section_text", section_ids=[unit.section_id])
    assert text.startswith("1 section from project handbook")
