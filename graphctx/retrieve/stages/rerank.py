"""Rerankers: rescoring of the ranked units."""

from __future__ import annotations

from graphctx.retrieve.arrays import Rows, Scores
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import Question


def no_reranking(index: SearchIndex, question: Question, rows: Rows, scores: Scores) -> Scores:
    """Keep the scores; a `graphctx.retrieve.stages.base.Reranker`."""
    return scores
