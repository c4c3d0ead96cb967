"""The published snapshot, followed as it changes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from graphctx.errors import BackendUnavailable

if TYPE_CHECKING:
    from graphctx.retrieve.index import SearchIndex
    from graphctx.store.replica import Replica
    from graphctx.store.snapshot import Snapshot


class Published:
    """The index of the published snapshot, replaced when another one is published. Thread-safe.

    Args:
        kb_dir: the knowledge base.
        replica: keeps ``kb_dir`` up to date if it is a replica.
        open_index: makes the index of an open snapshot.
        snapshot_id: stay with this one instead of following the published one.
    """

    def __init__(
        self,
        kb_dir: Path,
        replica: Replica,
        open_index: Callable[[Snapshot], SearchIndex],
        snapshot_id: str | None = None,
    ) -> None:
        self._kb_dir = kb_dir
        self._replica = replica
        self._open_index = open_index
        self._chosen = snapshot_id
        self._opening = threading.Lock()
        self._held: SearchIndex | None = None

    @property
    def snapshot_id(self) -> str:
        """The snapshot that the next call reads; empty before the first ingest."""
        from graphctx.store.snapshot import current_id

        return self._chosen or current_id(self._kb_dir) or ""

    def current(self) -> SearchIndex | None:
        """Return the index to use now; ``None`` where nothing is published.

        The first call after a publish opens the new snapshot, which takes a while: every file is hashed. Calls
        that come meanwhile do not wait for that, and are answered from the snapshot before. That one is closed
        when the last of its calls is done and nothing refers to it any more.

        Raises:
            BackendUnavailable: the snapshot is missing or damaged.
        """
        held = self._held
        if held is None:
            self.follow()
        wanted = self.snapshot_id
        if not wanted:
            return None
        if held is not None and held.snapshot.id == wanted:
            return held
        if not self._opening.acquire(blocking=held is None):
            return held
        try:
            held = self._held
            if held is None or held.snapshot.id != self.snapshot_id:
                self._held = self._open(warm=held is not None)
            return self._held
        finally:
            self._opening.release()

    def follow(self) -> None:
        """Copy what is published elsewhere, if this is a replica, and go on doing so until `close`.

        Raises:
            BackendUnavailable: the object store cannot be used, and there is no earlier copy.
        """
        with self._opening:
            self._replica.open()

    def invalidate_unless(self, snapshot_id: str) -> None:
        """Make the next call wait for this snapshot, unless it is open: its publisher wants to read what it wrote."""
        held = self._held
        if held is not None and self._chosen is None and held.snapshot.id != snapshot_id:
            self._held = None

    def close(self) -> None:
        """Close what is open; a later call opens it again."""
        self._replica.close()
        with self._opening:
            held, self._held = self._held, None
        if held is not None:
            held.close()

    def _open(self, *, warm: bool) -> SearchIndex:
        from graphctx.store.snapshot import open_snapshot

        # Without an id, a snapshot that is pruned while it is being opened gives way to its successor.
        try:
            snapshot = open_snapshot(self._kb_dir, self._chosen)
        except BackendUnavailable:
            if not self._replica.open(repair=True):
                raise
            snapshot = open_snapshot(self._kb_dir, self._chosen)
        opened = self._open_index(snapshot)
        if warm:
            opened.warm()
        return opened
