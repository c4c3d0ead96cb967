"""``snapshots``: their list, the difference between two of them, and the way back to an older one."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import pyarrow as pa
from pydantic import Field

from graphctx.model.requests import Filters, Scope, Strict
from graphctx.retrieve.scope import DocumentFilter
from graphctx.store.history import list_snapshots, rollback
from graphctx.store.lock import IngestLock
from graphctx.store.snapshot import open_snapshot
from graphctx.ui.operation import AnyOperation, NoInput, Operation, PageCall

SnapshotId = Annotated[str, Field(min_length=1, max_length=100)]
MAX_LISTED = 500
"""Documents of each kind that a difference lists; it counts all."""
_COLUMNS = ["uri", "title", "sha256", "tags", "updated_at", "mtime"]


class SnapshotChoice(Strict):
    """A snapshot."""

    snapshot_id: SnapshotId


class SnapshotPair(Strict):
    """Two snapshots to compare."""

    before: SnapshotId
    after: SnapshotId


def _snapshots(call: PageCall, asked: NoInput) -> dict[str, Any]:
    """Return all snapshots, the newest first."""
    return {"snapshots": [asdict(info) for info in list_snapshots(call.server.kb)]}


def _difference(call: PageCall, asked: SnapshotPair) -> dict[str, Any]:
    """Return the documents that were added, changed and removed between two snapshots, within the boundary."""
    before, after = (_documents(call, name) for name in (asked.before, asked.after))
    kinds = {
        "added": after.keys() - before.keys(),
        "changed": {uri for uri in after.keys() & before.keys() if after[uri] != before[uri]},
        "removed": before.keys() - after.keys(),
    }
    titles = {uri: title for uri, (title, _) in (before | after).items()}
    return {
        name: {
            "total": len(uris),
            "documents": [{"uri": uri, "title": titles[uri]} for uri in sorted(uris)[:MAX_LISTED]],
        }
        for name, uris in kinds.items()
    }


def _documents(call: PageCall, snapshot_id: str) -> dict[str, tuple[str, str]]:
    """Return title and hash of the documents of a snapshot that the boundary leaves, by URI."""
    boundary = call.searcher().boundary
    with open_snapshot(call.server.kb, snapshot_id) as snapshot:
        table = snapshot.table("documents", _COLUMNS).combine_chunks()
    seen = DocumentFilter(table).visible(boundary.narrow(Scope()), Filters())
    rows = table.filter(pa.array(seen)).select(["uri", "title", "sha256"]).to_pydict()
    return {uri: (title, sha) for uri, title, sha in zip(*rows.values(), strict=True)}


def _rollback(call: PageCall, asked: SnapshotChoice) -> dict[str, Any]:
    """Verify an older snapshot and publish it."""
    call.server.require_folder()
    with IngestLock(call.server.kb):
        rollback(call.server.kb, asked.snapshot_id)
    return {"snapshot_id": call.searcher().snapshot_id}


OPERATIONS: tuple[AnyOperation, ...] = (
    Operation("snapshots", NoInput, _snapshots, "write"),
    Operation("snapshot_difference", SnapshotPair, _difference, "write"),
    Operation("rollback", SnapshotChoice, _rollback, "write"),
)
