"""Which piece of a chunk is shown: a chunk may have twenty pages, and an answer takes a few sentences."""

from __future__ import annotations

from dataclasses import dataclass

from graphctx.text.graphemes import cut_end, first_end, floor
from graphctx.text.spans import best_spans, split_spans

_SEEN = 1 << 16  # characters of a content that are looked through, as in the ranking of chunks


@dataclass(frozen=True, slots=True)
class Piece:
    """A span of a chunk's content."""

    start_char: int
    end_char: int
    text: str

    @property
    def length(self) -> int:
        """Characters."""
        return self.end_char - self.start_char


def best_span(query: str, content: str) -> tuple[int, int]:
    """The span of a content that bears on a query most: the query itself, else what shares most words, else the first.

    Returns:
        Start and end; both 0 for a content without text.
    """
    at = content.find(query.strip())
    shift = max(0, at - _SEEN // 2)
    seen = content[shift : shift + _SEEN]
    if at >= 0:
        return _whole(content, seen, shift, at, at + len(query.strip()))
    spans = best_spans(query, [seen], 1)
    if spans:
        return shift + spans[0].start_char, shift + spans[0].end_char
    return next(iter(split_spans(seen)), (0, 0))


def piece_of(query: str, content: str, max_chars: int) -> Piece:
    """As much of a content as so many characters hold: all of it, or from a little before its best span on."""
    if len(content) <= max_chars:
        return Piece(0, len(content), content)
    start, end = best_span(query, content)
    spare = max(0, max_chars - (end - start))
    first = floor(content, max(0, min(start - spare // 3, len(content) - max_chars)))
    last = max(first_end(content, first), cut_end(content, first, first + max_chars))
    return Piece(first, last, content[first:last])


def _whole(content: str, seen: str, shift: int, start: int, end: int) -> tuple[int, int]:
    """The spans that a query's place touches, whole."""
    touched = [(s + shift, e + shift) for s, e in split_spans(seen) if s + shift < end and e + shift > start]
    return (touched[0][0], touched[-1][1]) if touched else (start, end)
