"""What readers return, and the parts that they share: decoding, dates, anchors, assembling a document."""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import PurePosixPath
from typing import ClassVar, Protocol
from urllib.parse import unquote

from graphctx.errors import InvalidArgument
from graphctx.model.documents import Block, Document, Heading, Link
from graphctx.model.ids import content_id
from graphctx.text.normalise import normalise


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that was not read: a file, a link or a row, and why, in words for a person."""

    uri: str
    reason: str


@dataclass(frozen=True, slots=True)
class ReadFile:
    """The documents of a file, in file order, and the parts of it that were skipped."""

    documents: tuple[Document, ...]
    skipped: tuple[Skipped, ...] = ()


class DocumentReader(Protocol):
    """Turns the bytes of one file into documents.

    Attributes:
        media_types: the suffixes that it reads (lower case, with the dot), and the media type of each.
        version: changes whenever the same bytes would be read as another document.
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

    def text_spans(self) -> list[tuple[int, int]]:
        """Return the spans of headings and of blocks other than code, sorted."""
        spans: list[Heading | Block] = [*self.headings, *(block for block in self.blocks if block.kind != "code")]
        return sorted((span.start_char, span.end_char) for span in spans)


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a source states about itself; empty if it states nothing."""

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
        name: the title of a document that states none, if its headings do not name it.

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
    """Return the first heading of level 1, else the first heading; empty without one."""
    named = [heading for heading in headings if heading.title]
    first = next((heading for heading in named if heading.level == 1), named[0] if named else None)
    return first.title if first else ""


def file_title(uri: str) -> str:
    """Return a title made of a file's name: the stem, with ``-`` and ``_`` as spaces."""
    name = PurePosixPath(unquote(uri))
    return " ".join(name.stem.replace("-", " ").replace("_", " ").split()) or name.name or uri


def suffix_of(uri: str) -> str:
    """Return the suffix of a URI's last part, in lower case and with its dot; empty if it has none."""
    return PurePosixPath(uri).suffix.lower()


PROBE_BYTES = 65_536
"""Bytes at the start of a file that tell text from binary data."""

BINARY_SHARE = 0.01
"""From this share of NUL bytes on a file is binary; a stray NUL in text that decodes is replaced instead."""

_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def decode(data: bytes, uri: str) -> str:
    """Decode and normalise a text file.

    Raises:
        InvalidArgument: the file is binary, or not UTF-8; ``byte_offset`` says where.
    """
    encoding = "utf-16" if data.startswith(_UTF16_MARKS) else "utf-8-sig"
    if encoding != "utf-16":
        refuse_binary(data, uri)
    try:
        return normalise(data.decode(encoding))
    except UnicodeDecodeError as error:
        if encoding != "utf-16" and 0 in data[:PROBE_BYTES]:
            raise _binary(data, uri) from None
        offset = error.start + (len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0)
        name = "UTF-16" if encoding == "utf-16" else "UTF-8"
        raise InvalidArgument(
            f"{uri} is not valid {name}: byte {offset} cannot be decoded. Save the file as UTF-8.",
            uri=uri,
            byte_offset=offset,
        ) from None


def refuse_binary(data: bytes, uri: str) -> None:
    """Raise ``InvalidArgument`` if the start of a file looks like binary data."""
    probe = data[:PROBE_BYTES]
    if probe.count(0) > BINARY_SHARE * len(probe):
        raise _binary(data, uri)


def _binary(data: bytes, uri: str) -> InvalidArgument:
    return InvalidArgument(f"{uri} looks like a binary file, not text.", uri=uri, byte_offset=data.index(0))


def iso_date(value: str) -> str | None:
    """Return a stated date in one form, or ``None`` if it is not an ISO 8601 date.

    A date stays a date (``2024-05-01``); a moment with a zone is moved to UTC (``2024-05-01T12:00:00Z``); a moment
    without one stays as it is.
    """
    value = value.strip()
    try:
        if len(value) <= len("2024-05-01"):
            return date.fromisoformat(value).isoformat()
        return iso_moment(datetime.fromisoformat(value))
    except (ValueError, OverflowError):
        return None


def iso_moment(moment: datetime) -> str:
    """A moment to the second, in UTC with ``Z`` if it has a zone."""
    moment = moment.replace(microsecond=0)
    if moment.tzinfo is None:
        return moment.isoformat()
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"


_DROPPED = re.compile(r"[^\w\- ]")


class Slugger:
    """Makes slugs that are unique within one document: the second ``usage`` is ``usage-1``."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    def slug(self, title: str) -> str | None:
        """The anchor of the next heading; ``None`` if nothing of its title is left."""
        return self.unique(_DROPPED.sub("", title.strip().lower()).replace(" ", "-"))

    def unique(self, base: str) -> str | None:
        """``base``, or with the first free number behind it; ``None`` if it is empty."""
        if not base:
            return None
        count = self._taken.get(base)
        if count is None:
            self._taken[base] = 0
            return base
        unique = base
        while unique in self._taken:
            count += 1
            unique = f"{base}-{count}"
        self._taken[base] = count
        self._taken[unique] = 0
        return unique
