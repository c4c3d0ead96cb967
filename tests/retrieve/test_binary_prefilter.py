"""The first look at very many vectors: nothing near is missed, and what is found is scored exactly."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.knowledge_base import KnowledgeBase
from graphctx.retrieve import binary_prefilter
from graphctx.retrieve.arrays import inner_products
from graphctx.retrieve.binary_prefilter import BinaryPrefilter
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import parse_question
from graphctx.retrieve.stages.arrays_search import search_arrays


def clustered(n: int, seed: int, noise: float = 0.9) -> npt.NDArray[np.float32]:
    """Unit vectors around forty directions, as those of texts on forty subjects lie."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((40, 384)) / np.sqrt(384)
    made = centres[rng.integers(0, 40, n)] + noise * rng.standard_normal((n, 384)) / np.sqrt(384)
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_differing_signs_are_counted(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((n, 128)).astype(np.float32)
    vectors[rng.random(vectors.shape) < 0.1] = 0.0
    question = rng.standard_normal(128).astype(np.float32)
    expected = ((vectors > 0) != (question > 0)).sum(axis=1)
    assert BinaryPrefilter(vectors).differing(question).tolist() == expected.tolist()


@given(st.integers(1, 700), st.integers(0, 2**32 - 1))
def test_products_of_some_rows_are_bit_by_bit_those_of_all(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((n, 384)).astype(np.float32)
    question = rng.standard_normal(384).astype(np.float32)
    rows = rng.integers(0, n, rng.integers(0, 2 * n))
    assert inner_products(vectors, rows, question).tobytes() == np.einsum("ij,j->i", vectors, question)[rows].tobytes()


def test_nearly_all_of_the_nearest_pass() -> None:
    vectors = clustered(20_000, seed=1)
    prefilter, rows = BinaryPrefilter(vectors), np.arange(len(vectors))
    found = []
    for question in clustered(20, seed=1, noise=0.6):
        nearest = np.argsort(-(vectors @ question))[:50]
        found.append(np.isin(nearest, prefilter.likely(question, None, rows)).mean())
    assert np.mean(found) >= 0.98


@pytest.fixture
def many(handbook_kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> SearchIndex:
    """The handbook, searched as if it had very many units."""
    monkeypatch.setattr(binary_prefilter, "MIN_VECTORS", 1)
    monkeypatch.setattr(binary_prefilter, "MIN_KEPT", 60)
    index = handbook_kb.searcher().index
    return SearchIndex(index.snapshot, index.embedder)


def test_few_of_very_many_units_are_scored_and_their_scores_are_the_same(
    many: SearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert many.prefilter is not None
    monkeypatch.undo()
    every = SearchIndex(many.snapshot, many.embedder)
    assert every.prefilter is None
    monkeypatch.setattr(binary_prefilter, "MIN_KEPT", 60)
    for text in ("How do I put Choirboy back on its previous firmware?", "Who repairs the buoy at the Outer Hestra?"):
        question = parse_question(text, every)
        exact, quick = search_arrays(every, question, 20), search_arrays(many, question, 20)
        assert quick.lexical.tolist() == exact.lexical.tolist()
        assert quick.nearest[:5].tolist() == exact.nearest[:5].tolist()
        rows = np.arange(every.walk.n_units)
        assert quick.scorer.cosine(rows).tobytes() == exact.scorer.cosine(rows).tobytes()
        assert quick.scorer.bm25(rows).tobytes() == exact.scorer.bm25(rows).tobytes()
        assert quick.cosine_max == exact.cosine_max


def test_what_may_not_be_seen_is_not_among_the_few(many: SearchIndex) -> None:
    question = parse_question("How do I put Choirboy back on its previous firmware?", many)
    n = many.documents.num_rows
    for documents in (np.arange(n) % 2 == 0, np.arange(n) % 20 == 3, np.arange(n) == 7):
        part = many.part(documents)
        assert part.prefilter is many.prefilter
        assert part.visible is not None
        stage = search_arrays(part, question, 20)
        assert part.visible[stage.rows].all()
        assert len(stage.nearest) == min(20, len(part.visible_rows))
