from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from mcp import Client
from mcp_types import Implementation

from graphctx.server.app import build_server
from graphctx.server.config import ServerConfig
from graphctx.server.warmup import Engine, Warmup

from .library import Library, count_tokens

Connect = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def library() -> Library:
    return Library()


@pytest.fixture(params=["legacy", "auto"], ids=["handshake-era", "2026-era"])
def era(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def connect(library: Library, era: str) -> Connect:
    """Make a client of a server over the library, in the era under test."""

    def make(config: ServerConfig | None = None, client: str = "tester", server: Any = None) -> Client:
        server = server or build_server(Warmup(lambda: Engine(library, count_tokens)), config)
        return Client(server, mode=era, client_info=Implementation(name=client, version="1"))

    return make
