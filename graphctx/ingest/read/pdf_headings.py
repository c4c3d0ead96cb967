"""Headings of a PDF: its bookmarks, or, where it has none, the lines set in larger type than the body."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphctx.model.documents import Heading
from graphctx.text.normalise import normalise

if TYPE_CHECKING:
    from pypdf import PdfReader

MAX_HEADING_CHARS = 120
"""A longer line in large type is display text."""

LARGER = 1.15
"""Type is larger than the body's from this ratio on; emphasis and small capitals stay below it."""

MAX_LEVEL = 6
MAX_BOOKMARKS = 10_000
"""A file with more is broken or hostile."""


MIN_RUNNING_PAGES = 3
"""A line that recurs on fewer pages is no page header."""

Line = tuple[str, int, int]
"""A line of a page: its text with single spaces, and its span in the document."""

_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class PageText:
    """A page: its normalised text, and the size of the type of its runs, in points, by their text."""

    text: str
    sizes: dict[str, float]


def read_bookmarks(reader: PdfReader) -> list[tuple[int, str, int]]:
    """The bookmarks as ``(level from 1, title, page from 0)``; none if they cannot be read."""
    found: list[tuple[int, str, int]] = []
    try:
        todo: list[tuple[int, Any]] = [(1, item) for item in reversed(reader.outline)]
        while todo and len(found) < MAX_BOOKMARKS:
            level, item = todo.pop()
            if isinstance(item, list):
                todo.extend((level + 1, inner) for inner in reversed(item))
                continue
            page = reader.get_destination_page_number(item)
            title = " ".join(normalise(str(item.title or "")).split())
            if title and page is not None and page >= 0:
                found.append((min(level, MAX_LEVEL), title, page))
    except Exception:  # bookmarks are a help, never a reason to lose the text
        return []
    return found


def running_lines(lines: Sequence[Sequence[Line]]) -> list[tuple[int, int]]:
    """The spans of page headers and footers: first and last lines that recur on most pages but for their digits.

    Args:
        lines: the lines of every page, as :func:`page_lines` gives them.
    """
    edges = [[*page[:1], *(page[-1:] if len(page) > 1 else [])] for page in lines]
    counts = Counter(shape for page in edges for shape in {_shape(line) for line in page})
    enough = max(MIN_RUNNING_PAGES, len(lines) // 2)
    return [(start, end) for page in edges for shown, start, end in page if counts[_shape((shown, 0, 0))] >= enough]


def largest_line(lines: Sequence[Line], page: PageText) -> str:
    """The line in the largest type of a page if it is larger than the rest: on the first page, the title."""
    sizes = sorted({page.sizes[shown] for shown, _, _ in lines if shown in page.sizes}, reverse=True)
    if len(sizes) < 2 or sizes[0] < LARGER * sizes[1]:
        return ""
    found = next(shown for shown, _, _ in lines if page.sizes.get(shown) == sizes[0])
    return found if len(found) <= MAX_HEADING_CHARS and any(map(str.isalpha, found)) else ""


def _shape(line: Line) -> str:
    return _DIGITS.sub("0", line[0])


def place_headings(
    lines: Sequence[Sequence[Line]], pages: Sequence[PageText], bookmarks: Sequence[tuple[int, str, int]]
) -> list[Heading]:
    """Find the lines of the text that are headings.

    Args:
        lines: the lines of every page, without headers and footers.
        pages: the pages.
        bookmarks: as :func:`read_bookmarks` gives them; if one of them is found as a line, they alone count.

    Returns:
        Headings with ``page=<number from 1>`` as anchors, in order.
    """
    headings = _from_bookmarks(lines, bookmarks) or _from_type(lines, pages)
    return sorted(headings, key=lambda heading: heading.start_char)


def page_lines(text: str, start: int, length: int) -> list[Line]:
    """The lines of ``text[start : start + length]`` that are not blank."""
    found = []
    at = start
    for line in text[start : start + length].split("\n"):
        shown = line.strip()
        if shown:
            begin = at + line.index(shown)
            found.append((" ".join(shown.split()), begin, begin + len(shown)))
        at += len(line) + 1
    return found


def _from_bookmarks(lines: Sequence[Sequence[Line]], bookmarks: Sequence[tuple[int, str, int]]) -> list[Heading]:
    headings: list[Heading] = []
    taken: set[int] = set()
    for level, title, page in bookmarks:
        if page >= len(lines):
            continue
        wanted = title.casefold()
        for shown, start, end in lines[page]:
            if start not in taken and shown.casefold() == wanted:
                taken.add(start)
                headings.append(Heading(level, shown, f"page={page + 1}", start, end))
                break
    return headings


def _from_type(lines: Sequence[Sequence[Line]], pages: Sequence[PageText]) -> list[Heading]:
    weights: Counter[float] = Counter()
    for page in pages:
        for run, size in page.sizes.items():
            weights[size] += len(run)
    if not weights:
        return []
    body = max(weights.items(), key=lambda item: (item[1], -item[0]))[0]
    large: list[tuple[int, float, Line]] = []
    for number, (page, page_lines) in enumerate(zip(pages, lines, strict=True)):
        for line in page_lines:
            size = page.sizes.get(line[0], 0.0)
            if size >= LARGER * body and len(line[0]) <= MAX_HEADING_CHARS and any(map(str.isalpha, line[0])):
                large.append((number + 1, size, line))
    sizes = sorted({-size for _, size, _ in large})
    return [
        Heading(min(bisect_left(sizes, -size) + 1, MAX_LEVEL), shown, f"page={page}", start, end)
        for page, size, (shown, start, end) in large
    ]
