"""Array types of retrieval, selection of the largest scores, and sparse score vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graphctx.model.interrupt import checkpoint

Rows = npt.NDArray[np.int64]
"""Row numbers of one of the snapshot's tables."""

Scores = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

_BLOCK = 128  # rows multiplied at a time: 0.2 MB, which stay in the processor's cache


def top_rows(scores: Scores, k: int, among: Mask | None = None) -> Rows:
    """Return the positions of the ``k`` largest scores, largest first, ties by position.

    Args:
        scores: float32 [n].
        k: how many to return.
        among: bool [n]; only positions where it is true are considered.

    >>> top_rows(np.array([0.5, 0.9, 0.5], dtype=np.float32), 2).tolist()
    [1, 0]
    """
    rows = np.arange(len(scores)) if among is None else among.nonzero()[0]
    values = scores[rows]
    if 0 < k < len(rows):
        threshold = np.partition(values, len(values) - k)[len(values) - k]
        rows = rows[values >= threshold]
        values = scores[rows]
    chosen: Rows = rows[np.lexsort((rows, -values))][:k]
    return chosen


def turns(values: npt.NDArray[np.generic]) -> Mask:
    """Return where a value differs from the one before it; the first one does.

    >>> turns(np.array([4, 4, 7])).tolist()
    [True, False, True]
    """
    changed = np.empty(len(values), dtype=bool)
    changed[:1] = True
    np.not_equal(values[1:], values[:-1], out=changed[1:])
    return changed


def is_in(rows: npt.NDArray[np.integer], among: npt.NDArray[np.integer]) -> Mask:
    """Return which rows are among some sorted rows; several times as fast as ``np.isin`` for some hundreds.

    >>> is_in(np.array([3, 1, 4]), np.array([1, 2, 3])).tolist()
    [True, True, False]
    """
    if not len(among):
        return np.zeros(len(rows), dtype=bool)
    found: Mask = among[np.minimum(among.searchsorted(rows), len(among) - 1)] == rows
    return found


def union(*rows: Rows) -> Rows:
    """Return the distinct rows of all, sorted; four times as fast as ``np.union1d`` for some hundreds.

    >>> union(np.array([3, 1]), np.array([3, 2])).tolist()
    [1, 2, 3]
    """
    every = np.concatenate(rows)
    every.sort()
    return every[turns(every)]


def inner_products(vectors: npt.NDArray[np.generic], rows: Rows, vector: Scores) -> Scores:
    """Return the inner products of some rows of ``vectors`` [n, d] with ``vector`` [d], float32 [len(rows)].

    No BLAS routine is used: its last bits, and so the order of ties, depend on the number of threads.
    """
    result = np.empty(len(rows), dtype=np.float32)
    for start in range(0, len(rows), _BLOCK):
        checkpoint()
        part = vectors.take(rows[start : start + _BLOCK], axis=0).astype(np.float32, copy=False)
        np.einsum("ij,j->i", part, vector, out=result[start : start + _BLOCK])
    return result


@dataclass(frozen=True, slots=True)
class SparseScores:
    """Scores of a few rows among many: ``rows`` distinct and sorted, float32 ``values`` beside them.

    Every other row scores 0.
    """

    rows: Rows
    values: Scores

    @classmethod
    def sum_of_best(cls, *parts: tuple[Rows, Scores]) -> SparseScores:
        """Return for each row the sum of the largest value that each part has for it.

        Args:
            parts: rows, repeated or not, and float32 values of at least 0 beside them.
        """
        rows = union(*(rows for rows, _ in parts)) if parts else NO_SCORES.rows
        total = np.zeros(len(rows), dtype=np.float32)
        for of, values in parts:
            best = np.zeros(len(rows), dtype=np.float32)
            np.maximum.at(best, rows.searchsorted(of), values)
            total += best
        return cls(rows, total)

    def at(self, rows: Rows) -> Scores:
        """Return the scores of any rows."""
        if not len(self.rows):
            return np.zeros(len(rows), dtype=np.float32)
        places = np.minimum(self.rows.searchsorted(rows), len(self.rows) - 1)
        return np.where(self.rows[places] == rows, self.values[places], np.float32(0.0))

    def top(self, k: int) -> Rows:
        """Return the rows of the ``k`` largest scores above 0, largest first."""
        return self.rows[top_rows(self.values, k, self.values > 0)]


NO_SCORES = SparseScores(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32))
