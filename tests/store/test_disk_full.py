"""A disk without space, wherever the writing stops: a clear error, the published snapshot as before, no rubbish."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphctx.errors import BackendUnavailable
from graphctx.store.cache import Memo
from graphctx.store.config import KbConfig, read_config, write_config
from graphctx.store.lock import IngestLock
from graphctx.store.snapshot import current_id, open_snapshot

from .world import publish_world

LIMITED = """
import resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from store.world import publish_world
from graphctx.errors import BackendUnavailable
import graphctx.store.publish
kb_dir, limit = Path(sys.argv[2]), int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    publish_world(kb_dir, 60, stamp="second")
except BackendUnavailable as error:
    print(error.message)
    sys.exit(3)
"""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 48 MiB of its own; it needs the right to mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if done.returncode != 0:
        pytest.skip("mounting a small file system needs root")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def fill(disk: Path, leave: int) -> None:
    """Take all the space but ``leave`` bytes."""
    state = os.statvfs(disk)
    with (disk / "filler").open("wb") as file:
        file.write(bytes(max(0, state.f_bavail * state.f_frsize - leave)))


@pytest.mark.slow
def test_a_full_disk_leaves_what_was_published(small_disk: Path) -> None:
    kb_dir = small_disk / "kb"
    before = publish_world(kb_dir).snapshot_id
    for leave in (300 << 10, 0, 64 << 10, 200 << 10):  # bytes
        fill(small_disk, leave)
        with pytest.raises(BackendUnavailable, match=r"No space left|disk is full|MiB are free") as caught:
            publish_world(kb_dir, 400, stamp="second")
        assert str(small_disk) not in caught.value.message
        (small_disk / "filler").unlink()
        assert current_id(kb_dir) == before
        assert [path.name for path in (kb_dir / "snapshots").iterdir()] == [before]
    open_snapshot(kb_dir).close()
    assert publish_world(kb_dir, stamp="third").parent == before


@pytest.mark.parametrize(
    "limit", [20_000, *(pytest.param(n, marks=pytest.mark.slow) for n in (0, 1_000, 5_000, 35_000))]
)
def test_a_file_that_may_not_grow_leaves_what_was_published(kb_dir: Path, limit: int) -> None:
    before = current_id(kb_dir)
    tests = str(Path(__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, tests, str(kb_dir), str(limit)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 3, (done.returncode, done.stdout, done.stderr[-2000:])
    assert str(kb_dir) not in done.stdout
    assert "Free some space" in done.stdout
    assert "rollback" not in done.stdout
    assert current_id(kb_dir) == before
    assert [path.name for path in (kb_dir / "snapshots").iterdir()] == [before]
    open_snapshot(kb_dir).close()


LIMITED_MEMO = """
import resource, sys
from pathlib import Path
from graphctx.errors import BackendUnavailable
from graphctx.store.cache import Memo
with Memo(Path(sys.argv[1])) as memo:
    memo.put_many("kind", {"first": b"1"})
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    try:
        memo.put_many("kind", {str(i): bytes(4000) for i in range(200)})
    except BackendUnavailable as error:
        print(error.message)
"""


def test_a_memo_that_may_not_grow_says_so_and_keeps_what_it_has(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "memo.sqlite"
    done = subprocess.run([sys.executable, "-c", LIMITED_MEMO, str(path)], capture_output=True, text=True, check=True)
    assert "Cannot write cache/memo.sqlite" in done.stdout
    assert "limit of file size" in done.stdout
    assert "Free some space" in done.stdout
    with Memo(path) as memo:
        assert memo.get_many("kind", ["first"]) == {"first": b"1"}


def test_small_files_on_a_full_disk(small_disk: Path) -> None:
    config = KbConfig(project_id="p")
    write_config(small_disk, config)
    memo = Memo(small_disk / "cache" / "memo.sqlite")
    memo.put_many("kind", {"a": b"1"})
    fill(small_disk, 0)
    with pytest.raises(BackendUnavailable, match=r"kb\.toml"):
        write_config(small_disk, KbConfig(project_id="q" * 150))
    with pytest.raises(BackendUnavailable, match=r"Cannot write cache/memo\.sqlite: No space left"):
        memo.put_many("kind", {str(i): bytes(4000) for i in range(100)})
    with pytest.raises(BackendUnavailable), IngestLock(small_disk / "new"):
        pass
    (small_disk / "filler").unlink()
    assert read_config(small_disk) == config
    assert memo.get_many("kind", ["a"]) == {"a": b"1"}
    memo.put_many("kind", {"b": b"2"})
    memo.close()
    with IngestLock(small_disk / "new"):
        pass
