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


def base_scores(
    index: SearchIndex, question: Question, stage: FirstStage, rows: Rows, weights: RankWeights
) -> BaseScores:
    """Score units: ``lexical * bm25 / max + meaning * minmax(cosine) + sentence * best sentence / max``.

    The mix is convex; on every development set it is better than reciprocal rank fusion (docs/retrieval.md, step 1).

    Args:
        index: of the snapshot.
        question: made ready.
        stage: what the first stage found; gives the scaling.
        rows: units to score, sorted and distinct.
        weights: of the three parts.
    """
    bm25 = stage.scorer.bm25(rows)
    cosine = stage.scorer.cosine(rows)
    sentences = best_sentence(index, question, rows)
    spread = stage.cosine_max - stage.cosine_min
    values = weights.meaning * ((cosine - stage.cosine_min) / spread if spread > 1e-6 else np.ones_like(cosine))
    if stage.bm25_max > 0:
        values = values + weights.lexical * bm25 / stage.bm25_max
    top = float(sentences.max(initial=0.0))
    if top > 0:
        values = values + weights.sentence * np.maximum(sentences, 0.0) / top
    return BaseScores(rows, values.astype(np.float32), cosine, bm25)


def best_sentence(index: SearchIndex, question: Question, rows: Rows) -> Scores:
    """The best cosine of the question with a sentence of each unit, float32; 0 for a unit without one."""
    sentences, owner = index.sentence_rows(rows)
    best = np.zeros(len(rows), dtype=np.float32)
    np.maximum.at(best, owner, index.sentence_similarity(question.vector, sentences))
    return best
