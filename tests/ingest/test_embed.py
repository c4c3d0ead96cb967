from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from graphctx.ingest.corpus import heading_path
from graphctx.ingest.embed import embed_texts, quantise, sentence_texts, unit_text
from graphctx.ingest.split import split_document
from graphctx.model.documents import Document
from graphctx.nlp.base import Embedder, Vectors
from graphctx.nlp.embedders import DEFAULT, make_embedder
from graphctx.nlp.tokens import WordPieceCounter
from graphctx.store.cache import Memo

Read = Callable[[str, str], Document]


class Counting:
    """The real embedder, which remembers what it was asked to embed."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.asked: list[str] = []
        self.name, self.dimension, self.max_tokens = inner.name, inner.dimension, inner.max_tokens
        self.fingerprint = inner.fingerprint

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return self._inner.embed(texts)


@pytest.fixture(scope="module")
def model() -> Embedder:
    return make_embedder(DEFAULT)


def test_each_distinct_text_is_embedded_once_in_its_life(model: Embedder, tmp_path: Path) -> None:
    texts = ["the gate", "", "a buoy", "the gate"]
    with Memo(tmp_path / "memo.sqlite") as memo:
        counting = Counting(model)
        first = embed_texts(texts, counting, memo)
        assert sorted(counting.asked) == ["a buoy", "the gate"]
    with Memo(tmp_path / "memo.sqlite") as memo:
        again = Counting(model)
        done: list[int] = []
        second = embed_texts([*texts, "a third"], again, memo, done.append)
        assert again.asked == ["a third"]
        assert sum(done) == 4
    assert (second[:4] == first).all()
    assert (first[0] == first[3]).all()
    assert not first[1].any()
    assert np.allclose(np.linalg.norm(first[[0, 2]], axis=1), 1.0, atol=1e-4)


def test_another_model_never_gets_the_vectors_of_this_one(model: Embedder, tmp_path: Path) -> None:
    with Memo(tmp_path / "memo.sqlite") as memo:
        embed_texts(["the gate"], model, memo)
        other = Counting(model)
        other.fingerprint = "another"
        embed_texts(["the gate"], other, memo)
        assert other.asked == ["the gate"]


def test_what_is_embedded_says_where_it_stands(read_text: Read) -> None:
    document = read_text("a.md", "# Harbour\n\n## Gate\n\n### Keys\n\nThere are two keys in the box. Yes.")
    split = split_document(document, WordPieceCounter())
    unit = split.units[0]
    section = next(section for section in split.sections if section.id == unit.section_id)
    heading = heading_path(document, section)
    assert heading == "Gate › Keys"
    assert unit_text(document, heading, unit) == "Harbour › Gate › Keys\nThere are two keys in the box. Yes."
    assert sentence_texts(document, heading, unit) == ["Keys: There are two keys in the box.", ""]
    assert sentence_texts(document, "", unit)[0] == "Harbour: There are two keys in the box."


@given(arrays.arrays(np.float32, st.tuples(st.integers(0, 6), st.just(16)), elements=st.floats(-1, 1, width=32)))
def test_quantising_loses_less_than_half_a_percent_of_the_peak(vectors: Vectors) -> None:
    small = quantise(vectors)
    assert small.values.dtype == np.int8
    assert small.scale.dtype == np.float32
    peak = np.abs(vectors).max(axis=1, initial=0.0, keepdims=True)
    restored = small.values * small.scale[:, None]
    assert (np.abs(restored - vectors) <= 0.004 * peak + 1e-30).all()
    assert not restored[~vectors.any(axis=1)].any()
