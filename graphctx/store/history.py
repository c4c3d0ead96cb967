"""The snapshots of a knowledge base: list, roll back, prune."""

from __future__ import annotations

import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.store.lock import is_leased
from graphctx.store.manifest import MANIFEST_NAME, Manifest, read_manifest
from graphctx.store.snapshot import SNAPSHOTS_DIR, TEMPORARY_PREFIX, current_or_none, open_snapshot, set_current


@dataclass(frozen=True, slots=True)
class SnapshotInfo:
    """A snapshot. ``problem`` says why its manifest cannot be used; then all but the id is empty."""

    id: str
    current: bool
    created_at: str
    size_bytes: int
    counts: dict[str, int]
    engine: str
    problem: str | None


def list_snapshots(kb_dir: Path) -> list[SnapshotInfo]:
    """Return all snapshots, the newest first, ties by id. Reads the manifests alone; opening verifies the files."""
    kb_dir = Path(kb_dir)
    current = current_or_none(kb_dir)
    found = []
    for directory in sorted((kb_dir / SNAPSHOTS_DIR).glob("sn_*")):
        try:
            manifest: Manifest | None = read_manifest(directory)
            problem = None
        except BackendUnavailable as error:
            manifest, problem = None, error.message
        found.append(
            SnapshotInfo(
                id=directory.name,
                current=directory.name == current,
                created_at=manifest.created_at if manifest else "",
                size_bytes=manifest.size_bytes if manifest else 0,
                counts=manifest.counts if manifest else {},
                engine=manifest.engine if manifest else "",
                problem=problem,
            )
        )
    return sorted(found, key=lambda info: info.created_at, reverse=True)


def rollback(kb_dir: Path, snapshot_id: str) -> None:
    """Verify an older snapshot and publish it.

    Raises:
        BackendUnavailable: it is missing or damaged; ``CURRENT`` is unchanged.
        InvalidArgument: ``snapshot_id`` is not an id.
    """
    open_snapshot(kb_dir, snapshot_id).close()
    set_current(kb_dir, snapshot_id)


def prune(kb_dir: Path, keep: int = 2) -> list[str]:
    """Delete all snapshots but the newest, the published one and those with a lease.

    Call it while holding ``IngestLock``.

    Args:
        kb_dir: the knowledge base.
        keep: snapshots to keep, 1 or more, the published one among them. Damaged ones go first.

    Returns:
        The ids of the deleted snapshots, the newest first.

    Raises:
        InvalidArgument: ``keep`` below 1.
    """
    if keep < 1:
        raise InvalidArgument(f"keep must be 1 or more, not {keep}: the current snapshot always stays.", keep=keep)
    found = list_snapshots(kb_dir)
    others = [info for info in found if not info.current]
    kept = keep - (len(found) - len(others))
    dropped = others[kept:]
    gone = []
    for info in dropped:
        directory = Path(kb_dir) / SNAPSHOTS_DIR / info.id
        if is_leased(directory / MANIFEST_NAME):
            continue
        # Renamed first, so that a reader finds a whole snapshot under the id, or none; the next ingest deletes what
        # this process leaves if it is killed here.
        aside = directory.with_name(f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}")
        directory.rename(aside)
        shutil.rmtree(aside, ignore_errors=True)
        gone.append(info.id)
    return gone
