"""One ranking of what documents and layers gave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")

# Cormack, Clarke and Büttcher, Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods,
# SIGIR 2009: 1 / (60 + rank).
_RANK_OFFSET = 60


def fused(chunks: Sequence[Item], documents: Sequence[Item], limit: int) -> list[tuple[Item, float]]:
    """Two rankings as one, by reciprocal rank, each item with its score; of two that tie, the layer's chunk first.

    The scores of the two have nothing in common, and an item is in one of them only, so what counts is how far up each
    ranking has it.

    Args:
        chunks: of layers, the best first.
        documents: what the documents gave, the best first.
        limit: items at most.
    """
    both = [(rank, origin, item) for origin, items in enumerate((chunks, documents)) for rank, item in enumerate(items)]
    both.sort(key=lambda placed: placed[:2])
    return [(item, round(1 / (_RANK_OFFSET + 1 + rank), 6)) for rank, _, item in both[:limit]]
