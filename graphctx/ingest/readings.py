"""What files gave when they were read, by their bytes: a file that has not changed is not read again."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import NamedTuple

from graphctx.ingest.memoised import KeptAs
from graphctx.ingest.read import READ_VERSION, ReadFile, SourceFile
from graphctx.ingest.read.base import iso_moment, suffix_of
from graphctx.model.ids import fingerprint


class FileState(NamedTuple):
    """A file as it is now: the digest of its bytes, in hexadecimal, and its ISO 8601 time of modification."""

    sha256: str
    mtime: str


def file_state(file: SourceFile) -> FileState | None:
    """Return the state of a file; ``None`` if it cannot be opened."""
    try:
        with file.path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        return FileState(digest, iso_moment(datetime.fromtimestamp(file.path.stat().st_mtime, UTC)))
    except OSError:
        return None


def reading_key(file: SourceFile, uri: str, state: FileState) -> str:
    """Return a key of everything that a file's documents depend on, but for its time of modification."""
    columns = file.source.columns.model_dump_json() if file.source else ""
    return fingerprint((READ_VERSION, uri, suffix_of(file.path.name) or file.path.name, columns, state.sha256))


READINGS = KeptAs("reading", ReadFile)
