"""How like a query vector the stored vectors are, by brute force (RFC section 9).

Rows are taken in blocks of a few megabytes, i8 turned to numbers by the scale, so that memory stays flat. Products
are sums by ``einsum``, which uses one thread and no BLAS: the same bits on any number of processors.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from graphctx.layers import format as f
from graphctx.layers.reader import LayerFile
from graphctx.model.interrupt import checkpoint

Metric = Literal["cosine", "dot"]

_BLOCK = 1 << 20  # numbers turned to float32 at a time: 4 MB


def products(layer: LayerFile, query: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The dot product of a query with every row of a layer's matrix, ``[rows]``; overflow is clipped."""
    return _rows(layer, lambda block: np.einsum("ij,j->i", block, query))


def norms(layer: LayerFile) -> npt.NDArray[np.float32]:
    """The length of every row of a layer's matrix, ``[rows]``."""
    with np.errstate(all="ignore"):
        lengths: npt.NDArray[np.float32] = np.sqrt(_rows(layer, lambda block: np.einsum("ij,ij->i", block, block)))
    return lengths


def cosines(
    layer: LayerFile, query: npt.NDArray[np.float32], lengths: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """The cosine of a query with every row, -1 to 1; 0 where either has no direction. ``[rows]``.

    Args:
        layer: whose rows.
        query: ``[dim]``.
        lengths: of the rows, as `norms` gives them.
    """
    with np.errstate(all="ignore"):
        largest = np.abs(query).max(initial=0.0)
        if not np.isfinite(largest) or largest == 0:
            return np.zeros(len(lengths), np.float32)
        query = query / largest
        query = query / np.sqrt(np.einsum("i,i->", query, query))
        made = products(layer, query) / lengths
    for row in np.flatnonzero(~_plain(lengths)).tolist():
        made[row] = _careful(layer, query, row)
    return np.clip(made, -1.0, 1.0, out=made)


def _plain(lengths: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    """Rows whose squares neither overflow nor vanish in 32 bits."""
    return (lengths > 1e-15) & (lengths < 1e15)


def _careful(layer: LayerFile, query: npt.NDArray[np.float32], row: int) -> float:
    """The cosine of a row of very large or very small numbers."""
    with np.errstate(invalid="ignore"):  # a signalling NaN
        numbers = layer.matrix[row].astype(np.float64)
    largest = np.abs(numbers).max(initial=0.0)
    if not np.isfinite(largest) or largest == 0:
        return 0.0
    numbers /= largest
    length = np.sqrt(np.einsum("i,i->", numbers, numbers))
    return float(np.sign(layer.scale) * np.einsum("i,i->", numbers, query.astype(np.float64)) / length)


def _rows(layer: LayerFile, reduce: Any) -> npt.NDArray[np.float32]:
    matrix = layer.matrix
    made = np.empty(len(matrix), np.float32)
    step = max(1, _BLOCK // layer.dim)
    # einsum would take unaligned rows in pieces and sum in another order, so they are copied, always to one place.
    plain = layer.layout.element == f.F32 and matrix.flags.aligned
    scratch = np.empty((0 if plain else min(step, len(matrix)), layer.dim), np.float32)
    for start in range(0, len(matrix), step):
        checkpoint()
        block = matrix[start : start + step]
        with np.errstate(all="ignore"):
            if not plain:
                block = np.multiply(block, np.float32(layer.scale), out=scratch[: len(block)])
            made[start : start + step] = reduce(block)
    return np.nan_to_num(made, copy=False)
