"""The operations of the page, a line each."""

from __future__ import annotations

from graphctx.ui import evaluation, layers, memory, status
from graphctx.ui.operation import AnyOperation, Stream

OPERATIONS: tuple[AnyOperation, ...] = (
    *status.OPERATIONS,
    *memory.OPERATIONS,
    *layers.OPERATIONS,
    *evaluation.OPERATIONS,
)
STREAMS: tuple[Stream, ...] = ()
"""Requests that upload files or answer with a stream."""
