"""From a document's URI to the file that it was read from, to the line where a quote stands in it, and back."""

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

_MAX_BYTES = 16 * 1024 * 1024  # a line number is not worth the reading of a larger file


@dataclass(frozen=True, slots=True)
class Place:
    """Where to look: the file, if it is still there, and the line, if the file's own lines show the quote there.

    PDF, Word and HTML files have other lines than the text that is read from them: there ``line`` is ``None``.
    """

    path: Path | None
    line: int | None


def place_of(sources: Sequence[SourceEntry], doc_uri: str, line: int, text: str) -> Place:
    """Find the place of a span.

    Args:
        sources: the folders of the knowledge base.
        doc_uri: the document's URI; the row of a JSONL file is told by what follows ``#``.
        line: the line of the document's text at which the span starts, from 1.
        text: the span's text.
    """
    path = _file_of(sources, doc_uri)
    if path is None or not _shows(path, line, text):
        return Place(path, None)
    return Place(path, line)


def uri_prefix(base: KnowledgeBase, prefix: str | None) -> str | None:
    """What ``--path-prefix`` means: how URIs start, or a path as `shown_path` prints it, with or without its line.

    A prefix with which some URI starts is taken as it is, and so is one that is no such path.
    """
    snapshot = base.snapshot_id
    if not prefix or not snapshot:
        return prefix
    uris: list[str] = base.searcher().index.documents["uri"].to_pylist()
    for path in (prefix, re.sub(r":\d+$", "", prefix)):
        for meant in (path, *_uris_below(base.config.sources, path)):
            if any(uri.startswith(meant) for uri in uris):
                return meant
    return prefix


def _uris_below(sources: Sequence[SourceEntry], path: str) -> Iterator[str]:
    """How the URIs of what lies at a path may start, by the folders of the sources."""
    from graphctx.ingest.sources import encoded

    place = Path(os.path.normpath(Path(path).expanduser().absolute()))
    for source in sources:
        folder = Path(source.path)
        if not place.is_relative_to(folder):
            continue
        rel = place.relative_to(folder).as_posix()
        within = "" if rel == "." else encoded(rel) + ("/" if path.endswith("/") else "")
        fronts = [f"{front}/" for front in (source.prefix, source.name) if front]
        yield from (front + within for front in fronts)
        if within or len(sources) == 1:  # an empty one would let all sources in
            yield within


def _file_of(sources: Sequence[SourceEntry], doc_uri: str) -> Path | None:
    from graphctx.ingest.sources import paths_of

    candidates = (path for source in sources for path in paths_of(doc_uri, source))
    return next((path for path in candidates if path.is_file()), None)


def _shows(path: Path, line: int, text: str) -> bool:
    try:
        if path.stat().st_size > _MAX_BYTES:
            return False
        lines = path.read_text(encoding="utf-8-sig", errors="replace").split("\n")
    except OSError:
        return False
    first = text.split("\n", 1)[0].strip()
    return line <= len(lines) and first in unicodedata.normalize("NFC", lines[line - 1])


def shown_path(path: Path) -> str:
    """Return the path as a person would type it, relative to the working directory where that is shorter, on a line."""
    try:
        return one_line(str(path.relative_to(Path.cwd())))
    except ValueError:
        return one_line(str(path))
