from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from graphctx import KnowledgeBase

from .house import HANDBOOK, graphctx, succeeded, write_lighthouse


def _made_once(factory: pytest.TempPathFactory, worker: str, name: str, documents: Path | None) -> Path:
    """A knowledge base that all test processes share; whoever comes first ingests it."""
    shared = factory.getbasetemp() if worker == "master" else factory.getbasetemp().parent
    home = shared / f"house-{name}"
    with FileLock(shared / f"house-{name}.lock"):
        if not (home / "done").exists():
            folder = documents or write_lighthouse(home / "documents")
            succeeded(graphctx("ingest", folder, "--kb", home / "kb", "--project-id", name))
            (home / "done").touch()
    return home / "kb"


@pytest.fixture(scope="session")
def handbook_kb(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The sample handbook, ingested once by the command line. Only to be read."""
    return _made_once(tmp_path_factory, worker_id, "handbook", HANDBOOK)


@pytest.fixture(scope="session")
def handbook(handbook_kb: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase.open(handbook_kb) as base:
        yield base


@pytest.fixture(scope="session")
def lighthouse_kb(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A corpus of three small documents. Only to be read."""
    return _made_once(tmp_path_factory, worker_id, "lighthouse", None)


@pytest.fixture
def own_kb(lighthouse_kb: Path, tmp_path: Path) -> Path:
    """The small knowledge base, for this test alone."""
    return Path(shutil.copytree(lighthouse_kb, tmp_path / "kb"))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
