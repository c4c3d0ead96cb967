"""Vectors that count words, for layers that carry no embedding profile.

Each word adds 1 or takes 1 away at a place that its hash chooses, and the vector is made as long as 1. It knows
nothing of meaning, needs no model, and is the same on every machine. Hash and signs are those of other
implementations' ``hash`` backend, so that vectors made there and here are equal, bit for bit.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from graphctx.layers.format import MAX_DIM
from graphctx.layers.profile import HASH, Profile
from graphctx.model.interrupt import checkpoint
from graphctx.nlp.base import Vectors

# Unicode's White_Space property. str.split() also divides at U+001C to U+001F, which are not in it.
_WORDS = re.compile("[^\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")

# FNV-1a of 32 bits: http://www.isthe.com/chongo/tech/comp/fnv/
_FNV_OFFSET, _FNV_PRIME, _FNV_MASK = 0x811C9DC5, 0x01000193, 0xFFFFFFFF

_KNOWN = 1 << 16  # words whose hash is remembered


class HashEmbedder:
    """An `Embedder` without a model.

    Args:
        dimension: the length of a vector, 1 to 1,048,576.
    """

    def __init__(self, dimension: int) -> None:
        if not 1 <= dimension <= MAX_DIM:
            raise ValueError(f"dimension is {dimension}; give 1 to {MAX_DIM}")
        self._dimension = dimension
        self._hashes: dict[str, int] = {}

    @property
    def name(self) -> str:
        """``hash``."""
        return HASH

    @property
    def dimension(self) -> int:
        """Numbers of a vector."""
        return self._dimension

    @property
    def max_tokens(self) -> int:
        """No text is too long."""
        return 1 << 62

    @property
    def fingerprint(self) -> str:
        """From the length alone: the hash never changes."""
        return f"{HASH}:{hashlib.sha256(f'fnv1a32 {self._dimension}'.encode()).hexdigest()[:16]}"

    @property
    def profile(self) -> Profile:
        """As other implementations write it: they call the norm ``none`` although the vectors have length 1."""
        return Profile(HASH, "", "", self._dimension, "none")

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; a text without a word has the vector 0."""
        vectors = np.zeros((len(texts), self._dimension), np.float32)
        for row, text in enumerate(texts):
            places, counts = self.sparse(text)
            vectors[row, places] = counts
        return vectors

    def sparse(self, text: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        """A text's vector as the places that are not 0, ascending, and their values."""
        hashes = np.fromiter(map(self._hash, _words(text)), np.int64)
        places, inverse = np.unique(hashes % self._dimension, return_inverse=True)
        counts = np.bincount(inverse, np.where(hashes >> 31, -1.0, 1.0), len(places)).astype(np.float32)
        square = np.float32((counts.astype(np.float64) ** 2).sum())
        if square:
            counts *= np.float32(1.0) / np.sqrt(square)
        return places[counts != 0], counts[counts != 0]

    def _hash(self, word: str) -> int:
        found = self._hashes.get(word)
        if found is None:
            found = _FNV_OFFSET
            for byte in word.encode("utf-8", "replace"):
                found = ((found ^ byte) * _FNV_PRIME) & _FNV_MASK
            if len(self._hashes) < _KNOWN:
                self._hashes[word] = found
        return found


class WordVectors:
    """Word-counting vectors of many texts, kept sparse: what a search through a layer without a profile needs.

    Args:
        texts: any number; each is looked at once.
        dimension: of the vectors.
    """

    def __init__(self, texts: Iterable[str], dimension: int) -> None:
        self._embedder = HashEmbedder(dimension)
        places, counts, ends = [], [], [0]
        for i, text in enumerate(texts):
            if i % 1024 == 0:
                checkpoint()
            at, numbers = self._embedder.sparse(text)
            places.append(at.astype(np.int32))
            counts.append(numbers)
            ends.append(ends[-1] + len(at))
        self._places = np.concatenate([*places, np.empty(0, np.int32)])
        self._counts = np.concatenate([*counts, np.empty(0, np.float32)])
        self._ends = np.array(ends, np.int64)

    def cosines(self, query: str) -> npt.NDArray[np.float32]:
        """How like each text is to a query, -1 to 1; 0 for a text without words. ``[texts]``."""
        dense = self._embedder.embed([query])[0]
        sums = np.concatenate([[0.0], np.cumsum(self._counts * dense[self._places], dtype=np.float64)])
        cosines: npt.NDArray[np.float32] = (sums[self._ends[1:]] - sums[self._ends[:-1]]).astype(np.float32)
        return cosines


def _words(text: str) -> Iterable[str]:
    return (match.group() for match in _WORDS.finditer(text))
