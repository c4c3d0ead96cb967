"""Places of documents: from a URI to the file and the line where a quote stands, and from a path to URIs."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphctx.text.printable import one_line

if TYPE_CHECKING:
    from graphctx.knowledge_base import KnowledgeBase
    from graphctx.store.config import SourceEntry

_MAX_BYTES = 16 * 1024 * 1024
"""Largest file that is read for a line number."""


@dataclass(frozen=True, slots=True)
class FileLocation:
    """The file of a document if it is still there, and the line of it that shows the quote.

    PDF, Word and HTML files have other lines than the text that is read from them: ``line`` is ``None`` for these.
    """

    path: Path | None
    line: int | None


def place_of(sources: Sequence[SourceEntry], doc_uri: str, line: int, text: str) -> FileLocation:
    """Find the place of a span.

    Args:
        sources: the folders of the knowledge base.
        doc_uri: the document's URI; after ``#``, the row of a JSONL file.
        line: the line of the document's text at which the span starts, from 1.
        text: the span's text.
    """
    from graphctx.ingest.sources import paths_of

    candidates = (path for source in sources for path in paths_of(doc_uri, source))
    path = next((path for path in candidates if path.is_file()), None)
    return FileLocation(path, line if path is not None and _shows(path, line, text) else None)


def _shows(path: Path, line: int, text: str) -> bool:
    try:
        if path.stat().st_size > _MAX_BYTES:
            return False
        lines = path.read_text(encoding="utf-8-sig", errors="replace").split("\n")
    except OSError:
        return False
    first = text.split("\n", 1)[0].strip()
    return line <= len(lines) and first in unicodedata.normalize("NFC", lines[line - 1])


def uri_prefix(base: KnowledgeBase, prefix: str | None) -> str | None:
    """Return the URI prefix that ``--path-prefix`` stands for.

    The option accepts the beginning of a URI, or a path as `shown_path` prints it, with or without its line. A value
    with which some URI starts, or that is not such a path, is returned unchanged.
    """
    if not prefix or not base.snapshot_id:
        return prefix
    uris: list[str] = base.searcher().index.documents["uri"].to_pylist()
    for path in (prefix, re.sub(r":\d+$", "", prefix)):
        for candidate in (path, *_uris_below(base.config.sources, path)):
            if any(uri.startswith(candidate) for uri in uris):
                return candidate
    return prefix


def _uris_below(sources: Sequence[SourceEntry], path: str) -> Iterator[str]:
    """Yield the beginnings that URIs of documents at a path may have."""
    from graphctx.ingest.sources import encoded

    try:
        place = Path(os.path.normpath(Path(path).expanduser().absolute()))
    except RuntimeError:  # ~name of a user who does not exist
        return
    for source in sources:
        folder = Path(source.path)
        if not place.is_relative_to(folder):
            continue
        rel = place.relative_to(folder).as_posix()
        within = "" if rel == "." else encoded(rel) + ("/" if path.endswith("/") else "")
        yield from (f"{front}/{within}" for front in (source.prefix, source.name) if front)
        if within or len(sources) == 1:  # an empty prefix would let all sources in
            yield within


def shown_path(path: Path) -> str:
    """Return a path on one line, relative to the working directory if it lies below it."""
    try:
        return one_line(str(path.relative_to(Path.cwd())))
    except ValueError:
        return one_line(str(path))
