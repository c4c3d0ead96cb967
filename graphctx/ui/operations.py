"""The operations of the page, a line each."""

from __future__ import annotations

from graphctx.ui import graph, status
from graphctx.ui.operation import AnyOperation, Stream

OPERATIONS: tuple[AnyOperation, ...] = (*status.OPERATIONS, *graph.OPERATIONS)
STREAMS: tuple[Stream, ...] = ()
"""Requests that upload files or answer with a stream."""
