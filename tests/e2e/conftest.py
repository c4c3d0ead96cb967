from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from filelock import FileLock

from .house import graphctx, succeeded, write_lighthouse


@pytest.fixture(scope="session")
def lighthouse_kb(run_folder: Path) -> Path:
    """A corpus of three small documents, ingested by whichever worker comes first; nobody may change it."""
    home = run_folder / "e2e-lighthouse"
    with FileLock(run_folder / "e2e-lighthouse.lock"):
        if not (home / "done").exists():
            folder = write_lighthouse(home / "documents")
            succeeded(graphctx("ingest", folder, "--kb", home / "kb", "--project-id", "lighthouse"))
            (home / "done").touch()
    return home / "kb"


@pytest.fixture
def own_kb(lighthouse_kb: Path, tmp_path: Path) -> Path:
    """The small knowledge base, for this test alone."""
    return Path(shutil.copytree(lighthouse_kb, tmp_path / "kb"))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
