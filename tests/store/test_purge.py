"""A purge erases all that the published snapshot does not hold, and says what it could not."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphctx.errors import BackendUnavailable
from graphctx.store.cache import Memo
from graphctx.store.lock import IngestLock
from graphctx.store.purge import MEMO, purge
from graphctx.store.snapshot import open_snapshot

from .world import publish_world


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, str, str]:
    """A knowledge base of two snapshots, the second one published."""
    ids = [
        publish_world(tmp_path, stamp=stamp, at=f"2026-01-0{day}").snapshot_id for day, stamp in ((1, "a"), (2, "b"))
    ]
    return tmp_path, ids[0], ids[1]


def test_the_memo_forgets_what_the_published_snapshot_was_not_made_of(two: tuple[Path, str, str]) -> None:
    kb_dir, _, current = two
    with Memo(kb_dir / MEMO) as memo:
        memo.put_many("vector", {"old": b"quondamkey" * 50})
    with Memo(kb_dir / MEMO) as memo:
        memo.get_many("vector", ["kept"])
        memo.put_many("vector", {"kept": b"x"})
        memo.remember_used(current)
    assert b"quondamkey" in (kb_dir / MEMO).read_bytes()
    assert purge(kb_dir, dry_run=True).memo_rows == {"vector": 1}
    assert b"quondamkey" in (kb_dir / MEMO).read_bytes()
    assert purge(kb_dir).memo_rows == {"vector": 1}
    assert not [path for path in (kb_dir / "cache").iterdir() if b"quondamkey" in path.read_bytes()]
    with Memo(kb_dir / MEMO) as memo:
        assert memo.get_many("vector", ["kept", "old"]) == {"kept": b"x"}


def test_a_memo_that_does_not_know_the_published_snapshot_is_emptied(two: tuple[Path, str, str]) -> None:
    kb_dir, older, _ = two
    with Memo(kb_dir / MEMO) as memo:
        memo.get_many("vector", ["a"])
        memo.put_many("vector", {"a": b"1"})
        memo.remember_used(older)
    assert purge(kb_dir).memo_rows == {"vector": 1}


def test_a_snapshot_that_is_being_read_is_kept_and_named(two: tuple[Path, str, str]) -> None:
    kb_dir, older, current = two
    with open_snapshot(kb_dir, older):
        report = purge(kb_dir)
        assert [item.name for item in report.kept_back] == [f"snapshots/{older}"]
        assert report.snapshots == []
    report = purge(kb_dir)
    assert (report.snapshots, report.kept_back, report.snapshot_id) == ([older], [], current)
    assert report.freed_bytes > 0
    open_snapshot(kb_dir).close()


@pytest.mark.parametrize("harm", ["CURRENT", "walk.npz"])
def test_nothing_is_erased_while_an_older_snapshot_may_be_needed(two: tuple[Path, str, str], harm: str) -> None:
    kb_dir, older, current = two
    (kb_dir / harm if harm == "CURRENT" else kb_dir / "snapshots" / current / harm).unlink()
    with pytest.raises(BackendUnavailable):
        purge(kb_dir)
    open_snapshot(kb_dir, older).close()


def test_a_purge_waits_for_no_ingest(two: tuple[Path, str, str]) -> None:
    with IngestLock(two[0]), pytest.raises(BackendUnavailable, match="ingesting"):
        purge(two[0])
