"""The units of a knowledge base as a base layer of AGENTS.db, with their vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from graphctx.export.options import OnProgress, no_progress
from graphctx.layers import Profile, ProfiledEmbedder, built_in, metadata_for
from graphctx.layers.compiled import CANONICAL, DocumentPassage, chunks_of, compiled
from graphctx.model.documents import has_file_lines

if TYPE_CHECKING:
    from graphctx.layers import LayerContent
    from graphctx.nlp.base import Embedder
    from graphctx.retrieve.index import SearchIndex

_STEP = 256  # units between two calls of progress


def units_layer(
    index: SearchIndex,
    *,
    kind: str = CANONICAL,
    created_at_unix_ms: int = 0,
    i8: bool = False,
    on_progress: OnProgress = no_progress,
) -> LayerContent:
    """Return the units of an index as a layer, in the order of the knowledge base.

    A chunk is one contiguous span of its document: the unit, and its heading if the unit is the first below it. Its
    source is the document's URI and the line where it begins.

    Args:
        index: the units within a scope.
        kind, created_at_unix_ms, i8: see `chunks_of` and `compiled`.
        on_progress: called with the progress.

    Raises:
        InvalidArgument: there is no unit, or ``kind`` is reserved.
    """
    units = index.snapshot.table("units", ["section_id", "doc_row", "start_char", "end_char"])
    sections, doc_rows, starts, ends = (units[name].to_pylist() for name in units.column_names)
    heads = index.snapshot.table("sections", ["id", "start_char", "level"])
    columns = zip(*(heads[name].to_pylist() for name in heads.column_names), strict=True)
    head_of = {section: start for section, start, level in columns if level}  # text before any heading has level 0
    rows = index.visible_rows.tolist()
    passages = []
    for done, row in enumerate(rows):
        if done % _STEP == 0:
            on_progress("units", done, len(rows), "units")
        first = row == 0 or sections[row - 1] != sections[row]
        start = min(head_of.get(sections[row], starts[row]), starts[row]) if first else starts[row]
        document = index.text_of(doc_rows[row])
        content = document.text[start : ends[row]]
        start += len(content) - len(content.lstrip())
        file = unquote(document.uri) if has_file_lines(document.uri) else document.uri
        passages.append(
            DocumentPassage(document.text[start : ends[row]], document.uri, f"{file}:{document.line(start)}")
        )
    on_progress("units", len(rows), len(rows), "units")
    chunks = chunks_of(passages, kind, created_at_unix_ms)
    embedder = _profiled(index.embedder)
    audit = dict(embedder.audit) | {"embedded_text": "title and headings, then the content"}
    metadata = metadata_for(embedder.profile, audit)
    vectors = index.vectors_of(index.visible_rows)
    return compiled(chunks, vectors, metadata, i8=i8)


def _profiled(embedder: Embedder) -> ProfiledEmbedder:
    """Return the embedder of a knowledge base with the profile of its vectors."""
    own = built_in()
    if own.embedder.fingerprint == embedder.fingerprint:
        return own
    profile = Profile("sentence-transformers", embedder.name, embedder.fingerprint, embedder.dimension, "l2")
    return ProfiledEmbedder(embedder, profile)
