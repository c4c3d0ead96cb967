"""Ranking of units: ``first stage -> hybrid score -> expansion -> reranker``."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from graphctx.model.answers import RunMode, Source
from graphctx.model.interrupt import checkpoint
from graphctx.retrieve.arrays import NO_SCORES, Rows, Scores, SparseScores, is_in, top_rows, union
from graphctx.retrieve.hybrid_score import HybridScores, hybrid_scores
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import Question
from graphctx.retrieve.stages import Candidates, Expanded, Expansion, FirstStage, Reranker
from graphctx.retrieve.stages.base import NOT_EXPANDED
from graphctx.retrieve.stages.graph import defining_units, no_expansion
from graphctx.retrieve.stages.rerank import no_reranking
from graphctx.retrieve.variants import RankingMode
from graphctx.text.lexical import single_term

SAME_UNIT = 0.98
"""Units with so large a cosine say the same: pages of several versions of a manual, that differ in a number."""

RRF_K = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Buettcher 2009)."""

DEFINITION_BOOST = 0.3
"""Weight of a unit that defines what the question names."""

LITERAL_BOOST = 3.0
"""Weight of a unit that holds a question of one word or identifier: more than all else that a unit can get."""

REACH = 4
"""Neighbours of a chosen unit are considered within the best ``REACH * limit`` units."""

N_SEEDS = 5
"""Number of seed units, from which the expansion starts."""

N_BEST = 60
"""Number of best units by hybrid score that are ranked beside those that the expansion reaches."""

_RUN_MODES: dict[RankingMode, RunMode] = {
    "bm25": "bm25",
    "vector": "vector_only",
    "rrf": "rrf",
    "hybrid": "hybrid_local",
}
_SOURCES: dict[RankingMode, Source] = {"bm25": "bm25", "vector": "vector", "rrf": "rrf_fusion", "hybrid": "hybrid"}


@dataclass(frozen=True, slots=True)
class Ranking:
    """Units, best first, with their scores and how they came about.

    Attributes:
        rows: unit rows.
        scores: float32 beside them.
        sources: the stage that each unit owes its place to.
        candidates: what the first stage found.
        hybrid: hybrid scores of all ranked units.
        boost: what is added to units that define what the question names, or hold a question of one term.
        seeds: units that the expansion started from.
        expanded: what the expansion added.
        mode: how the search ran.
    """

    rows: Rows
    scores: Scores
    sources: tuple[Source, ...]
    candidates: Candidates
    hybrid: HybridScores
    boost: SparseScores
    seeds: Rows
    expanded: Expanded
    mode: RunMode

    def score_parts(self, rows: Rows) -> dict[str, Scores]:
        """Return the parts of the scores of some ranked units, each float32 beside ``rows``.

        Hybrid score, definition and graph add up to a score, but for the unit that is kept in front.
        """
        at = np.searchsorted(self.hybrid.rows, rows)
        return {
            "bm25": self.hybrid.bm25[at],
            "cosine": self.hybrid.cosine[at],
            "hybrid": self.hybrid.values[at],
            "definition": self.boost.at(rows),
            "graph": self.expanded.gain.at(rows),
        }


def rank(
    index: SearchIndex,
    question: Question,
    *,
    n_candidates: int,
    mode: RankingMode,
    first_stage: FirstStage,
    expansion: Expansion,
    reranker: Reranker,
) -> Ranking:
    """Rank the units that bear on a question.

    Args:
        index: the visible part of the snapshot.
        question: the parsed question.
        n_candidates: units taken from each search of the first stage.
        mode: ``hybrid`` mixes scores and expands; ``bm25`` and ``vector`` order by one search, ``rrf`` by the ranks
            of both.
        first_stage, expansion, reranker: the exchangeable stages.
    """
    candidates = first_stage(index, question, n_candidates)
    checkpoint()
    if mode == "hybrid":
        ranking = _hybrid_order(index, question, candidates, n_candidates, expansion)
    else:
        ranking = _first_stage_order(candidates, mode)
    if reranker is no_reranking:
        return ranking
    scores = reranker(index, question, ranking.rows, ranking.scores)
    order = np.argsort(-scores, kind="stable")
    sources: tuple[Source, ...] = tuple(
        ranking.sources[was] if was == now else "reranked" for now, was in enumerate(order.tolist())
    )
    return replace(ranking, rows=ranking.rows[order], scores=scores[order], sources=sources)


def top_units(index: SearchIndex, ranking: Ranking, limit: int, per_document: int, *, distinct: bool = False) -> Rows:
    """Return the positions of the best units in the ranking.

    Args:
        index: the visible part of the snapshot.
        ranking: units in rank order.
        limit: most units.
        per_document: most units of one document.
        distinct: whether to pass over units that say the same as a better one, as in another version of a page.
    """
    taken: dict[int, int] = {}
    chosen: list[int] = []
    vectors, scale = index.unit_vectors
    kept = np.empty((limit, vectors.shape[1] if distinct else 0), dtype=np.float32)
    documents = index.walk.unit_doc[ranking.rows].tolist()
    for position, (row, document) in enumerate(zip(ranking.rows.tolist(), documents, strict=True)):
        if taken.get(document, 0) >= per_document:
            continue
        if distinct:
            own = vectors[row].astype(np.float32)  # sums of products of int8 are exact in any order
            cosines = kept[: len(chosen)] @ own * scale[ranking.rows[chosen]] * scale[row]
            if cosines.max(initial=0.0) >= SAME_UNIT:
                continue
            kept[len(chosen)] = own
        taken[document] = taken.get(document, 0) + 1
        chosen.append(position)
        if len(chosen) == limit:
            break
    return np.array(chosen, dtype=np.int64)


def quoted_units(index: SearchIndex, ranking: Ranking, limit: int, per_document: int) -> Rows:
    """Return the positions of the units that may be quoted from, in order: the best, and good ones right beside them.

    What answers a question often follows the passage that resembles it.

    Args:
        index: the visible part of the snapshot.
        ranking: units in rank order.
        limit: how many of the best; units beside them are counted extra.
        per_document: most units of one document.
    """
    best = top_units(index, ranking, limit, per_document, distinct=True)
    documents = index.walk.unit_doc
    near, rows = ranking.rows[: REACH * limit], ranking.rows[best]
    touches = (np.abs(near[:, None] - rows) == 1) & (documents[near][:, None] == documents[rows])
    chosen, of = best.tolist(), documents[rows].tolist()
    for position in touches.any(axis=1).nonzero()[0].tolist():
        document = int(documents[near[position]])
        if position not in chosen and of.count(document) < per_document:
            chosen.append(position)
            of.append(document)
    return np.array(sorted(chosen), dtype=np.int64)


def _hybrid_order(
    index: SearchIndex, question: Question, candidates: Candidates, n_candidates: int, expansion: Expansion
) -> Ranking:
    """Order by hybrid score, the definitions of what the question names, and what the expansion adds."""
    boost = NO_SCORES
    if expansion is not no_expansion:
        defining = defining_units(index.walk, question, n_candidates)
        boost = SparseScores.sum_of_best(
            (defining.rows, defining.values * np.float32(DEFINITION_BOOST)), _literal_hits(index, question, candidates)
        )
    hybrid = hybrid_scores(index, question, candidates, union(candidates.rows, boost.rows))
    seeds = np.sort(hybrid.rows[top_rows(hybrid.values, N_SEEDS)])
    strength = np.minimum(1.0, hybrid.at(seeds) + boost.at(seeds)).astype(np.float32)
    checkpoint()
    expanded = expansion(index, question, SparseScores(seeds, strength), hybrid.rows)
    checkpoint()
    best = hybrid.rows[top_rows(hybrid.values, N_BEST)]
    rows = union(expanded.gain.top(n_candidates), best, boost.rows)
    hybrid = hybrid_scores(index, question, candidates, rows)
    direct = np.round(hybrid.values + boost.at(rows), 6)
    gain = expanded.gain.at(rows)
    total = np.round(direct + gain, 6)
    order = np.lexsort((rows, -total))
    # The best unit before the expansion stays first: an expansion completes an answer, it does not replace it.
    first = np.lexsort((rows, -direct))[:1]
    order = np.concatenate([first, order[order != first]])
    scores = total[order]
    scores[:1] = np.maximum(scores[:1], total.max(initial=0.0))
    rows = rows[order]
    reached = (gain > np.maximum(hybrid.values, boost.at(hybrid.rows)))[order] | ~is_in(rows, candidates.rows)
    sources: tuple[Source, ...] = tuple(["graph_expanded" if one else "hybrid" for one in reached.tolist()])
    return Ranking(rows, scores, sources, candidates, hybrid, boost, seeds, expanded, "hybrid_local")


def _literal_hits(index: SearchIndex, question: Question, candidates: Candidates) -> tuple[Rows, Scores]:
    """Return the units that hold a question of one word or identifier, and what they get."""
    term = single_term(question.text)
    rows = candidates.lexical[index.bm25.contains([term], candidates.lexical)[:, 0]] if term else NO_SCORES.rows
    return rows, np.full(len(rows), LITERAL_BOOST, dtype=np.float32)


def _first_stage_order(candidates: Candidates, mode: RankingMode) -> Ranking:
    """Order by one search, or by reciprocal rank fusion of both."""
    if mode == "rrf":
        rows = candidates.rows
        scores = np.zeros(len(rows), dtype=np.float32)
        for found in (candidates.lexical, candidates.nearest):
            scores[np.searchsorted(rows, found)] += (1.0 / (RRF_K + 1 + np.arange(len(found)))).astype(np.float32)
        scores = np.round(scores, 6)
        order = np.lexsort((rows, -scores))
        rows, scores = rows[order], scores[order]
    else:
        rows = candidates.nearest if mode == "vector" else candidates.lexical
        score = candidates.scorer.cosine if mode == "vector" else candidates.scorer.bm25
        scores = np.round(score(rows), 6)
    by_row = np.argsort(rows)
    ordered = rows[by_row]
    hybrid = HybridScores(
        ordered,
        scores[by_row],
        candidates.scorer.bm25(ordered),
        candidates.scorer.cosine(ordered),
        np.zeros(len(rows), dtype=np.float32),
    )
    sources: tuple[Source, ...] = (_SOURCES[mode],) * len(rows)
    nothing = NO_SCORES
    return Ranking(rows, scores, sources, candidates, hybrid, nothing, nothing.rows, NOT_EXPANDED, _RUN_MODES[mode])
