"""The streamable HTTP transport: many clients, plain JSON responses, on this machine unless told so."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from graphctx.errors import InvalidArgument
from graphctx.server.config import ServerConfig
from graphctx.server.warmup import Warmup, open_engine

if TYPE_CHECKING:
    from starlette.applications import Starlette

LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")


def http_app(
    warmup: Warmup,
    config: ServerConfig | None = None,
    host: str = "127.0.0.1",
    allowed_hosts: Sequence[str] = (),
    allowed_origins: Sequence[str] = (),
) -> Starlette:
    """Make the ASGI application; MCP is at ``/mcp``.

    Args:
        warmup: opens the knowledge base; the caller starts it.
        config: the server's settings; its transport is taken as ``http``.
        host: the address that will be bound. On a local one only local ``Host`` headers are let in.
        allowed_hosts: ``Host`` headers to let in, required for any other address (``name:port``, ``name:*``).
        allowed_origins: ``Origin`` headers to let in from browsers.

    Raises:
        InvalidArgument: a public address without ``allowed_hosts`` would be open to DNS rebinding.
    """
    from mcp.server.transport_security import TransportSecuritySettings

    from graphctx.server.app import build_server

    if host not in LOCAL_HOSTS and not allowed_hosts:
        raise InvalidArgument(
            f"host {host!r} is not local: name the Host headers to let in (allowed_hosts), or bind 127.0.0.1.",
            field="host",
            value=host,
            allowed=list(LOCAL_HOSTS),
        )
    security = None
    if allowed_hosts or allowed_origins:
        local = [] if host not in LOCAL_HOSTS else ["127.0.0.1:*", "localhost:*", "[::1]:*"]
        security = TransportSecuritySettings(
            allowed_hosts=[*local, *allowed_hosts],
            allowed_origins=[*(f"http://{name}" for name in local), *allowed_origins],
        )
    server = build_server(warmup, dataclasses.replace(config or ServerConfig(), transport="http"))
    return server.streamable_http_app(json_response=True, host=host, transport_security=security)


def serve_http(
    kb_path: str | Path,
    config: ServerConfig | None = None,
    host: str = "127.0.0.1",
    port: int = 8765,
    allowed_hosts: Sequence[str] = (),
    allowed_origins: Sequence[str] = (),
) -> None:
    """Serve a knowledge base over streamable HTTP until interrupted, without authentication."""
    import uvicorn

    warmup = Warmup(lambda: open_engine(str(kb_path)))
    app = http_app(warmup, config, host, allowed_hosts, allowed_origins)
    warmup.start()
    uvicorn.run(app, host=host, port=port, log_level="warning")
