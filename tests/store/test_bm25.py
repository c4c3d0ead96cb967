"""The lexical index: BM25 of units, and the terms of sentences."""

from __future__ import annotations

import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from math import log1p
from pathlib import Path

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.errors import BackendUnavailable
from graphctx.store.bm25 import K1, B, Bm25, SentenceTerms, write_bm25, write_sentence_terms

WORDS = st.sampled_from("buoy gate harbour logger noon sunset tide vane".split())
UNITS = st.lists(st.lists(WORDS, max_size=12), min_size=1, max_size=20)


@given(UNITS, st.lists(WORDS | st.just("unheard"), max_size=6))
def test_units_with_a_term_are_found_with_their_bm25(units: list[list[str]], asked: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_bm25(Path(folder), units)
        index = Bm25.open(Path(folder))
        mean = sum(map(len, units)) / len(units)
        frequency = Counter(term for unit in units for term in set(unit))
        expected = {}
        for row, unit in enumerate(units):
            score = 0.0
            for term in set(asked) & set(unit):
                idf = log1p((len(units) - frequency[term] + 0.5) / (frequency[term] + 0.5))
                score += idf * unit.count(term) / (unit.count(term) + K1 * (1 - B + B * len(unit) / mean))
                assert index.idf(term) == pytest.approx(idf)
            if score:
                expected[row] = score
        for _ in range(2):
            rows, values = index.scores(asked)
            assert rows.tolist() == list(expected)
            assert values.tolist() == pytest.approx(list(expected.values()), rel=1e-5)


def test_values_are_those_of_the_library_whatever_was_asked_before_and_on_every_thread(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    vocabulary = [f"word{n}" for n in range(400)]
    write_bm25(tmp_path, [[vocabulary[int(400 * x**3)] for x in rng.random(30)] for _ in range(2_000)])
    index, library = Bm25.open(tmp_path), bm25s.BM25.load(str(tmp_path))
    asked = [[vocabulary[int(400 * x**3)] for x in rng.random(6)] for _ in range(100)]

    def scores(terms: list[str]) -> bytes:
        every = np.zeros(2_000, dtype=np.float32)
        rows, values = index.scores(terms)
        every[rows] = values
        return every.tobytes()

    numbers = [[library.vocab_dict[term] for term in sorted(set(terms))] for terms in asked]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(scores, asked)) == [library.get_scores_from_ids(some).tobytes() for some in numbers]


@given(
    st.lists(st.lists(WORDS, max_size=8), max_size=6),
    st.lists(st.lists(WORDS | st.just("é"), max_size=8), min_size=1, max_size=20),
    st.lists(WORDS | st.sampled_from(["unheard", "", "é"]), max_size=6, unique=True),
    st.data(),
)
def test_sentences_hold_the_terms_that_were_written_whether_units_have_them_or_not(
    units: list[list[str]], sentences: list[list[str]], asked: list[str], data: st.DataObject
) -> None:
    rows = data.draw(st.lists(st.integers(0, len(sentences) - 1), max_size=30))
    with tempfile.TemporaryDirectory() as folder:
        write_sentence_terms(Path(folder), sentences, write_bm25(Path(folder), units))
        index = SentenceTerms(Path(folder), Bm25.open(Path(folder)).vocabulary)
        assert len(index) == len(sentences)
        held = index.contains(asked, np.array(rows, dtype=np.int64))
        assert held.shape == (len(rows), len(asked))
        assert held.tolist() == [[term in sentences[row] for term in asked] for row in rows]


@pytest.mark.parametrize("name", ["sentence_terms.npy", "sentence_ends.npy", "sentence_own.json"])
def test_truncated_sentence_terms_are_unavailable(tmp_path: Path, name: str) -> None:
    write_sentence_terms(tmp_path, [["tide", "gate"], ["tide"]], write_bm25(tmp_path, [["tide", "gate"]]))
    with (tmp_path / name).open("r+b") as file:
        file.truncate(max(1, (tmp_path / name).stat().st_size - 4))
    with pytest.raises(BackendUnavailable, match=r"(?i)ingest"):
        SentenceTerms(tmp_path, {"tide": 0, "gate": 1})
