"""The read step: files in, documents out. A file that cannot be read is reported and never stops the others."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime

from graphctx.errors import InvalidArgument
from graphctx.ingest.read.base import DocumentReader, ReadFile, Skipped, iso_moment, suffix_of
from graphctx.ingest.read.discover import MAX_FILE_BYTES, Discovery, SourceFile, discover
from graphctx.ingest.read.jsonl import RowReader
from graphctx.ingest.read.registry import read_version, reader_for, readers
from graphctx.model.documents import Document

MAX_LINE_CHARS = 10_000_000
"""A longer line is data and no text; extracting names from it would take more than half an hour."""

_DATA_REASON = f"one of its lines has more than {MAX_LINE_CHARS:,} characters: data, not text to read"

READ_VERSION = read_version()
"""Fingerprint of the readers and the libraries below them, for memo keys."""

__all__ = [
    "MAX_FILE_BYTES",
    "MAX_LINE_CHARS",
    "READ_VERSION",
    "Discovery",
    "DocumentReader",
    "ReadFile",
    "Skipped",
    "SourceFile",
    "discover",
    "read_file",
    "reader_for",
    "readers",
    "with_content",
]


def read_file(file: SourceFile, uri: str) -> ReadFile:
    """Read one file.

    Args:
        file: as :func:`discover` found it.
        uri: the canonical URI that its document gets; those of JSONL rows are ``<uri>#<id>``.

    Returns:
        Its documents, what of it was skipped (the whole file, or single rows), and notes. Nothing is raised for a
        bad file.
    """
    reader = reader_for(file.path.name)
    if reader is None:
        return _unread(uri, f"unsupported type {file.path.suffix.lower()}")
    if isinstance(reader, RowReader) and file.source is not None:
        reader = replace(reader, columns=file.source.columns)
    try:
        data, seconds = file.content or _content(file)
    except OSError as error:
        return _unread(uri, f"the file cannot be opened: {(error.strerror or 'unknown').lower()}")
    modified = datetime.fromtimestamp(seconds, UTC)
    if not data:
        return _unread(uri, "the file is empty (0 bytes)")
    try:
        reading = reader.read(data, uri)
    except InvalidArgument as error:
        return _unread(uri, error.message)
    except MemoryError:
        raise  # the worker reports its limit of memory
    except Exception as error:  # a fault of a reader or of its library costs one file
        return _unread(uri, f"the reader of {suffix_of(uri)} files failed: {type(error).__name__}: {error}")
    mtime = iso_moment(modified)
    documents = [replace(document, mtime=mtime) for document in reading.documents if not _is_data(document)]
    data_files = [Skipped(document.uri, _DATA_REASON) for document in reading.documents if _is_data(document)]
    digest = hashlib.sha256(data).hexdigest()
    return ReadFile(tuple(documents), (*reading.skipped, *data_files), reading.notes, digest)


def with_content(file: SourceFile, uri: str) -> tuple[SourceFile, str]:
    """Return the arguments of `read_file` with the file's bytes; without them if it cannot be opened here."""
    try:
        return replace(file, content=_content(file)), uri
    except OSError:
        return file, uri


def _content(file: SourceFile) -> tuple[bytes, float]:
    with file.path.open("rb") as stream:
        return stream.read(), file.path.stat().st_mtime


def _unread(uri: str, reason: str) -> ReadFile:
    return ReadFile(skipped=(Skipped(uri, reason),))


def _is_data(document: Document) -> bool:
    """Whether a document has a line that nobody wrote to be read: a dump, a minified file."""
    return len(document.text) > MAX_LINE_CHARS and max(map(len, document.text.split("\n"))) > MAX_LINE_CHARS
