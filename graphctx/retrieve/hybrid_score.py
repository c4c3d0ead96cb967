"""The hybrid score: a convex mix of BM25, the unit's cosine, and the cosine of its best sentence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphctx.retrieve.arrays import Rows, Scores
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import Question
from graphctx.retrieve.stages.base import Candidates

BM25_WEIGHT, COSINE_WEIGHT, SENTENCE_WEIGHT = 0.3, 0.5, 0.2
"""Found by experiment on public question sets; docs/decisions/0010-ranking.md has the figures."""


@dataclass(frozen=True, slots=True)
class HybridScores:
    """Scores of some units, float32 beside the sorted ``rows``: the mix and its parts, unweighted."""

    rows: Rows
    values: Scores
    bm25: Scores
    cosine: Scores
    sentence: Scores

    def at(self, rows: Rows) -> Scores:
        """Return the scores of some of the units."""
        return self.values[np.searchsorted(self.rows, rows)]


def hybrid_scores(
    index: SearchIndex, question: Question, candidates: Candidates, rows: Rows, known: HybridScores | None = None
) -> HybridScores:
    """Score units: ``0.3 * bm25 / max + 0.5 * minmax(cosine) + 0.2 * best sentence / max``.

    Args:
        index: the visible part of the snapshot.
        question: the parsed question.
        candidates: what the first stage found; it gives the ranges for scaling.
        rows: units to score, sorted and distinct.
        known: scores of an earlier call, whose parts are not computed again.
    """
    if known is None:
        parts = _parts(index, question, candidates, rows)
    else:
        missing = np.setdiff1d(rows, known.rows, assume_unique=True)
        fresh = _parts(index, question, candidates, missing)
        own = np.isin(known.rows, rows, assume_unique=True)
        order = np.argsort(np.concatenate([known.rows[own], missing]))
        mine = (known.bm25, known.cosine, known.sentence)
        parts = tuple(np.concatenate([old[own], new])[order] for old, new in zip(mine, fresh, strict=True))
    bm25, cosine, sentence = parts
    spread = candidates.cosine_max - candidates.cosine_min
    values = COSINE_WEIGHT * ((cosine - candidates.cosine_min) / spread if spread > 1e-6 else np.ones_like(cosine))
    if candidates.bm25_max > 0:
        values = values + BM25_WEIGHT * bm25 / candidates.bm25_max
    top = float(sentence.max(initial=0.0))
    if top > 0:
        values = values + SENTENCE_WEIGHT * np.maximum(sentence, 0.0) / top
    return HybridScores(rows, values.astype(np.float32), bm25, cosine, sentence)


def _parts(index: SearchIndex, question: Question, candidates: Candidates, rows: Rows) -> tuple[Scores, ...]:
    sentence = best_sentence_cosine(index, question, rows)
    return candidates.scorer.bm25(rows), candidates.scorer.cosine(rows), sentence


def best_sentence_cosine(index: SearchIndex, question: Question, rows: Rows) -> Scores:
    """Return the largest cosine of the question with a sentence of each unit, float32; 0 for a unit without one."""
    sentences, owner = index.sentence_rows(rows)
    best = np.zeros(len(rows), dtype=np.float32)
    np.maximum.at(best, owner, index.sentence_similarity(question.vector, sentences))
    return best
