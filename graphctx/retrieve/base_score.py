"""The base score: a convex mix of words, meaning of the unit, and meaning of its best sentence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphctx.retrieve.first_stage import FirstStage
from graphctx.retrieve.index import Rows, Scores, SearchIndex
from graphctx.retrieve.question import Question
from graphctx.retrieve.recipe import RankWeights


@dataclass(frozen=True, slots=True)
class BaseScores:
    """Base scores of the candidates: ``rows`` sorted, ``values`` and ``cosine`` float32 beside them."""

    rows: Rows
    values: Scores
    cosine: Scores
    bm25: Scores

    def at(self, rows: Rows) -> Scores:
        """The base scores of some of the candidates."""
        return self.values[np.searchsorted(self.rows, rows)]


@dataclass(frozen=True, slots=True)
class BaseParts:
    """What a base score is mixed of: float32 beside the sorted ``rows``, and the ranges that the first stage saw."""

    rows: Rows
    bm25: Scores
    cosine: Scores
    sentence: Scores
    stage: FirstStage

    def mixed(self, weights: RankWeights) -> BaseScores:
        """``lexical * bm25 / max + meaning * minmax(cosine) + sentence * best sentence / max``.

        The mix is convex; on every development set it is better than reciprocal rank fusion (docs/retrieval.md,
        step 1).
        """
        spread = self.stage.cosine_max - self.stage.cosine_min
        meaning = (self.cosine - self.stage.cosine_min) / spread if spread > 1e-6 else np.ones_like(self.cosine)
        values = weights.meaning * meaning
        if self.stage.bm25_max > 0:
            values = values + weights.lexical * self.bm25 / self.stage.bm25_max
        top = float(self.sentence.max(initial=0.0))
        if top > 0:
            values = values + weights.sentence * np.maximum(self.sentence, 0.0) / top
        return BaseScores(self.rows, values.astype(np.float32), self.cosine, self.bm25)

    def among(self, rows: Rows) -> BaseParts:
        """The parts of some of the units, which must be there."""
        at = np.searchsorted(self.rows, rows)
        return BaseParts(rows, self.bm25[at], self.cosine[at], self.sentence[at], self.stage)

    def joined(self, other: BaseParts) -> BaseParts:
        """The parts of both; no unit may be in both."""
        rows = np.concatenate([self.rows, other.rows])
        order = np.argsort(rows)

        def both(mine: Scores, its: Scores) -> Scores:
            return np.concatenate([mine, its])[order]

        return BaseParts(
            rows[order],
            both(self.bm25, other.bm25),
            both(self.cosine, other.cosine),
            both(self.sentence, other.sentence),
            self.stage,
        )


def base_parts(index: SearchIndex, question: Question, stage: FirstStage, rows: Rows) -> BaseParts:
    """Gather the parts of the base score.

    Args:
        index: of the snapshot.
        question: made ready.
        stage: what the first stage found.
        rows: units to score, sorted and distinct.
    """
    sentence = best_sentence(index, question, rows)
    return BaseParts(rows, stage.scorer.bm25(rows), stage.scorer.cosine(rows), sentence, stage)


def best_sentence(index: SearchIndex, question: Question, rows: Rows) -> Scores:
    """The best cosine of the question with a sentence of each unit, float32; 0 for a unit without one."""
    sentences, owner = index.sentence_rows(rows)
    best = np.zeros(len(rows), dtype=np.float32)
    np.maximum.at(best, owner, index.sentence_similarity(question.vector, sentences))
    return best
