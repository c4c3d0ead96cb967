"""The base score: a convex mix of words, meaning of the unit, and meaning of its best sentence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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
    """What a base score is mixed of: float32 beside the sorted ``rows``, and the ranges that the first stage saw.

    ``document`` has the document row of each unit.
    """

    rows: Rows
    document: npt.NDArray[np.int32]
    bm25: Scores
    cosine: Scores
    sentence: Scores
    stage: FirstStage

    def mixed(self, weights: RankWeights) -> BaseScores:
        """``lexical * bm25 / max + meaning * minmax(cosine) + sentence * best sentence / max``, and some support.

        The mix is convex; on every development set it is better than reciprocal rank fusion. A unit is supported by
        the best other unit of its document, with ``support`` times what that has over ``support_from``
        (docs/retrieval.md, step 1).
        """
        spread = self.stage.cosine_max - self.stage.cosine_min
        meaning = (self.cosine - self.stage.cosine_min) / spread if spread > 1e-6 else np.ones_like(self.cosine)
        values = weights.meaning * meaning
        if self.stage.bm25_max > 0:
            values = values + weights.lexical * self.bm25 / self.stage.bm25_max
        top = float(self.sentence.max(initial=0.0))
        if top > 0:
            values = values + weights.sentence * np.maximum(self.sentence, 0.0) / top
        if weights.support:
            values = values + weights.support * np.maximum(
                best_other(values, self.document) - weights.support_from, 0.0
            )
        return BaseScores(self.rows, values.astype(np.float32), self.cosine, self.bm25)

    def among(self, rows: Rows) -> BaseParts:
        """The parts of some of the units, which must be there."""
        at = np.searchsorted(self.rows, rows)
        return BaseParts(rows, self.document[at], self.bm25[at], self.cosine[at], self.sentence[at], self.stage)

    def joined(self, other: BaseParts) -> BaseParts:
        """The parts of both; no unit may be in both."""
        rows = np.concatenate([self.rows, other.rows])
        order = np.argsort(rows)

        def both(mine: Scores, its: Scores) -> Scores:
            return np.concatenate([mine, its])[order]

        return BaseParts(
            rows[order],
            np.concatenate([self.document, other.document])[order],
            both(self.bm25, other.bm25),
            both(self.cosine, other.cosine),
            both(self.sentence, other.sentence),
            self.stage,
        )


def base_parts(index: SearchIndex, question: Question, stage: FirstStage, rows: Rows) -> BaseParts:
    """Gather the parts of the base score.

    Args:
        index: of what may be seen.
        question: made ready.
        stage: what the first stage found.
        rows: units to score, sorted and distinct.
    """
    sentence = best_sentence(index, question, rows)
    document = index.walk.unit_doc[rows]
    return BaseParts(rows, document, stage.scorer.bm25(rows), stage.scorer.cosine(rows), sentence, stage)


def best_other(values: Scores, group: npt.NDArray[np.int32]) -> Scores:
    """For each value the largest other one of its group, 0 where it is alone."""
    if not len(values):
        return values
    order = np.lexsort((-values, group))
    ordered, grouped = values[order], group[order]
    first = np.append(True, grouped[1:] != grouped[:-1])
    start = np.flatnonzero(first)
    size = np.diff(np.append(start, len(values)))
    second = np.where(size > 1, ordered[np.minimum(start + 1, len(values) - 1)], np.float32(0.0))
    of_group = np.repeat(np.arange(len(start)), size)
    other = np.empty_like(values)
    other[order] = np.where(first, second[of_group], ordered[start][of_group])
    return other


def best_sentence(index: SearchIndex, question: Question, rows: Rows) -> Scores:
    """The best cosine of the question with a sentence of each unit, float32; 0 for a unit without one."""
    sentences, owner = index.sentence_rows(rows)
    best = np.zeros(len(rows), dtype=np.float32)
    np.maximum.at(best, owner, index.sentence_similarity(question.vector, sentences))
    return best
