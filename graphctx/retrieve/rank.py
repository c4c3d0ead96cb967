"""Ranking: seeds, walk and base score fused into one order of units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from graphctx.model.answers import RunMode, Source
from graphctx.retrieve.base_score import BaseScores, base_scores
from graphctx.retrieve.first_stage import FirstStage, best_rows, search
from graphctx.retrieve.index import Rows, Scores, SearchIndex
from graphctx.retrieve.question import Question
from graphctx.retrieve.scope import Mask
from graphctx.retrieve.walk import Walk, alias_scores, local_walk

# The recipe (docs/retrieval.md), steps 5, 7 and 8.
ALIAS_WEIGHT = 0.3
HOME_WEIGHT = 1.0
PLACE_WEIGHT = 0.2
SENTENCE_WEIGHT = 0.2
BASE_SEEDS = 5
ALIAS_SEEDS = 6
BASE_POOL = 60
MIN_HOME_SHARE = 0.2
"""Where fewer of the units are the home of anything, homes mislead (news, chat): they count nothing."""
WEAK_BOOST = 0.15
"""Where no alias or home adds more, the graph has little to say, and the best two by base stay in front."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Units, best first, with their scores and how they came about.

    Attributes:
        rows: unit rows.
        scores: float32 beside them.
        sources: which stage each owes its place to.
        base: base scores of all candidates.
        walk: the edges, where there was a walk.
        mode: how the search ran.
        n_candidates: units that were scored.
    """

    rows: Rows
    scores: Scores
    sources: tuple[Source, ...]
    base: BaseScores
    walk: Walk | None
    mode: RunMode
    n_candidates: int


def rank(
    index: SearchIndex,
    question: Question,
    *,
    mask: Mask | None,
    mode: RunMode,
    candidates: int,
    engine: Literal["arrays", "lancedb"],
) -> Ranking:
    """Rank the units that bear on a question.

    Args:
        index: of the snapshot.
        question: made ready.
        mask: the units that may be seen, or ``None`` for all.
        mode: ``vector_only`` orders by cosine alone; ``hybrid_local`` seeds, walks and fuses.
        candidates: units taken from each first-stage search.
        engine: where the first stage runs.
    """
    stage = search(index, question, mask, candidates, engine)
    if mode == "vector_only":
        return _by_vector(stage)
    walk = index.walk
    alias_rows, alias = alias_scores(walk, question, mask)
    homes_count = float(walk.home_share[0]) >= MIN_HOME_SHARE
    if not homes_count:
        alias_rows, alias = alias_rows[:0], alias[:0]
    elif len(alias_rows) > candidates:
        best = np.sort(best_rows(alias, candidates))
        alias_rows, alias = alias_rows[best], alias[best]
    base = base_scores(index, question, stage, np.union1d(stage.rows, alias_rows))
    boost = np.zeros(walk.n_units, dtype=np.float32)
    boost[alias_rows] = ALIAS_WEIGHT * alias
    seeds = _seeds(base, alias_rows, alias)
    strength = np.minimum(1.0, base.at(seeds) + boost[seeds]).astype(np.float32)
    walked = local_walk(index, question, seeds, strength, mask)
    gain = PLACE_WEIGHT * walked.place.best_per_target(walk.n_units)
    gain += SENTENCE_WEIGHT * walked.sentence.best_per_target(walk.n_units)
    if homes_count:
        home = HOME_WEIGHT * walked.home.best_per_target(walk.n_units)
        gain += home
        boosted = float((home + boost).max(initial=0.0))
    else:
        boosted = 0.0
    gained = best_rows(gain, candidates, gain > 0)
    pool = base.rows[best_rows(base.values, BASE_POOL)]
    rows = np.union1d(np.union1d(gained, pool), alias_rows)
    scored = base_scores(index, question, stage, rows)
    flat = np.round(scored.values + boost[rows], 6)
    total = np.round(flat + gain[rows], 6)
    order = np.lexsort((rows, -total))
    keep = 1 if boosted >= WEAK_BOOST else 2
    kept = np.lexsort((rows, -flat))[:keep]
    order = np.concatenate([kept, order[~np.isin(order, kept)]])
    scores = total[order]
    scores[: len(kept)] = np.maximum(scores[: len(kept)], total.max(initial=0.0))
    expanded = gain[rows][order] > np.maximum(scored.values[order], boost[rows][order])
    found = np.isin(rows[order], stage.rows)
    sources: list[Source] = [
        "graph_expanded" if walked_to or not direct else "hybrid"
        for walked_to, direct in zip(expanded, found, strict=True)
    ]
    return Ranking(rows[order], scores, tuple(sources), scored, walked, mode, len(rows))


def _seeds(base: BaseScores, alias_rows: Rows, alias: Scores) -> Rows:
    first = base.rows[best_rows(base.values, BASE_SEEDS)]
    if not len(alias_rows):
        return np.sort(first)
    named = alias_rows[best_rows(alias + base.at(alias_rows), ALIAS_SEEDS, alias > 0)]
    return np.union1d(first, named)


def _by_vector(stage: FirstStage) -> Ranking:
    rows = stage.nearest
    cosine = stage.scorer.cosine(rows)
    order = np.argsort(rows)
    base = BaseScores(rows[order], cosine[order], cosine[order], stage.scorer.bm25(rows[order]))
    scores = np.round(cosine, 6)
    sources: list[Source] = ["vector"] * len(rows)
    return Ranking(rows, scores, tuple(sources), base, None, "vector_only", len(rows))


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
