"""Words of a query in a layer: what vectors of whole chunks miss.

A chunk may be longer than an embedder sees, and one vector for twenty pages is near to nothing in particular. So a
query in words also counts how much of it a chunk holds, and whether it holds it letter for letter.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from graphctx.layers.reader import LayerFile
from graphctx.model.interrupt import checkpoint

_TERM = re.compile(r"\w+")

_SEEN = 1 << 16  # characters of a chunk whose words are counted: some 25 pages, so that 200 chunks stay below 0.5 s
_WINDOW = 1 << 20  # bytes of text searched at a time
_MOST = 256  # records that may hold a query letter for letter


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
    if not needle or not layer.layout.blob_length:
        return np.empty(0, np.int64)
    offsets, order = (
        layer.layout.entries["offset"].astype(np.int64),
        layer.layout.entries["offset"].argsort(kind="stable"),
    )
    numbers: set[int] = set()
    for place in _places(layer, needle):
        entry = int(order[np.searchsorted(offsets[order], place, side="right") - 1])
        start, length = layer.layout.entries[entry].tolist()
        if start <= place and place + len(needle) <= start + length:
            numbers.add(entry + 1)
    return np.flatnonzero(np.isin(layer.layout.records["content_str_id"], sorted(numbers)))[:_MOST]


def _places(layer: LayerFile, needle: bytes) -> list[int]:
    """Where a text's bytes stand in the dictionary's, the first few, once for each string at most."""
    view = memoryview(layer.data)
    found: list[int] = []
    start, end = layer.layout.blob_start, layer.layout.blob_start + layer.layout.blob_length
    for at in range(start, end, _WINDOW):
        checkpoint()
        window = bytes(view[at : min(at + _WINDOW + len(needle) - 1, end)])
        place = window.find(needle)
        while place >= 0 and len(found) < 16 * _MOST:
            found.append(at + place - start)
            place = window.find(needle, place + len(needle))
    return found


def _terms(text: str) -> list[str]:
    return _TERM.findall(text.casefold())
