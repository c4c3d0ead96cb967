from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .world import publish_world


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A knowledge base with one snapshot, for tests that only read."""
    kb_dir = tmp_path_factory.mktemp("kb")
    publish_world(kb_dir)
    return kb_dir


@pytest.fixture
def kb_dir(published: Path, tmp_path: Path) -> Path:
    """A copy of it, for tests that change something."""
    return Path(shutil.copytree(published, tmp_path / "kb"))
