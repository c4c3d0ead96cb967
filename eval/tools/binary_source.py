"""The sources of the handbook's PDF and DOCX files, parsed into blocks.

The sources use a small Markdown: ``#`` headings, paragraphs of one line, ``-`` and ``1.`` lists, pipe tables,
fenced code, ``[label](target)`` links and ``*emphasis*``. Their front matter names the file to write, the
title, the author, the subject and the date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

Kind = Literal["heading", "paragraph", "bullet", "number", "table", "code"]

_FENCE = re.compile(r"^```")
_HEADING = re.compile(r"^(#{1,6}) (.+)$")
_BULLET = re.compile(r"^- (.+)$")
_NUMBER = re.compile(r"^(\d+)\. (.+)$")


@dataclass(frozen=True, slots=True)
class Piece:
    """One block of a source. ``level`` is the heading's level or the number of a list item."""

    kind: Kind
    text: str
    level: int = 0
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A parsed source: where it goes, who wrote it and when, and its blocks."""

    target: str
    title: str
    author: str
    subject: str
    date: datetime
    pieces: tuple[Piece, ...]


def load(path: Path) -> Source:
    """Read a source file; ``ValueError`` if its front matter lacks a field."""
    _, head, body = path.read_text("utf-8").split("---\n", 2)
    meta = dict(line.split(": ", 1) for line in head.strip().splitlines())
    missing = {"target", "title", "author", "subject", "date"} - meta.keys()
    if missing:
        raise ValueError(f"{path.name}: the front matter lacks {sorted(missing)}")
    date = datetime.fromisoformat(meta["date"]).replace(hour=12, tzinfo=UTC)
    title = meta["title"].strip('"')
    return Source(meta["target"], title, meta["author"], meta["subject"], date, tuple(_pieces(body)))


def _pieces(body: str) -> list[Piece]:
    out: list[Piece] = []
    lines = iter(body.splitlines())
    for line in lines:
        if not line.strip():
            continue
        if _FENCE.match(line):
            code = []
            for inner in lines:
                if _FENCE.match(inner):
                    break
                code.append(inner)
            out.append(Piece("code", "\n".join(code)))
        elif line.startswith("|"):
            out.append(_table(line, lines))
        elif match := _HEADING.match(line):
            out.append(Piece("heading", match[2], len(match[1])))
        elif match := _BULLET.match(line):
            out.append(Piece("bullet", match[1]))
        elif match := _NUMBER.match(line):
            out.append(Piece("number", match[2], int(match[1])))
        else:
            out.append(Piece("paragraph", line))
    return out


def _table(first: str, lines: Iterator[str]) -> Piece:
    rows = [_cells(first)]
    for line in lines:
        if not line.startswith("|"):
            break
        if set(line) - set("|- "):
            rows.append(_cells(line))
    return Piece("table", "", rows=tuple(rows))


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.strip().strip("|").split("|"))
