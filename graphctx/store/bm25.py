"""The lexical index: Okapi BM25 over the units, by bm25s, and the distinct terms of every sentence.

bm25s stores precomputed scores, which mix in the document frequencies and the mean length of the whole corpus. Term
counts and unit lengths are stored beside them: from these the values of any part of the corpus are computed by the same
operations in the same order, so that they equal those of an index of that part alone, bit for bit. The terms of
sentences are stored by number, so that no sentence is stemmed when a question is asked.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from graphctx.errors import BackendUnavailable
from graphctx.store.arrays import RangeReader, open_matrix, save_matrix
from graphctx.store.files import reason_of

Rows = npt.NDArray[np.integer]
Values = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

K1 = 1.2
B = 0.75
"""The usual parameters (Robertson and Zaragoza 2009)."""

_COUNTS, _LENGTHS = "counts.npy", "lengths.npy"
_IDS, _ENDS, _OWN = "sentence_terms.npy", "sentence_ends.npy", "sentence_own.json"


def write_bm25(directory: Path, terms: Iterable[Sequence[str]]) -> dict[str, int]:
    """Index the terms of each unit into an empty directory.

    Args:
        directory: where; named ``bm25`` in a snapshot.
        terms: of each unit, in row order.

    Returns:
        The vocabulary: the number of each term.
    """
    import bm25s

    vocabulary: dict[str, int] = {}
    rows = [[vocabulary.setdefault(term, len(vocabulary)) for term in unit] for unit in terms]
    # ids by first occurrence depend on the unit order only, which the snapshot fixes
    index = bm25s.BM25(k1=K1, b=B, method="lucene", backend="numpy")
    vocabulary.setdefault("", len(vocabulary))
    with np.errstate(invalid="ignore"):  # units without a single term have a mean length of zero
        index.index((rows or [[]], vocabulary), create_empty_token=False, show_progress=False)
    index.scores["indices"] = index.scores["indices"].astype(np.min_scalar_type(len(rows)))
    index.save(str(directory), show_progress=False)
    _write_counts(directory, rows)
    return vocabulary


def _write_counts(directory: Path, units: Sequence[Sequence[int]]) -> None:
    """Write term counts in the order of the postings (term, unit), and unit lengths."""
    held = [np.unique(np.array(unit, dtype=np.int32), return_counts=True) for unit in units]
    terms = np.concatenate([np.zeros(0, np.int32), *(numbers for numbers, _ in held)])
    counts = np.concatenate([np.zeros(0, np.int64), *(count for _, count in held)])
    smallest = np.min_scalar_type(int(counts.max(initial=0)))
    save_matrix(directory / _COUNTS, counts.astype(smallest)[np.argsort(terms, kind="stable")])
    save_matrix(directory / _LENGTHS, np.array([len(unit) for unit in units], dtype=np.int32))


class _Postings:
    """The files of an index, opened.

    Attributes:
        vocabulary: the number of each term.
        n_units: the number of units, N.
        rows: the unit of each posting.
        values: float32, the BM25 of the unit of each posting for the term alone.
        counts: unsigned, how often the unit of each posting holds the term.
        lengths: int32 [N], the number of terms of each unit.
    """

    def __init__(self, directory: Path) -> None:
        import bm25s

        try:
            index = bm25s.BM25.load(str(directory), mmap=True, show_progress=False)
            self.rows, self._pointers = (np.asarray(index.scores[name]) for name in ("indices", "indptr"))
            # Mapped, all of it would be resident in the end.
            self.values = RangeReader(directory / "data.csc.index.npy")
            self.counts = RangeReader(directory / _COUNTS)
            self.lengths: npt.NDArray[np.int32] = np.asarray(open_matrix(directory / _LENGTHS))
        except Exception as error:
            raise _unreadable("lexical index", reason_of(error, directory)) from error
        self.vocabulary: dict[str, int] = index.vocab_dict
        self.n_units = int(index.scores["num_docs"])
        self._sums = threading.local()

    def bounds(self, term: str) -> tuple[int, int]:
        """Return where the postings of a term begin and end."""
        at = self.vocabulary.get(term)
        return (0, 0) if at is None else (int(self._pointers[at]), int(self._pointers[at + 1]))

    def units(self, term: str) -> Rows:
        """Return the rows of the units that hold a term, sorted."""
        start, end = self.bounds(term)
        return self.rows[start:end]

    def summed(self, postings: Iterable[tuple[Rows, Values]]) -> tuple[npt.NDArray[np.int64], Values]:
        """Add up values by unit.

        Args:
            postings: for each term the rows of units, each once, and the values beside them.

        Returns:
            Rows, sorted, and sums above 0 beside them.
        """
        # Kept between calls, all zero: a fresh one costs more than the postings of most questions. It is taken out
        # meanwhile, so that a call which is broken off leaves none behind.
        sums: Values | None = vars(self._sums).pop("array", None)
        if sums is None:
            sums = np.zeros(self.n_units, dtype=np.float32)
        for rows, values in postings:
            sums[rows] += values
        found = np.flatnonzero(sums > 0)
        total = sums[found]
        sums[found] = 0.0
        self._sums.array = sums
        return found, total


class Bm25:
    """The lexical index of all units, or of some as if nothing else were indexed. Thread-safe.

    Usage::

        index = Bm25.open(snapshot.directory / "bm25")
        rows, values = index.scores(["harbour", "gate"])
        rows, values = index.within(visible).scores(["harbour", "gate"])
    """

    def __init__(self, postings: _Postings, visible: Mask | None = None) -> None:
        self._postings = postings
        self._visible = visible
        self._n_units = postings.n_units if visible is None else int(np.count_nonzero(visible))
        self._n_visible: dict[str, int] = {}
        self._mean_length = 0.0
        if visible is not None and self._n_units:
            self._mean_length = float(postings.lengths[visible].mean())

    @classmethod
    def open(cls, directory: Path) -> Bm25:
        """Open the index of a verified snapshot.

        Raises:
            BackendUnavailable: it cannot be read.
        """
        return cls(_Postings(directory))

    @property
    def vocabulary(self) -> Mapping[str, int]:
        """The number of each term."""
        return self._postings.vocabulary

    def within(self, visible: Mask) -> Bm25:
        """Return the index of some of these units alone; row numbers stay.

        Args:
            visible: bool [N].
        """
        return Bm25(self._postings, visible if self._visible is None else visible & self._visible)

    def scores(self, terms: Sequence[str]) -> tuple[npt.NDArray[np.int64], Values]:
        """Return the units that hold a term, and their BM25 for the distinct terms; unknown terms count nothing.

        Returns:
            Rows, sorted, and float32 values above 0 beside them.
        """
        # In the order of terms, not in that of their numbers, which change with what else is indexed: the last bits of
        # a sum follow its order.
        known = [term for term in sorted(set(terms)) if term in self.vocabulary]
        return self._postings.summed(self._stored(known) if self._visible is None else self._computed(known))

    def _stored(self, terms: Sequence[str]) -> Iterator[tuple[Rows, Values]]:
        bounds = [self._postings.bounds(term) for term in terms]
        values, at = self._postings.values.read(bounds), 0
        for start, end in bounds:
            yield self._postings.rows[start:end], values[at : at + end - start]
            at += end - start

    def _computed(self, terms: Sequence[str]) -> Iterator[tuple[Rows, Values]]:
        for term in terms:
            rows, kept = self._visible_units(term)
            if len(rows):
                counts = self._postings.counts.read([self._postings.bounds(term)])[kept]
                share = _saturated(counts, self._postings.lengths[rows], self._mean_length)
                yield rows, (np.float32(_idf(self._n_units, len(rows))) * share).astype(np.float32)

    def has_term(self, term: str) -> bool:
        """Return whether any unit holds a term."""
        return term in self.vocabulary and (self._visible is None or self._n_holders(term) > 0)

    def idf(self, term: str) -> float:
        """Return the inverse document frequency, ``log(1 + (N - n + 0.5) / (n + 0.5))``; highest for unknown terms."""
        return _idf(self._n_units, self._n_holders(term))

    def contains(self, terms: Sequence[str], rows: npt.NDArray[np.int64]) -> Mask:
        """Return which of some units hold which of some terms, bool [len(rows), len(terms)]."""
        held = np.zeros((len(rows), len(terms)), dtype=bool)
        wanted = rows.astype(self._postings.rows.dtype)  # else the postings would be converted
        for column, term in enumerate(terms):
            posted = self._postings.units(term)
            if len(posted):
                held[:, column] = posted[np.minimum(posted.searchsorted(wanted), len(posted) - 1)] == wanted
        return held

    def _n_holders(self, term: str) -> int:
        start, end = self._postings.bounds(term)
        if self._visible is None or start == end:
            return end - start
        if term not in self._n_visible:
            self._n_visible[term] = len(self._visible_units(term)[0])
        return self._n_visible[term]

    def _visible_units(self, term: str) -> tuple[Rows, Mask]:
        """Return the visible units that hold a term, and which of its postings they are."""
        rows, visible = self._postings.units(term), self._visible
        kept = np.ones(len(rows), dtype=bool) if visible is None else visible[rows]
        return rows[kept], kept


def _saturated(counts: Rows, lengths: Rows, mean_length: float) -> npt.NDArray[np.float64]:
    """Return BM25 without the inverse document frequency: ``tf / (k1 * (1 - b + b * length / mean) + tf)``."""
    frequency = counts.astype(np.float64)
    value: npt.NDArray[np.float64] = frequency / (K1 * ((1 - B) + B * lengths / mean_length) + frequency)
    return value


def _idf(n_units: int, n_holders: int) -> float:
    return math.log(1 + (n_units - n_holders + 0.5) / (n_holders + 0.5))


def write_sentence_terms(directory: Path, sentences: Iterable[Iterable[str]], vocabulary: Mapping[str, int]) -> None:
    """Write the terms of each sentence, in row order, into the directory of the lexical index.

    Args:
        directory: of the lexical index, written by `write_bm25`.
        sentences: the terms of each sentence, in any order, repeated or not.
        vocabulary: of the lexical index; terms that no unit has get the numbers after it.
    """
    own: dict[str, int] = {}
    ids, ends = [np.zeros(0, np.int32)], [0]
    for terms in sentences:
        held = {
            vocabulary[term] if term in vocabulary else own.setdefault(term, len(vocabulary) + len(own))
            for term in dict.fromkeys(terms)  # not a set: the numbers of new terms follow the text
        }
        ids.append(np.array(sorted(held), dtype=np.int32))
        ends.append(ends[-1] + len(held))
    save_matrix(directory / _IDS, np.concatenate(ids).astype(np.min_scalar_type(len(vocabulary) + len(own))))
    save_matrix(directory / _ENDS, np.array(ends, dtype=np.int32 if ends[-1] < 2**31 else np.int64))
    (directory / _OWN).write_text(json.dumps(own, ensure_ascii=True), "utf-8")


class SentenceTerms:
    """The terms of M sentences."""

    def __init__(self, directory: Path, vocabulary: Mapping[str, int]) -> None:
        """Open the sentence terms of a verified snapshot.

        Raises:
            BackendUnavailable: they cannot be read.
        """
        self._ends = np.asarray(open_matrix(directory / _ENDS))
        self._ids = RangeReader(directory / _IDS)
        try:
            self._own: dict[str, int] = json.loads((directory / _OWN).read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise _unreadable("sentence terms", reason_of(error, directory)) from error
        if not len(self._ends) or self._ends[-1] != len(self._ids):
            raise _unreadable("sentence terms", "the sizes differ")
        self._vocabulary = vocabulary

    def __len__(self) -> int:
        return len(self._ends) - 1

    def contains(self, terms: Sequence[str], rows: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Return which of some sentences hold which of some distinct terms, bool [len(rows), len(terms)].

        Fastest if consecutive rows are adjacent.
        """
        result = np.zeros((len(rows), len(terms)), dtype=bool)
        numbers = [self._vocabulary.get(term, self._own.get(term, -1)) for term in terms]
        order = np.argsort(numbers)
        asked = np.array(numbers, dtype=np.int64)[order]
        if not len(rows) or not len(terms):
            return result
        lengths = (self._ends[rows + 1] - self._ends[rows]).astype(np.int64)
        turns = [0, *(np.flatnonzero(np.diff(rows) != 1) + 1).tolist(), len(rows)]
        ids = self._ids.read(
            (int(self._ends[rows[first]]), int(self._ends[rows[after - 1] + 1])) for first, after in pairwise(turns)
        )
        owner = np.repeat(np.arange(len(rows)), lengths)
        places = np.minimum(np.searchsorted(asked, ids), len(asked) - 1)
        hit = asked[places] == ids
        result[owner[hit], order[places[hit]]] = True
        return result


def _unreadable(what: str, reason: str) -> BackendUnavailable:
    return BackendUnavailable(
        f"The {what} of this snapshot cannot be read. Run `graphctx ingest` again, or roll back.", reason=reason
    )
