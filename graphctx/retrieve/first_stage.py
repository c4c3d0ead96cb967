"""The first stage: lexical and vector scores of units, exact in memory or by LanceDB's indexes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from graphctx.retrieve.index import Rows, Scores, SearchIndex
from graphctx.retrieve.question import Question
from graphctx.retrieve.scope import Mask


@dataclass(frozen=True, slots=True)
class FirstStage:
    """What the first stage found.

    Attributes:
        rows: candidate units, sorted: the best by BM25 and the best by vector.
        lexical: the best by BM25, best first.
        nearest: the best by vector, best first.
        bm25_max: the largest BM25 of all units.
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
    index: SearchIndex, question: Question, mask: Mask | None, k: int, engine: Literal["arrays", "lancedb"] = "arrays"
) -> FirstStage:
    """Search by words and by meaning.

    Args:
        index: of the snapshot.
        question: made ready.
        mask: the units that may be seen, or ``None`` for all.
        k: candidates of each search.
        engine: where the searches run; both give the same units as long as LanceDB's indexes are exact.
    """
    if engine == "lancedb":
        return _by_lancedb(index, question, mask, k)
    bm25 = index.bm25.scores(question.terms)
    # Not a BLAS product: its last bits, and so ties, would depend on the number of threads. As fast at any size.
    cosine = np.einsum("ij,j->i", index.vectors, question.vector)
    visible = slice(None) if mask is None else mask
    if mask is not None:
        bm25 = np.where(mask, bm25, 0.0).astype(np.float32)
    lexical = best_rows(bm25, k, bm25 > 0)
    nearest = best_rows(cosine, k, mask)
    seen = cosine[visible]
    return FirstStage(
        rows=np.union1d(lexical, nearest),
        lexical=lexical,
        nearest=nearest,
        bm25_max=float(bm25.max(initial=0.0)),
        cosine_min=float(seen.min(initial=1.0)),
        cosine_max=float(seen.max(initial=-1.0)),
        scorer=_Full(bm25, cosine),
    )


def best_rows(scores: Scores, k: int, among: Mask | None = None) -> Rows:
    """The rows of the ``k`` largest scores, best first, ties by row."""
    rows = np.arange(len(scores)) if among is None else np.flatnonzero(among)
    values = scores[rows]
    if len(rows) > k:
        threshold = np.partition(values, len(values) - k)[len(values) - k]
        rows = rows[values >= threshold]
        values = scores[rows]
    chosen: Rows = rows[np.lexsort((rows, -values))][:k]
    return chosen


@dataclass(frozen=True, slots=True)
class _Full:
    """All scores are known."""

    all_bm25: Scores
    all_cosine: Scores

    def bm25(self, rows: Rows) -> Scores:
        return self.all_bm25[rows]

    def cosine(self, rows: Rows) -> Scores:
        return self.all_cosine[rows]


@dataclass(frozen=True, slots=True)
class _Partial:
    """BM25 is known for what was found, and cosines are computed as needed."""

    index: SearchIndex
    vector: Scores
    known: dict[int, float]

    def bm25(self, rows: Rows) -> Scores:
        return np.array([self.known.get(int(row), 0.0) for row in rows], dtype=np.float32)

    def cosine(self, rows: Rows) -> Scores:
        cosine: Scores = np.einsum("ij,j->i", self.index.vectors[rows], self.vector)
        return cosine


def _by_lancedb(index: SearchIndex, question: Question, mask: Mask | None, k: int) -> FirstStage:
    """Search LanceDB, with the scope as a prefilter on documents."""
    where = None
    if mask is not None:
        allowed = np.unique(index.walk.unit_doc[mask])
        where = f"doc_row IN ({', '.join(str(row) for row in allowed)})" if len(allowed) else "false"
    tables = index.snapshot.tables
    words = tables.search_text("units", " ".join(question.terms), k, where) if question.terms else []
    close = tables.search_vector("units", question.vector, k, where)
    scorer = _Partial(index, question.vector, {hit.row: hit.score for hit in words})
    lexical = np.array([hit.row for hit in words], dtype=np.int64)
    nearest = np.array([hit.row for hit in close], dtype=np.int64)
    cosines = scorer.cosine(nearest)
    return FirstStage(
        rows=np.union1d(lexical, nearest),
        lexical=lexical,
        nearest=nearest,
        bm25_max=max((hit.score for hit in words), default=0.0),
        cosine_min=min(0.0, float(cosines.min(initial=0.0))),
        cosine_max=float(cosines.max(initial=-1.0)),
        scorer=scorer,
    )
