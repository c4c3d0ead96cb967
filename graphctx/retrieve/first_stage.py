"""The first stage: lexical and vector scores of units, exact in memory or by LanceDB's indexes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from graphctx.model.interrupt import checkpoint
from graphctx.retrieve.index import Rows, Scores, SearchIndex
from graphctx.retrieve.question import Question
from graphctx.retrieve.scope import Mask
from graphctx.retrieve.signs import Signs

_AT_A_TIME = 256  # rows; 0.4 MB

_FAR = 256
"""So many of the units whose signs differ most are scored too: the smallest cosine is among them, or 0.003 below."""


@dataclass(frozen=True, slots=True)
class FirstStage:
    """What the first stage found.

    Attributes:
        rows: candidate units, sorted: the best by BM25 and the best by vector.
        lexical: the best by BM25, best first.
        nearest: the best by vector, best first.
        bm25_max: the largest BM25 of all units that may be seen.
        cosine_min, cosine_max: the range of cosines, for scaling.
        scorer: scores of any other unit.
    """

    rows: Rows
    lexical: Rows
    nearest: Rows
    bm25_max: float
    cosine_min: float
    cosine_max: float
    scorer: Scorer


class Scorer(Protocol):
    """Gives the first-stage scores of any units."""

    def bm25(self, rows: Rows) -> Scores:
        """BM25, float32 [len(rows)]."""

    def cosine(self, rows: Rows) -> Scores:
        """Cosine with the question, float32 [len(rows)]."""


def search(
    index: SearchIndex, question: Question, k: int, engine: Literal["arrays", "lancedb"] = "arrays"
) -> FirstStage:
    """Search by words and by meaning.

    Args:
        index: of what may be seen.
        question: made ready.
        k: candidates of each search.
        engine: where the nearest units are looked for; both give the same as long as LanceDB's index is exact. Words
            are looked up in our own index, which counts what may be seen alone.
    """
    rows, bm25 = index.bm25.found(question.terms)
    lexical = rows[best_rows(bm25, k)]
    checkpoint()
    every = None
    if engine == "lancedb":
        near = _by_lancedb(index, question, k)
    elif index.signs is not None:
        near = _likely(index, index.signs, question)
    else:
        near = index.seen_rows
        if index.visible is None:
            # No BLAS product: its last bits, and so ties, would depend on the number of threads. As fast at any size.
            every = np.einsum("ij,j->i", index.vectors, question.vector)
    scorer = _Exact(rows, bm25, index.vectors, question.vector, every)
    cosine = scorer.cosine(near)
    nearest = near[best_rows(cosine, k)]
    if engine == "lancedb":
        cosine = np.append(cosine, np.float32(0.0))  # the farthest ones are not known
    return FirstStage(
        rows=np.union1d(lexical, nearest),
        lexical=lexical,
        nearest=nearest,
        bm25_max=float(bm25.max(initial=0.0)),
        cosine_min=float(cosine.min(initial=1.0)),
        cosine_max=float(cosine.max(initial=-1.0)),
        scorer=scorer,
    )


def _likely(index: SearchIndex, signs: Signs, question: Question) -> Rows:
    """Of the units that may be seen those that are likely near the question, and those likely farthest from it."""
    differing = signs.differing(question.vector)
    seen = differing if index.visible is None else differing[index.visible]
    near, far = signs.n_kept(len(seen)) - 1, max(0, len(seen) - _FAR)
    if len(seen) <= near + 1:
        return index.seen_rows
    keep = (seen <= np.partition(seen, near)[near]) | (seen >= np.partition(seen, far)[far])
    likely: Rows = index.seen_rows[keep]
    return likely


def best_rows(scores: Scores, k: int, among: Mask | None = None) -> Rows:
    """The rows of the ``k`` largest scores, best first, ties by row."""
    rows = np.arange(len(scores)) if among is None else np.flatnonzero(among)
    values = scores[rows]
    if 0 < k < len(rows):
        threshold = np.partition(values, len(values) - k)[len(values) - k]
        rows = rows[values >= threshold]
        values = scores[rows]
    chosen: Rows = rows[np.lexsort((rows, -values))][:k]
    return chosen


def products(vectors: Scores, rows: Rows, vector: Scores) -> Scores:
    """The products of some rows with a vector, float32 [len(rows)]: bit by bit those that a product of all would give.

    A few rows at a time go through one buffer that stays in the processor's cache.
    """
    result = np.empty(len(rows), dtype=np.float32)
    buffer = np.empty((min(_AT_A_TIME, len(rows)), vectors.shape[1]), dtype=np.float32)
    for start in range(0, len(rows), _AT_A_TIME):
        checkpoint()
        some = rows[start : start + _AT_A_TIME]
        part = np.take(vectors, some, axis=0, out=buffer[: len(some)], mode="clip")
        np.einsum("ij,j->i", part, vector, out=result[start : start + len(some)])
    return result


@dataclass(frozen=True, slots=True)
class _Exact:
    """BM25 of the rows that share a term with the question, which are sorted; cosines are known or computed."""

    rows: Rows
    found: Scores
    vectors: Scores
    vector: Scores
    every_cosine: Scores | None

    def bm25(self, rows: Rows) -> Scores:
        if not len(self.rows):
            return np.zeros(len(rows), dtype=np.float32)
        places = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        return np.where(self.rows[places] == rows, self.found[places], np.float32(0.0))

    def cosine(self, rows: Rows) -> Scores:
        if self.every_cosine is not None:
            return self.every_cosine[rows]
        return products(self.vectors, rows, self.vector)


def _by_lancedb(index: SearchIndex, question: Question, k: int) -> Rows:
    """The nearest units by LanceDB, sorted, with the scope as a prefilter on documents."""
    where = None
    if index.visible is not None:
        documents = np.unique(index.walk.unit_doc[index.seen_rows]).tolist()
        where = f"doc_row IN ({', '.join(map(str, documents))})" if documents else "false"
    found = index.snapshot.tables.search_vector("units", question.vector, k, where)
    return np.array(sorted(hit.row for hit in found), dtype=np.int64)
