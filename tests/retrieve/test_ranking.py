"""Ranking over small corpora, where it is plain what should come first."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx import KnowledgeBase
from graphctx.errors import InvalidArgument
from graphctx.eval.ask import Asker
from graphctx.retrieve.arrays import NO_SCORES, Rows, SparseScores
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import Question, parse_question
from graphctx.retrieve.stages import Edges
from graphctx.retrieve.stages.graph import GraphExpansion
from graphctx.retrieve.variants import VARIANTS, variant_named
from tests.conftest import MakeKb

VALLEYS = {
    "oskar-river.md": "# Oskar River\n\nThe Oskar River is a river that rises in the hills of Marlund.\n",
    "tavia-falls.md": "# Tavia\n\nBelow Tavia the tallest waterfall of Marlund drops into a pool.\n",
    "senna.md": "# Senna\n\nBeside Senna a waterfall can be heard from the road to Brenholt.\n",
    "brenholt.md": "# Brenholt\n\nBrenholt is a port. Its fish market opens at five, before the trams run.\n",
    "fair.md": "# Summer fair\n\nThe summer fair of Marlund has horses, cider and wrestling.\n",
}
"""What tells the waterfall that is meant from the other one is only that its unit, too, names Marlund."""

QUESTION = "How tall is the waterfall in the country where the Oskar River rises?"

sparse = st.dictionaries(st.integers(0, 40), st.floats(0, 2, width=32), max_size=12).map(
    lambda values: SparseScores(
        np.array(sorted(values), dtype=np.int64), np.array([values[k] for k in sorted(values)], "f4")
    )
)


def bridge_edges(index: SearchIndex, question: Question, seeds: Rows) -> Edges:
    strength = SparseScores(seeds, np.ones(len(seeds), dtype=np.float32))
    return GraphExpansion()(index, question, strength, np.arange(index.walk.n_units)).edges["bridge"]


def test_the_unit_that_completes_a_seed_is_told_from_one_that_only_has_the_words(make_kb: MakeKb) -> None:
    kb = make_kb(VALLEYS)
    index = kb.searcher().index
    uris = index.documents["uri"].to_pylist()
    river, falls, other = (uris.index(name) for name in ("oskar-river.md", "tavia-falls.md", "senna.md"))
    question = parse_question(QUESTION, index)
    seeds = np.array([river])
    edges = bridge_edges(index, question, seeds)
    names = index.snapshot.table("entities", columns=["name"])["name"].to_pylist()
    reached = dict(zip(edges.target.tolist(), edges.value.tolist(), strict=True))
    assert reached[falls] > 0
    assert other not in reached
    assert reached[falls] == max(reached.values())
    assert {names[entity] for entity in edges.entity[edges.target == falls]} == {"Marlund"}
    assert edges.source.tolist() == [river] * len(edges.source)
    assert (edges.value <= 1).all()


def test_an_entity_that_the_question_names_bridges_nothing(make_kb: MakeKb) -> None:
    index = make_kb(VALLEYS).searcher().index
    question = parse_question("Which waterfall of Marlund is the tallest?", index)
    names = index.snapshot.table("entities", columns=["name"])["name"].to_pylist()
    everything = np.arange(index.walk.n_units)
    edges = bridge_edges(index, question, everything)
    assert "Marlund" not in {names[entity] for entity in edges.entity}


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_ranks_each_unit_once_best_first(handbook_kb: KnowledgeBase, variant: str) -> None:
    searcher = handbook_kb.searcher()
    ranked = searcher.rank("Who approves a purchase?", variant_named(variant))
    assert isinstance(ranked, tuple)
    ranking = ranked[1]
    assert len(ranking.rows) == len(set(ranking.rows.tolist())) == len(ranking.scores) == len(ranking.sources)
    assert (np.diff(ranking.scores) <= 0).all()


def test_an_unknown_variant_is_refused_with_those_that_there_are(handbook_kb: KnowledgeBase) -> None:
    with pytest.raises(InvalidArgument, match="hybrid_local"):
        Asker(handbook_kb, "best")


@given(sparse, sparse)
def test_sums_of_sparse_values_are_those_of_dense_ones(left: SparseScores, right: SparseScores) -> None:
    rows = np.arange(41)
    parts = (left.rows, left.values), (right.rows, right.values)
    assert SparseScores.sum_of_best(*parts).at(rows) == pytest.approx(left.at(rows) + right.at(rows))
    assert SparseScores.sum_of_best().at(rows) == pytest.approx(NO_SCORES.at(rows))
    twice = np.concatenate([left.rows, left.rows]), np.concatenate([left.values, left.values / 2])
    assert SparseScores.sum_of_best(twice).at(rows) == pytest.approx(left.at(rows))
    best = left.top(3)
    assert [left.at(np.array([row]))[0] for row in best] == sorted(left.values[left.values > 0], reverse=True)[:3]


def test_a_seed_that_holds_nearly_all_of_the_question_is_hardly_completed(make_kb: MakeKb) -> None:
    index = make_kb(VALLEYS).searcher().index
    uris = index.documents["uri"].to_pylist()
    river = np.array([uris.index("oskar-river.md")])

    def best(text: str) -> float:
        edges = bridge_edges(index, parse_question(text, index), river)
        return float(edges.value.max(initial=0.0))

    assert best("Where does the Oskar River rise?") < best(QUESTION)


def test_words_count_where_the_corpus_names_nothing(make_kb: MakeKb) -> None:
    kb = make_kb({f"{n}.txt": f"0x{n:05x} is ok\n" for n in range(80341, 80347)})
    found = kb.search("0x139d8", top_k=3, include_scores=True)
    assert found.results[0].doc_uri == "80344.txt"
    assert found.results[0].scores is not None
    assert found.results[0].scores["bm25"] > 0


@pytest.mark.parametrize("query", ["dew_point", "`--dew_point`", "dew_point?"])
def test_passages_that_hold_the_identifier_asked_for_come_first(make_kb: MakeKb, query: str) -> None:
    about = {f"dew/{n}.md": f"# Dew point {n}\n\nThe dew point of day {n} is a point of dew.\n" for n in range(8)}
    setting = "The station has many settings for the crew of the night. " * 12 + "One is `dew_point`."
    kb = make_kb({**about, "station.md": f"# Station\n\n{setting}\n"})
    results = kb.search(query, top_k=5).results
    assert [result.doc_uri for result in results if "dew_point" in result.preview] == [results[0].doc_uri]


def test_the_parts_of_a_score_make_the_score(handbook_kb: KnowledgeBase) -> None:
    results = handbook_kb.search("Who approves a purchase?", top_k=10, include_scores=True).results
    for result in results[1:]:  # the first is kept in front with the largest score
        assert result.scores is not None
        parts = sum(result.scores[name] for name in ("hybrid", "definition", "graph"))
        assert parts == pytest.approx(result.score, abs=2e-4)
