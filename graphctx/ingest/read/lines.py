"""A text by lines, for the readers whose text is the file's own."""

from __future__ import annotations

from collections.abc import Iterable

from graphctx.model.documents import Block, BlockKind, line_starts
from graphctx.text.sentences import trim


class Lines:
    """The lines of a text and their offsets.

    ``lines[i]`` is line ``i`` (from 0) without its ``\\n``; it starts at character ``starts[i]``.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = line_starts(text)
        self.lines = text.split("\n")

    def __len__(self) -> int:
        return len(self.lines)

    def span(self, first: int, last: int) -> tuple[int, int]:
        """The characters of lines ``first`` up to but without ``last``, trimmed of white space."""
        return trim(self.text, self.starts[first], self._end(last))

    def block(self, kind: BlockKind, first: int, last: int) -> list[Block]:
        """The block of lines ``first`` up to but without ``last``: none if they are blank.

        Code keeps the indentation of its first line that is not blank.
        """
        while first < last and not self.lines[first].strip():
            first += 1
        if first >= last:
            return []
        start, end = self.span(first, last)
        if start >= end:
            return []
        return [Block(kind, self.starts[first] if kind == "code" else start, end)]

    def _end(self, last: int) -> int:
        return self.starts[last] - 1 if last < len(self.starts) else len(self.text)


def join_lists(text: str, blocks: Iterable[Block]) -> list[Block]:
    """Merge list blocks with nothing but white space between them into one."""
    joined: list[Block] = []
    for block in blocks:
        last = joined[-1] if joined else None
        between = last is not None and last.kind == block.kind == "list" and text[last.end_char : block.start_char]
        if last is not None and between is not False and not str(between).strip():
            joined[-1] = Block("list", last.start_char, block.end_char)
        else:
            joined.append(block)
    return joined
