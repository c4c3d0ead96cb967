"""Where the command line writes: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from graphctx.text.printable import printable_json, visible

if TYPE_CHECKING:
    from pydantic import BaseModel
    from rich.console import Console


class SafeStream:
    """Standard output or error, on which nothing that is written acts on the terminal.

    It stands in for ``sys.stdout`` and ``sys.stderr``, so that it is also the way of tracebacks, logs, warnings and
    usage errors. rich looks for ``rich_proxied_file`` and writes its own escape sequences there, around text that
    `SafeConsole` has made visible.
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
    """Put safe streams in the place of standard output and standard error, for the rest of the process."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if (reconfigure := getattr(stream, "reconfigure", None)) is not None:
            # Documents hold any character; a terminal's legacy encoding must not turn one into a crash.
            reconfigure(encoding="utf-8", errors="backslashreplace")
        setattr(sys, name, SafeStream(stream))


def output_console() -> Console:
    """Return the console of standard output."""
    from graphctx.cli.rich_console import SafeConsole

    return SafeConsole()


def errors_console() -> Console:
    """Return the console of standard error."""
    from graphctx.cli.rich_console import SafeConsole

    return SafeConsole(stderr=True)


def print_text(text: str) -> None:
    """Print lines on standard output as they are, without the layout of a console."""
    print(visible(text), flush=True)  # a reader that has gone shows at once, not at exit


def named(count: int, plural: str) -> str:
    """What so many things are called, by what several are called: ``entity`` for 1 of ``entities``."""
    if count != 1:
        return plural
    return f"{plural[:-3]}y" if plural.endswith("ies") else plural.removesuffix("s")


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
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)
