from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from graphctx.memory import Memory
from graphctx.memory.extraction import TripleExtractor
from graphctx.server.app import build_server
from graphctx.server.config import ServerConfig
from graphctx.server.warmup import OpenKnowledgeBase, Warmup, open_kb
from tests.memory.conftest import EMBEDDER, EXTRACTOR, Clock

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
Remembering = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture
def clock() -> Clock:
    return Clock(NOON)


@cache
def opened_memory(folder: Path) -> Memory:
    """A memory of the shipped models, which are loaded once, before a client waits for them."""
    TripleExtractor(lambda: EXTRACTOR).triples("Ann lives in Oslo.", "")
    return Memory(folder, embedder=EMBEDDER, extractor=EXTRACTOR)


def warmup_with(config: ServerConfig) -> Warmup:
    """Open the memory of a configuration without documents."""
    assert config.memory is not None
    memory = opened_memory(config.memory)

    def engine() -> OpenKnowledgeBase:
        made = open_kb("/nonexistent", None, config)
        return OpenKnowledgeBase(made.searcher, lambda: None, made.count, memory=lambda: memory)

    return Warmup(engine)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "notes"


@pytest.fixture
def remembering(folder: Path, clock: Clock, era: str) -> Remembering:
    """Make a client of a server with a memory alone: ``remembering(limits=…)``."""

    def make(message_handler: Any = None, era: str = era, **settings: Any) -> Client:
        config = ServerConfig(toolsets=("memory",), memory=folder, **settings)
        server = build_server(warmup_with(config), config, clock)
        return Client(server, mode=era, message_handler=message_handler)

    return make
