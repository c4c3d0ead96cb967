"""A replica: a folder that copies what is published on an object store, and answers like any other knowledge base.

A copy is complete and its files have the hashes of the manifest before ``CURRENT`` names it. Several processes may use
one folder: one of them copies, the others see what it published there.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from graphctx.errors import BackendUnavailable
from graphctx.settings import load_settings
from graphctx.store.config import CONFIG_NAME
from graphctx.store.files import disk_errors, files_below, fsync_tree, sha256_of, write_atomic
from graphctx.store.manifest import ID_PATTERN, MANIFEST_NAME, FileEntry, Manifest, read_manifest
from graphctx.store.objects import ORIGIN_NAME, ObjectStore, object_url, origin_of
from graphctx.store.remote import file_object, manifest_object
from graphctx.store.snapshot import CURRENT_NAME, SNAPSHOTS_DIR, TEMPORARY_PREFIX, current_or_none, set_current

log = logging.getLogger(__name__)

LOCK_NAME = "replica.lock"
_ATTEMPTS = 3  # a publish may delete the snapshot that is being copied
_DOWNLOADS = 4  # at once
_ACCOUNT_VARIABLES = ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT", "AZURE_STORAGE_ACCOUNT_NAME")
"""With other values of these the same address means another place."""


def local_folder(place: str | Path) -> Path:
    """Return the folder of a knowledge base: the place itself, or the folder of its replica.

    Of an address, ``kb.toml`` is copied; the snapshot follows when the knowledge base is opened.

    Raises:
        BackendUnavailable: the store cannot be used, or nothing is published there, and there is no earlier copy.
    """
    url = object_url(place)
    if url is None:
        return Path(place).expanduser()
    folder = _cache_folder() / _folder_name(url)
    with disk_errors("the local copy"):
        folder.mkdir(parents=True, exist_ok=True)
        if origin_of(folder) != url:
            write_atomic(folder / ORIGIN_NAME, json.dumps({"url": url}).encode())
    try:
        _Copier(folder, url).copy_config()
    except BackendUnavailable as error:
        if not (folder / CONFIG_NAME).exists():
            raise
        log.warning("%s The copy on this machine answers meanwhile.", error.message)
    return folder


class Replica:
    """Keeps the folder of a replica up to date, until it is closed. Does nothing in any other folder.

    Args:
        folder: as `local_folder` returns it.
        poll_seconds: between two looks at the store.
    """

    def __init__(self, folder: Path, poll_seconds: float) -> None:
        url = origin_of(folder)
        self._copier = _Copier(folder, url) if url else None
        self._folder = folder
        self._seconds = poll_seconds
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def open(self, *, repair: bool = False) -> bool:
        """Copy what is published, and go on doing so in a thread. Return whether this is a replica.

        Args:
            repair: make the copy again, of the files that are undamaged and of those on the store.

        Raises:
            BackendUnavailable: the store cannot be used, or the copy failed, and there is no earlier one.
        """
        if self._copier is None:
            return False
        try:
            self._copier.copy(repair=repair)
        except BackendUnavailable as error:
            if repair or current_or_none(self._folder) is None:
                raise
            log.warning("%s The copy on this machine answers meanwhile.", error.message)
        if self._thread is None:
            self._closed = threading.Event()
            self._thread = threading.Thread(target=self._follow, args=(self._copier, self._closed), daemon=True)
            self._thread.start()
        return True

    def close(self) -> None:
        """Stop following. `open` starts again."""
        self._closed.set()
        self._thread = None

    def _follow(self, copier: _Copier, closed: threading.Event) -> None:
        reported = ""
        while not closed.wait(self._seconds):
            try:
                copier.copy(wait=False)
                reported = ""
            except Exception as error:  # the next look may find it gone
                if str(error) != reported:
                    log.warning("%s The copy on this machine answers meanwhile.", error)
                reported = str(error)


class _Copier:
    """Copies from an address into a folder."""

    def __init__(self, folder: Path, url: str) -> None:
        self._folder = folder
        self._url = url

    @cached_property
    def _store(self) -> ObjectStore:
        return ObjectStore(self._url)

    def copy_config(self) -> None:
        """Copy ``kb.toml`` if it differs."""
        content = self._store.read(CONFIG_NAME)
        if content is None:
            raise self._nothing()
        path = self._folder / CONFIG_NAME
        if not path.exists() or path.read_bytes() != content:
            with disk_errors(CONFIG_NAME):
                write_atomic(path, content)

    def copy(self, *, wait: bool = True, repair: bool = False) -> None:
        """Copy the published snapshot unless it is here, and delete those that nobody reads any more.

        Args:
            wait: wait for another process that copies, instead of leaving it to that one.
            repair: make the copy again, though it is here.
        """
        from graphctx.store.history import prune

        with self._locked(wait) as locked, disk_errors("the local copy"):
            if not locked:
                return
            for attempt in range(1, _ATTEMPTS + 1):
                published = self._published()
                self.copy_config()
                if published == current_or_none(self._folder) and not repair:
                    break
                try:
                    self._copy_snapshot(published)
                    set_current(self._folder, published)
                    break
                except FileNotFoundError:
                    if attempt == _ATTEMPTS:
                        raise BackendUnavailable(
                            f"{published} at {self._url} lacks a file. Publish it again: "
                            f"graphctx publish --to {self._url}",
                            url=self._url,
                            snapshot=published,
                        ) from None
            prune(self._folder, keep=1)  # also where nothing is new: a reader may have left an older one

    def _published(self) -> str:
        content = self._store.read(CURRENT_NAME)
        if content is None:
            raise self._nothing()
        snapshot_id = content.decode("ascii", "replace").strip()
        if not re.fullmatch(ID_PATTERN, snapshot_id):
            raise BackendUnavailable(f"{self._url}/{CURRENT_NAME} does not name a snapshot. Publish again.")
        return snapshot_id

    def _copy_snapshot(self, snapshot_id: str) -> None:
        """Assemble a snapshot of files that are here and files of the store; an interrupted copy goes on."""
        from graphctx.store.publish import move_in

        content = self._store.read(manifest_object(snapshot_id))
        if content is None:
            raise FileNotFoundError(snapshot_id)
        snapshots = self._folder / SNAPSHOTS_DIR
        temporary = snapshots / f"{TEMPORARY_PREFIX}{snapshot_id}" / snapshot_id
        for other in snapshots.glob(f"{TEMPORARY_PREFIX}*"):
            if other != temporary.parent:
                shutil.rmtree(other, ignore_errors=True)
        temporary.mkdir(parents=True, exist_ok=True)
        (temporary / MANIFEST_NAME).write_bytes(content)
        manifest = read_manifest(temporary)
        for path in files_below(temporary):
            if path.relative_to(temporary).as_posix() not in {*manifest.files, MANIFEST_NAME}:
                path.unlink()
        here = _files_by_hash(snapshots)
        with ThreadPoolExecutor(_DOWNLOADS) as pool:
            copying = [
                pool.submit(self._copy_file, temporary / name, entry, here.get(entry.sha256))
                for name, entry in sorted(manifest.files.items())
            ]
            try:
                for one in copying:
                    one.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        fsync_tree(files_below(temporary))
        move_in(temporary, snapshots / snapshot_id)

    def _copy_file(self, path: Path, entry: FileEntry, same: Path | None) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and sha256_of(path) == entry.sha256:
            return
        path.unlink(missing_ok=True)
        if same is not None:
            with suppress(OSError):
                os.link(same, path)
                if sha256_of(path) == entry.sha256:
                    return
            path.unlink(missing_ok=True)
        if self._store.fetch(file_object(entry.sha256), path, entry.size) != entry.sha256:
            path.unlink()
            raise BackendUnavailable(
                f"{self._url}/{file_object(entry.sha256)} is damaged: its content is not what was published. "
                f"Send it again: graphctx publish --to {self._url} --force",
                url=self._url,
                file=file_object(entry.sha256),
            )

    def _nothing(self) -> BackendUnavailable:
        return BackendUnavailable(
            f"Nothing is published at {self._url}. Check the address, or publish there: "
            f"graphctx publish --to {self._url}",
            url=self._url,
        )

    @contextmanager
    def _locked(self, wait: bool) -> Iterator[bool]:
        from filelock import FileLock, Timeout

        lock = FileLock(self._folder / LOCK_NAME, timeout=-1 if wait else 0, is_singleton=False)
        try:
            lock.acquire()
        except Timeout:
            yield False
            return
        try:
            yield True
        finally:
            lock.release()


def _files_by_hash(snapshots: Path) -> dict[str, Path]:
    """Return a file of this machine's snapshots for each hash."""
    found: dict[str, Path] = {}
    for directory in snapshots.glob("sn_*"):
        with suppress(BackendUnavailable):
            manifest: Manifest = read_manifest(directory)
            found |= {entry.sha256: directory / name for name, entry in manifest.files.items()}
    return found


def _cache_folder() -> Path:
    named = load_settings().replica.folder
    if named:
        return Path(named).expanduser().absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "graphctx"


def _folder_name(url: str) -> str:
    place = "\n".join([url, *(os.environ.get(name, "") for name in _ACCOUNT_VARIABLES)])
    name = re.sub(r"[^\w.-]", "_", url.rpartition("/")[2])[:40]
    return f"{name}-{sha256(place.encode()).hexdigest()[:16]}"
