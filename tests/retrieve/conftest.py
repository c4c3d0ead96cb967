"""A knowledge base with LanceDB tables."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphctx import KnowledgeBase


@pytest.fixture(scope="session")
def lancedb_kb(
    handbook_path: Path, handbook_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KnowledgeBase]:
    """The handbook, ingested for the first stage ``lancedb``; nobody may change it."""
    path = tmp_path_factory.mktemp("lancedb") / "kb"
    shutil.copytree(handbook_path, path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRAPHCTX_RETRIEVE__FIRST_STAGE", "lancedb")
        with KnowledgeBase.open(path) as kb:
            kb.ingest(handbook_folder)
    with KnowledgeBase.open(path) as kb:
        yield kb
