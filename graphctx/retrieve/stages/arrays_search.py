"""First stage over arrays in memory: exact BM25, and exact cosines behind a binary prefilter where units are many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphctx.model.interrupt import checkpoint
from graphctx.retrieve.arrays import Rows, Scores, SparseScores, top_rows, union
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import Question
from graphctx.retrieve.stages.base import Candidates


def search_arrays(index: SearchIndex, question: Question, k: int) -> Candidates:
    """Find the best units by BM25 and by cosine; a `graphctx.retrieve.stages.base.FirstStage`."""
    if index.prefilter is not None:
        near = index.prefilter.likely(question.vector, index.visible, index.visible_rows)
        return merge_candidates(index, question, k, near)
    every = None
    if index.visible is None:
        every = index.unit_similarity(question.vector, index.visible_rows)
    return merge_candidates(index, question, k, index.visible_rows, every)


def merge_candidates(
    index: SearchIndex,
    question: Question,
    k: int,
    near: Rows,
    every_cosine: Scores | None = None,
    *,
    farthest_known: bool = True,
) -> Candidates:
    """Join the best units by BM25 with the nearest of some units.

    Args:
        index: the visible part of the snapshot.
        question: the parsed question.
        k: candidates of each search.
        near: units among which the nearest are chosen, sorted.
        every_cosine: the cosines of all units of the snapshot, where they are known.
        farthest_known: whether ``near`` holds the farthest units too; else 0 counts as the smallest cosine.
    """
    found = SparseScores(*index.bm25.scores(question.terms))
    checkpoint()
    scorer = _Exact(found, index, question.vector, every_cosine)
    cosine = scorer.cosine(near)
    lexical, nearest = found.rows[top_rows(found.values, k)], near[top_rows(cosine, k)]
    if not farthest_known:
        cosine = np.append(cosine, np.float32(0.0))
    return Candidates(
        rows=union(lexical, nearest),
        lexical=lexical,
        nearest=nearest,
        bm25_max=float(found.values.max(initial=0.0)),
        cosine_min=float(cosine.min(initial=1.0)),
        cosine_max=float(cosine.max(initial=-1.0)),
        scorer=scorer,
    )


@dataclass(frozen=True, slots=True)
class _Exact:
    """BM25 of the units that share a term with the question; cosines are known or computed."""

    found: SparseScores
    index: SearchIndex
    vector: Scores
    every_cosine: Scores | None

    def bm25(self, rows: Rows) -> Scores:
        return self.found.at(rows)

    def cosine(self, rows: Rows) -> Scores:
        if self.every_cosine is not None:
            return self.every_cosine[rows]
        return self.index.unit_similarity(self.vector, rows)
