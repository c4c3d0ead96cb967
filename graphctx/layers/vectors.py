"""Vectors of chunks that go from one layer into another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from graphctx.layers.effective import LayerView
from graphctx.layers.reader import LayerFile
from graphctx.layers.stack import LayerStack


def vectors_for(
    stack: LayerStack, target: LayerView | None, source: LayerView, records: Sequence[int]
) -> npt.NDArray[Any]:
    """Vectors of a layer's records as another layer needs them, ``[len(records), dim]``.

    Args:
        stack: whose embedder makes them where they cannot be taken over.
        target: the layer that gets them; ``None`` for one that is made like the source.
        source: the layer that has the records.
        records: which.

    Returns:
        The stored rows, bit for bit, where both layers hold the same numbers of the same profile, or numbers made of
        them where only the storage differs; else vectors made anew from the contents.
    """
    if target is None or _alike(target.file, source.file):
        return source.file.matrix[source.file.rows[np.array(records, np.int64)]]
    if _same_space(target.file, source.file):
        return np.stack([source.file.vector(record) for record in records])
    embedder = stack.embedder_of(target)
    return embedder.embed([source.file.content(record) for record in records])


def _same_space(one: LayerFile, other: LayerFile) -> bool:
    profile, its = one.profile, other.profile
    return profile is not None and its is not None and profile.space == its.space and one.dim == other.dim


def _alike(one: LayerFile, other: LayerFile) -> bool:
    stored = (one.element_type, one.scale) == (other.element_type, other.scale)
    return stored and _same_space(one, other)
