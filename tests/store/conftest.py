from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from graphctx.store.graph_file import GRAPH_DIR

from .world import publish_world


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A knowledge base with one snapshot, for tests that only read."""
    kb_dir = tmp_path_factory.mktemp("kb")
    publish_world(kb_dir)
    return kb_dir


@pytest.fixture
def kb_dir(published: Path, tmp_path: Path) -> Path:
    """A copy of what is published, for tests that change something."""
    return Path(shutil.copytree(published, tmp_path / "kb", ignore=shutil.ignore_patterns(GRAPH_DIR)))
