"""A text under construction, for formats that have no text of their own: readers write, spans come out."""

from __future__ import annotations

import re
from bisect import bisect_right

from graphctx.ingest.read.base import Outline
from graphctx.model.documents import Block, BlockKind, Heading, Link, line_starts
from graphctx.text.normalise import normalise
from graphctx.text.sentences import trim

_SPACE = re.compile(r"\s+")


class Canvas:
    """Collects a text with its headings, blocks and links.

    White space between pieces is pending until text follows, so that no span starts or ends with it.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._at = 0
        self._gap = 0  # pending line ends
        self._space = False  # a pending space
        self._lead = ""  # a pending list marker or indent
        self._kind: BlockKind | None = None
        self._start = -1
        self._links: list[tuple[str, int]] = []  # open links: target, start (-1 before their first text)
        self._headings: list[Heading] = []
        self._blocks: list[Block] = []
        self._found: list[Link] = []

    @property
    def lead(self) -> str:
        """What the line that was begun starts with, as long as nothing was written on it."""
        return self._lead

    def open(self, kind: BlockKind) -> None:
        """Begin a block; the one before it ends."""
        self.close()
        self._kind = kind

    def close(self) -> None:
        """End the block; a blank line separates it from what is written next."""
        if self._start >= 0 and self._kind is not None:
            self._blocks.append(Block(self._kind, self._start, self._at))
        self._kind, self._start, self._lead = None, -1, ""
        self._gap, self._space = 2, False

    def line(self, lead: str = "") -> None:
        """Go to the next line inside the block, which starts with ``lead``."""
        self._gap, self._space, self._lead = max(self._gap, 1), False, lead

    def write(self, text: str) -> None:
        """Write running text: every run of white space counts as one space."""
        words = _SPACE.sub(" ", text)
        if words[:1] == " ":
            self._space, words = True, words[1:]
        if not words:
            return
        trailing = words[-1] == " "
        self._put(words[:-1] if trailing else words)
        self._space = trailing

    def end_term(self) -> None:
        """End a term that the next block explains: with a colon, unless it has a mark of punctuation there."""
        if self._start >= 0 and self._pieces[-1][-1:] not in tuple(".:;,!?"):
            self._append(":")

    def write_verbatim(self, text: str) -> None:
        """Write text as it is, apart from blank lines around it and white space behind it."""
        body = normalise(text).strip("\n")
        lines = body.split("\n")
        while lines and not lines[0].strip():
            lines.pop(0)
        body = "\n".join(lines).rstrip()
        if body:
            self._put(body)

    def separate(self) -> None:
        """Put a bar between two cells of a row; also between empty ones."""
        self._space = False
        self._put("| " if self._gap or not self._at else " | ")

    def heading(self, level: int, title: str, anchor: str | None) -> None:
        """Write a heading on a line of its own."""
        self.close()
        shown = " ".join(title.split())
        if not shown:
            return
        self._put(shown)
        plain = " ".join(shown.replace("`", "").split())
        if plain:
            self._headings.append(Heading(level, normalise(plain), anchor, self._at - len(shown), self._at))
        self.close()

    def open_link(self, target: str) -> None:
        """Begin a link's label."""
        self._links.append((target, -1))

    def close_link(self) -> None:
        """End the label of the innermost link."""
        target, start = self._links.pop()
        if target and 0 <= start < self._at:
            self._found.append(Link(target, start, self._at))

    def finish(self) -> tuple[str, Outline]:
        """The text in normal form, and its structure."""
        self.close()
        text = "".join(self._pieces)
        blocks = [Block(b.kind, *trim(text, b.start_char, b.end_char)) for b in self._blocks]
        blocks = [b for b in blocks if b.kind == "code" or any(map(str.isalnum, text[b.start_char : b.end_char]))]
        return _normalised(text, Outline(self._headings, blocks, self._found))

    def _put(self, text: str) -> None:
        if self._at and self._gap:
            self._append("\n" * self._gap)
        elif self._at and self._space and not self._pieces[-1].endswith(" "):
            self._append(" ")
        if self._start < 0:
            self._start = self._at
        if self._lead:
            self._append(self._lead)
        self._gap, self._space, self._lead = 0, False, ""
        self._links = [(target, self._at if start < 0 else start) for target, start in self._links]
        self._append(text)

    def _append(self, text: str) -> None:
        self._pieces.append(text)
        self._at += len(text)


def _normalised(text: str, outline: Outline) -> tuple[str, Outline]:
    """Pieces in normal form may still compose where they meet; then every span is moved along, line by line."""
    normal = normalise(text)
    if normal == text:
        return text, outline
    before, after = line_starts(text), line_starts(normal)

    def move(at: int) -> int:
        line = bisect_right(before, at) - 1
        end = after[line + 1] - 1 if line + 1 < len(after) else len(normal)
        return min(after[line] + len(normalise(text[before[line] : at])), end)

    return normal, Outline(
        [Heading(h.level, h.title, h.anchor, move(h.start_char), move(h.end_char)) for h in outline.headings],
        [b for b in (Block(b.kind, move(b.start_char), move(b.end_char)) for b in outline.blocks) if _full(b)],
        [k for k in (Link(k.target, move(k.start_char), move(k.end_char)) for k in outline.links) if _full(k)],
    )


def _full(span: Block | Link) -> bool:
    return span.start_char < span.end_char
