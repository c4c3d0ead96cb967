"""The lexical first stage: Okapi BM25 over the units, by bm25s, exact and memory-mapped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from graphctx.errors import BackendUnavailable
from graphctx.store.reasons import reason_of

K1 = 1.2
B = 0.75
"""The usual parameters (Robertson and Zaragoza 2009)."""


def write_bm25(directory: Path, terms: Iterable[Sequence[str]]) -> None:
    """Index the terms of each unit, in row order, into an empty directory."""
    import bm25s

    vocabulary: dict[str, int] = {}
    rows = [[vocabulary.setdefault(term, len(vocabulary)) for term in unit] for unit in terms]
    # ids by first occurrence depend on the unit order only, which the snapshot fixes
    index = bm25s.BM25(k1=K1, b=B, method="lucene", backend="numpy")
    vocabulary.setdefault("", len(vocabulary))
    with np.errstate(invalid="ignore"):  # units without a single term have a mean length of zero
        index.index((rows or [[]], vocabulary), create_empty_token=False, show_progress=False)
    index.save(str(directory), show_progress=False)


class Bm25:
    """A written index, opened."""

    def __init__(self, directory: Path) -> None:
        """Open the index of a verified snapshot.

        Raises:
            BackendUnavailable: it cannot be read.
        """
        import bm25s

        try:
            self._index = bm25s.BM25.load(str(directory), mmap=True, show_progress=False)
            self._known: dict[str, int] = self._index.vocab_dict
        except Exception as error:
            raise BackendUnavailable(
                "The lexical index of this snapshot cannot be read. Run `graphctx ingest` again, or roll back.",
                reason=reason_of(error, directory),
            ) from error

    def scores(self, terms: Sequence[str]) -> npt.NDArray[np.float32]:
        """BM25 of every unit for the distinct terms, float32 [N]; unknown terms count nothing."""
        known = sorted({self._known[term] for term in terms if term in self._known})
        scores: npt.NDArray[np.float32] = self._index.get_scores_from_ids(known)
        return scores

    def idf(self, term: str) -> float:
        """Inverse document frequency of a term, ``log(1 + (N - n + 0.5) / (n + 0.5))``; an unknown one has the most."""
        pointers = self._index.scores["indptr"]
        n_docs = self._index.scores["num_docs"]
        at = self._known.get(term)
        n = int(pointers[at + 1] - pointers[at]) if at is not None else 0
        return float(np.log1p((n_docs - n + 0.5) / (n + 0.5)))
