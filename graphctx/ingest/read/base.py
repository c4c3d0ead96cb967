"""What every reader takes and gives, and how its findings become a document."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import ClassVar, Protocol
from urllib.parse import unquote

from graphctx.errors import InvalidArgument
from graphctx.model.documents import Block, Document, Heading, Link
from graphctx.model.ids import content_id


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that was not read: a file, a link or a row, and why, in words for a person."""

    uri: str
    reason: str


@dataclass(frozen=True, slots=True)
class ReadFile:
    """What a file gave: its documents in file order, and the parts of it that were skipped."""

    documents: tuple[Document, ...]
    skipped: tuple[Skipped, ...] = ()


class DocumentReader(Protocol):
    """Turns the bytes of one file into documents.

    Attributes:
        media_types: the suffixes that it reads (lower case, with the dot), and the media type of each.
        version: raised whenever the same bytes would give another document.
    """

    media_types: ClassVar[Mapping[str, str]]
    version: ClassVar[int]

    def read(self, data: bytes, uri: str) -> ReadFile:
        """Read a file.

        Args:
            data: the whole file.
            uri: its canonical URI; the suffix of its last part tells dialects of one format apart.

        Raises:
            InvalidArgument: the bytes are not of this format, are damaged, or hold no text.
        """


@dataclass(slots=True)
class Outline:
    """The structure of a text while it is being read, in any order."""

    headings: list[Heading] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a source says about itself: empty where it says nothing."""

    title: str = ""
    tags: tuple[str, ...] = ()
    updated_at: str | None = None


def make_document(
    uri: str,
    media_type: str,
    text: str,
    outline: Outline,
    metadata: Metadata = Metadata(),
    page_starts: Sequence[int] = (),
    name: str = "",
) -> Document:
    """Assemble a document from a normalised text and its structure.

    The title is what the metadata states, else ``name``, else the first heading of the first level, the first
    heading, or the file's name. A name, and the file's name, leave ``titled`` false.

    Args:
        uri: canonical URI.
        media_type: of the source.
        text: normalised.
        outline: the structure of ``text``, in any order.
        metadata: what the source says about itself.
        page_starts: character offset of each page.
        name: what to call a document that states no title, where its headings do not name it.

    Raises:
        InvalidArgument: the text is blank.
    """
    if not text.strip():
        raise InvalidArgument(f"{uri} holds no text; there is nothing to index.", uri=uri)
    headings = tuple(sorted(outline.headings, key=lambda h: (h.start_char, h.end_char)))
    title = metadata.title or ("" if name else heading_title(headings))
    return Document(
        id=content_id("d", uri),
        uri=uri,
        title=title or name or file_title(uri),
        text=text,
        sha256=hashlib.sha256(text.encode("utf-8")).hexdigest(),
        media_type=media_type,
        tags=tuple(sorted(set(metadata.tags))),
        updated_at=metadata.updated_at,
        headings=headings,
        blocks=tuple(sorted(outline.blocks, key=lambda b: (b.start_char, b.end_char))),
        links=tuple(sorted(set(outline.links), key=lambda k: (k.start_char, k.end_char, k.target))),
        page_starts=tuple(page_starts),
        titled=bool(title),
    )


def heading_title(headings: Sequence[Heading]) -> str:
    """The heading that names the document: the first of level 1, else the first; empty where there is none."""
    named = [heading for heading in headings if heading.title]
    first = next((heading for heading in named if heading.level == 1), named[0] if named else None)
    return first.title if first else ""


def file_title(uri: str) -> str:
    """A title made of a file's name: the stem, with ``-`` and ``_`` as spaces."""
    name = PurePosixPath(unquote(uri))
    return " ".join(name.stem.replace("-", " ").replace("_", " ").split()) or name.name or uri


def suffix_of(uri: str) -> str:
    """The suffix of a URI's last part, in lower case and with its dot; empty if it has none."""
    return PurePosixPath(uri).suffix.lower()
