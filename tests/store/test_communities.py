from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graphctx.store.communities import CitedSentence, read_phrased, write_phrased

sentences = st.lists(
    st.builds(CitedSentence, st.text(st.characters(codec="utf-8")), st.lists(st.integers(0, 2**31 - 1)).map(tuple))
)


@given(sentences)
def test_what_is_written_is_read_again(given_sentences: list[CitedSentence]) -> None:
    assert read_phrased(write_phrased(given_sentences)) == given_sentences


def test_no_sentence_is_null() -> None:
    assert write_phrased([]) is None
    assert read_phrased(None) == []
