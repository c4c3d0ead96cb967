"""The operations of the page, a line each."""

from __future__ import annotations

from graphctx.ui import ask, document, documents, evaluation, examples, graph, ingest, layers, memory, snapshots, status
from graphctx.ui.operation import AnyOperation, Stream

OPERATIONS: tuple[AnyOperation, ...] = (
    *ask.OPERATIONS,
    *document.OPERATIONS,
    *documents.OPERATIONS,
    *evaluation.OPERATIONS,
    *examples.OPERATIONS,
    *graph.OPERATIONS,
    *ingest.OPERATIONS,
    *layers.OPERATIONS,
    *memory.OPERATIONS,
    *snapshots.OPERATIONS,
    *status.OPERATIONS,
)
STREAMS: tuple[Stream, ...] = (*ingest.STREAMS,)
"""Requests that upload files or answer with a stream."""
