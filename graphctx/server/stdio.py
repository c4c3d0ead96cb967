"""The stdio transport: one client, one process, nothing but protocol on standard output.

The SDK's transport takes the real standard output for itself and points file descriptor 1 at standard error,
so that a stray print of ours, of a library or of a child process never reaches the wire. Nothing that could
print is imported or started before that.
"""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

import anyio

from graphctx.server.config import ServerConfig
from graphctx.server.warmup import Warmup, open_engine


def serve_stdio(kb_path: str | Path, config: ServerConfig | None = None, warmup: Warmup | None = None) -> None:
    """Serve a knowledge base over standard input and output until the client closes them.

    Args:
        kb_path: the knowledge base's folder; opened in the background, so that errors in it show in calls.
        config: the server's settings.
        warmup: how to open the knowledge base, if not from ``kb_path``.
    """
    logging.basicConfig(
        stream=sys.stderr,
        level=os.environ.get("GRAPHCTX_LOG", "WARNING").upper(),
        format="%(levelname)s %(message)s",
    )
    config = config or ServerConfig()
    anyio.run(_serve, config, warmup or Warmup(lambda: open_engine(str(kb_path), config.layers)))


async def _serve(config: ServerConfig, warmup: Warmup) -> None:
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (read_stream, write_stream):
        from graphctx.server.app import build_server

        server = build_server(warmup, config)
        warmup.start()
        await server.run(read_stream, write_stream, server.create_initialization_options())
