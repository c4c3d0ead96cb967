"""Which engine is used, and that each passes this whole folder.

The engines cannot share a process, so the suite runs here for one of them, and once more in a process of its own
for each of the others.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.store.graph import make_graph_engine
from graphctx.store.graph.base import GraphEngine, GraphStore
from graphctx.store.graph.schema import NODE_TABLES, REL_TABLES, ddl

from .chosen import OTHERS


@pytest.mark.skipif("GRAPHCTX_TEST_ENGINE" in os.environ, reason="this is the run of one engine")
@pytest.mark.parametrize("other", OTHERS)
def test_another_engine_passes_the_same_suite(other: str) -> None:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", str(Path(__file__).parent)]
    environment = {**os.environ, "GRAPHCTX_TEST_ENGINE": other}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert "failed" not in done.stdout.splitlines()[-1]


@pytest.mark.parametrize("other", OTHERS)
def test_two_engines_in_one_process_are_refused(engine: GraphEngine, other: str) -> None:
    assert engine.version
    with pytest.raises(BackendUnavailable, match="another process"):
        assert make_graph_engine(other).version


def test_both_speak_the_protocol(engine: GraphEngine, store: GraphStore) -> None:
    assert isinstance(engine, GraphEngine)
    assert isinstance(store, GraphStore)
    assert engine.version


def test_the_ddl_names_every_table_once() -> None:
    text = ddl()
    for table in (*NODE_TABLES, *REL_TABLES):
        assert text.count(f" TABLE {table.label} ") == 1


def test_an_unknown_engine_is_named() -> None:
    with pytest.raises(InvalidArgument, match="neo4j"):
        make_graph_engine("neo4j")
