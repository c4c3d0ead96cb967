from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from graphctx.knowledge_base import KnowledgeBase
from graphctx.server.app import build_server
from graphctx.server.call_context import CallContext
from graphctx.server.config import ServerConfig
from tests.layers.world import content, note, stack

from ..conftest import Connect
from .world import LONG, OFFICER, context_with, warmup_with


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three layers. Base and delta disagree about chunk 2; delta corrects the documents."""
    made = tmp_path / "repository"
    stack(
        made,
        base=content(note(1, "The vault key is kept in the red safe.", kind="invariant"), note(2, "Gulls are fed.")),
        user=content(note(11, "Restores are rehearsed in May.", sources=("docs/restore.md:3", 1))),
        delta=content(
            note(2, "Gulls are not fed.", author="mcp", confidence=0.5),
            note(12, OFFICER, kind="correction", author="mcp", confidence=0.75, sources=("people/duty.md:3",)),
            note(13, LONG, kind="reference"),
        ),
    )
    return made


@pytest.fixture
def context(kb: KnowledgeBase, folder: Path) -> CallContext:
    return context_with(kb, folder)


@pytest.fixture
def layered(connect: Connect, kb: KnowledgeBase, folder: Path) -> Any:
    """Makes clients of a server with layers."""

    def make(**config: Any) -> Client:
        warmup = warmup_with(kb, folder)
        toolsets = ("kb", "graph", "layers")
        return connect(server=build_server(warmup, ServerConfig(toolsets=toolsets, layers=folder, **config)))

    return make
