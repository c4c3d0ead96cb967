"""The lexical first stage: Okapi BM25 over the units, by bm25s, exact and memory-mapped.

Of some of the units alone it is made from the counts beside it, see `graphctx.store.frequencies`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from graphctx.errors import BackendUnavailable
from graphctx.store.arrays import Stretches
from graphctx.store.bm25_part import Bm25Part
from graphctx.store.frequencies import K1, B, Frequencies, inverse_frequency, write_frequencies
from graphctx.store.reasons import reason_of


def write_bm25(directory: Path, terms: Iterable[Sequence[str]]) -> dict[str, int]:
    """Index the terms of each unit, in row order, into an empty directory.

    Returns:
        The number of each term.
    """
    import bm25s

    vocabulary: dict[str, int] = {}
    rows = [[vocabulary.setdefault(term, len(vocabulary)) for term in unit] for unit in terms]
    # ids by first occurrence depend on the unit order only, which the snapshot fixes
    index = bm25s.BM25(k1=K1, b=B, method="lucene", backend="numpy")
    vocabulary.setdefault("", len(vocabulary))
    with np.errstate(invalid="ignore"):  # units without a single term have a mean length of zero
        index.index((rows or [[]], vocabulary), create_empty_token=False, show_progress=False)
    index.save(str(directory), show_progress=False)
    write_frequencies(directory, rows)
    return vocabulary


class Bm25:
    """A written index, opened."""

    def __init__(self, directory: Path) -> None:
        """Open the index of a verified snapshot.

        Raises:
            BackendUnavailable: it cannot be read.
        """
        import bm25s

        try:
            index = bm25s.BM25.load(str(directory), mmap=True, show_progress=False)
            parts = [np.asarray(index.scores[name]) for name in ("indices", "indptr")]
            self._values = Stretches(directory / "data.csc.index.npy")  # all of it would be mapped before long
            self.frequencies = Frequencies(directory) if Frequencies.are_in(directory) else None
        except Exception as error:
            raise BackendUnavailable(
                "The lexical index of this snapshot cannot be read. Run `graphctx ingest` again, or roll back.",
                reason=reason_of(error, directory),
            ) from error
        self._known: dict[str, int] = index.vocab_dict
        self._rows, self._pointers = parts
        self._n_units = int(index.scores["num_docs"])
        self._sums = threading.local()

    @property
    def vocabulary(self) -> Mapping[str, int]:
        """The number of each term."""
        return self._known

    def found(self, terms: Sequence[str]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        """The units that hold a term, and their BM25 for the distinct terms; unknown terms count nothing.

        Returns:
            Rows, sorted, and float32 values above 0 beside them.
        """
        # In the order of terms, not in that of their numbers, which change with what else is indexed: the last bits of
        # a sum follow its order.
        bounds = [self.bounds(term) for term in sorted(set(terms)) if term in self._known]
        read, ends = self._values.read(bounds), np.cumsum([end - start for start, end in bounds])
        values = np.split(read, ends[:-1]) if bounds else []
        return self.summed((self._rows[start:end], part) for (start, end), part in zip(bounds, values, strict=True))

    def within(self, visible: npt.NDArray[np.bool_]) -> Bm25Part:
        """The index of some units alone, bool [N]; row numbers stay."""
        return Bm25Part(self, visible)

    def bounds(self, term: str) -> tuple[int, int]:
        """Where the postings of a term begin and end."""
        at = self._known.get(term)
        return (0, 0) if at is None else (int(self._pointers[at]), int(self._pointers[at + 1]))

    def units_with(self, term: str) -> npt.NDArray[np.integer]:
        """The rows of the units that hold a term, sorted."""
        start, end = self.bounds(term)
        return self._rows[start:end]

    def values_of(self, term: str) -> npt.NDArray[np.float32]:
        """The BM25 of each of these units for the term alone."""
        return self._values.read([self.bounds(term)])

    def summed(
        self, postings: Iterable[tuple[npt.NDArray[np.integer], npt.NDArray[np.float32]]]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        """Add up values by unit.

        Args:
            postings: for each term the rows of units, each once, and float32 values beside them.

        Returns:
            Rows, sorted, and float32 sums above 0 beside them.
        """
        # Kept between calls, all zero: a fresh one costs more than the postings of most questions. It is taken out
        # meanwhile, so that a call which is broken off leaves none behind.
        sums: npt.NDArray[np.float32] | None = vars(self._sums).pop("array", None)
        if sums is None:
            sums = np.zeros(self._n_units, dtype=np.float32)
        for rows, values in postings:
            sums[rows] += values
        found = np.flatnonzero(sums > 0)
        total = sums[found]
        sums[found] = 0.0
        self._sums.array = sums
        return found, total

    def knows(self, term: str) -> bool:
        """Whether any unit holds a term."""
        return term in self._known

    def idf(self, term: str) -> float:
        """Inverse document frequency of a term, ``log(1 + (N - n + 0.5) / (n + 0.5))``; an unknown one has the most."""
        start, end = self.bounds(term)
        return inverse_frequency(self._n_units, end - start)

    def holders(self, terms: Sequence[str], rows: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Which of some units hold which of some terms, bool [len(rows), len(terms)]."""
        held = np.zeros((len(rows), len(terms)), dtype=bool)
        for column, term in enumerate(terms):
            posted = self.units_with(term)
            if len(posted):
                places = np.minimum(np.searchsorted(posted, rows), len(posted) - 1)
                held[:, column] = posted[places] == rows
        return held
