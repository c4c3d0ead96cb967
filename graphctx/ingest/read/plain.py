"""Plain text: paragraphs at blank lines, headings only where a line is underlined."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import ClassVar

from graphctx.ingest.read.base import Outline, ReadFile, Slugger, decode, make_document
from graphctx.ingest.read.lines import Lines, join_lists
from graphctx.model.documents import Block, BlockKind, Heading

MAX_HEADING_CHARS = 120
"""A longer line above a rule is a paragraph."""

UNDERLINE_SLACK = 3
"""An underline is as long as its title, give or take this many characters."""

_RULE = re.compile(r"([=\-~^*#_])\1{2,}\s*")
_LEVELS = {"=": 1, "#": 1, "*": 1, "-": 2, "_": 2, "~": 3, "^": 3}
_BULLET = re.compile(r"\s*(?:[-*+•‣◦]|\d{1,3}[.)])\s+\S")
_COLUMNS = re.compile(r"\s*\|.*\|\s*|\s*\+[-=+]+\+\s*")
_INDENT = re.compile(r"(?: {4}|\t)")


class PlainReader:
    """Text files without markup."""

    media_types: ClassVar[Mapping[str, str]] = {".txt": "text/plain", ".text": "text/plain", ".log": "text/plain"}
    version: ClassVar[int] = 2

    def read(self, data: bytes, uri: str) -> ReadFile:
        """Read one document; see :class:`graphctx.ingest.read.base.DocumentReader`."""
        text, notes = decode(data, uri)
        return ReadFile((make_document(uri, "text/plain", text, outline_plain(text)),), notes=notes)


def outline_plain(text: str, *, headings: bool = True) -> Outline:
    """Find the paragraphs, lists, tables and underlined headings of a normalised text.

    Args:
        text: the normalised text.
        headings: whether underlined lines are headings.
    """
    lines = Lines(text)
    outline = Outline()
    slugger = Slugger()
    first = 0
    for number in range(len(lines) + 1):
        if number < len(lines) and lines.lines[number].strip():
            continue
        if first < number:
            if headings and _is_heading(lines, first, number):
                start, end = lines.span(first, first + 2)
                title = " ".join(lines.lines[first].split())
                level = _LEVELS[lines.lines[first + 1].strip()[0]]
                outline.headings.append(Heading(level, title, slugger.slug(title), start, end))
                first += 2
            outline.blocks.extend(_blocks(lines, first, number))
        first = number + 1
    outline.blocks = join_lists(text, outline.blocks)
    return outline


def _is_heading(lines: Lines, first: int, last: int) -> bool:
    if last - first < 2 or not _RULE.fullmatch(lines.lines[first + 1]):
        return False
    title, rule = lines.lines[first].strip(), lines.lines[first + 1].strip()
    fits = len(rule) >= len(title) - UNDERLINE_SLACK and len(rule) <= 2 * len(title) + UNDERLINE_SLACK
    return len(title) <= MAX_HEADING_CHARS and fits and any(c.isalnum() for c in title)


def _blocks(lines: Lines, first: int, last: int) -> Iterator[Block]:
    """The block of a run of lines, or two where a list follows its introduction without a blank line."""
    if first >= last or not any(c.isalnum() for c in lines.text[slice(*lines.span(first, last))]):
        return
    run = lines.lines[first:last]
    bullets = [number for number, line in enumerate(run) if _BULLET.match(line)]
    kind: BlockKind = "prose"
    if len(run) > 1 and all(_COLUMNS.fullmatch(line) for line in run):
        kind = "table"
    elif bullets and (bullets[0] == 0 or len(bullets) > 1):
        yield from lines.block("prose", first, first + bullets[0])
        first, kind = first + bullets[0], "list"
    elif all(_INDENT.match(line) for line in run):
        kind = "code"
    yield from lines.block(kind, first, last)
