"""What of a unit is prose: the segments that are parsed, with their markup masked."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from graphctx.model.documents import BlockKind, Document, TextUnit
from graphctx.nlp.markup import mask_markup


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of text that is parsed as one sentence: a sentence, or a cell of a table row.

    ``text`` is masked and as long as the source; ``start`` is its offset in the document; ``code`` are the spans of
    back-ticked code inside ``text``.
    """

    sentence: int
    text: str
    start: int
    code: tuple[tuple[int, int], ...]


def sentence_kinds(document: Document, unit: TextUnit) -> list[BlockKind]:
    """The kind of each sentence of a unit: a unit of mixed blocks holds sentences of prose and whole code blocks."""
    if unit.kind in ("code", "table") or not document.blocks:
        return [unit.kind] * len(unit.sentences)
    starts = [block.start_char for block in document.blocks]
    kinds: list[BlockKind] = []
    for sentence in unit.sentences:
        at = bisect_right(starts, sentence.start_char) - 1
        inside = at >= 0 and sentence.start_char < document.blocks[at].end_char
        kinds.append(document.blocks[at].kind if inside else unit.kind)
    return kinds


def segments_of(document: Document, unit: TextUnit) -> list[Segment]:
    """The segments of a unit in order; code has none."""
    kinds = sentence_kinds(document, unit)
    if all(kind == "code" for kind in kinds):
        return []
    text = document.text[unit.start_char : unit.end_char]
    for sentence, kind in zip(unit.sentences, kinds, strict=True):
        if kind == "code":  # its stars and underscores must not pair up with those of the prose
            start, end = sentence.start_char - unit.start_char, sentence.end_char - unit.start_char
            text = text[:start] + "\n" * (end - start) + text[end:]
    masked = mask_markup(text)
    segments = []
    for number, (sentence, kind) in enumerate(zip(unit.sentences, kinds, strict=True)):
        if kind == "code":
            continue
        start, end = sentence.start_char - unit.start_char, sentence.end_char - unit.start_char
        for first, last in _cells(text, start, end) if kind == "table" else ((start, end),):
            code = tuple((a - first, b - first) for a, b in masked.code if first <= a and b <= last)
            segments.append(Segment(number, masked.text[first:last], unit.start_char + first, code))
    return segments


def _cells(text: str, start: int, end: int) -> list[tuple[int, int]]:
    cells = []
    at = start
    while at < end:
        bar = text.find("|", at, end)
        stop = end if bar == -1 else bar
        if text[at:stop].strip():
            cells.append((at, stop))
        at = stop + 1
    return cells
