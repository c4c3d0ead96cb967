"""What of a unit is prose: the segments that are parsed, with their markup masked."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from graphctx.model.documents import BlockKind, Document, TextUnit
from graphctx.nlp.markup import mask_markup


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of text that is parsed as one sentence: a sentence, or a cell of a table row.

    ``text`` is masked and as long as the source; ``start`` is its offset in the document; ``code`` are the spans of
    back-ticked code inside ``text``; ``breaks`` are the offsets in ``text`` where the layout starts something else,
    so that no name reaches across.
    """

    sentence: int
    text: str
    start: int
    code: tuple[tuple[int, int], ...]
    breaks: tuple[int, ...] = ()


_GAP = re.compile(r"(?<=[^\s.:!?])(?:[ ]{2,}|[ ]*\t\s*)(?=\S)")
"""Columns of plain text; after the end of a sentence two blanks are a habit of typists."""

_LINE_START = re.compile(r"\n([ ]*)(?=\S)")
_INDENT = re.compile(r"[ ]*(?:(?:[-*•+]|\d+[.)])[ ]+)?")
_DEEPER = 2
"""A line that is indented by so much more than the one before it is said of that one: a term and its definition."""


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
    breaks = layout_breaks(text, masked.text)
    segments = []
    for number, (sentence, kind) in enumerate(zip(unit.sentences, kinds, strict=True)):
        if kind == "code":
            continue
        start, end = sentence.start_char - unit.start_char, sentence.end_char - unit.start_char
        for first, last in _cells(text, start, end) if kind == "table" else ((start, end),):
            code = tuple((a - first, b - first) for a, b in masked.code if first <= a and b <= last)
            inside = breaks[bisect_left(breaks, first) : bisect_left(breaks, last)]
            segments.append(
                Segment(
                    number,
                    masked.text[first:last],
                    unit.start_char + first,
                    code,
                    tuple(at - first for at in inside),
                )
            )
    return segments


def layout_breaks(text: str, masked: str) -> list[int]:
    """Where the layout of plain text starts something else: in a column, or in the line below a term.

    A line that hangs below the column or the bullet of the line before it goes on with what stands there.

    Args:
        text: as it is written; gaps that only masking leaves are no columns.
        masked: as long as ``text``, with markup blanked out.

    Returns:
        Offsets of the first character after each break, sorted.
    """
    gaps = [match.end() for match in _GAP.finditer(text)]
    found = set(gaps)
    for match in _LINE_START.finditer(text):
        start = text.rfind("\n", 0, match.start()) + 1
        if not masked[start : match.start()].strip():
            continue  # a blank line, or one of markup only, ends a sentence anyway
        columns = [gap - start for gap in gaps[bisect_left(gaps, start) : bisect_left(gaps, match.start())]]
        indent = _INDENT.match(text, start)
        hangs = len(match.group(1))
        if hangs not in columns and (columns or (indent and hangs >= indent.end() - start + _DEEPER)):
            found.add(match.end())
    return sorted(found)


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
