"""The chunk: one piece of context with its provenance (RFC section 7)."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

from graphctx.errors import InvalidArgument
from graphctx.layers.format import AUTHORS, MAX_U32, MAX_U64

Source = int | str
"""Where a chunk comes from: another chunk's id, or a place such as ``docs/a.md:12``."""

TOMBSTONE = "tombstone"
"""A chunk that takes those among its sources back. Another implementation's kind, kept for what it wrote."""

OPTIONS = "options"
"""A chunk that holds another implementation's settings as JSON."""

PROPOSAL = "meta.proposal_event"
"""A chunk that records a proposal or what was decided about it (RFC section 11.2)."""


_AROUND = " \t#>*_`-=|"
_MARKS = re.compile(r"\*\*|`")


def is_bookkeeping(kind: str) -> bool:
    """Whether chunks of a kind say something about other chunks or tools instead of about the world."""
    return kind in (TOMBSTONE, OPTIONS) or kind.startswith("meta.")


def first_line(content: str, most: int) -> str:
    """The display title of a chunk: its first line with letters or digits, without markup.

    Args:
        content: of a chunk.
        most: characters; what is cut ends in ``…``.
    """
    for line in content.splitlines():
        text = " ".join(_MARKS.sub("", line.strip(_AROUND)).split())
        if any(char.isalnum() for char in text):
            return text if len(text) <= most else text[: most - 1] + "…"
    return ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One record of a layer. Its vector is a row of the layer's matrix.

    Attributes:
        id: 1 to 4,294,967,295; a later record with the same id in the same file is a revision.
        content: any text that UTF-8 can hold.
        kind: what sort of context it is, such as ``invariant``.
        author: ``human`` or ``mcp``.
        confidence: 0 to 1, of a float's 32 bits.
        created_at_unix_ms: milliseconds since 1970; 0 where nobody said.
        sources: ids of chunks and places, in order.
    """

    id: int
    content: str
    kind: str
    author: str
    confidence: float
    created_at_unix_ms: int = 0
    sources: tuple[Source, ...] = ()


def checked(chunk: Chunk) -> Chunk:
    """A chunk that a layer file can hold, its confidence rounded to 32 bits.

    Raises:
        InvalidArgument: a value is out of its range; the message names the field and the value.
    """
    _whole("id", chunk.id, 1, MAX_U32)
    _whole("created_at_unix_ms", chunk.created_at_unix_ms, 0, MAX_U64)
    utf8(chunk.author, "author")
    if chunk.author not in AUTHORS:
        raise InvalidArgument(
            f"author is {chunk.author!r:.80}; give one of {', '.join(AUTHORS)}.",
            field="author",
            value=chunk.author[:80],
        )
    for source in chunk.sources:
        if isinstance(source, str):
            utf8(source, "sources")
        else:
            _whole("sources", source, 1, MAX_U32)
    utf8(chunk.kind, "kind")
    utf8(chunk.content, "content")
    confidence = checked_confidence(chunk.confidence)
    if confidence == chunk.confidence:
        return chunk
    return Chunk(chunk.id, chunk.content, chunk.kind, chunk.author, confidence, chunk.created_at_unix_ms, chunk.sources)


def checked_confidence(value: float) -> float:
    """A confidence as 32 bits hold it.

    Raises:
        InvalidArgument: it is not a number from 0 to 1.
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0.0 <= value <= 1.0:  # which neither NaN nor a whole number of any length is
        raise InvalidArgument(
            f"confidence is {value!r:.80}; give a number from 0 to 1.",
            field="confidence",
            value=f"{value!r:.80}",
            range="0..1",
        )
    rounded: float = struct.unpack("<f", struct.pack("<f", value))[0]
    return rounded


def utf8(text: str, field: str) -> bytes:
    """A text's bytes.

    Raises:
        InvalidArgument: it holds half of a surrogate pair, which UTF-8 cannot.
    """
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidArgument(
            f"{field} holds half of a surrogate pair at character {error.start}, which UTF-8 cannot hold; remove it.",
            field=field,
            character=error.start,
        ) from error


def _whole(field: str, value: int, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InvalidArgument(
            f"{field} is {value!r:.80}; give a whole number from {low} to {high}.",
            field=field,
            value=f"{value!r:.80}",
            range=f"{low}..{high}",
        )
