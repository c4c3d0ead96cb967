"""The graph file of a snapshot: written when it is first asked for, kept, and never trusted when it is damaged."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from graphctx.errors import BackendUnavailable
from graphctx.store.graph_file import GRAPH_DIR
from graphctx.store.history import purge
from graphctx.store.lock import IngestLock
from graphctx.store.snapshot import current_id, open_snapshot, unlisted_files

from .test_disk_full import fill, small_disk  # noqa: F401
from .world import entity_id, publish_world

LOOM = "MATCH (e:Entity {id: $id}) RETURN e.name"


def ask(kb_dir: Path) -> list[tuple[str, ...]]:
    with open_snapshot(kb_dir) as snapshot:
        return snapshot.graph.query(LOOM, {"id": entity_id("loom")}).rows


def folder_of(kb_dir: Path) -> Path:
    return kb_dir / "snapshots" / str(current_id(kb_dir)) / GRAPH_DIR


def test_the_file_is_written_by_the_first_query_and_kept_for_the_next_process(kb_dir: Path) -> None:
    assert not folder_of(kb_dir).exists()
    assert ask(kb_dir) == [("loom",)]
    graph = folder_of(kb_dir) / "graph.kuzu"
    written = graph.stat().st_ino
    assert ask(kb_dir) == [("loom",)]
    assert graph.stat().st_ino == written
    with open_snapshot(kb_dir) as snapshot:
        assert unlisted_files(snapshot) == []
    purge(kb_dir)
    assert graph.stat().st_ino == written


def cut(graph: Path) -> None:
    graph.write_bytes(graph.read_bytes()[:4096])


def flip(graph: Path) -> None:
    data = bytearray(graph.read_bytes())
    data[len(data) // 2] ^= 1
    graph.write_bytes(data)


def add_a_log(graph: Path) -> None:
    graph.with_name(f"{graph.name}.wal").write_bytes(b"x")


@pytest.mark.parametrize("spoil", [cut, flip, add_a_log, Path.unlink])
def test_a_damaged_file_is_written_again(kb_dir: Path, spoil: Callable[[Path], None]) -> None:
    ask(kb_dir)
    spoil(folder_of(kb_dir) / "graph.kuzu")
    assert ask(kb_dir) == [("loom",)]
    assert sorted(path.name for path in folder_of(kb_dir).iterdir()) == ["SHA256", "graph.kuzu"]


@pytest.mark.slow
def test_several_may_ask_first_at_once(kb_dir: Path) -> None:
    found: list[list[tuple[str, ...]]] = []
    threads = [threading.Thread(target=lambda: found.append(ask(kb_dir))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[("loom",)]] * 3
    with open_snapshot(kb_dir) as snapshot:
        assert unlisted_files(snapshot) == []


@pytest.mark.slow
def test_without_space_the_query_fails_and_leaves_nothing(small_disk: Path) -> None:  # noqa: F811
    kb_dir = small_disk / "kb"
    with IngestLock(kb_dir):
        publish_world(kb_dir, 400)
    fill(small_disk, 1 << 20)
    with pytest.raises(BackendUnavailable, match=r"No space left|disk is full|MiB are free") as caught:
        ask(kb_dir)
    assert str(small_disk) not in caught.value.message
    (small_disk / "filler").unlink()
    assert ask(kb_dir) == [("loom",)]
    with open_snapshot(kb_dir) as snapshot:
        assert unlisted_files(snapshot) == []
