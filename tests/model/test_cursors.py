from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.errors import InvalidArgument
from graphctx.model.cursors import SAMPLE_CURSOR, Cursors
from graphctx.model.requests import RetrieveInput, SearchInput

CURSORS = Cursors(b"a key")


@given(st.integers(0, 2**32 - 1), st.text(min_size=1, max_size=40).filter(str.strip), st.integers(1, 50))
def test_a_cursor_gives_back_its_offset_whatever_the_page_size(offset: int, query: str, page_size: int) -> None:
    cursor = CURSORS.write(SearchInput(query=query), "snap", offset)
    again = SearchInput(query=query, page_size=page_size, cursor=cursor, max_tokens=500, session_id="x")
    assert CURSORS.read(cursor, again, "snap") == offset
    assert len(cursor) == len(SAMPLE_CURSOR)


def test_no_cursor_is_the_start() -> None:
    assert CURSORS.read(None, SearchInput(query="x"), "snap") == 0


@pytest.mark.parametrize("at", range(len(SAMPLE_CURSOR)))
def test_a_cursor_of_which_any_character_was_altered_is_refused(at: int) -> None:
    cursor = CURSORS.write(SearchInput(query="x"), "snap", 5)
    for letter in set(string.ascii_letters + string.digits + "=") - {cursor[at]}:
        altered = cursor[:at] + letter + cursor[at + 1 :]
        with pytest.raises(InvalidArgument, match="altered"):
            CURSORS.read(altered, SearchInput(query="x"), "snap")


@given(st.integers(0, 2**32 - 1))
def test_a_cursor_in_other_letters_or_with_more_of_them_is_refused(offset: int) -> None:
    cursor = CURSORS.write(SearchInput(query="x"), "snap", offset)
    for altered in (cursor.upper(), cursor.title(), f"{cursor}=", f"{cursor}======", cursor + "a", cursor[:-1]):
        with pytest.raises(InvalidArgument, match="altered"):
            CURSORS.read(altered, SearchInput(query="x"), "snap")


@given(st.text(max_size=100))
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument, match="Repeat the call without cursor"):
        CURSORS.read(text, SearchInput(query="x"), "snap")


def test_a_cursor_of_another_key_is_refused() -> None:
    cursor = Cursors(b"another").write(SearchInput(query="x"), "snap", 5)
    with pytest.raises(InvalidArgument, match="another server"):
        CURSORS.read(cursor, SearchInput(query="x"), "snap")


@pytest.mark.parametrize(
    ("request_", "snapshot", "why"),
    [
        (SearchInput(query="y"), "snap", "other arguments"),
        (SearchInput(query="x", top_k=6), "snap", "other arguments"),
        (SearchInput(query="x", scope={"doc_tags": ["a"]}), "snap", "other arguments"),
        (SearchInput(query="x", filters={"path_prefix": "a"}), "snap", "other arguments"),
        (RetrieveInput(question="x"), "snap", "other arguments"),
        (SearchInput(query="x"), "snap2", "published anew"),
    ],
)
def test_a_cursor_continues_only_its_own_call(request_: SearchInput, snapshot: str, why: str) -> None:
    cursor = CURSORS.write(SearchInput(query="x"), "snap", 3)
    with pytest.raises(InvalidArgument, match=why):
        CURSORS.read(cursor, request_, snapshot)
