"""A rich console that shows, and never obeys, control characters of what it prints."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from graphctx.text.printable import visible


class SafeConsole(Console):
    """Text of documents is printed as it is: no markup, no emoji codes, no colouring of numbers, no escape sequences.

    Whatever is printed passes through ``render``: text, tables, trees, panels and progress. Control codes of rich
    itself are segments of a kind of their own.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render an object into segments without control characters."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else visible(text), style, control)
