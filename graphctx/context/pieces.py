"""The pieces of a text that is shortened: sentences, headings, and blocks that stay whole."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from graphctx.model.documents import Block, BlockKind
from graphctx.text.sentences import marker_start, split_sentences

BlockSpan = tuple[int, int, BlockKind | str]


@dataclass(frozen=True, slots=True)
class Piece:
    """What is kept or left out as one: a sentence, a block, a row, an item or a heading.

    Attributes:
        start, end: its span.
        kind: of its block, or ``heading``.
        block: equal for the pieces of one block.
        heading: position of the heading above it, -1 without one.
    """

    start: int
    end: int
    kind: BlockKind | str
    block: int
    heading: int


def blocks_of(text: str) -> list[BlockSpan]:
    """Return the start, end and kind of the headings and blocks of a Markdown text, in order."""
    from graphctx.ingest.read.markdown import parse_markdown

    outline, _ = parse_markdown(text)
    parts: list[BlockSpan] = [(one.start_char, one.end_char, "heading") for one in outline.headings]
    parts += [(one.start_char, one.end_char, one.kind) for one in _apart(outline.blocks)]
    return sorted(parts)


def split_pieces(text: str, blocks: Sequence[BlockSpan], whole: Callable[[str], bool]) -> list[Piece]:
    """Divide a text into sentences, headings and whole blocks, in order.

    Args:
        text: any text.
        blocks: those of `blocks_of`.
        whole: whether a block of code, a table or a list stays whole; others are divided into lines, rows and items.
    """
    pieces: list[Piece] = []
    heading, at = -1, 0
    for block, (start, end, kind) in enumerate([*blocks, (len(text), len(text), "prose")]):
        start = max(start, at)
        for first, last in _sentences(text, at, start, "prose"):  # what is in no block, such as front matter
            pieces.append(Piece(first, last, "prose", -1 - block, heading))
        if start >= end:
            continue
        if kind == "heading":
            heading = len(pieces)
            pieces.append(Piece(start, end, kind, block, -1))
        elif kind != "prose" and whole(text[start:end]):
            pieces.append(Piece(start, end, kind, block, heading))
        else:
            spans = _lines(text, start, end) if kind == "code" else _sentences(text, start, end, kind)
            pieces += [Piece(first, last, kind, block, heading) for first, last in spans]
        at = end
    return pieces


def places_of(pieces: Sequence[Piece]) -> dict[int, list[int]]:
    """Return the positions of the pieces below each heading, and of those below none at -1."""
    places: dict[int, list[int]] = defaultdict(list)
    for at, one in enumerate(pieces):
        if one.kind != "heading":
            places[one.heading].append(at)
    return places


def _apart(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield blocks without those that lie within the one before."""
    end = 0
    for one in sorted(blocks, key=lambda block: (block.start_char, -block.end_char)):
        if one.end_char > end:
            yield one
            end = one.end_char


def _sentences(text: str, start: int, end: int, kind: BlockKind | str) -> Iterator[tuple[int, int]]:
    own = text[start:end]
    after = 0
    for first, last in split_sentences(own, kind):  # type: ignore[arg-type]
        first = max(marker_start(own, first), after)
        yield start + first, start + last
        after = last


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for line in text[start:end].splitlines(keepends=True):
        bare = line.rstrip()
        if bare:
            yield at, at + len(bare)
        at += len(line)
