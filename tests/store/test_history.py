"""Snapshots are listed, rolled back, pruned and purged; what is in use or may be needed stays."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.store.cache import Memo
from graphctx.store.history import MEMO, list_snapshots, prune, purge, rollback
from graphctx.store.lock import IngestLock
from graphctx.store.snapshot import current_id, open_snapshot, recovery_note

from .world import publish_world


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """Three snapshots; the clock was set back after the first."""
    kb_dir = tmp_path_factory.mktemp("kb")
    days = (("a", 3), ("b", 1), ("c", 2))
    return kb_dir, [publish_world(kb_dir, stamp=stamp, at=f"2026-01-0{day}").snapshot_id for stamp, day in days]


@pytest.fixture
def kb(three: tuple[Path, list[str]], tmp_path: Path) -> tuple[Path, list[str]]:
    return Path(shutil.copytree(three[0], tmp_path / "kb")), three[1]


def test_snapshots_are_listed_newest_first(three: tuple[Path, list[str]]) -> None:
    kb_dir, (a, b, c) = three
    found = list_snapshots(kb_dir)
    assert [(info.id, info.current) for info in found] == [(a, False), (c, True), (b, False)]
    assert all(info.counts["units"] == 12 and info.size_bytes > 0 and info.problem is None for info in found)
    assert list_snapshots(kb_dir / "nowhere") == []


def test_rolling_back_publishes_the_older_one_unless_it_is_damaged_or_absent(kb: tuple[Path, list[str]]) -> None:
    kb_dir, (a, b, _) = kb
    rollback(kb_dir, a)
    with open_snapshot(kb_dir) as snapshot:
        assert snapshot.id == a
        assert "a built" in snapshot.table("units", ["text"])["text"][0].as_py()
    (kb_dir / "snapshots" / b / "walk.npz").write_bytes(b"x")
    with pytest.raises(BackendUnavailable, match=r"walk\.npz"):
        rollback(kb_dir, b)
    with pytest.raises(BackendUnavailable, match="missing"):
        rollback(kb_dir, "sn_aaaaaaaaaaaaaaaa")
    with pytest.raises(InvalidArgument):
        rollback(kb_dir, "latest")
    assert current_id(kb_dir) == a


def test_pruning_keeps_the_current_one_and_the_newest(kb: tuple[Path, list[str]]) -> None:
    kb_dir, (a, b, c) = kb
    assert prune(kb_dir, keep=2) == [b]
    assert prune(kb_dir, keep=1) == [a]
    assert prune(kb_dir, keep=1) == []
    assert [path.name for path in (kb_dir / "snapshots").iterdir()] == [c]
    open_snapshot(kb_dir).close()
    with pytest.raises(InvalidArgument, match="keep"):
        prune(kb_dir, keep=0)


def test_a_damaged_one_is_listed_with_its_problem_and_pruned_first(kb: tuple[Path, list[str]]) -> None:
    kb_dir, (a, _, _) = kb
    (kb_dir / "snapshots" / a / "MANIFEST.json").write_text("{")
    listed = {info.id: info for info in list_snapshots(kb_dir)}
    assert "damaged" in (listed[a].problem or "")
    assert prune(kb_dir, keep=2) == [a]


def test_a_snapshot_that_is_being_read_is_not_pruned(kb: tuple[Path, list[str]]) -> None:
    kb_dir, (a, b, _) = kb
    with open_snapshot(kb_dir, a) as mine:
        script = (
            "import sys; from pathlib import Path; from graphctx.store.snapshot import open_snapshot\n"
            "with open_snapshot(Path(sys.argv[1]), sys.argv[2]):\n    print('open', flush=True); sys.stdin.read()\n"
        )
        command = [sys.executable, "-c", script, str(kb_dir), b]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
            assert other.stdout is not None
            assert other.stdout.readline() == "open\n"
            assert prune(kb_dir, keep=1) == []
            other.kill()
        assert prune(kb_dir, keep=1) == [b]
        assert mine.tables.count("units") == 12
    assert prune(kb_dir, keep=1) == [a]


def test_without_a_readable_current_the_newest_is_kept(kb: tuple[Path, list[str]]) -> None:
    kb_dir, (a, b, c) = kb
    (kb_dir / "CURRENT").write_text("rubbish")
    assert prune(kb_dir, keep=1) == [c, b]
    rollback(kb_dir, a)
    assert current_id(kb_dir) == a


def test_where_current_is_lost_the_newest_whole_snapshot_is_the_published_one(kb: tuple[Path, list[str]]) -> None:
    kb_dir, (a, b, c) = kb
    (kb_dir / "CURRENT").unlink()
    assert current_id(kb_dir) == c
    assert c in (recovery_note(kb_dir) or "")
    open_snapshot(kb_dir).close()
    (kb_dir / "snapshots" / c / "walk.npz").write_bytes(b"x")
    assert current_id(kb_dir) == b
    for each in (a, b):
        (kb_dir / "snapshots" / each / "MANIFEST.json").unlink()
    with pytest.raises(BackendUnavailable, match="no snapshot is whole"):
        current_id(kb_dir)
    assert not any(info.current for info in list_snapshots(kb_dir))


def test_a_purge_erases_memoised_results_of_older_texts_to_the_last_byte(kb: tuple[Path, list[str]]) -> None:
    kb_dir, (a, _, c) = kb
    with Memo(kb_dir / MEMO) as memo:
        memo.put_many("vector", {"old": b"quondamkey" * 50})
    with Memo(kb_dir / MEMO) as memo:
        memo.get_many("vector", ["kept"])
        memo.put_many("vector", {"kept": b"x"})
        memo.record_usage(c)
    assert purge(kb_dir, dry_run=True).memo_rows == {"vector": 1}
    assert b"quondamkey" in (kb_dir / MEMO).read_bytes()
    assert purge(kb_dir).memo_rows == {"vector": 1}
    assert not [path for path in (kb_dir / "cache").iterdir() if b"quondamkey" in path.read_bytes()]
    with Memo(kb_dir / MEMO) as memo:
        assert memo.get_many("vector", ["kept", "old"]) == {"kept": b"x"}
        memo.record_usage(a)  # then nothing is known of the published one
    assert purge(kb_dir).memo_rows == {"vector": 1}


def test_a_purge_names_what_it_cannot_erase(kb: tuple[Path, list[str]]) -> None:
    kb_dir, (a, b, c) = kb
    with IngestLock(kb_dir), pytest.raises(BackendUnavailable, match="ingesting"):
        purge(kb_dir)
    with open_snapshot(kb_dir, a):
        report = purge(kb_dir)
        assert [item.name for item in report.kept_back] == [f"snapshots/{a}"]
        assert report.snapshots == [b]
    report = purge(kb_dir)
    assert (report.snapshots, report.kept_back, report.snapshot_id) == ([a], [], c)
    assert report.freed_bytes > 0
    open_snapshot(kb_dir).close()


@pytest.mark.parametrize("harm", ["CURRENT", "walk.npz"])
def test_nothing_is_purged_while_an_older_snapshot_may_be_needed(kb: tuple[Path, list[str]], harm: str) -> None:
    kb_dir, (a, _, c) = kb
    (kb_dir / harm if harm == "CURRENT" else kb_dir / "snapshots" / c / harm).unlink()
    with pytest.raises(BackendUnavailable):
        purge(kb_dir)
    open_snapshot(kb_dir, a).close()
