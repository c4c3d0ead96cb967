"""Layers of context (AGENTS.db): one document a chunk, with its author, kind and sources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar

from graphctx.errors import InvalidArgument
from graphctx.ingest.read.base import ReadFile, Skipped, heading_title, iso_moment, make_document
from graphctx.ingest.read.markdown import parse_markdown
from graphctx.model.documents import Document
from graphctx.text.normalise import normalise

if TYPE_CHECKING:
    from graphctx.layers import Chunk

_MAGIC = b"AGDB"
_TITLE_CHARS = 120
_LABEL_CHARS = 200  # of a tag, as filters take them


class AgentsDbReader:
    """A layer file's chunks as they are now: the newest record of each id, without what was taken back.

    Chunks of tools (tombstones, options, proposals) are about other chunks and are left out. A chunk is read as
    Markdown. Its tags are ``kind:…``, ``author:…``, ``layer:…``, ``confidence:…`` and a ``source:…`` for each source;
    the time at which it was written is that of its last update.
    """

    media_types: ClassVar[Mapping[str, str]] = {".db": "application/vnd.agents-db"}
    version: ClassVar[int] = 1

    def read(self, data: bytes, uri: str) -> ReadFile:
        """Read every chunk; see :class:`graphctx.ingest.read.base.DocumentReader`.

        The documents' URIs are ``<uri>#<id>``.

        Raises:
            InvalidArgument: this is not a layer file, or it breaks a rule of the format.
        """
        if not data.startswith(_MAGIC):
            raise InvalidArgument(
                f"{uri} is not a layer of AGENTS.db; other databases are not read.", uri=uri, byte_offset=0
            )
        from graphctx.layers import LayerFile, LayerView, layer_of_file

        file = LayerFile.parse(data, uri)
        layer = layer_of_file(uri)
        view = LayerView(layer or "base", file)
        documents: list[Document] = []
        skipped: list[Skipped] = []
        for chunk_id, record in sorted(view.records.items()):
            if view.bookkeeping[record] or chunk_id in view.retractions:
                continue
            chunk = file.chunk(record)
            try:
                documents.append(self._document(chunk, uri, layer))
            except InvalidArgument:
                skipped.append(Skipped(uri, f"chunk {chunk_id}: it holds no text"))
        if not documents and not skipped:
            raise InvalidArgument(f"{uri} holds no chunks.", uri=uri)
        return ReadFile(tuple(documents), tuple(skipped))

    def _document(self, chunk: Chunk, uri: str, layer: str | None) -> Document:
        from graphctx.layers.chunk import first_line

        text = normalise(chunk.content)
        outline, metadata = parse_markdown(text)
        tags = [f"kind:{chunk.kind}", f"author:{chunk.author}", f"confidence:{chunk.confidence:.2f}"]
        tags += [f"layer:{layer}"] if layer else []
        tags += [f"source:{'#' if isinstance(source, int) else ''}{source}" for source in chunk.sources]
        headings = sorted(outline.headings, key=lambda heading: heading.start_char)
        title = metadata.title or heading_title(headings) or first_line(text, _TITLE_CHARS)
        metadata = replace(
            metadata,
            title=title,
            tags=tuple(_labels((*metadata.tags, *tags))),
            updated_at=_moment(chunk.created_at_unix_ms) or metadata.updated_at,
        )
        return make_document(f"{uri}#{chunk.id}", self.media_types[".db"], text, outline, metadata)


def _labels(tags: Iterable[str]) -> list[str]:
    """Tags that a filter can name: on one line, and not too long."""
    return [label[:_LABEL_CHARS] for tag in tags if (label := " ".join(normalise(tag).split()))]


def _moment(unix_ms: int) -> str | None:
    """A time as ISO 8601; ``None`` for 0, and for what no calendar has."""
    try:
        return iso_moment(datetime.fromtimestamp(unix_ms / 1000, UTC)) if unix_ms else None
    except (OverflowError, ValueError, OSError):
        return None
