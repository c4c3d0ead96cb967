"""PDF: the text of each page, with the offset at which each page starts. Nothing is dehyphenated or reflowed."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from graphctx.errors import InvalidArgument
from graphctx.ingest.read.base import Metadata, Outline, ReadFile, make_document
from graphctx.ingest.read.dates import iso_moment
from graphctx.ingest.read.pdf_headings import (
    PageText,
    largest_line,
    page_lines,
    place_headings,
    read_bookmarks,
    running_lines,
)
from graphctx.ingest.read.plain import outline_plain
from graphctx.model.documents import Block
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
    except Exception:  # a broken date or string must not cost the text
        return Metadata()
    if title.lower() in _MEANINGLESS_TITLES or title.lower().startswith("microsoft word - "):
        title = ""
    return Metadata(title, (), iso_moment(moment) if moment else None)


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
