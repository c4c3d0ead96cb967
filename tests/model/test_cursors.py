from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.errors import InvalidArgument
from graphctx.model.answers import RetrieveInput, SearchInput
from graphctx.model.cursors import read_cursor, write_cursor


@given(st.integers(0, 10**6), st.text().map(lambda text: f"q{text}"))
def test_a_cursor_leads_back_to_its_offset(offset: int, query: str) -> None:
    request = SearchInput(query=query)
    cursor = write_cursor(request, "snap", offset)
    again = SearchInput(query=query, page_size=7, cursor=cursor)
    assert read_cursor(cursor, again, "snap") == offset


def test_without_a_cursor_a_list_starts_at_its_beginning() -> None:
    assert read_cursor(None, SearchInput(query="x"), "snap") == 0


@given(st.text(max_size=80))
def test_what_is_no_cursor_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument):
        read_cursor(text, SearchInput(query="x"), "snap")


def test_a_cursor_holds_for_its_question_tool_and_snapshot_only() -> None:
    cursor = write_cursor(SearchInput(query="x"), "snap", 3)
    for request, snapshot in (
        (SearchInput(query="y"), "snap"),
        (SearchInput(query="x", top_k=9), "snap"),
        (SearchInput(query="x"), "later"),
        (RetrieveInput(question="x"), "snap"),
    ):
        with pytest.raises(InvalidArgument, match="without cursor"):
            read_cursor(cursor, request, snapshot)
