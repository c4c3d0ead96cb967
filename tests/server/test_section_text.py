"""get_section_text ends between graphemes, whatever cuts it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from graphctx.errors import BudgetExceeded
from graphctx.model.budgets import Limits
from graphctx.text.graphemes import is_boundary

from .calls import call, desk_over
from .library import Library

FAMILIES = "\U0001f468\u200d\U0001f469\u200d\U0001f467Z\u0351\u036b\u0343\U0001f1eb\U0001f1ee\u1112\u1161\u11ab" * 60
LIBRARY = Library({"a.md": ("A", "", f"The {FAMILIES}\n")})
UNIT = next(iter(LIBRARY.units))


@given(st.integers(300, 1_500), st.integers(1_400, 5_000), st.integers(64, 4_000))
@settings(deadline=None, max_examples=60)
def test_a_shortened_section_ends_between_graphemes(max_tokens: int, max_bytes: int, size: int) -> None:
    desk = desk_over(LIBRARY, Limits(max_tokens, max_bytes))
    try:
        answer, _ = call(desk, "get_section_text", section_ids=[UNIT], max_bytes_per=size)
    except BudgetExceeded:
        return
    section = answer["sections"][0]
    document = LIBRARY.text_of("a.md")
    assert document[section["start_char"] : section["end_char"]] == section["text"] != ""
    assert is_boundary(document, section["end_char"])
    assert section["truncated"] == (section["text"] != LIBRARY.units[UNIT].text)
