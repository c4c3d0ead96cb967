"""Assembles a text and its structure from the parts of a file that has no text of its own."""

from __future__ import annotations

from graphctx.ingest.read.base import Outline, Slugger
from graphctx.model.documents import Block, BlockKind, Heading, Link
from graphctx.text.normalise import normalise

PLACE_LEVEL = 9
"""The level of a heading without words, which marks a place: below all headings with words."""


class TextBuilder:
    """Blocks and headings, one after another, with blank lines between them.

    Attributes:
        outline: the structure of what was added.

    Example:
        >>> builder = TextBuilder()
        >>> builder.heading(1, "Lamps", "slide-1")
        >>> builder.block("prose", "They are lit at dusk.")
        >>> builder.text
        'Lamps\\n\\nThey are lit at dusk.'
    """

    def __init__(self) -> None:
        self.outline = Outline()
        self._parts: list[str] = []
        self._length = 0
        self._slugger = Slugger()

    @property
    def text(self) -> str:
        """The text so far."""
        return "\n\n".join(self._parts)

    @property
    def next(self) -> int:
        """The offset at which the next part begins."""
        return self._length + 2 * bool(self._parts)

    def heading(self, level: int, title: str, anchor: str | None = None) -> None:
        """Add a heading; without an anchor it gets one from its title."""
        title = " ".join(normalise(title).split())
        if title:
            start, end = self._add(title)
            self.outline.headings.append(Heading(level, title, anchor or self._slugger.slug(title), start, end))

    def place(self, anchor: str) -> None:
        """Begin a section without a heading at the next part. Its anchor is shown in place of a title."""
        self.outline.headings.append(Heading(PLACE_LEVEL, "", anchor, self.next, self.next))

    def block(self, kind: BlockKind, text: str) -> None:
        """Add a block, unless it is blank. Code keeps its indentation."""
        text = normalise(text).rstrip()
        text = text.strip("\n") if kind == "code" else text.strip()
        if text:
            start, end = self._add(text)
            self.outline.blocks.append(Block(kind, start, end))

    def part(self, text: str, outline: Outline) -> None:
        """Add a text with its structure."""
        if not text.strip():
            return
        start, _ = self._add(text)

        self.outline.headings += [
            Heading(one.level, one.title, one.anchor, one.start_char + start, one.end_char + start)
            for one in outline.headings
        ]
        self.outline.blocks += [Block(one.kind, one.start_char + start, one.end_char + start) for one in outline.blocks]
        self.outline.links += [Link(one.target, one.start_char + start, one.end_char + start) for one in outline.links]

    def _add(self, text: str) -> tuple[int, int]:
        start = self.next
        self._parts.append(text)
        self._length = start + len(text)
        return start, self._length
