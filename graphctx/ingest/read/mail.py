"""E-mail: single messages and mailboxes, by the standard library."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from email.utils import parsedate_to_datetime
from itertools import pairwise
from typing import ClassVar

from graphctx.errors import InvalidArgument
from graphctx.ingest.read.base import Metadata, ReadFile, Skipped, iso_moment, make_document
from graphctx.ingest.read.builder import TextBuilder
from graphctx.ingest.read.html import parse_html
from graphctx.ingest.read.jsonl import checked_id
from graphctx.ingest.read.plain import outline_plain
from graphctx.model.documents import Document
from graphctx.text.normalise import normalise

_SHOWN = ("From", "To", "Cc", "Date")
_FROM_LINE = re.compile(rb"(?m)^From [^\n]*\n")
_QUOTED_FROM = re.compile(rb"(?m)^>(>*From )")


class EmlReader:
    """A message: who wrote to whom and when, and the text of its body. Attachments are named in a note."""

    media_types: ClassVar[Mapping[str, str]] = {".eml": "message/rfc822"}
    version: ClassVar[int] = 1

    def read(self, data: bytes, uri: str) -> ReadFile:
        """Read one message; see :class:`graphctx.ingest.read.base.DocumentReader`."""
        document, notes = _message(data, uri, uri)
        return ReadFile((document,), (), notes)


class MboxReader:
    """A mailbox: one document a message, ``<uri>#<message id>``."""

    media_types: ClassVar[Mapping[str, str]] = {".mbox": "application/mbox"}
    version: ClassVar[int] = 1

    def read(self, data: bytes, uri: str) -> ReadFile:
        """Read every message; a message without an id has its number.

        Raises:
            InvalidArgument: the file is not a mailbox.
        """
        documents: dict[str, Document] = {}
        skipped: list[Skipped] = []
        notes: list[str] = []
        for number, source in enumerate(_messages(data, uri), 1):
            try:
                name = f"{uri}#{checked_id(_message_id(source) or str(number))}"
                if name in documents:
                    raise InvalidArgument("an earlier message has the same id.")
                documents[name], own = _message(source, name, f"{uri}, message {number}")
                notes += own
            except InvalidArgument as error:
                skipped.append(Skipped(uri, f"message {number}: {error.message}"))
        return ReadFile(tuple(documents.values()), tuple(skipped), tuple(notes))


def _messages(data: bytes, uri: str) -> Iterator[bytes]:
    """Yield the messages between the lines that begin with "From " at the start or after a blank line."""
    blank = (b"\n\n", b"\n\r\n")
    found = (line.span() for line in _FROM_LINE.finditer(data))
    starts = [(start, end) for start, end in found if not start or data[max(0, start - 3) : start].endswith(blank)]
    if not starts or starts[0][0]:
        raise InvalidArgument(f"{uri} is not a mailbox: it does not begin with a line `From …`.", uri=uri)
    for (_, begin), (end, _) in pairwise([*starts, (len(data), 0)]):
        yield _QUOTED_FROM.sub(rb"\1", data[begin:end])


def _message_id(source: bytes) -> str:
    # The default policy fails at ids like `<`.
    found = str(BytesParser(policy=policy.compat32).parsebytes(source, headersonly=True).get("Message-ID", ""))
    return " ".join(found.split()).strip("<>")


def _message(source: bytes, uri: str, place: str) -> tuple[Document, tuple[str, ...]]:
    try:
        return _parsed(source, uri, place)
    except InvalidArgument:
        raise
    except Exception as error:  # the library raises whatever a damaged header leads it to
        raise InvalidArgument(f"{place} is damaged: {type(error).__name__}.", uri=uri) from error


def _parsed(source: bytes, uri: str, place: str) -> tuple[Document, tuple[str, ...]]:
    message = BytesParser(policy=policy.default).parsebytes(source)
    assert isinstance(message, EmailMessage)
    headers = {name: " ".join(str(message[name]).split()) for name in (*_SHOWN, "Subject") if message[name]}
    if not {"From", "Subject", "Date"} & headers.keys():
        raise InvalidArgument(f"{place} is not a message: it has no From, Subject or Date.", uri=uri)
    builder = TextBuilder()
    builder.heading(1, headers.get("Subject", ""))
    builder.block("list", "\n".join(f"{name}: {headers[name]}" for name in _SHOWN if name in headers))
    try:
        body = message.get_body(("plain", "html"))
        text = normalise(body.get_content()).strip() if body is not None else ""
    except (LookupError, UnicodeError, ValueError) as error:
        raise InvalidArgument(f"{place}: its body cannot be decoded: {error}.", uri=uri) from error
    if body is not None and body.get_content_subtype() == "html":
        builder.part(*parse_html(text)[:2])
    else:
        builder.part(text, outline_plain(text, headings=False))
    names = [part.get_filename() or part.get_content_type() for part in message.iter_attachments()]
    notes = (f"{place}: attachments are not read ({', '.join(names)})",) if names else ()
    metadata = Metadata(normalise(headers.get("Subject", "")), (), _moment(headers.get("Date", "")))
    return make_document(uri, "message/rfc822", builder.text, builder.outline, metadata), notes


def _moment(value: str) -> str | None:
    try:
        moment: datetime = parsedate_to_datetime(value)
        return iso_moment(moment)
    except (ValueError, TypeError, OverflowError):
        return None
