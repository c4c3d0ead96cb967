"""The hybrid score: a convex mix of BM25, the unit's cosine, and the cosine of its best sentence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graphctx.retrieve.arrays import Rows, Scores, is_in
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


def hybrid_scores(
    index: SearchIndex, question: Question, candidates: Candidates, rows: Rows, known: HybridScores | None = None
) -> HybridScores:
    """Score units: ``0.3 * bm25 / max + 0.5 * minmax(cosine) + 0.2 * best sentence / max``, and support.

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
        missing = rows[~is_in(rows, known.rows)]
        fresh = _parts(index, question, candidates, missing)
        own = is_in(known.rows, rows)
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
    support = np.maximum(best_other(values, index.walk.unit_doc[rows]) - SUPPORT_FROM, 0.0)
    values = values + SUPPORT_WEIGHT * support
    return HybridScores(rows, values.astype(np.float32), bm25, cosine, sentence)


def best_other(values: Scores, group: npt.NDArray[np.integer]) -> Scores:
    """Return for each value the largest other value of its group, 0 where it is alone."""
    if not len(values):
        return values
    order = np.lexsort((-values, group))
    ordered, grouped = values[order], group[order]
    start = np.flatnonzero(np.append(True, grouped[1:] != grouped[:-1]))
    size = np.diff(np.append(start, len(values)))
    second = np.where(size > 1, ordered[np.minimum(start + 1, len(values) - 1)], 0.0)
    is_first = np.zeros(len(values), dtype=bool)
    is_first[start] = True
    other = np.empty_like(values)
    other[order] = np.where(is_first, np.repeat(second, size), np.repeat(ordered[start], size))
    return other


def _parts(index: SearchIndex, question: Question, candidates: Candidates, rows: Rows) -> tuple[Scores, ...]:
    sentence = best_sentence_cosine(index, question, rows)
    return candidates.scorer.bm25(rows), candidates.scorer.cosine(rows), sentence


def best_sentence_cosine(index: SearchIndex, question: Question, rows: Rows) -> Scores:
    """Return the largest cosine of the question with a sentence of each unit, float32; 0 for a unit without one."""
    sentences, owner = index.sentence_rows(rows)
    best = np.zeros(len(rows), dtype=np.float32)
    np.maximum.at(best, owner, question.sentences.at(sentences))
    return best
