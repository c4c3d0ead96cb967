"""Output: results on standard output, everything else on standard error, and nothing that acts on the terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TextIO

from graphctx.text.printable import one_line, printable_json, visible

if TYPE_CHECKING:
    from pydantic import BaseModel
    from rich.console import Console

_LIST_LINES = 20
"""Longest list that is printed; the JSON output holds all of it."""


class SafeStream:
    """A stand-in for ``sys.stdout`` or ``sys.stderr`` that makes control characters visible.

    Tracebacks, logs, warnings and usage errors pass through it too. rich looks for ``rich_proxied_file`` and writes its
    own escape sequences there, around text that the console of `output_console` has made visible.
    """

    def __init__(self, stream: TextIO) -> None:
        self.rich_proxied_file = stream

    def write(self, text: str) -> int:
        """Write a text with its control characters visible."""
        return self.rich_proxied_file.write(visible(text))

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


def guard_streams() -> None:
    """Replace standard output and standard error by safe streams, for the rest of the process."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if (reconfigure := getattr(stream, "reconfigure", None)) is not None:
            # Documents hold any character; a terminal's legacy encoding must not turn one into a crash.
            reconfigure(encoding="utf-8", errors="backslashreplace")
        setattr(sys, name, SafeStream(stream))


@cache
def _console_class() -> type[Console]:
    """Return the class of both consoles. rich is imported when something is printed, not for a help page."""
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment
    from rich.text import Text

    class SafeConsole(Console):
        """Prints text as it is: without markup, emoji codes and highlighting, with control characters visible."""

        def print(self, *objects: Any, **options: Any) -> None:
            # A terminal breaks long lines of text, and a pipe keeps them; tables, trees and panels fit the width.
            options.setdefault("soft_wrap", all(isinstance(one, str | Text) for one in objects))
            super().print(*objects, **options)

        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
            for text, style, control in super().render(renderable, options):
                yield Segment(text if control else visible(text), style, control)

    return SafeConsole


def output_console() -> Console:
    """Return the console of standard output."""
    return _console_class()(markup=False, emoji=False, highlight=False)


def errors_console() -> Console:
    """Return the console of standard error."""
    return _console_class()(stderr=True, markup=False, emoji=False, highlight=False)


def warn(text: str) -> None:
    """Print a warning on standard error."""
    errors_console().print(text, style="yellow")


def print_text(text: str) -> None:
    """Print lines on standard output as they are, without the layout of a console."""
    print(visible(text), flush=True)  # a reader that has gone shows at once, not at exit


def print_json(value: BaseModel | dict[str, Any]) -> None:
    """Print one JSON object. The same object gives the same bytes: fields stay in the order of their model."""
    data = value if isinstance(value, dict) else value.model_dump(mode="json")
    print_text(printable_json(json.dumps(data, indent=2, ensure_ascii=False, default=str)))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows on standard output: as a table on a terminal, else separated by tabs, with nothing cut.

    A line break or a tab in a cell becomes a space.
    """
    lines = [[cell.replace("\t", " ").replace("\n", " ") for cell in row] for row in rows]
    console = output_console()
    if not console.is_terminal:
        for row in (columns, *lines):
            print_text("\t".join(row))
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(Text(column), overflow="fold")
    for row in lines:
        table.add_row(*map(Text, row))
    console.print(table)


def print_list(console: Console, title: str, lines: Sequence[str]) -> None:
    """Print a list below its title and length, at most 20 lines of it; nothing if it is empty."""
    if not lines:
        return
    console.print(f"{title}, {len(lines):,}:", style="yellow")
    for line in lines[:_LIST_LINES]:
        console.print(f"  {one_line(line)}")
    if len(lines) > _LIST_LINES:
        console.print(f"  and {len(lines) - _LIST_LINES:,} more (all of them with --json)")


def counted(count: int, plural: str) -> str:
    """Return a number with its noun: ``1 entity``, ``2,000 entities``."""
    if count == 1:
        plural = f"{plural[:-3]}y" if plural.endswith("ies") else plural.removesuffix("s")
    return f"{count:,} {plural}"
