"""Key sentences of a community, by centrality and coverage, chosen by maximal marginal relevance."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graphctx.ingest.communities.evidence import Int, Real
from graphctx.ingest.embed import Quantised, quantise

MAX_POINTS = 40
MAX_CANDIDATES = 160
"""Of a leaf. A parent has as many of each child as fit `MAX_CHILD_CANDIDATES`, at least one of the best 400."""

MAX_CHILD_CANDIDATES = 400
COVERED_ENTITIES = 48
"""Entities that coverage looks at, the most characteristic of the community."""

CENTRAL, COVERAGE, FACTS = 0.45, 0.4, 0.15
REDUNDANCY = 0.5
"""``1 - lambda`` of maximal marginal relevance (Carbonell & Goldstein 1998), over similarities above the usual."""

NEAR_COPY = 0.95
"""Cosine from which on two sentences are duplicates."""

COVERED_SHARE = 0.25
"""Weight factor of an entity that a chosen sentence names already."""

_SAMPLE = 16
_EXACT_DIMENSION = 1040
"""Up to here sums of products of int8 numbers are below 2**24, so that float32 holds them exactly in any order."""


Float = npt.NDArray[np.float32] | npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CandidateSentences:
    """Sentences of one community.

    Attributes:
        rows: int64 [k], sentence rows, sorted.
        form: float64 [k], how well each stands alone, above 0.
        names: float64 [k, n], 1 if the sentence names one of the ``n`` most characteristic entities.
        weight: float64 [n], their weights, which sum to 1.
        facts: float64 [k], 1 if it states a fact between entities of the community.
    """

    rows: Int
    form: Real
    names: Real
    weight: Real
    facts: Real


def choose(candidates: CandidateSentences, vectors: Quantised, texts: list[str], limit: int = MAX_POINTS) -> list[int]:
    """Choose sentences, the best first.

    Args:
        candidates: what to choose from.
        vectors: of all sentences.
        texts: of the candidates.
        limit: at most this many.

    Returns:
        Sentence rows. Sums are exact or in a fixed order, independent of threads; ties go to the lower row.
    """
    if not len(candidates.rows):
        return []
    sentences = _Vectors.of(vectors, candidates.rows)
    relevant = CENTRAL * sentences.central() + FACTS * candidates.facts
    fresh = np.ones(len(candidates.weight))
    most = max(float((candidates.names * candidates.weight).sum(axis=1).max(initial=0.0)), 1e-9)
    usual = sentences.usual()
    left = np.ones(len(candidates.rows), dtype=bool)
    nearest = np.zeros(len(candidates.rows))
    same: dict[str, list[int]] = defaultdict(list)
    for at, text in enumerate(texts):
        same[_folded(text)].append(at)
    chosen: list[int] = []
    while left.any() and len(chosen) < limit:
        covered = (candidates.names * (candidates.weight * fresh)).sum(axis=1) / most
        score = np.round(candidates.form * (relevant + COVERAGE * covered) - REDUNDANCY * nearest, 6)
        best = int(np.argmax(np.where(left, score, -np.inf)))
        chosen.append(best)
        left[same[_folded(texts[best])]] = False
        alike = sentences.towards(best)
        left[alike >= NEAR_COPY] = False
        left[best] = False
        nearest = np.maximum(nearest, np.clip(alike - usual, 0.0, 1.0))
        fresh[candidates.names[best] > 0] = COVERED_SHARE
    return [int(candidates.rows[at]) for at in chosen]


@dataclass(frozen=True, slots=True)
class _Vectors:
    """The vectors of some sentences: whole numbers [k, d], their scales [k] and exact products [k, k]."""

    whole: Float
    scale: Real
    products: Real

    @classmethod
    def of(cls, vectors: Quantised, rows: Int) -> _Vectors:
        values = vectors.values[rows]
        exact = values.shape[1] <= _EXACT_DIMENSION
        whole: Float = values.astype(np.float32) if exact else values.astype(np.float64)
        return cls(whole, vectors.scale[rows].astype(np.float64), np.matmul(whole, whole.T).astype(np.float64))

    def towards(self, at: int) -> Real:
        """The cosine of each sentence with one of them, [k]."""
        cosines: Real = self.products[at] * self.scale * float(self.scale[at])
        return cosines

    def central(self) -> Real:
        """How near each sentence is to the centroid of all, from 0 to 1 for the nearest, [k]."""
        centroid = (self.whole * self.scale[:, None]).mean(axis=0, dtype=np.float64)
        whole = quantise(centroid.astype(np.float32)[None, :]).values[0].astype(self.whole.dtype)
        near: Real = np.einsum("ij,j->i", self.whole, whole).astype(np.float64) * self.scale
        return np.clip(near / max(float(near.max()), 1e-9), 0.0, 1.0)

    def usual(self) -> float:
        """The median cosine of two sentences, over a sample."""
        every = range(0, len(self.whole), max(1, len(self.whole) // _SAMPLE))
        return float(np.median([self.towards(at) for at in every]))


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
