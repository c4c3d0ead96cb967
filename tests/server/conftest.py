from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from mcp import Client
from mcp_types import Implementation

from graphctx.knowledge_base import KnowledgeBase
from graphctx.server.app import build_server
from graphctx.server.config import ServerConfig

from .calls import warmup_over
from .documents import DOCUMENTS
from .waiting import Waiting

Connect = Callable[..., AbstractAsyncContextManager[Client]]
FULL = ServerConfig(toolsets=("kb", "graph"))
"""The form of the tool contract, of which ``core`` leaves out parts."""
each_era = pytest.mark.parametrize("era", ["legacy", "auto"], ids=["handshake-era", "2026-era"])


class Clock:
    """Seconds that a test sets."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def kb_path(run_folder: Path) -> Path:
    """The folder of the ingested `DOCUMENTS`, made by whichever worker comes first; nobody may change it."""
    home = run_folder / "server"
    with FileLock(run_folder / "server.lock"):
        if not (home / "done").exists():
            for name, text in DOCUMENTS.items():
                path = home / "documents" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text.encode("utf-8"))
            with KnowledgeBase.open(home / "kb", create=True, project_id="handbook") as kb:
                kb.ingest(home / "documents", processes=1)
            (home / "done").touch()
    return home / "kb"


@pytest.fixture(scope="session")
def kb(kb_path: Path) -> Iterator[KnowledgeBase]:
    """The ingested `DOCUMENTS`, open; nobody may change them."""
    with KnowledgeBase.open(kb_path) as kb:
        yield kb


@pytest.fixture
def era() -> str:
    """The era of the protocol that clients speak; `each_era` tests both."""
    return "auto"


@pytest.fixture
def connect(kb: KnowledgeBase, era: str) -> Connect:
    """Make a client of a server over the knowledge base; by default every answer has the form of the contract."""

    def make(config: ServerConfig | None = None, client: str = "tester", server: Any = None) -> Client:
        server = server or build_server(warmup_over(kb), config or FULL)
        return Client(server, mode=era, client_info=Implementation(name=client, version="1"))

    return make


@pytest.fixture
def waiting() -> Iterator[Waiting]:
    """A tool that waits, offered beside the others by servers that are built meanwhile."""
    with Waiting().offered() as waiting:
        yield waiting
