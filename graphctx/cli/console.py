"""Where the command line writes: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from pydantic import BaseModel
    from rich.console import Console


def output_console() -> Console:
    """Standard output. Text of documents is printed as it is: no markup, no emoji codes, no colouring of numbers."""
    from rich.console import Console

    return Console(markup=False, emoji=False, highlight=False)


def errors_console() -> Console:
    """Standard error, in the same plain way."""
    from rich.console import Console

    return Console(stderr=True, markup=False, emoji=False, highlight=False)


def named(count: int, plural: str) -> str:
    """What so many things are called, by what several are called: ``entity`` for 1 of ``entities``."""
    if count != 1:
        return plural
    return f"{plural[:-3]}y" if plural.endswith("ies") else plural.removesuffix("s")


def print_json(value: BaseModel | dict[str, Any]) -> None:
    """Print one JSON object. The same object gives the same bytes: fields stay in the order of their model."""
    data = value if isinstance(value, dict) else value.model_dump(mode="json")
    typer.echo(json.dumps(data, indent=2, ensure_ascii=False, default=str))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows on standard output: as a table on a terminal, else separated by tabs, with nothing cut."""
    console = output_console()
    if not console.is_terminal:
        for row in (columns, *rows):
            typer.echo("\t".join(cell.replace("\t", " ").replace("\n", " ") for cell in row))
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(Text(column), overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)
