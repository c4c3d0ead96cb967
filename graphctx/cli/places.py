"""Places of documents: from a URI to the file and the line where a quote stands, and from a path to URIs."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from graphctx.text.printable import one_line

if TYPE_CHECKING:
    from graphctx.knowledge_base import KnowledgeBase
    from graphctx.store.config import SourceEntry

_MAX_BYTES = 16 * 1024 * 1024
"""Largest file that is read for a line number, or to see whether it changed."""


@dataclass(frozen=True, slots=True)
class FileLocation:
    """The file of a document if it is still there, and the line of it that shows the quote.

    PDF, Word and HTML files have other lines than the text that is read from them: ``line`` is ``None`` for these.
    """

    path: Path | None
    line: int | None


class DocumentFiles:
    """The files of the documents of a knowledge base.

    Attributes:
        changed: whether the text of a file is another one than that of its document, by the files that were located.

    Example:
        >>> DocumentFiles(kb).locate("notes/pump.md", 3, "The pump was built in Oslo.").line  # doctest: +SKIP
        3
    """

    def __init__(self, base: KnowledgeBase) -> None:
        self._base = base
        self._sources = {source.name: source for source in base.config.sources}
        self.changed: dict[Path, bool] = {}

    def locate(self, doc_uri: str, line: int, text: str) -> FileLocation:
        """Return the place of a span.

        Args:
            doc_uri: the document's URI; after ``#``, the row of a JSONL file.
            line: the line of the document's text at which the span starts, from 1.
            text: the span's text.
        """
        from graphctx.ingest.sources import file_uri, paths_of

        source = self._sources.get(self._owners.get(file_uri(doc_uri), ""))
        files = paths_of(doc_uri, source, self._owners) if source else []
        path = next((path for path in files if path.is_file()), None)
        if source is None or path is None:
            return FileLocation(None, None)
        if path not in self.changed:
            self.changed[path] = self._is_changed(doc_uri, path, source)
        return FileLocation(path, line if _shows(path, line, text) else None)

    @cached_property
    def _owners(self) -> dict[str, str]:
        from graphctx.ingest.sources import owners_of

        return owners_of({uri: source for uri, (source, _, _) in self._documents.items()})

    @cached_property
    def _documents(self) -> dict[str, tuple[str, str | None, str]]:
        """Source, time of modification and hash of the text of each document, by URI."""
        columns = ["uri", "source", "mtime", "sha256"]
        table = self._base.searcher().index.snapshot.table("documents", columns=columns)
        uris, *values = (table[name].to_pylist() for name in columns)
        return dict(zip(uris, zip(*values, strict=True), strict=True))

    def _is_changed(self, doc_uri: str, path: Path, source: SourceEntry) -> bool:
        """Whether a file that was written since its ingest has another text now."""
        from graphctx.ingest.read import SourceFile, read_file
        from graphctx.ingest.read.base import iso_moment
        from graphctx.ingest.read.source import Source
        from graphctx.ingest.sources import file_uri
        from graphctx.model.arguments import parse_arguments

        _, mtime, sha256 = self._documents[doc_uri]
        stat = path.stat()
        if mtime == iso_moment(datetime.fromtimestamp(stat.st_mtime, UTC)) or stat.st_size > _MAX_BYTES:
            return False
        reading = parse_arguments(Source, {**source.reading, "path": source.path})
        found = read_file(SourceFile(path.name, path.parent, path, source=reading), file_uri(doc_uri)).documents
        return all((document.uri, document.sha256) != (doc_uri, sha256) for document in found)


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
    table = base.searcher().index.snapshot.table("documents", columns=["uri", "source"])
    documents = list(zip(table["uri"].to_pylist(), table["source"].to_pylist(), strict=True))
    for path in (prefix, re.sub(r":\d+$", "", prefix)):
        for candidate, source in ((path, ""), *_uris_below(base.config.sources, path)):
            if any(uri.startswith(candidate) and source in ("", owner) for uri, owner in documents):
                return candidate
    return prefix


def _uris_below(sources: Sequence[SourceEntry], path: str) -> Iterator[tuple[str, str]]:
    """Yield the beginnings that URIs of documents at a path may have, with the name of their source."""
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
        fronts = (source.prefix, source.name if within else "")  # its name begins only some of a source's URIs
        yield from ((f"{front}/{within}", source.name) for front in fronts if front)
        if within or len(sources) == 1:  # an empty prefix would let all sources in
            yield within, source.name


def shown_path(path: Path) -> str:
    """Return a path on one line, relative to the working directory if it lies below it."""
    try:
        return one_line(str(path.relative_to(Path.cwd())))
    except ValueError:
        return one_line(str(path))
