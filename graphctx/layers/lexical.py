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
    entries, contents = layer.layout.entries, layer.layout.records["content_str_id"].astype(np.int64) - 1
    if not needle or not len(contents):
        return np.empty(0, np.int64)
    is_content = np.zeros(len(entries), np.bool_)
    is_content[contents] = True
    places = np.flatnonzero(is_content)
    places = places[np.argsort(entries["offset"][places], kind="stable")]
    starts = entries["offset"][places].astype(np.int64)
    found = places[_holding(layer, needle, starts, starts + entries["length"][places].astype(np.int64))]
    return np.flatnonzero(np.isin(contents, found))[:_MOST]


def _holding(layer: LayerFile, needle: bytes, starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> list[int]:
    """Which of some strings, given in the order of the text, hold a needle; the first 256."""
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
