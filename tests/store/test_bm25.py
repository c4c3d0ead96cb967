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

from graphctx.store.bm25 import K1, B, Bm25, write_bm25

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
            rows, values = index.found(asked)
            assert rows.tolist() == list(expected)
            assert values.tolist() == pytest.approx(list(expected.values()), rel=1e-5)


def test_values_are_those_of_the_library_whatever_was_asked_before_and_on_every_thread(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    vocabulary = [f"word{n}" for n in range(400)]
    write_bm25(tmp_path, [[vocabulary[int(400 * x**3)] for x in rng.random(30)] for _ in range(2_000)])
    index = Bm25.open(tmp_path)
    library = bm25s.BM25.load(str(tmp_path))
    asked = [[vocabulary[int(400 * x**3)] for x in rng.random(6)] for _ in range(100)]

    def scores(terms: list[str]) -> bytes:
        every = np.zeros(2_000, dtype=np.float32)
        rows, values = index.found(terms)
        every[rows] = values
        return every.tobytes()

    expected = [
        library.get_scores_from_ids([library.vocab_dict[term] for term in sorted(set(terms))]).tobytes()
        for terms in asked
    ]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(scores, asked)) == expected
