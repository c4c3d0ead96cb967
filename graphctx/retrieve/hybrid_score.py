"""The hybrid score: a convex mix of BM25, the unit's cosine, and the cosine of its best sentence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graphctx.retrieve.arrays import Rows, Scores, turns
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import Question
from graphctx.retrieve.stages.base import Candidates

BM25_WEIGHT, COSINE_WEIGHT, SENTENCE_WEIGHT = 0.3, 0.5, 0.2
"""Found by experiment on public question sets; docs/decisions/0034-one-query-path.md has the figures."""

SUPPORT_WEIGHT, SUPPORT_FROM = 0.1, 0.5
"""A unit gets a tenth of what the best other unit of its document has over a half (docs/decisions/0034)."""


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


def hybrid_scores(index: SearchIndex, question: Question, candidates: Candidates, rows: Rows) -> HybridScores:
    """Score units: ``0.3 * bm25 / max + 0.5 * minmax(cosine) + 0.2 * best sentence / max``, and support.

    BM25 and cosine are scaled over what the first stage found, the best sentence and support over ``rows``, so a unit's
    score depends on the units that it is scored with.

    Args:
        index: the visible part of the snapshot.
        question: the parsed question.
        candidates: what the first stage found; it gives the ranges for scaling.
        rows: units to score, sorted and distinct.
    """
    bm25, cosine = candidates.scorer.bm25(rows), candidates.scorer.cosine(rows)
    sentence = best_sentence_cosine(index, question, rows)
    spread = candidates.cosine_max - candidates.cosine_min
    values = COSINE_WEIGHT * ((cosine - candidates.cosine_min) / spread if spread > 1e-6 else np.ones_like(cosine))
    if candidates.bm25_max > 0:
        values = values + BM25_WEIGHT * bm25 / candidates.bm25_max
    top = float(sentence.max(initial=0.0))
    if top > 0:
        values = values + SENTENCE_WEIGHT * np.maximum(sentence, 0.0) / top
    support = np.maximum(best_other(values, index.walk.unit_doc[rows]) - SUPPORT_FROM, 0.0)
    values = values + SUPPORT_WEIGHT * support
    return HybridScores(rows, values.astype(np.float32), bm25, cosine, sentence)


def best_other(values: Scores, group: npt.NDArray[np.integer]) -> Scores:
    """Return for each value the largest other value of its group, at least 0; equal groups are next to each other.

    >>> best_other(np.array([0.2, 0.9, 0.4, 0.3], dtype=np.float32), np.array([1, 1, 1, 2])).tolist()
    [0.8999999761581421, 0.4000000059604645, 0.8999999761581421, 0.0]
    """
    if not len(values):
        return values
    changes = turns(group)
    start, of = changes.nonzero()[0], changes.cumsum() - 1
    top = np.maximum.reduceat(values, start)
    is_top = values == top[of]
    second = np.maximum.reduceat(np.where(is_top, np.float32(0.0), values), start)
    shared = np.add.reduceat(is_top, start, dtype=np.int64) > 1
    other: Scores = np.where(is_top, np.where(shared, top, second)[of], top[of])
    return np.maximum(other, np.float32(0.0))


def best_sentence_cosine(index: SearchIndex, question: Question, rows: Rows) -> Scores:
    """Return the largest cosine of the question with a sentence of each unit, float32; 0 for a unit without one."""
    sentences, owner = index.sentence_rows(rows)
    best = np.zeros(len(rows), dtype=np.float32)
    np.maximum.at(best, owner, question.sentences.at(sentences))
    return best
