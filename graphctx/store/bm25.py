"""The lexical first stage: Okapi BM25 over the units, by bm25s, exact and memory-mapped."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from graphctx.errors import BackendUnavailable
from graphctx.store.arrays import Stretches
from graphctx.store.reasons import reason_of

K1 = 1.2
B = 0.75
"""The usual parameters (Robertson and Zaragoza 2009)."""


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
        # Kept between calls, all zero: a fresh one costs more than the postings of most questions. It is taken out
        # meanwhile, so that a call which is broken off leaves none behind.
        sums: npt.NDArray[np.float32] | None = vars(self._sums).pop("array", None)
        if sums is None:
            sums = np.zeros(self._n_units, dtype=np.float32)
        asked = sorted({self._known[term] for term in terms if term in self._known})
        parts = [(int(self._pointers[at]), int(self._pointers[at + 1])) for at in asked]
        read, at = self._values.read(parts), 0
        for start, end in parts:
            sums[self._rows[start:end]] += read[at : at + end - start]  # a term has a row once
            at += end - start
        rows = np.flatnonzero(sums > 0)
        values = sums[rows]
        sums[rows] = 0.0
        self._sums.array = sums
        return rows, values

    def knows(self, term: str) -> bool:
        """Whether any unit holds a term."""
        return term in self._known

    def idf(self, term: str) -> float:
        """Inverse document frequency of a term, ``log(1 + (N - n + 0.5) / (n + 0.5))``; an unknown one has the most."""
        at = self._known.get(term)
        n = int(self._pointers[at + 1] - self._pointers[at]) if at is not None else 0
        return float(np.log1p((self._n_units - n + 0.5) / (n + 0.5)))

    def holders(self, terms: Sequence[str], rows: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Which of some units hold which of some terms, bool [len(rows), len(terms)]."""
        units, pointers = self._rows, self._pointers
        held = np.zeros((len(rows), len(terms)), dtype=bool)
        for column, term in enumerate(terms):
            at = self._known.get(term)
            if at is None:
                continue
            posted = units[pointers[at] : pointers[at + 1]]  # sorted, since units are indexed in row order
            places = np.minimum(np.searchsorted(posted, rows), len(posted) - 1)
            held[:, column] = posted[places] == rows
        return held
