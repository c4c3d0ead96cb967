"""The documents of a snapshot with their texts, read when needed, behind a least-recently-used cache."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from graphctx.model.documents import line_of, line_starts
from graphctx.model.interrupt import checkpoint
from graphctx.store.texts import Texts

_TEXT_CACHE_CHARS = 8_000_000
"""Decoded document texts that are kept: about 8 to 32 MB at most."""


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A document's text with what is needed to cite from it."""

    row: int
    id: str
    uri: str
    title: str
    tags: tuple[str, ...]
    updated_at: str | None
    page_starts: tuple[int, ...]
    text: str
    line_starts: list[int]

    def line(self, char: int) -> int:
        """Return the 1-based line of a character offset."""
        return line_of(self.line_starts, char)

    def page(self, char: int) -> int | None:
        """Return the 1-based page of a character offset; ``None`` where the source has no pages."""
        return line_of(list(self.page_starts), char) if self.page_starts else None


class DocumentCache:
    """Reads documents with their texts and keeps the last ones. Thread-safe."""

    def __init__(self, columns: Mapping[str, pa.Array], texts: Texts) -> None:
        """Read nothing yet."""
        self._columns = columns
        self._texts = texts
        self._kept: OrderedDict[int, DocumentText] = OrderedDict()
        self._kept_chars = 0
        self._lock = threading.Lock()

    def __getitem__(self, row: int) -> DocumentText:
        """Return the document of a row."""
        with self._lock:
            known = self._kept.get(row)
            if known is not None:
                self._kept.move_to_end(row)
                return known
        checkpoint()
        meta = {name: column[row].as_py() for name, column in self._columns.items()}
        text = self._texts[row]
        loaded = DocumentText(
            row=row,
            id=meta["id"],
            uri=meta["uri"],
            title=meta["title"],
            tags=tuple(meta["tags"]),
            updated_at=meta["updated_at"] or meta["mtime"],
            page_starts=tuple(meta["page_starts"]),
            text=text,
            line_starts=line_starts(text),
        )
        with self._lock:
            if row not in self._kept:
                self._kept[row] = loaded
                self._kept_chars += len(text)
            while self._kept_chars > _TEXT_CACHE_CHARS and len(self._kept) > 1:
                _, dropped = self._kept.popitem(last=False)
                self._kept_chars -= len(dropped.text)
        return loaded
