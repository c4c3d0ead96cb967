"""What every stage in a registry keeps: its protocol, the scope, and determinism."""

from __future__ import annotations

import numpy as np
import pytest

from graphctx import KnowledgeBase
from graphctx.model.requests import Filters, Scope
from graphctx.retrieve.arrays import Rows, SparseScores
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import Question, parse_question
from graphctx.retrieve.stages import EXPANSIONS, FIRST_STAGES, RERANKERS
from graphctx.retrieve.stages.arrays_search import search_arrays

Asked = tuple[SearchIndex, Question]


@pytest.fixture(scope="module", params=["everything", "one document"])
def asked(request: pytest.FixtureRequest, lancedb_kb: KnowledgeBase) -> Asked:
    """A question about the whole handbook, and one about a single document of it."""
    searcher = lancedb_kb.searcher()
    text = "How often does a freshly built data logger fail its cold test?"
    uri = "" if request.param == "everything" else lancedb_kb.search(text).results[0].doc_uri
    index = searcher.index.within(Scope(), Filters(path_prefix=uri))
    return index, parse_question(text, index)


def check_rows(index: SearchIndex, rows: Rows) -> None:
    """Sorted, distinct and visible."""
    assert (np.diff(rows) > 0).all()
    assert np.isin(rows, index.visible_rows).all()


@pytest.mark.parametrize("name", FIRST_STAGES)
def test_a_first_stage_returns_visible_candidates_with_their_scores(asked: Asked, name: str) -> None:
    found, again = (FIRST_STAGES[name](*asked, 10) for _ in range(2))
    check_rows(asked[0], found.rows)
    assert found.rows.tolist() == sorted({*found.lexical.tolist(), *found.nearest.tolist()})
    assert 0 < len(found.nearest) <= 10
    assert len(found.lexical) <= 10
    for best, score in ((found.lexical, found.scorer.bm25), (found.nearest, found.scorer.cosine)):
        assert score(best).dtype == np.float32
        assert (np.diff(score(best)) <= 1e-6).all(), "best first"
    assert found.bm25_max >= found.scorer.bm25(found.rows).max() - 1e-6
    assert found.cosine_min <= found.scorer.cosine(found.nearest).max() <= found.cosine_max + 1e-6
    assert (again.lexical.tolist(), again.nearest.tolist()) == (found.lexical.tolist(), found.nearest.tolist())


@pytest.mark.parametrize("name", EXPANSIONS)
def test_an_expansion_leads_from_the_seeds_to_visible_units(asked: Asked, name: str) -> None:
    candidates = search_arrays(*asked, 50).rows
    seeds = SparseScores(candidates[:5], np.ones(len(candidates[:5]), dtype=np.float32))
    expanded, again = (EXPANSIONS[name](*asked, seeds, candidates) for _ in range(2))
    check_rows(asked[0], expanded.gain.rows)
    assert np.isfinite(expanded.gain.values).all()
    for kind, edges in expanded.edges.items():
        assert np.isin(edges.source, seeds.rows).all()
        assert np.isin(edges.target, asked[0].visible_rows).all()
        assert edges.value.tolist() == again.edges[kind].value.tolist()
    assert again.gain.values.tolist() == expanded.gain.values.tolist()


@pytest.mark.parametrize("name", RERANKERS)
def test_a_reranker_returns_one_score_for_each_unit_and_leaves_its_arguments(asked: Asked, name: str) -> None:
    rows = search_arrays(*asked, 50).nearest
    scores = np.linspace(1.0, 0.1, len(rows), dtype=np.float32)
    given = scores.tolist()
    reranked, again = (RERANKERS[name](*asked, rows, scores) for _ in range(2))
    assert reranked.shape == rows.shape
    assert np.isfinite(reranked).all()
    assert again.tolist() == reranked.tolist()
    assert scores.tolist() == given
