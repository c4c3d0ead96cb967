"""Ranking: seeds, walk and base score fused into one order of units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from graphctx.model.answers import RunMode, Source
from graphctx.model.interrupt import checkpoint
from graphctx.retrieve.base_score import BaseScores, base_parts
from graphctx.retrieve.first_stage import FirstStage, best_rows, search
from graphctx.retrieve.index import Rows, Scores, SearchIndex
from graphctx.retrieve.question import Question
from graphctx.retrieve.recipe import First, RankWeights
from graphctx.retrieve.sparse import NOTHING, Sparse
from graphctx.retrieve.steps import walk_from
from graphctx.retrieve.walk import Walk, alias_scores

RRF_K = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Buettcher 2009)."""

_RUN_MODES: dict[First, RunMode] = {"bm25": "bm25", "vector": "vector_only", "rrf": "rrf", "hybrid": "hybrid_local"}
_SOURCES: dict[First, Source] = {"bm25": "bm25", "vector": "vector", "rrf": "rrf_fusion", "hybrid": "hybrid"}


@dataclass(frozen=True, slots=True)
class Ranking:
    """Units, best first, with their scores and how they came about.

    Attributes:
        rows: unit rows.
        scores: float32 beside them.
        sources: which stage each owes its place to.
        base: base scores of all candidates.
        stage: what the first stage found.
        alias: how much units are at home in what the question names.
        boost: what that adds to each.
        seeds: where the walk started.
        gain: what the walk adds to each unit.
        walk: the edges, where there was a walk.
        mode: how the search ran.
    """

    rows: Rows
    scores: Scores
    sources: tuple[Source, ...]
    base: BaseScores
    stage: FirstStage
    alias: Sparse
    boost: Sparse
    seeds: Rows
    gain: Sparse
    walk: Walk | None
    mode: RunMode

    @property
    def n_candidates(self) -> int:
        """Units that were scored."""
        return len(self.rows)


def rank(
    index: SearchIndex,
    question: Question,
    *,
    first: First,
    weights: RankWeights,
    candidates: int,
    engine: Literal["arrays", "lancedb"],
) -> Ranking:
    """Rank the units that bear on a question.

    Args:
        index: of what may be seen.
        question: made ready.
        first: ``bm25`` and ``vector`` order by one search, ``rrf`` by both ranks; ``hybrid`` scores, walks and fuses.
        weights: of the hybrid score and of the walk.
        candidates: units taken from each first-stage search.
        engine: where the first stage runs.
    """
    stage = search(index, question, candidates, engine)
    checkpoint()
    if first != "hybrid":
        return _first_stage_only(stage, first)
    homes_count = float(index.walk.home_share[0]) >= weights.min_home_share
    alias = _alias(index, question, candidates) if homes_count and weights.alias else NOTHING
    boost = alias.times(weights.alias)
    parts = base_parts(index, question, stage, np.union1d(stage.rows, alias.rows))
    base = parts.mixed(weights)
    walked, seeds, gain, weak = None, NOTHING.rows, NOTHING, float(boost.values.max(initial=0.0)) < weights.weak_boost
    checkpoint()
    if weights.walk:
        seeds = _seeds(base, alias, weights)
        known = Sparse(base.rows, base.values).plus(boost)
        walked, gain, weak = walk_from(index, question, seeds, known, boost, weights, homes_count, candidates)
    checkpoint()
    pool = base.rows[best_rows(base.values, weights.base_pool)]
    rows = np.union1d(np.union1d(gain.best(candidates), pool), alias.rows)
    missing = rows[~np.isin(rows, parts.rows)]
    if len(missing):
        parts = parts.joined(base_parts(index, question, stage, missing))
    scored = parts.among(rows).mixed(weights.where_weak() if weak else weights)
    flat = np.round(scored.values + boost.at(rows), 6)
    total = np.round(flat + gain.at(rows), 6)
    order = np.lexsort((rows, -total))
    kept = np.lexsort((rows, -flat))[: 2 if weak else 1]
    order = np.concatenate([kept, order[~np.isin(order, kept)]])
    scores = total[order]
    scores[: len(kept)] = np.maximum(scores[: len(kept)], total.max(initial=0.0))
    expanded = gain.at(rows)[order] > np.maximum(scored.values[order], boost.at(rows)[order])
    direct = np.isin(rows[order], stage.rows)
    sources: list[Source] = [
        "graph_expanded" if walked_to or not found_by_search else "hybrid"
        for walked_to, found_by_search in zip(expanded, direct, strict=True)
    ]
    return Ranking(
        rows[order], scores, tuple(sources), scored, stage, alias, boost, seeds, gain, walked, "hybrid_local"
    )


def _alias(index: SearchIndex, question: Question, limit: int) -> Sparse:
    """The units that are most at home in what the question names."""
    alias = Sparse(*alias_scores(index.walk, question))
    if len(alias.rows) <= limit:
        return alias
    best = np.sort(best_rows(alias.values, limit))
    return Sparse(alias.rows[best], alias.values[best])


def _seeds(base: BaseScores, alias: Sparse, weights: RankWeights) -> Rows:
    first = base.rows[best_rows(base.values, weights.base_seeds)]
    if not len(alias.rows):
        return np.sort(first)
    named = alias.rows[best_rows(alias.values + base.at(alias.rows), weights.alias_seeds, alias.values > 0)]
    return np.union1d(first, named)


def _first_stage_only(stage: FirstStage, first: First) -> Ranking:
    """The order of one search, or of both by reciprocal rank fusion."""
    if first == "rrf":
        rows = stage.rows
        scores = np.zeros(len(rows), dtype=np.float32)
        for found in (stage.lexical, stage.nearest):
            scores[np.searchsorted(rows, found)] += (1.0 / (RRF_K + 1 + np.arange(len(found)))).astype(np.float32)
        scores = np.round(scores, 6)
        order = np.lexsort((rows, -scores))
        rows, scores = rows[order], scores[order]
    else:
        rows = stage.nearest if first == "vector" else stage.lexical
        scores = np.round(stage.scorer.cosine(rows) if first == "vector" else stage.scorer.bm25(rows), 6)
    by_row = np.sort(rows)
    cosine, bm25 = stage.scorer.cosine(by_row), stage.scorer.bm25(by_row)
    values = np.empty(len(rows), dtype=np.float32)
    values[np.searchsorted(by_row, rows)] = scores
    base = BaseScores(by_row, values, cosine, bm25)
    sources: tuple[Source, ...] = (_SOURCES[first],) * len(rows)
    return Ranking(rows, scores, sources, base, stage, NOTHING, NOTHING, NOTHING.rows, NOTHING, None, _RUN_MODES[first])


def cap_per_document(index: SearchIndex, ranking: Ranking, limit: int, max_per_document: int) -> Rows:
    """Positions in the ranking of the best units, at most so many from one document."""
    taken: dict[int, int] = {}
    chosen = []
    for position, document in enumerate(index.walk.unit_doc[ranking.rows]):
        if taken.get(int(document), 0) < max_per_document:
            taken[int(document)] = taken.get(int(document), 0) + 1
            chosen.append(position)
            if len(chosen) == limit:
                break
    return np.array(chosen, dtype=np.int64)
