from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.store.history import list_snapshots, prune, rollback
from graphctx.store.snapshot import current_id, open_snapshot, recovery_note

from .world import publish_world


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    kb_dir = tmp_path_factory.mktemp("kb")
    ids = [
        publish_world(kb_dir, stamp=stamp, at=f"2026-01-0{day}").snapshot_id
        for day, stamp in ((1, "a"), (2, "b"), (3, "c"))
    ]
    return kb_dir, ids


@pytest.fixture
def kb(three: tuple[Path, list[str]], tmp_path: Path) -> tuple[Path, list[str]]:
    return Path(shutil.copytree(three[0], tmp_path / "kb")), three[1]


def test_snapshots_are_listed_newest_first(three: tuple[Path, list[str]]) -> None:
    kb_dir, ids = three
    found = list_snapshots(kb_dir)
    assert [info.id for info in found] == ids[::-1]
    assert [info.current for info in found] == [True, False, False]
    assert all(info.counts["units"] == 12 and info.size_bytes > 0 and info.problem is None for info in found)
    assert list_snapshots(kb_dir / "nowhere") == []


def test_going_back_publishes_the_older_one(kb: tuple[Path, list[str]]) -> None:
    kb_dir, ids = kb
    rollback(kb_dir, ids[0])
    with open_snapshot(kb_dir) as snapshot:
        assert snapshot.id == ids[0]
        assert "a built" in snapshot.table("units", ["text"])["text"][0].as_py()


def test_going_back_to_what_is_damaged_or_absent_changes_nothing(kb: tuple[Path, list[str]]) -> None:
    kb_dir, ids = kb
    (kb_dir / "snapshots" / ids[0] / "walk.npz").write_bytes(b"x")
    with pytest.raises(BackendUnavailable, match=r"walk\.npz"):
        rollback(kb_dir, ids[0])
    with pytest.raises(BackendUnavailable, match="missing"):
        rollback(kb_dir, "sn_aaaaaaaaaaaaaaaa")
    with pytest.raises(InvalidArgument):
        rollback(kb_dir, "latest")
    assert current_id(kb_dir) == ids[2]


def test_pruning_keeps_the_current_one_and_the_newest(kb: tuple[Path, list[str]]) -> None:
    kb_dir, ids = kb
    rollback(kb_dir, ids[0])
    assert prune(kb_dir, keep=2) == [ids[1]]
    assert {info.id for info in list_snapshots(kb_dir)} == {ids[0], ids[2]}
    assert prune(kb_dir, keep=1) == [ids[2]]
    assert prune(kb_dir, keep=1) == []
    assert [path.name for path in (kb_dir / "snapshots").iterdir()] == [ids[0]]
    open_snapshot(kb_dir).close()
    with pytest.raises(InvalidArgument, match="keep"):
        prune(kb_dir, keep=0)


def test_a_damaged_one_is_listed_with_its_problem_and_goes_first(kb: tuple[Path, list[str]]) -> None:
    kb_dir, ids = kb
    (kb_dir / "snapshots" / ids[1] / "MANIFEST.json").write_text("{")
    listed = {info.id: info for info in list_snapshots(kb_dir)}
    assert "damaged" in (listed[ids[1]].problem or "")
    assert prune(kb_dir, keep=2) == [ids[1]]


def test_a_snapshot_that_is_being_read_is_not_pruned(kb: tuple[Path, list[str]]) -> None:
    kb_dir, ids = kb
    with open_snapshot(kb_dir, ids[0]) as mine:
        script = (
            "import sys; from pathlib import Path; from graphctx.store.snapshot import open_snapshot\n"
            "with open_snapshot(Path(sys.argv[1]), sys.argv[2]):\n    print('open', flush=True); sys.stdin.read()\n"
        )
        command = [sys.executable, "-c", script, str(kb_dir), ids[1]]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
            assert other.stdout is not None
            assert other.stdout.readline() == "open\n"
            assert prune(kb_dir, keep=1) == []
            other.kill()
        assert prune(kb_dir, keep=1) == [ids[1]]
        assert mine.tables.count("units") == 12
    assert prune(kb_dir, keep=1) == [ids[0]]


def test_without_a_current_one_the_newest_stay(kb: tuple[Path, list[str]]) -> None:
    kb_dir, ids = kb
    (kb_dir / "CURRENT").write_text("rubbish")
    assert prune(kb_dir, keep=1) == [ids[1], ids[0]]
    rollback(kb_dir, ids[2])
    assert current_id(kb_dir) == ids[2]


def test_where_current_is_lost_the_newest_whole_snapshot_is_the_published_one(tmp_path: Path) -> None:
    days = (("a", 3), ("b", 1), ("c", 2))  # the clock was set back after the first
    ids = [publish_world(tmp_path, stamp=stamp, at=f"2026-01-0{day}").snapshot_id for stamp, day in days]
    (tmp_path / "CURRENT").unlink()
    assert current_id(tmp_path) == ids[2]
    note = recovery_note(tmp_path)
    assert note is not None
    assert ids[2] in note
    open_snapshot(tmp_path).close()
    (tmp_path / "snapshots" / ids[2] / "walk.npz").write_bytes(b"x")
    assert current_id(tmp_path) == ids[1]
    for each in ids[:2]:
        (tmp_path / "snapshots" / each / "MANIFEST.json").unlink()
    with pytest.raises(BackendUnavailable, match="no snapshot is whole"):
        current_id(tmp_path)
    assert not any(info.current for info in list_snapshots(tmp_path))
