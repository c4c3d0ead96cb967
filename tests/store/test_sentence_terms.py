from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.errors import BackendUnavailable
from graphctx.store.bm25 import Bm25, write_bm25
from graphctx.store.sentence_terms import SentenceTerms, write_sentence_terms

WORDS = st.sampled_from("buoy gate harbour logger noon sunset tide vane".split())
ASKED = st.lists(WORDS | st.sampled_from(["unheard", "", "é"]), max_size=6, unique=True)


@given(
    st.lists(st.lists(WORDS, max_size=8), max_size=6),
    st.lists(st.lists(WORDS | st.just("é"), max_size=8), min_size=1, max_size=20),
    ASKED,
    st.data(),
)
def test_sentences_hold_the_terms_that_were_written_whether_units_have_them_or_not(
    units: list[list[str]], sentences: list[list[str]], asked: list[str], data: st.DataObject
) -> None:
    rows = data.draw(st.lists(st.integers(0, len(sentences) - 1), max_size=30))
    with tempfile.TemporaryDirectory() as folder:
        write_sentence_terms(Path(folder), sentences, write_bm25(Path(folder), units))
        index = SentenceTerms(Path(folder), Bm25.open(Path(folder)).vocabulary)
        held = index.held(asked, np.array(rows, dtype=np.int64))
        assert len(index) == len(sentences)
        assert held.shape == (len(rows), len(asked))
        assert held.tolist() == [[term in sentences[row] for term in asked] for row in rows]


@pytest.mark.parametrize("name", ["sentence_terms.npy", "sentence_ends.npy", "sentence_own.json"])
def test_truncated_sentence_terms_are_unavailable(tmp_path: Path, name: str) -> None:
    write_sentence_terms(tmp_path, [["tide", "gate"], ["tide"]], write_bm25(tmp_path, [["tide", "gate"]]))
    with (tmp_path / name).open("r+b") as file:
        file.truncate((tmp_path / name).stat().st_size - 1)
    with pytest.raises(BackendUnavailable, match=r"(?i)ingest"):
        SentenceTerms(tmp_path, {"tide": 0, "gate": 1})


def test_a_file_that_shrinks_after_it_was_opened_is_noticed(tmp_path: Path) -> None:
    write_sentence_terms(tmp_path, [["tide", "gate"], ["tide"]], write_bm25(tmp_path, [["tide", "gate"]]))
    index = SentenceTerms(tmp_path, {"tide": 0, "gate": 1})
    path = tmp_path / "sentence_terms.npy"
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 4)
    assert index.held(["tide"], np.array([0])).tolist() == [[True]]
    with pytest.raises(BackendUnavailable, match=r"(?i)ingest"):
        index.held(["tide"], np.array([1]))
