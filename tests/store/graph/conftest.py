"""One graph on disk, by the engine of this run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from graphctx.store.graph import make_graph_engine
from graphctx.store.graph.base import GraphEngine, GraphStore

from ..world import world
from .chosen import ENGINE


@pytest.fixture(scope="module")
def engine() -> GraphEngine:
    return make_graph_engine(ENGINE)


@pytest.fixture(scope="module")
def file(engine: GraphEngine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("graph") / f"graph.{engine.name}"
    engine.build(path, world())
    return path


@pytest.fixture
def store(engine: GraphEngine, file: Path) -> Iterator[GraphStore]:
    opened = engine.open(file)
    yield opened
    opened.close()
