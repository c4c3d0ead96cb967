"""Passages of documents as the content of a base layer (RFC section 15.1).

The passages and the arguments alone decide the bytes: ids derive from the contents, and times are arguments.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graphctx.errors import InvalidArgument
from graphctx.layers.chunk import Chunk, is_bookkeeping
from graphctx.layers.tables import LayerContent, quantised

CANONICAL = "canonical"
"""The kind that other implementations give to what they compile."""

_ID_BITS = 31  # the upper half of the ids stays free for those that later layers count up


@dataclass(frozen=True, slots=True)
class DocumentPassage:
    """A piece of a document.

    Attributes:
        content: its text.
        document: the document's URI.
        source: its place, as ``file:line``.
    """

    content: str
    document: str
    source: str


def chunks_of(passages: Sequence[DocumentPassage], kind: str = CANONICAL, created_at_unix_ms: int = 0) -> list[Chunk]:
    """Passages as chunks, in their order. Equal arguments give equal chunks.

    Args:
        passages: at least one.
        kind: of every chunk.
        created_at_unix_ms: of every chunk; 0 says that nobody knows.

    Raises:
        InvalidArgument: there is no passage, or the kind is empty or kept for tools.
    """
    if not passages:
        raise InvalidArgument("There is no text to make a layer of; name documents that hold some.")
    if not kind.strip() or is_bookkeeping(kind):
        raise InvalidArgument(
            f"kind {kind!r} is {'kept for tools' if kind.strip() else 'empty'}; choose another.",
            field="kind",
            value=kind,
        )
    return [
        Chunk(chunk_id, passage.content, kind, "human", 1.0, created_at_unix_ms, (passage.source,))
        for chunk_id, passage in zip(_ids(passages, kind), passages, strict=True)
    ]


def compiled(
    chunks: Sequence[Chunk], vectors: npt.NDArray[np.float32], metadata: bytes, *, i8: bool = False
) -> LayerContent:
    """A layer of chunks.

    Args:
        chunks: at least one.
        vectors: theirs, ``[len(chunks), dim]``.
        metadata: of the layer.
        i8: whether vectors are stored as a byte for each number, at a quarter of the size.
    """
    if not i8:
        return LayerContent(chunks, vectors, metadata=metadata)
    scale = float(np.float32(np.abs(vectors).max() / 127)) or 1.0
    return LayerContent(chunks, quantised(vectors, scale), scale, metadata)


def _ids(passages: Sequence[DocumentPassage], kind: str) -> list[int]:
    """An id for each passage, which it keeps as long as its document and its text stay, wherever it moves there."""
    seen: Counter[DocumentPassage] = Counter()
    taken: set[int] = set()
    ids = []
    for passage in passages:
        same = DocumentPassage(passage.content, passage.document, "")
        seen[same] += 1
        key = "\0".join((kind, passage.document, str(seen[same]), passage.content))
        number = int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "little") >> (32 - _ID_BITS)
        while number == 0 or number in taken:
            number = (number + 1) % (1 << _ID_BITS)
        taken.add(number)
        ids.append(number)
    return ids
