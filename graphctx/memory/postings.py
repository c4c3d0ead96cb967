"""The terms of items as arrays, and BM25 within a mask of them.

Document frequencies, the number of items and their mean length are those of the mask, so that what is out of scope
has no influence on a score.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from graphctx.memory.scorer import Floats
from graphctx.text.lexical import terms

Mask = npt.NDArray[np.bool_]

K1, B = 1.2, 0.75
"""Robertson & Zaragoza 2009, section 3.5; the defaults of Lucene."""

ASSISTANTS = frozenset("agent ai assistant bot chatbot document model system tool".split())
"""Authors whose turns answer what a person said; the source of a turn counts where it has no author."""

ROLES = ASSISTANTS | {"human", "user"}
"""Authors that are roles. The names of others are terms of what they said: a question names who said something."""

_TAIL_POSTINGS = 200_000


def term_hashes(text: str) -> npt.NDArray[np.uint32]:
    """Return the sorted hashes of the index terms of a text, each as often as the term occurs."""
    return np.sort(np.array([zlib.crc32(term.encode()) for term in terms(text)], dtype=np.uint32))


@lru_cache(maxsize=1024)
def author_hashes(author: str) -> npt.NDArray[np.uint32]:
    """Return the hashes of the index terms of an author's name, none of a role."""
    return term_hashes("" if author.casefold() in ROLES else author)


class Postings:
    """Which items have a term, and how often; terms are their `term_hashes`."""

    def __init__(self) -> None:
        self._base: tuple[npt.NDArray[np.uint32], npt.NDArray[np.int32], npt.NDArray[np.int32]] = (
            np.zeros(0, np.uint32),
            np.zeros(0, np.int32),
            np.zeros(0, np.int32),
        )
        self._tail: list[tuple[npt.NDArray[np.uint32], npt.NDArray[np.int32], npt.NDArray[np.int32]]] = []
        self._tail_size = 0

    def add(self, terms_of: Sequence[npt.NDArray[np.uint32]], first: int) -> None:
        """Add items with the slots from ``first`` on, by the hashes of their terms."""
        keys = [found.astype(np.uint64) << 32 | np.uint64(slot) for slot, found in enumerate(terms_of, start=first)]
        pairs, counts = np.unique(np.concatenate(keys), return_counts=True)
        self._tail.append(((pairs >> 32).astype(np.uint32), pairs.astype(np.int32), counts.astype(np.int32)))
        self._tail_size += len(pairs)

    def fold(self) -> None:
        """Sort what was added in among the rest, once there is much of it."""
        if self._tail_size <= max(_TAIL_POSTINGS, len(self._base[0]) // 8):
            return
        hashes, slots, counts = (
            np.concatenate([self._base[part], *(each[part] for each in self._tail)]) for part in range(3)
        )
        order = np.lexsort((slots, hashes))
        self._base = hashes[order], slots[order], counts[order]
        self._tail, self._tail_size = [], 0

    def scores(self, query: str, mask: Mask, lengths: npt.NDArray[np.int32]) -> Floats:
        """Return the BM25 score of each item, [n] in 0..1; 0 outside of the mask.

        1 is the score of an item of mean length with every term of the query once, or more. ``lengths`` has the terms
        of each item.
        """
        scores: Floats = np.zeros(len(mask))
        n_items = int(np.count_nonzero(mask))
        if not n_items:
            return scores
        mean = max(1.0, int(np.sum(lengths, where=mask, dtype=np.int64)) / n_items)
        total = 0.0
        for term in np.unique(term_hashes(query)):
            slots, counts = self._of(term)
            seen = mask[slots]
            slots, counts = slots[seen], counts[seen]
            idf = float(np.log1p((n_items - len(slots) + 0.5) / (len(slots) + 0.5)))
            total += idf
            norm = lengths[slots] * (K1 * B / mean)
            norm += K1 * (1 - B)
            norm += counts
            scores[slots] += np.divide(counts, norm, out=norm) * (idf * (K1 + 1))
        return np.minimum(scores / (total or 1.0), 1.0, out=scores)

    def _of(self, term: np.uint32) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        hashes, slots, counts = self._base
        low, high = np.searchsorted(hashes, term), np.searchsorted(hashes, term, side="right")
        if len(self._tail) > 1:
            tail = tuple(np.concatenate([each[part] for each in self._tail]) for part in range(3))
            self._tail = [(tail[0], tail[1], tail[2])]
        if not self._tail:
            return slots[low:high], counts[low:high]
        at = np.flatnonzero(self._tail[0][0] == term)
        found = np.concatenate([slots[low:high], self._tail[0][1][at]])
        return found, np.concatenate([counts[low:high], self._tail[0][2][at]])
