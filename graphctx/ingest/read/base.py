"""What readers return, and the parts that they share: decoding, dates, anchors, assembling a document."""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
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
    """What was read of a file.

    Attributes:
        documents: in file order.
        skipped: the parts that were not read.
        notes: what a person should know of how it was read, such as its encoding.
        sha256: of the file's bytes, in hexadecimal; empty if its reader did not accept them.
    """

    documents: tuple[Document, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()
    sha256: str = ""


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

_UTF32_MARKS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

_ENCODINGS = (
    "cp1252 cp1250 cp1251 cp1253 cp1254 cp1255 cp1256 cp1257 latin_1 iso8859_2 iso8859_5 iso8859_7 koi8_r mac_roman "
    "cp437 cp866 cp932 euc_jp cp949 gb18030 big5"
).split()
"""The encodings other than Unicode that documents are saved in. Rare ones win against them in short texts by chance."""


def decode(data: bytes, uri: str, declared: str = "") -> tuple[str, tuple[str, ...]]:
    """Decode and normalise a text file: UTF-8, UTF-16, UTF-32 with its mark, else the encoding that it declares or
    that its bytes suggest.

    Returns:
        The text, and a note if the encoding was guessed or bytes could not be decoded.

    Raises:
        InvalidArgument: the file is binary; ``byte_offset`` says where.
    """
    if unicode := _utf16_or_32(data):
        text = data.decode(unicode, "replace")
        return normalise(text), _replaced(uri, unicode.upper(), text)
    refuse_binary(data, uri)
    try:
        return normalise(data.decode("utf-8-sig")), ()
    except UnicodeDecodeError as error:
        offset = error.start
    if 0 in data[:PROBE_BYTES]:
        raise _binary(data, uri, data.index(0))
    text = data.decode("utf-8-sig", "replace")
    faults = text.count("\ufffd")
    if len(text.encode("utf-8")) - len(text) > 3 * faults:  # more characters beyond ASCII than faults: UTF-8, damaged
        return normalise(text), _replaced(uri, "UTF-8", text)
    if _is_text_encoding(declared):
        with suppress(UnicodeError):
            return normalise(data.decode(declared)), ()
    encoding = _guess_encoding(data)
    if encoding is None:
        raise _binary(data, uri, offset)
    return normalise(data.decode(encoding)), (f"{uri}: read as {_shown_encoding(encoding)}",)


def _utf16_or_32(data: bytes) -> str:
    """Return the encoding if the bytes are UTF-16 or UTF-32: by the mark, or UTF-16 by where its zeros are."""
    if data.startswith(_UTF32_MARKS):
        return "utf-32"
    if data.startswith(_UTF16_MARKS):
        return "utf-16"
    even, odd = data[:PROBE_BYTES:2], data[1:PROBE_BYTES:2]
    for encoding, high, low in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if 2 * high.count(0) > len(high) and 0 not in low:
            return encoding
    return ""


def _is_text_encoding(name: str) -> bool:
    try:
        return codecs.lookup(name)._is_text_encoding
    except (LookupError, ValueError):
        return False


def _guess_encoding(data: bytes) -> str | None:
    """Return the encoding of a text that is not Unicode, Windows-1252 if it is as likely as the best; else ``None``."""
    from charset_normalizer import from_bytes

    found = from_bytes(data, cp_isolation=list(_ENCODINGS))
    best = found.best()
    if best is None:
        return None
    same = {name for match in found if match.chaos <= best.chaos for name in match.could_be_from_charset}
    return "cp1252" if "cp1252" in same else best.encoding


def _shown_encoding(encoding: str) -> str:
    return encoding.replace("cp125", "windows-125").replace("iso8859_", "iso-8859-").replace("_", "-")


def _replaced(uri: str, encoding: str, text: str) -> tuple[str, ...]:
    count = text.count("\ufffd")
    return (f"{uri}: read as {encoding}; what could not be decoded is shown as \ufffd ({count})",) if count else ()


def refuse_binary(data: bytes, uri: str) -> None:
    """Raise ``InvalidArgument`` if the start of a file looks like binary data."""
    probe = data[:PROBE_BYTES]
    if probe.count(0) > BINARY_SHARE * len(probe):
        raise _binary(data, uri, data.index(0))


def _binary(data: bytes, uri: str, offset: int) -> InvalidArgument:
    return InvalidArgument(f"{uri} looks like a binary file, not text.", uri=uri, byte_offset=offset)


MAX_DATE_CHARS = 40
"""A longer value is not a date."""

_DATE_FORMATS = (
    "%d-%b-%Y", "%d-%B-%Y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%Y/%m/%d", "%Y-%m-%d %H:%M:%S %z",
    "%Y-%m-%d %H:%M %z", "%Y-%m-%d %H:%M:%S %Z", "%a, %d %b %Y %H:%M:%S %z",
)  # fmt: skip


def iso_date(value: str) -> str | None:
    """Return a stated date in ISO 8601, or ``None`` if it is not a date.

    A date stays a date (``2024-05-01``); a moment with a zone is moved to UTC (``2024-05-01T12:00:00Z``); a moment
    without one stays as it is. Dates in English words (``05-Jul-2001``, ``July 5, 2001``) are understood too.
    """
    value = value.strip().removeprefix("$Date:").strip("$ ")
    try:
        if len(value) <= len("2024-05-01"):
            return date.fromisoformat(value).isoformat()
        return iso_moment(datetime.fromisoformat(value))
    except (ValueError, OverflowError):
        pass
    if len(value) > MAX_DATE_CHARS:
        return None
    for form in _DATE_FORMATS:
        try:
            moment = datetime.strptime(value, form)
            return iso_moment(moment) if "%H" in form else moment.date().isoformat()
        except (ValueError, OverflowError):
            continue
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
