from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.store.phrased import PhrasedSentence, read_phrased, write_phrased

sentences = st.lists(
    st.builds(PhrasedSentence, st.text(st.characters(codec="utf-8")), st.lists(st.integers(0, 2**31 - 1)).map(tuple))
)


@given(sentences)
def test_what_is_written_is_read_again(given_sentences: list[PhrasedSentence]) -> None:
    assert read_phrased(write_phrased(given_sentences)) == given_sentences


@pytest.mark.parametrize("value", [None, "", "A sentence.", "3", "null", '[{"text": "x"}]', '[{"rows": [1]}]', "[1]"])
def test_what_has_no_such_form_reads_as_extractive(value: str | None) -> None:
    assert read_phrased(value) == []


def test_no_sentence_is_null() -> None:
    assert write_phrased([]) is None
