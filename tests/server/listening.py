"""Real HTTP servers and clients with a token."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from typing import Any

import httpx2
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from graphctx.server.http import HttpConfig, bound_sockets


@asynccontextmanager
async def listening(app: Any) -> AsyncIterator[str]:
    """Serve an application on a free port; yields the URL of its endpoint."""
    with ExitStack() as closing:
        [listener] = [closing.enter_context(one) for one in bound_sockets(HttpConfig(port=0))]
        server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
            await task


@asynccontextmanager
async def as_bearer(url: str, token: str, mode: str) -> AsyncIterator[Client]:
    """Connect a client that sends a bearer token."""
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode, read_timeout_seconds=60) as client,
    ):
        yield client
