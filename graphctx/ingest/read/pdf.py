"""PDF: the text of each page, with the offset at which each page starts. Nothing is dehyphenated or reflowed.

Headings are the bookmarks or, without any, the lines in larger type than the body.
"""

from __future__ import annotations

import io
import logging
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from graphctx.errors import InvalidArgument
from graphctx.ingest.read.base import Metadata, Outline, ReadFile, iso_moment, make_document
from graphctx.ingest.read.plain import outline_plain
from graphctx.model.documents import Block, Heading
from graphctx.text.normalise import normalise

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

_LOGGERS = ("pypdf", "fontTools")
_MEANINGLESS_TITLES = frozenset(("untitled", "title", "none", "unknown", "document"))
_SENTENCE_ENDS = (".", "!", "?", ":", ";", "…", "”", '"')


class PdfFileReader:
    """PDF files with a text layer."""

    media_types: ClassVar[Mapping[str, str]] = {".pdf": "application/pdf"}
    version: ClassVar[int] = 1

    def read(self, data: bytes, uri: str) -> ReadFile:
        """Read one document; see :class:`graphctx.ingest.read.base.DocumentReader`."""
        with _silence():
            try:
                pages, bookmarks, metadata = _extract(data, uri)
            except InvalidArgument:
                raise
            except Exception as error:  # the library raises whatever a damaged file leads it to
                raise InvalidArgument(f"{uri} is damaged or not a PDF: {type(error).__name__}.", uri=uri) from error
        if not any(page.text for page in pages):
            raise InvalidArgument(
                f"{uri} has no text on its {len(pages)} pages, only images. Run OCR on it first.",
                uri=uri,
                pages=len(pages),
            )
        text, starts = _join([page.text for page in pages])
        lines = [page_lines(text, start, len(page.text)) for start, page in zip(starts, pages, strict=True)]
        if not metadata.title:
            metadata = replace(metadata, title=largest_line(lines[0], pages[0]))
        running = set(running_lines(lines))
        lines = [[line for line in page if line[1:] not in running] for page in lines]
        headings = place_headings(lines, pages, bookmarks)
        apart = sorted({*running, *((h.start_char, h.end_char) for h in headings)})
        outline = Outline(headings, _blocks(text, apart), [])
        return ReadFile((make_document(uri, "application/pdf", text, outline, metadata, starts),))


def _extract(data: bytes, uri: str) -> tuple[list[PageText], list[tuple[int, str, int]], Metadata]:
    from pypdf import PdfReader

    if not data.strip():
        raise InvalidArgument(f"{uri} is empty ({len(data)} bytes), not a PDF.", uri=uri)
    reader = PdfReader(io.BytesIO(data), strict=False)
    if reader.is_encrypted and not _opens_without_password(reader):
        raise InvalidArgument(f"{uri} is encrypted. Save it without a password first.", uri=uri)
    pages = [_page(page) for page in reader.pages]
    return pages, read_bookmarks(reader), _metadata(reader)


def _opens_without_password(reader: PdfReader) -> bool:
    """Files that only restrict printing or copying open with the empty password."""
    try:
        return bool(reader.decrypt(""))
    except Exception:  # an unknown cipher, or one whose library is not installed
        return False


def _page(page: PageObject) -> PageText:
    """A page's text, and the size of the type in which each of its lines is set."""
    sizes: dict[str, float] = {}

    def visit(text: str, matrix: Any, text_matrix: Any, font: Any, size: Any) -> None:
        line = " ".join(text.split())
        if line:
            scale = abs(float(text_matrix[3]) or 1.0) * abs(float(matrix[3]) or 1.0)
            sizes[line] = max(sizes.get(line, 0.0), round(float(size) * scale, 1))

    text = normalise(page.extract_text(visitor_text=visit) or "")
    return PageText("\n".join(line.rstrip() for line in text.split("\n")).strip("\n"), sizes)


def _metadata(reader: PdfReader) -> Metadata:
    try:
        info = reader.metadata
        title = " ".join(normalise(str(info.title or "")).split()) if info else ""
        moment = info.modification_date if info else None
        updated_at = iso_moment(moment) if moment else None
    except Exception:  # a broken date or string must not cost the text
        return Metadata()
    if title.lower() in _MEANINGLESS_TITLES or title.lower().startswith("microsoft word - "):
        title = ""
    return Metadata(title, (), updated_at)


def _join(pages: list[str]) -> tuple[str, list[int]]:
    """Join pages by a line end inside a sentence and by a blank line else; give where each page starts."""
    pieces: list[str] = []
    starts: list[int] = []
    at = 0
    for page in pages:
        if at and page:
            flows = page[0].islower() and not pieces[-1].rstrip().endswith(_SENTENCE_ENDS)
            gap = "\n" if flows else "\n\n"
            pieces.append(gap)
            at += len(gap)
        starts.append(at)
        if page:
            pieces.append(page)
            at += len(page)
    return "".join(pieces), starts


def _blocks(text: str, apart: list[tuple[int, int]]) -> list[Block]:
    """Paragraphs as in plain text, in the stretches between headings, page headers and footers."""
    blocks: list[Block] = []
    at = 0
    for start, end in [*apart, (len(text), len(text))]:
        blocks += [
            Block(block.kind, at + block.start_char, at + block.end_char)
            for block in outline_plain(text[at:start], headings=False).blocks
        ]
        at = end
    return blocks


@contextmanager
def _silence() -> Iterator[None]:
    """Damage is reported once and by us; the library's own warnings would go to stderr."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


MAX_HEADING_CHARS = 120
"""A longer line in large type is display text."""

LARGER = 1.15
"""Type is larger than the body's from this ratio on; emphasis and small capitals stay below it."""

MAX_LEVEL = 6
MAX_BOOKMARKS = 10_000
"""A file with more is broken or hostile."""


MIN_RUNNING_PAGES = 3
"""A page header recurs on at least this many pages."""

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
        lines: the lines of every page, as :func:`page_lines` returns them.
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
        bookmarks: as :func:`read_bookmarks` returns them; if one of them is found as a line, they alone count.

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
