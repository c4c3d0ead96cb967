"""How well the chunks of a layer fit a query: by their vectors, by its words, and letter for letter (RFC section 9).

Vectors are compared by brute force. Rows are taken in blocks of a few megabytes, i8 turned to numbers by the scale, so
that memory stays flat. Products are sums by ``einsum``, which uses one thread and no BLAS: the same bits on any number
of processors.

A chunk may be longer than an embedder sees, and one vector for twenty pages is near to nothing in particular. So a
query in words also counts how much of it a chunk holds, and whether it holds it letter for letter.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from graphctx.layers import format as f
from graphctx.layers.reader import LayerFile
from graphctx.model.interrupt import checkpoint

Metric = Literal["cosine", "dot"]

_BLOCK = 1 << 20  # numbers turned to float32 at a time: 4 MB
_TERM = re.compile(r"\w+")

_SEEN = 1 << 16  # characters of a chunk whose words are counted: some 25 pages, so that 200 chunks stay below 0.5 s
_WINDOW = 1 << 20  # bytes of text searched at a time
_MOST = 256  # records that may hold a query letter for letter


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
    """The cosine of a query with every row, -1 to 1; 0 for a zero vector. ``[rows]``.

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
        made[row] = _cosine_float64(layer, query, row)
    return np.clip(made, -1.0, 1.0, out=made)


def _plain(lengths: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    """Rows whose squares neither overflow nor vanish in 32 bits."""
    return (lengths > 1e-15) & (lengths < 1e15)


def _cosine_float64(layer: LayerFile, query: npt.NDArray[np.float32], row: int) -> float:
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


def coverage(query: str, texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """How much of a query's words each text holds, 0 to 1, rare words counting more. ``[texts]``.

    A word weighs log(1 + N / n) where n of these N texts hold it; one that none holds weighs like one that one holds.
    """
    wanted = sorted(set(_terms(query)))
    if not wanted or not texts:
        return np.zeros(len(texts), np.float32)
    held = [set(_terms(text[:_SEEN])).intersection(wanted) for text in texts]
    numbers = Counter(term for terms in held for term in terms)
    weights = {term: math.log1p(len(texts) / max(1, numbers[term])) for term in wanted}
    whole = math.fsum(weights.values())
    return np.array([math.fsum(sorted(weights[term] for term in terms)) / whole for terms in held], np.float32)


def holders(layer: LayerFile, query: str) -> npt.NDArray[np.int64]:
    """Records whose content holds a query letter for letter, ascending; the first 256."""
    needle = query.strip().encode("utf-8", "replace")
    entries, contents = layer.layout.entries, layer.layout.records["content_str_id"].astype(np.int64) - 1
    if not needle or not len(contents):
        return np.empty(0, np.int64)
    is_content = np.zeros(len(entries), np.bool_)
    is_content[contents] = True
    places = np.flatnonzero(is_content & (entries["length"] > 0))  # an empty one may share another's offset
    places = places[np.argsort(entries["offset"][places], kind="stable")]
    starts = entries["offset"][places].astype(np.int64)
    found = places[_holding(layer, needle, starts, starts + entries["length"][places].astype(np.int64))]
    return np.flatnonzero(np.isin(contents, found))[:_MOST]


def _holding(layer: LayerFile, needle: bytes, starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> list[int]:
    """Which of some strings, in the order of the text, hold a needle; the first 256."""
    view, first = memoryview(layer.data), layer.layout.blob_start
    found: list[int] = []
    at, last = 0, layer.layout.blob_length
    while at < last and len(found) < _MOST:
        checkpoint()
        window = bytes(view[first + at : first + min(at + _WINDOW + len(needle) - 1, last)])
        place = window.find(needle)
        while place >= 0 and len(found) < _MOST:
            string = int(np.searchsorted(starts, at + place, side="right")) - 1
            inside = string >= 0 and at + place + len(needle) <= int(ends[string])
            if inside:
                found.append(string)
            place = window.find(needle, int(ends[string]) - at if inside else place + 1)
        at = max(at + _WINDOW, int(ends[found[-1]])) if found else at + _WINDOW
    return found


def _terms(text: str) -> list[str]:
    return _TERM.findall(text.casefold())
