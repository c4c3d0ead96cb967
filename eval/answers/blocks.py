"""The blocks of a Markdown document and where its sentences begin, read apart from graphctx's own reader."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from markdown_it import MarkdownIt

Kind = Literal["prose", "item", "header", "row", "code", "heading", "other"]


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a document that a reader takes in at once.

    Attributes:
        kind: ``prose`` is a paragraph, ``item`` the first paragraph of a list item, ``header`` and ``row`` a
            table's rows; ``other`` is HTML, front matter, and lines that only mark a box or a tab.
        start, end: with bullet or fences, without surrounding white space; end exclusive.
        body_start, body_end: without them.
    """

    kind: Kind
    start: int
    end: int
    body_start: int
    body_end: int


_FRONT_MATTER = re.compile(r"\A---\n.*?\n---[ \t]*(?=\n|\Z)", re.DOTALL)
_BULLET = re.compile(r"(?:[-*+•]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_QUOTED = re.compile(r"[ \t>]*")
_BOX = re.compile(r"[ \t]*(?::::|///|</?[A-Za-z][^>]*>[ \t]*$|\{[*%].*[*%]\}[ \t]*$|import .* from )")
_HEADING = re.compile(r"[ \t>]*#+[ \t]+")
_MARKS = r"[\s*_\"'“‘(\[<>~]*"
_CLOSING = re.compile(r"(?:[\s*_\"'”’)\]>~|]|</\w+>)*")
_ENDED = re.compile(r"(?:[.!?…][\"'”’»)\]*_`]*|[。！？]|  \n|\\\n|<br ?/?>)\s*$")
_ABBREVIATED = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|resp|approx|Mr|Mrs|Dr|no)|\be\. ?g|\bi\. ?e)\.\s*$")
_OPENED = re.compile(rf"{_MARKS}$")


def blocks(text: str, *, mdx: bool = False) -> list[Block]:
    """Return the blocks of a Markdown text, in order.

    Args:
        text: of the document, with front matter if it has some.
        mdx: whether it is MDX, in which indented lines are no code.
    """
    found: list[Block] = []
    front = _FRONT_MATTER.match(text)
    if front:
        found.append(Block("other", 0, front.end(), 0, front.end()))
        text = re.sub(r"[^\n]", " ", front[0]) + text[front.end() :]
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    parser = MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])
    if mdx:
        parser.disable("code")
    item: int | None = None  # the line of a list item whose first paragraph has not come
    header = False  # whether the next row is a table's first
    for token in parser.parse(text):
        if token.type == "list_item_open" and token.map:
            item = token.map[0]
        if token.type == "thead_open":
            header = True
        if token.map is None or token.type not in _KINDS:
            continue
        first, last = token.map
        kind = _KINDS[token.type]
        if kind == "row" and header:
            kind, header = "header", False
        if kind == "code":
            fences = (1, lines[last - 1].lstrip(" \t>").startswith(token.markup)) if token.type == "fence" else (0, 0)
            body = _trimmed(text, starts[first + fences[0]], starts[max(first + fences[0], last - fences[1])])
            whole = _trimmed(text, starts[first], starts[last])
            found.append(Block("code", *whole, *(body if fences[0] else whole)))
        elif kind == "prose":
            found += _paragraph(text, lines, starts, first, last, bulleted=item is not None and item <= first)
        else:
            start, end = _trimmed(text, starts[first], starts[last])
            found.append(Block(kind, start, end, start + (text[start] == "|"), end))
        item = None
    return sorted(found, key=lambda one: one.start)


_KINDS: dict[str, Kind] = {
    "paragraph_open": "prose",
    "heading_open": "heading",
    "tr_open": "row",
    "fence": "code",
    "code_block": "code",
    "html_block": "other",
}


def _paragraph(
    text: str, lines: list[str], starts: list[int], first: int, last: int, *, bulleted: bool
) -> Iterator[Block]:
    """Yield a paragraph without the lines that only mark a box, which divide it."""
    at = first
    for line in range(first, last + 1):
        box = line < last and _BOX.match(lines[line])
        if line == last or box:
            if at < line:
                start, end = _trimmed(text, starts[at], starts[line])
                body = _QUOTED.match(text, start).end()  # type: ignore[union-attr]
                bullet = _BULLET.match(text, body) if bulleted and at == first else None
                yield Block("item" if bullet else "prose", body, end, bullet.end() if bullet else body, end)
            if box:
                start, end = _trimmed(text, starts[line], starts[line + 1])
                yield Block("other", start, end, start, end)
            at = line + 1


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    end = min(end, len(text))
    piece = text[start:end]
    if not piece.strip():
        return start, start
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())


def block_at(found: list[Block], place: int) -> Block | None:
    """Return the block that a place lies in, if any."""
    at = bisect_left(found, place + 1, key=lambda one: one.start) - 1
    return found[at] if at >= 0 and found[at].start <= place < found[at].end else None


def begins_sentence(text: str, block: Block, place: int) -> bool:
    """Return whether a sentence, or the block, begins at a place in a block of prose."""
    before = text[block.body_start : place]
    if _in_tag(text, block, place):
        return False
    if _OPENED.fullmatch(before) or (block.kind == "heading" and _HEADING.fullmatch(text[block.start : place])):
        return True
    opened = _OPENED.search(before)
    before = before[: opened.start()] + " " if opened and not _ENDED.search(before) else before
    following = text[place : place + 1]
    return bool(_ENDED.search(before)) and not _ABBREVIATED.search(before) and not following.islower()


def ends_sentence(text: str, block: Block, place: int) -> bool:
    """Return whether a sentence, or the block, ends at a place in a block of prose."""
    if _in_tag(text, block, place):
        return False
    closing = _CLOSING.match(text, place, block.end)
    if closing and closing.end() == block.end:
        return True
    before, after = text[block.body_start : place], text[place : place + 2]
    return bool(_ENDED.search(before)) and not _ABBREVIATED.search(before) and not after[:1].isalnum()


def _in_tag(text: str, block: Block, place: int) -> bool:
    opened = text.rfind("<", block.body_start, place)
    return opened > text.rfind(">", block.body_start, place) and text[opened + 1 : opened + 2].isalpha()
