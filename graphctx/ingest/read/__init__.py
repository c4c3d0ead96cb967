"""The read step: files in, documents out. A file that cannot be read is reported and never stops the others."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from graphctx.errors import InvalidArgument
from graphctx.ingest.read.base import Reader, Reading, Skipped
from graphctx.ingest.read.dates import iso_moment
from graphctx.ingest.read.registry import read_version, reader_for, readers
from graphctx.ingest.read.source import MAX_FILE_BYTES, Discovery, SourceFile, discover
from graphctx.model.documents import Document

READ_VERSION = read_version()
"""Fingerprint of the readers and the libraries below them, for memo keys."""

__all__ = [
    "MAX_FILE_BYTES",
    "READ_VERSION",
    "Discovery",
    "Reader",
    "Reading",
    "Skipped",
    "SourceFile",
    "discover",
    "read_file",
    "reader_for",
    "readers",
]


def read_file(file: SourceFile, uri: str) -> tuple[list[Document], list[Skipped]]:
    """Read one file.

    Args:
        file: as :func:`discover` found it.
        uri: the canonical URI that its document gets; those of JSONL rows are ``<uri>#<id>``.

    Returns:
        Its documents, and what of it was skipped: the whole file, or single rows. Nothing is raised for a bad file.
    """
    reader = reader_for(file.path.name)
    if reader is None:
        return [], [Skipped(uri, f"unsupported type {file.path.suffix.lower()}")]
    try:
        with file.path.open("rb") as stream:
            data = stream.read()
        modified = datetime.fromtimestamp(file.path.stat().st_mtime, UTC)
    except OSError as error:
        return [], [Skipped(uri, f"the file cannot be opened: {(error.strerror or 'unknown').lower()}")]
    if not data:
        return [], [Skipped(uri, "the file is empty (0 bytes)")]
    try:
        reading = reader.read(data, uri)
    except InvalidArgument as error:
        return [], [Skipped(uri, error.message)]
    mtime = iso_moment(modified)
    return [replace(document, mtime=mtime) for document in reading.documents], list(reading.skipped)
