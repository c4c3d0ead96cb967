from hypothesis import given
from hypothesis import strategies as st

from graphctx.text.lexical import STOPWORDS, fold, stem, terms, words


def test_terms_are_stems_without_stopwords() -> None:
    assert terms("The buoys were running and the runner's calls ran") == ["buoy", "run", "runner", "call", "ran"]


def test_identifiers_count_whole_and_in_parts() -> None:
    assert {"getusernam", "get", "user", "name"} <= set(terms("getUserName"))
    assert {"kb", "search", "kb.search"} <= set(terms("kb.search"))
    assert {"http", "server", "max"} <= set(terms("HTTPServer_max"))
    assert {"fw", "17", "fw-17"} <= set(terms("FW-17"))


def test_the_same_identifier_gives_the_same_term_in_a_text_and_in_a_question() -> None:
    assert set(terms("What does `max_wave_height` mean?")) >= {"max_wave_height", "wave", "height"}
    assert "max_wave_height" in terms("MAX_WAVE_HEIGHT")


@given(st.text(max_size=200))
def test_any_text_gives_terms_that_are_folded_and_never_empty(text: str) -> None:
    found = terms(text)
    assert all(found)
    assert not [term for term in found if term in STOPWORDS and stem(term) == term and term in words(text)]
    assert terms(text) == found


@given(st.text(max_size=100))
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert fold(fold(text)) == fold(text)
