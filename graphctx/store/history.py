"""The snapshots of a knowledge base: list, roll back, prune, and purge all that the published one does not hold."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.store.cache import Memo
from graphctx.store.files import disk_errors, size_of, write_atomic
from graphctx.store.lock import IngestLock, is_leased
from graphctx.store.manifest import MANIFEST_NAME, read_manifest
from graphctx.store.snapshot import (
    SNAPSHOTS_DIR,
    TEMPORARY_PREFIX,
    current_id,
    current_or_none,
    open_snapshot,
    recovery_note,
    set_current,
    unlisted_files,
)

MEMO = Path("cache") / "memo.sqlite"
VALIDATORS = Path("cache") / "web.json"
"""What servers said of the web pages that are held, by address, with fingerprints of their text."""
REPORTS = Path("cache") / "reports.json"
"""The latest reports of ingests, which name files that were skipped or are missing."""
NOT_ERASABLE = (
    "exports and layers that were made of the documents, and what agents wrote into a memory",
    "a context cache in Redis, until its entries expire",
    "backups and other copies of the knowledge base",
    "what a disk, a file system or its snapshots keep of files that were deleted",
)
"""What no command of graphctx can erase."""


@dataclass(frozen=True, slots=True)
class SnapshotInfo:
    """A snapshot. ``problem`` says why its manifest cannot be used; then all but the id is empty."""

    id: str
    current: bool
    created_at: str = ""
    size_bytes: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    engine: str = ""
    problem: str | None = None


def list_snapshots(kb_dir: Path) -> list[SnapshotInfo]:
    """Return all snapshots, the newest first, ties by id. Reads the manifests alone; opening verifies the files."""
    kb_dir = Path(kb_dir)
    current = current_or_none(kb_dir)
    found = []
    for directory in sorted((kb_dir / SNAPSHOTS_DIR).glob("sn_*")):
        own = directory.name, directory.name == current
        try:
            manifest = read_manifest(directory)
        except BackendUnavailable as error:
            found.append(SnapshotInfo(*own, problem=error.message))
        else:
            sizes = manifest.size_bytes, manifest.counts
            found.append(SnapshotInfo(*own, manifest.created_at, *sizes, manifest.engine))
    return sorted(found, key=lambda info: info.created_at, reverse=True)


def rollback(kb_dir: Path, snapshot_id: str) -> None:
    """Verify an older snapshot and publish it.

    Raises:
        BackendUnavailable: it is missing or damaged; ``CURRENT`` is unchanged.
        InvalidArgument: ``snapshot_id`` is not an id.
    """
    open_snapshot(kb_dir, snapshot_id).close()
    set_current(kb_dir, snapshot_id)


def prune(kb_dir: Path, keep: int = 2, *, dry_run: bool = False) -> list[str]:
    """Delete all but the ``keep`` newest snapshots; never the published or a leased one.

    Call it while holding ``IngestLock``.

    Args:
        kb_dir: the knowledge base.
        keep: snapshots to keep, 1 or more, the published one among them. Damaged ones go first.
        dry_run: only return what would be deleted.

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
        gone.append(info.id)
        if dry_run:
            continue
        # Renamed first, so that a reader finds a whole snapshot under the id, or none; the next ingest deletes what
        # this process leaves if it is killed here.
        aside = directory.with_name(f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}")
        directory.rename(aside)
        shutil.rmtree(aside, ignore_errors=True)
    return gone


class NotErased(BaseModel):
    """Something that could not be erased, and why."""

    model_config = ConfigDict(frozen=True)

    name: str
    reason: str


class PurgeReport(BaseModel):
    """The result of a purge or of its dry run. Names are relative to the knowledge base."""

    model_config = ConfigDict(frozen=True)

    dry_run: bool
    snapshot_id: str | None = Field(description="The published snapshot, which stays.")
    snapshots: list[str] = Field(description="Older snapshots.")
    files: list[str] = Field(description="Damaged copies and what killed processes left.")
    memo_rows: dict[str, int] = Field(description="Memoised results that the published snapshot does not use, by kind.")
    freed_bytes: int = Field(description="In a dry run without the memo, whose file shrinks when it is rewritten.")
    kept_back: list[NotErased] = Field(description="What should go and cannot.")
    out_of_reach: list[str] = Field(list(NOT_ERASABLE), description="What no purge erases.")


def purge(kb_dir: Path, *, dry_run: bool = False) -> PurgeReport:
    """Erase older snapshots, unused memoised results, damaged copies and leftovers.

    Raises:
        BackendUnavailable: an ingest is running, the published snapshot is unknown or damaged, so that an older one
            may be needed, or the disk refuses a write.
    """
    with IngestLock(kb_dir), Memo(kb_dir / MEMO) as memo:
        if (note := recovery_note(kb_dir)) is not None:
            raise BackendUnavailable(f"{note} Nothing is erased before that is done.", file="CURRENT")
        current, strays, held = current_id(kb_dir), [], set()
        if current is not None:
            with open_snapshot(kb_dir, current) as snapshot:
                strays = unlisted_files(snapshot)
                held = set(snapshot.table("documents").column("uri").to_pylist())
        leftovers = [*_leftovers(kb_dir), *strays]
        older = [info.id for info in list_snapshots(kb_dir) if not info.current]
        going = [*leftovers, *(kb_dir / SNAPSHOTS_DIR / name for name in older)]
        freed, rows = sum(map(size_of, going)), memo.unused(current)
        if not dry_run:
            before = size_of(kb_dir)
            with disk_errors(SNAPSHOTS_DIR):
                prune(kb_dir, keep=1)
                for path in (*leftovers, kb_dir / REPORTS):
                    _delete(path)
                known = read_validators(kb_dir)
                write_validators(kb_dir, {url: known[url] for url in known.keys() & held})
            memo.erase_unused(current)
            freed = before - size_of(kb_dir)
        names = {path.relative_to(kb_dir).as_posix(): path for path in leftovers}
        kept = [] if dry_run else _kept(kb_dir, older, names)
        kept_names = {item.name for item in kept}
    return PurgeReport(
        dry_run=dry_run,
        snapshot_id=current,
        snapshots=[name for name in older if f"{SNAPSHOTS_DIR}/{name}" not in kept_names],
        files=[name for name in names if name not in kept_names],
        memo_rows=rows,
        freed_bytes=max(0, freed),
        kept_back=kept,
    )


def read_validators(kb_dir: Path) -> dict[str, dict[str, str]]:
    """Return the validators of web pages by address; none if the file is missing or damaged."""
    try:
        found = json.loads((kb_dir / VALIDATORS).read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write_validators(kb_dir: Path, validators: Mapping[str, Mapping[str, str]]) -> None:
    """Write the validators of web pages; none leave no file.

    Raises:
        BackendUnavailable: the disk is full or refuses the write.
    """
    with disk_errors(VALIDATORS.as_posix()):
        if not validators:
            (kb_dir / VALIDATORS).unlink(missing_ok=True)
            return
        (kb_dir / VALIDATORS).parent.mkdir(parents=True, exist_ok=True)
        write_atomic(kb_dir / VALIDATORS, json.dumps(validators, indent=1, sort_keys=True).encode())


def _leftovers(kb_dir: Path) -> list[Path]:
    """Return what killed processes left, and caches that were moved aside as damaged."""
    found = {
        *kb_dir.glob(".*.tmp"),
        *(kb_dir / SNAPSHOTS_DIR).glob(".*.tmp"),
        *(kb_dir / SNAPSHOTS_DIR).glob(f"{TEMPORARY_PREFIX}*"),
        *(kb_dir / MEMO.parent).glob("*.damaged"),
        *(kb_dir / MEMO.parent).glob(f"{TEMPORARY_PREFIX}*"),
    }
    return sorted(found)


def _delete(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _kept(kb_dir: Path, older: list[str], leftovers: dict[str, Path]) -> list[NotErased]:
    """Return what could not be erased, with the reasons."""
    reading = "a running process reads it: stop or restart it, then purge again"
    kept = [
        NotErased(name=f"{SNAPSHOTS_DIR}/{name}", reason=reading)
        for name in older
        if (kb_dir / SNAPSHOTS_DIR / name).exists()
    ]
    # Pruning renames a snapshot before it deletes it: what it could not delete is a leftover now.
    still = {name for name, path in leftovers.items() if path.exists()}
    still |= {path.relative_to(kb_dir).as_posix() for path in _leftovers(kb_dir)}
    return kept + [
        NotErased(name=name, reason="it cannot be deleted: look at its permissions") for name in sorted(still)
    ]
