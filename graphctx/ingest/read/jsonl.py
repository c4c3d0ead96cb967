"""JSON Lines: one document a row, ``{"id", "title", "text", "tags"?, "updated_at"?}``."""

from __future__ import annotations

import codecs
import json
from collections.abc import Mapping
from typing import Any, ClassVar

from graphctx.errors import InvalidArgument
from graphctx.ingest.read.base import Metadata, ReadFile, Skipped, decode, iso_date, make_document
from graphctx.ingest.read.plain import outline_plain
from graphctx.model.documents import Document
from graphctx.text.normalise import normalise

MAX_ID_CHARS = 512
"""An id is part of a URI; a longer one is a mistake."""


class JsonlReader:
    """Rows of JSON. A faulty row is skipped, with its line number; the others are read."""

    media_types: ClassVar[Mapping[str, str]] = {".jsonl": "application/jsonl", ".ndjson": "application/jsonl"}
    version: ClassVar[int] = 1

    def read(self, data: bytes, uri: str) -> ReadFile:
        """Read every row; see :class:`graphctx.ingest.read.base.DocumentReader`.

        The documents' URIs are ``<uri>#<id>``. Of rows with one id the first counts.

        Raises:
            InvalidArgument: the file has no rows.
        """
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            data = decode(data, uri).encode("utf-8")
        documents: dict[str, Document] = {}
        lines: dict[str, int] = {}
        skipped: list[Skipped] = []
        rows = 0
        for number, line in enumerate(data.removeprefix(codecs.BOM_UTF8).split(b"\n"), start=1):
            if not line.strip():
                continue
            rows += 1
            try:
                document = _document(_row(line), uri)
                if document.uri in documents:
                    raise InvalidArgument(f"its id is already used by line {lines[document.uri]}.")
                documents[document.uri], lines[document.uri] = document, number
            except InvalidArgument as error:
                skipped.append(Skipped(uri, f"line {number}: {error.message}"))
        if not rows:
            raise InvalidArgument(f"{uri} holds no rows.", uri=uri)
        return ReadFile(tuple(documents.values()), tuple(skipped))


def _row(line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InvalidArgument(f"not valid UTF-8 at byte {error.start} of the line.") from None
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"not JSON: {error}.") from None
    if not isinstance(row, dict):
        raise InvalidArgument(f"a row must be an object with id and text, not {type(row).__name__}.")
    return row


def _document(row: dict[str, Any], uri: str) -> Document:
    key = row.get("id")
    if not isinstance(key, str | int) or isinstance(key, bool):
        raise InvalidArgument(f"id must be a string or a whole number, not {_shown(key)}.")
    key = normalise(str(key)).strip()
    if not key or len(key) > MAX_ID_CHARS or not key.isprintable():
        raise InvalidArgument(f"id {_shown(key)} must be 1 to {MAX_ID_CHARS} printable characters.")
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
    names = tuple(name for tag in tags if (name := normalise(tag).strip()))
    metadata = Metadata(" ".join(normalise(title).split()), names, updated_at)
    return make_document(f"{uri}#{key}", "application/jsonl", body, outline_plain(body), metadata, name=key)


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "…"
