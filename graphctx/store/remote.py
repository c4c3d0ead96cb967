"""Publishing a snapshot to an object store, from where replicas serve it.

Below the address are ``CURRENT`` and ``kb.toml`` as in a folder, ``snapshots/<id>/MANIFEST.json``, and the files of all
snapshots as ``files/<sha256>``: what two snapshots share is stored and sent once. Files come first, then the manifest,
then ``CURRENT``, so that a reader finds a whole snapshot or the one before.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from graphctx.errors import BackendUnavailable, InvalidArgument, ScopeViolation
from graphctx.settings import without_secrets
from graphctx.store.config import CONFIG_NAME, config_text, read_config
from graphctx.store.manifest import MANIFEST_NAME
from graphctx.store.objects import ObjectStore
from graphctx.store.snapshot import CURRENT_NAME, SNAPSHOTS_DIR, Snapshot, open_snapshot

_Files: TypeAlias = dict[str, tuple[Path, int]]  # file and bytes by the name of the object

FILES_DIR = "files"
_UPLOADS = 4  # at once, of which each sends its parts at once


class RemotePublication(BaseModel):
    """The result of `publish_to`."""

    model_config = ConfigDict(frozen=True)

    url: str
    snapshot_id: str
    files: int = Field(description="Of the snapshot.")
    uploaded: int = Field(description="Files that were not there yet.")
    uploaded_bytes: int
    removed: list[str] = Field(description="Older snapshots that were deleted there.")


def file_object(sha256: str) -> str:
    """Return the name of the object that holds the file with this hash."""
    return f"{FILES_DIR}/{sha256}"


def manifest_object(snapshot_id: str) -> str:
    """Return the name of the object that holds the manifest of a snapshot."""
    return f"{SNAPSHOTS_DIR}/{snapshot_id}/{MANIFEST_NAME}"


def publish_to(
    kb_dir: Path,
    url: str,
    *,
    keep: int = 2,
    force: bool = False,
    on_file: Callable[[int, int], None] = lambda done, total: None,
) -> RemotePublication:
    """Publish the published snapshot to an object store, and delete older ones there.

    ``kb.toml`` goes with it, without secrets. One publisher at a time may write to an address. An interrupted call
    changes nothing for readers, and the next one sends what is missing.

    Args:
        kb_dir: the knowledge base.
        url: such as ``s3://bucket/handbook``.
        keep: snapshots to keep there, this one among them.
        force: send also the files that are there already, which repairs damaged ones.
        on_file: called with the number of files that are there, and of all.

    Raises:
        InvalidArgument: ``url`` or ``keep`` is not acceptable.
        ScopeViolation: another project is published there.
        BackendUnavailable: nothing is published here, or the store refuses a request.
    """
    if keep < 1:
        raise InvalidArgument(f"keep must be 1 or more, not {keep}: the published snapshot always stays.", keep=keep)
    store, config = ObjectStore(url), read_config(kb_dir)
    found = store.read(CONFIG_NAME)
    if found is not None and (project := _project_of(found)) != config.project_id:
        raise ScopeViolation(
            f"Project {project!r} is published at {store.url}, not {config.project_id!r}. Use another address.",
            value=config.project_id,
            allowed=project,
        )
    with open_snapshot(kb_dir) as snapshot:
        wanted = _wanted(snapshot)
        missing = wanted if force else _missing(store, wanted)
        _upload(store, missing, lambda sent: on_file(len(wanted) - len(missing) + sent, len(wanted)))
        if lacking := _missing(store, wanted):
            raise BackendUnavailable(
                f"{len(lacking)} files of {snapshot.id} are not at {store.url} though they were sent. Does another "
                "process publish there? Publish again.",
                url=store.url,
            )
        store.put(manifest_object(snapshot.id), (snapshot.directory / MANIFEST_NAME).read_bytes())
        public = config.model_copy(update={"settings": without_secrets(config.settings), "removed": {}})
        store.put(CONFIG_NAME, config_text(public).encode("utf-8"))
        store.put(CURRENT_NAME, f"{snapshot.id}\n".encode("ascii"))
        return RemotePublication(
            url=store.url,
            snapshot_id=snapshot.id,
            files=len(snapshot.manifest.files),
            uploaded=len(missing),
            uploaded_bytes=sum(size for _, size in missing.values()),
            removed=_prune(store, snapshot.id, keep),
        )


def _wanted(snapshot: Snapshot) -> _Files:
    files = snapshot.manifest.files.items()
    return {file_object(entry.sha256): (snapshot.directory / name, entry.size) for name, entry in files}


def _missing(store: ObjectStore, files: _Files) -> _Files:
    there = store.sizes(FILES_DIR)
    return {name: file for name, file in files.items() if there.get(name) != file[1]}


def _upload(store: ObjectStore, files: _Files, on_sent: Callable[[int], None]) -> None:
    with ThreadPoolExecutor(_UPLOADS) as pool:
        sending = [pool.submit(store.put, name, path) for name, (path, _) in sorted(files.items())]
        try:
            for number, one in enumerate(as_completed(sending), 1):
                one.result()
                on_sent(number)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _prune(store: ObjectStore, published: str, keep: int) -> list[str]:
    """Delete all but the newest snapshots and the published one, and the files that none of them has."""
    manifests: dict[str, dict[str, Any]] = {}
    for name in store.sizes(SNAPSHOTS_DIR):
        try:
            manifests[name] = json.loads(store.read(name) or b"{}")
        except ValueError:
            manifests[name] = {}  # damaged: nobody can read that snapshot
    newest = sorted(manifests, key=lambda name: (manifests[name].get("created_at", ""), name), reverse=True)
    newest.remove(manifest_object(published))
    dropped = newest[keep - 1 :]
    kept = [manifests[name] for name in manifests if name not in dropped]
    used = {file_object(entry["sha256"]) for manifest in kept for entry in manifest.get("files", {}).values()}
    store.delete(dropped)  # before their files, so that no manifest lists a file that is gone
    store.delete([name for name in store.sizes(FILES_DIR) if name not in used])
    return sorted(name.split("/")[1] for name in dropped)


def _project_of(config: bytes) -> str:
    try:
        return str(tomllib.loads(config.decode("utf-8")).get("project_id", ""))
    except ValueError:
        return ""
