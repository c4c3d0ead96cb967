"""Documents and the spans inside them.

Every ``start_char`` and ``end_char`` counts Unicode code points of ``Document.text``, half open, so that
``document.text[start_char:end_char]`` is the text of the span. ``Document.text`` is normalised once, when it is
read (NFC, ``\\n`` line ends), and never again.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Literal, get_args

BlockKind = Literal["prose", "list", "code", "table"]

BLOCK_KINDS: tuple[BlockKind, ...] = get_args(BlockKind)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading line. ``start_char:end_char`` is the heading as it stands in the text, markup included."""

    level: int
    title: str
    anchor: str | None
    start_char: int
    end_char: int


@dataclass(frozen=True, slots=True)
class Block:
    """A run of the text that belongs together; code and tables are kept whole up to the unit cap."""

    kind: BlockKind
    start_char: int
    end_char: int


@dataclass(frozen=True, slots=True)
class Link:
    """A hyperlink: the span of its label, and its target as written (relative path, URL or ``#anchor``)."""

    target: str
    start_char: int
    end_char: int


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it was read.

    Attributes:
        id: ``d_…``, from the URI.
        uri: canonical URI: the path below its source folder, with ``/``, or ``<file>#<row id>`` for JSONL rows.
        title: from the metadata, the first heading, or the file name.
        text: normalised text (NFC, ``\\n``).
        sha256: hex digest of ``text`` in UTF-8.
        media_type: ``text/markdown``, ``application/pdf``, …
        tags: labels for ``doc_tag`` filters, sorted.
        updated_at: ISO 8601 if the source states one, else ``None`` (``mtime`` is kept apart: it is not content).
        mtime: ISO 8601 modification time of the file, or ``None``.
        headings, blocks, links: structure, each sorted by ``start_char``; blocks do not overlap.
        page_starts: character offset of each page's start: of a PDF, a slide, a notebook's cell; else empty.
        titled: whether the title comes from the source itself, not from the file name.
        formerly: URIs that it had before its file was renamed; not content.
    """

    id: str
    uri: str
    title: str
    text: str
    sha256: str
    media_type: str
    tags: tuple[str, ...] = ()
    updated_at: str | None = None
    mtime: str | None = None
    headings: tuple[Heading, ...] = ()
    blocks: tuple[Block, ...] = ()
    links: tuple[Link, ...] = ()
    page_starts: tuple[int, ...] = ()
    titled: bool = True
    formerly: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with what stands below it, up to the next heading of any level.

    ``path`` is the titles from the document's first level down to this one. The text before the first heading is
    a section of level 0 with an empty path.
    """

    id: str
    doc_id: str
    parent_id: str | None
    ordinal: int
    level: int
    title: str
    path: tuple[str, ...]
    anchor: str | None
    start_char: int
    end_char: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, a table row, a code block or a list item: the smallest span that is quoted."""

    start_char: int
    end_char: int


@dataclass(frozen=True, slots=True)
class TextUnit:
    """The retrieved chunk: one contiguous span of about 256 tokens inside one section."""

    id: str
    doc_id: str
    section_id: str
    ordinal: int
    kind: BlockKind
    start_char: int
    end_char: int
    n_tokens: int
    sentences: tuple[Sentence, ...] = ()


_EXTRACTED = tuple(".htm .html .xhtml .pdf .docx .pptx .xlsx .xlsm .epub .eml .ipynb .srt .vtt".split())


def has_file_lines(uri: str) -> bool:
    """Whether a document's text is its file's own, so that its lines are those that an editor shows.

    The text of a web page, a PDF, an Office file or a row is taken out of the file and has other lines.
    """
    return "#" not in uri and "://" not in uri and not uri.lower().endswith(_EXTRACTED)


def line_of(line_starts: list[int], char: int) -> int:
    """The 1-based line of a character offset, given the offsets at which lines start."""
    return bisect_right(line_starts, char)


def line_starts(text: str) -> list[int]:
    """The offset at which each line starts; the first is 0."""
    starts = [0]
    at = text.find("\n")
    while at != -1:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    return starts
