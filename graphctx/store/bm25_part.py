"""The lexical index of some of the units, as if nothing else were indexed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from graphctx.store.frequencies import inverse_frequency, saturated

if TYPE_CHECKING:
    from graphctx.store.bm25 import Bm25

Long = npt.NDArray[np.int64]
Real = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]


class Lexical(Protocol):
    """A lexical index of the units that may be seen."""

    def found(self, terms: Sequence[str]) -> tuple[Long, Real]:
        """The units that hold a term, and their BM25 for the distinct terms; unknown terms count nothing.

        Returns:
            Rows, sorted, and float32 values above 0 beside them.
        """

    def knows(self, term: str) -> bool:
        """Whether any unit holds a term."""

    def idf(self, term: str) -> float:
        """Inverse document frequency of a term, ``log(1 + (N - n + 0.5) / (n + 0.5))``; an unknown one has the most."""

    def holders(self, terms: Sequence[str], rows: Long) -> Mask:
        """Which of some units hold which of some terms, bool [len(rows), len(terms)]."""

    def within(self, visible: Mask) -> Lexical:
        """The index of some units alone, bool [N]; row numbers stay."""


class Bm25Part:
    """A `Lexical` index of the visible units. Thread-safe."""

    def __init__(self, whole: Bm25, visible: Mask) -> None:
        """Count nothing yet but the units.

        Args:
            whole: the index of all N units.
            visible: bool [N].
        """
        self._whole = whole
        self._visible = visible
        self._n_units = int(np.count_nonzero(visible))
        self._n_holders: dict[str, int] = {}
        frequencies = whole.frequencies
        self._mean_length = float(frequencies.lengths[visible].mean()) if frequencies and self._n_units else 0.0

    def found(self, terms: Sequence[str]) -> tuple[Long, Real]:
        """The visible units that hold a term, and their BM25 among these.

        The values of a snapshot of an older version, which lacks the frequencies, have the inverse document frequencies
        of these units and the mean length of all.
        """
        return self._whole.summed(self._postings(terms))

    def _postings(self, terms: Sequence[str]) -> Iterator[tuple[Long, Real]]:
        frequencies = self._whole.frequencies
        for term in sorted(set(terms)):
            rows = self._whole.units_with(term)
            kept = self._visible[rows]
            rows, n_all = rows[kept], len(kept)
            if not len(rows):
                continue
            idf = inverse_frequency(self._n_units, len(rows))
            if frequencies is None:
                whole = inverse_frequency(len(self._visible), n_all)
                yield rows, (self._whole.values_of(term)[kept] * (idf / whole)).astype(np.float32)
            else:
                counts = frequencies.counts.read([self._whole.bounds(term)])[kept]
                share = saturated(counts, frequencies.lengths[rows], self._mean_length)
                yield rows, (np.float32(idf) * share).astype(np.float32)

    def knows(self, term: str) -> bool:
        """Whether any visible unit holds a term."""
        return self._holders(term) > 0

    def idf(self, term: str) -> float:
        """Inverse document frequency of a term among the visible units."""
        return inverse_frequency(self._n_units, self._holders(term))

    def holders(self, terms: Sequence[str], rows: Long) -> Mask:
        """Which of some visible units hold which of some terms, bool [len(rows), len(terms)]."""
        return self._whole.holders(terms, rows)

    def within(self, visible: Mask) -> Bm25Part:
        """The index of some of these units alone."""
        return Bm25Part(self._whole, self._visible & visible)

    def _holders(self, term: str) -> int:
        known = self._n_holders.get(term)
        if known is None:
            rows = self._whole.units_with(term)
            known = int(np.count_nonzero(self._visible[rows]))
            if len(rows):  # what nobody holds is not worth keeping: there is no end of it
                self._n_holders[term] = known
        return known
