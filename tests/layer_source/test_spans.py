from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graphctx.layer_source.chunks import best_span, piece_of
from graphctx.text.graphemes import is_boundary

PAGES = "".join(f"Station {n} reports each hour. It stands on rock {n}.\n\n" for n in range(5000))
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


def test_the_sentence_that_shares_most_words_is_the_span() -> None:
    content = "Ships pay by length. Gulls are not fed. The bell rings."
    start, end = best_span("are gulls fed?", content)
    assert content[start:end] == "Gulls are not fed."


def test_a_query_that_stands_in_the_text_is_found_however_far_down() -> None:
    start, end = best_span("It stands on rock 4999", PAGES)
    assert PAGES[start:end] == "It stands on rock 4999."


def test_a_text_that_shares_nothing_is_shown_from_its_start_and_an_empty_one_not_at_all() -> None:
    assert best_span("zebra", "Ships pay. Gulls fly.") == (0, 10)
    assert best_span("zebra", " \n ") == (0, 0)


def test_a_short_text_is_shown_whole_and_a_long_one_around_its_span() -> None:
    assert piece_of("gulls", "Gulls fly.", 40).text == "Gulls fly."
    piece = piece_of("It stands on rock 2500", PAGES, 200)
    assert "It stands on rock 2500." in piece.text
    assert piece.length <= 200


@given(texts, texts, st.integers(40, 400))
def test_a_piece_is_exact_and_cuts_no_character(query: str, content: str, most: int) -> None:
    piece = piece_of(query, content * 3, most)
    assert (content * 3)[piece.start_char : piece.end_char] == piece.text
    assert piece.length <= most or piece.length <= 64
    assert is_boundary(content * 3, piece.start_char)
    assert is_boundary(content * 3, piece.end_char)
    start, end = best_span(query, content)
    assert 0 <= start <= end <= len(content)
