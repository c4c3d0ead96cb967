"""JSON Lines and JSON arrays: one document a row, ``{"id"?, "title"?, "text", "tags"?, "updated_at"?}``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from graphctx.errors import InvalidArgument
from graphctx.ingest.read.base import Metadata, ReadFile, Skipped, decode, file_title, iso_date, make_document
from graphctx.ingest.read.code import CodeReader
from graphctx.ingest.read.plain import outline_plain
from graphctx.ingest.read.source import DEFAULT_COLUMNS, Columns
from graphctx.model.documents import Document
from graphctx.text.normalise import normalise

MAX_ID_CHARS = 512
"""An id is part of a URI; a longer one is a mistake."""


@dataclass(frozen=True)
class RowReader:
    """A reader of rows.

    Attributes:
        columns: what makes a document of a row.
    """

    columns: Columns = DEFAULT_COLUMNS


@dataclass(frozen=True)
class JsonlReader(RowReader):
    """Rows of JSON. A faulty row is skipped, with its line number; the others are read."""

    media_types: ClassVar[Mapping[str, str]] = {".jsonl": "application/jsonl", ".ndjson": "application/jsonl"}
    version: ClassVar[int] = 2

    def read(self, data: bytes, uri: str) -> ReadFile:
        """Read every row; see :class:`graphctx.ingest.read.base.DocumentReader`.

        The documents' URIs are ``<uri>#<id>``; the id of a row that has none is ``L`` and the number of its line. Of
        rows with one id the first counts.

        Raises:
            InvalidArgument: the file has no rows.
        """
        text, notes = decode(data, uri)
        lines = enumerate(text.split("\n"), 1)
        rows = [(f"line {number}", f"L{number}", line) for number, line in lines if line.strip()]
        return read_rows(rows, uri, "application/jsonl", notes, self.columns)


@dataclass(frozen=True)
class JsonReader(RowReader):
    """JSON files: an array of rows with a text each is read as such, everything else as configuration."""

    media_types: ClassVar[Mapping[str, str]] = {".json": "application/json"}
    version: ClassVar[int] = 1

    def read(self, data: bytes, uri: str) -> ReadFile:
        """Read one file; the id of a row that has none is its number. See :class:`JsonlReader`."""
        text, notes = decode(data, uri)
        try:
            found = json.loads(text) if text.lstrip().startswith("[") else None
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, list) or not found or not all(self._has_text(row) for row in found):
            return CodeReader().read(data, uri)
        rows = [(f"row {number}", str(number), row) for number, row in enumerate(found, 1)]
        return read_rows(rows, uri, "application/json", notes, self.columns)

    def _has_text(self, row: object) -> bool:
        return isinstance(row, dict) and any(isinstance(row.get(name), str) for name in self.columns.text)


def read_rows(
    rows: Iterable[tuple[str, str, str | dict[str, Any]]],
    uri: str,
    media_type: str,
    notes: tuple[str, ...],
    columns: Columns = DEFAULT_COLUMNS,
) -> ReadFile:
    """Return the documents of rows; a faulty row is skipped.

    Args:
        rows: the place of each, the id that it gets if it has none, and its JSON or its object.
        uri: of the file.
        media_type: of the file.
        notes: of reading the file.
        columns: what makes a document of a row.

    Raises:
        InvalidArgument: there are no rows.
    """
    documents: dict[str, Document] = {}
    places: dict[str, str] = {}
    skipped: list[Skipped] = []
    without_id, place = 0, ""
    for place, fallback, row in rows:
        try:
            found = _row(row) if isinstance(row, str) else row
            found = columns.of(found) if columns != DEFAULT_COLUMNS else found
            name = ""
            if found.get("id") is None:
                found, name = {**found, "id": fallback}, f"{file_title(uri)}, {place}"
            document = _document(found, uri, media_type, name)
            if document.uri in documents:
                raise InvalidArgument(f"its id is already used by {places[document.uri]}.")
            documents[document.uri], places[document.uri] = document, place
            without_id += bool(name)
        except InvalidArgument as error:
            skipped.append(Skipped(uri, f"{place}: {error.message}"))
    if not place:
        raise InvalidArgument(f"{uri} holds no rows.", uri=uri)
    if without_id:
        notes = (*notes, f"{uri}: rows without an id have the number of their {place.split()[0]} as id ({without_id})")
    return ReadFile(tuple(documents.values()), tuple(skipped), notes)


def _row(line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"not JSON: {error}.") from None
    if not isinstance(row, dict):
        raise InvalidArgument(f"a row must be an object with a text, not {type(row).__name__}.")
    return row


def _document(row: dict[str, Any], uri: str, media_type: str, name: str) -> Document:
    """Make the document of a row; ``name`` is its title if it states none, by default its id."""
    key = row["id"]
    if not isinstance(key, str | int) or isinstance(key, bool):
        raise InvalidArgument(f"id must be a string or a whole number, not {_shown(key)}.")
    key = checked_id(str(key))
    text, title, tags = row.get("text"), row.get("title") or "", row.get("tags") or []
    if not isinstance(text, str) or not text.strip():
        raise InvalidArgument(f"text must be a string that is not blank, not {_shown(text)}.")
    if not isinstance(title, str):
        raise InvalidArgument(f"title must be a string, not {_shown(title)}.")
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise InvalidArgument(f"tags must be a list of strings, not {_shown(tags)}.")
    stated = row.get("updated_at")
    updated_at = iso_date(stated) if isinstance(stated, str) else None
    if stated and updated_at is None:
        raise InvalidArgument(f"updated_at must be an ISO 8601 date, not {_shown(stated)}.")
    body = normalise(text)
    labels = tuple(label for tag in tags if (label := normalise(tag).strip()))
    metadata = Metadata(" ".join(normalise(title).split()), labels, updated_at)
    return make_document(f"{uri}#{key}", media_type, body, outline_plain(body), metadata, name=name or key)


def checked_id(stated: str) -> str:
    """Return the normalised id of a row or a message.

    Raises:
        InvalidArgument: it is blank, longer than `MAX_ID_CHARS`, or not printable.
    """
    key = normalise(stated).strip()
    if not key or len(key) > MAX_ID_CHARS or not key.isprintable():
        raise InvalidArgument(f"id {_shown(key)} must be 1 to {MAX_ID_CHARS} printable characters.")
    return key


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "…"
