import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from graphctx.text.normalise import normalise

ANY_TEXT = st.text(st.characters(codec=None, categories=None), max_size=200)


@given(ANY_TEXT)
def test_a_second_time_changes_nothing(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once


@given(ANY_TEXT)
def test_the_result_can_be_stored_and_is_composed(text: str) -> None:
    result = normalise(text)
    result.encode("utf-8")
    assert "\r" not in result
    assert "\x00" not in result
    assert not result.startswith("\ufeff")
    assert unicodedata.is_normalized("NFC", result)


def test_nul_and_lone_surrogates_are_replaced() -> None:
    assert normalise("a\x00b") == "a\ufffdb"
    assert normalise("a\ud800é") == "a\ufffdé"


def test_accents_are_composed_and_nothing_else_is_changed() -> None:
    assert normalise("cafe\u0301") == "café"
    assert normalise("  ﬁ ﷺ\t\u200b ") == "  ﬁ ﷺ\t\u200b "
