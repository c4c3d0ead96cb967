"""A graph's file: opened, shared, replaced and closed, by stores, threads and processes."""

from __future__ import annotations

import gc
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from graphctx.errors import BackendUnavailable
from graphctx.store.graph.base import GraphEngine, GraphStore

from ..world import TOPICS, world
from .chosen import CHAIN, OTHERS


def test_threads_share_one_store(store: GraphStore) -> None:
    with ThreadPoolExecutor(8) as pool:
        cypher = "MATCH (e:Entity {id: $id}) RETURN e.name"
        answers = list(pool.map(lambda i: store.query(cypher, {"id": CHAIN[i % 7]}).rows, range(64)))
    assert answers == [[(TOPICS[i % 7],)] for i in range(64)]


def test_graphs_are_opened_and_forgotten_by_many_threads(engine: GraphEngine, file: Path) -> None:
    def ask(_: int) -> int:
        return engine.open(file).counts()["TextUnit"]

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(ask, range(64))) == {12}


def test_stores_on_one_file_share_it_and_close_apart(engine: GraphEngine, file: Path) -> None:
    first, second = engine.open(file), engine.open(file)
    assert first.counts() == second.counts()
    first.close()
    first.close()
    assert second.query("RETURN 1").rows == [(1,)]
    assert first.query("RETURN 1").rows == [(1,)]
    first.close()
    second.close()


def test_a_file_that_replaces_another_is_seen_by_who_opens_it_then(engine: GraphEngine, tmp_path: Path) -> None:
    path = tmp_path / "graph.x"
    engine.build(path, world(2))
    old = engine.open(path)
    assert old.counts()["Document"] == 2
    engine.build(tmp_path / "graph.y", world(3))
    (tmp_path / "graph.y").replace(path)
    new = engine.open(path)
    assert (old.counts()["Document"], new.counts()["Document"]) == (2, 3)
    old.close()
    new.close()


def test_reading_changes_no_byte(engine: GraphEngine, tmp_path: Path) -> None:
    path = tmp_path / "graph.x"
    engine.build(path, world())
    before = path.read_bytes()
    opened = engine.open(path)
    opened.counts()
    opened.close()
    assert path.read_bytes() == before
    assert [left.name for left in tmp_path.iterdir()] == [path.name]


def test_two_processes_read_one_file(engine: GraphEngine, store: GraphStore, file: Path) -> None:
    store.counts()
    script = (
        "import sys; from pathlib import Path; from graphctx.store.graph import make_graph_engine\n"
        "print(make_graph_engine(sys.argv[1]).open(Path(sys.argv[2])).counts()['TextUnit'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, engine.name, str(file)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "12"


def test_a_missing_or_foreign_file_is_unavailable(engine: GraphEngine, tmp_path: Path) -> None:
    with pytest.raises(BackendUnavailable, match=r"graph\.none"):
        engine.open(tmp_path / "graph.none").query("RETURN 1")
    build_in_a_process(OTHERS[0], tmp_path / "graph.other")
    with pytest.raises(BackendUnavailable, match=r"graph\.other") as caught:
        engine.open(tmp_path / "graph.other").query("RETURN 1")
    assert str(tmp_path) not in caught.value.message


def build_in_a_process(name: str, path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from graphctx.store.graph import make_graph_engine\n"
        f"sys.path.insert(0, {str(Path(__file__).parents[2])!r}); from store.world import world\n"
        "make_graph_engine(sys.argv[1]).build(Path(sys.argv[2]), world())"
    )
    subprocess.run([sys.executable, "-c", script, name, str(path)], check=True)


def is_open(file: Path) -> bool:
    """Whether this process holds the file."""
    held = [entry.resolve() for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink()]
    return file.resolve() in held


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are listed in /proc/self/fd on Linux only")
def test_a_graph_that_nobody_holds_any_more_is_closed(engine: GraphEngine, tmp_path: Path) -> None:
    file = tmp_path / "graph.lone"
    engine.build(file, world())
    first, second = engine.open(file), engine.open(file)
    assert first.counts() == second.counts()
    assert is_open(file)
    del first
    gc.collect()
    assert is_open(file)
    assert second.counts()["Document"] == 4
    del second
    gc.collect()
    assert not is_open(file)


def test_a_graph_is_given_back_once_by_closing_and_forgetting_it(engine: GraphEngine, tmp_path: Path) -> None:
    file = tmp_path / "graph.twice"
    engine.build(file, world())
    kept, closed = engine.open(file), engine.open(file)
    assert kept.counts() == closed.counts()
    closed.close()
    closed.close()
    del closed
    gc.collect()
    assert kept.counts()["Document"] == 4
    kept.close()
