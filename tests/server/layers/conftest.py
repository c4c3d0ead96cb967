from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from graphctx.server.app import build_server
from graphctx.server.config import ServerConfig
from graphctx.server.desk import Desk
from graphctx.server.warmup import Engine, Warmup
from tests.layers.world import content, note, stack

from ..calls import desk_over
from ..conftest import Connect
from ..library import Library, count_tokens
from .world import LONG, OFFICER, source


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
def desk(library: Library, folder: Path) -> Desk:
    return desk_over(library, layers=source(folder))


@pytest.fixture
def layered(connect: Connect, library: Library, folder: Path) -> Any:
    """Makes clients of a server with layers."""

    def make(**config: Any) -> Client:
        warmup = Warmup(lambda: Engine(library, count_tokens, source(folder)))
        toolsets = ("kb", "graph", "layers")
        return connect(server=build_server(warmup, ServerConfig(toolsets=toolsets, layers=folder, **config)))

    return make
