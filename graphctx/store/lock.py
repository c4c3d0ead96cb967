"""Advisory locks of the operating system, which end with their holder, however that ends.

`IngestLock` is exclusive, on ``ingest.lock``: one ingest at a time, across processes. ``ingest.lock.json`` beside it
names the holder in messages and decides nothing. `Lease` is shared, on the manifest of a snapshot: pruning leaves a
snapshot alone that somebody reads. Where there is no ``flock``, a lease holds nothing, and the reader of a pruned
snapshot gets an error that its files are gone.
"""

from __future__ import annotations

import json
import os
import weakref
from datetime import UTC, datetime
from pathlib import Path

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.store.files import disk_errors, write_atomic
from graphctx.store.objects import origin_of

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LOCK_NAME = "ingest.lock"
HOLDER_NAME = "ingest.lock.json"


class IngestLock:
    """Exclusive lock of a knowledge base for writing; a context manager.

    Usage::

        with IngestLock(kb_dir):
            publish(kb_dir, content, ...)

    Args:
        kb_dir: the knowledge base; created if it is missing.

    Raises:
        BackendUnavailable: on entering, at once, if another process or thread holds the lock; the message names it.
        InvalidArgument: on entering, if the folder is a replica, which only follows.
    """

    def __init__(self, kb_dir: Path) -> None:
        from filelock import FileLock

        self._dir = Path(kb_dir)
        self._lock = FileLock(self._dir / LOCK_NAME, timeout=0, is_singleton=False)

    def __enter__(self) -> IngestLock:
        from filelock import Timeout

        if (url := origin_of(self._dir)) is not None:
            raise InvalidArgument(
                f"{url} cannot be changed from here. Change the knowledge base that is published there, in its own "
                f"folder, and publish it again: graphctx publish --kb DIR --to {url}",
                url=url,
            )
        with disk_errors(LOCK_NAME):
            self._dir.mkdir(parents=True, exist_ok=True)
            try:
                self._lock.acquire()
            except Timeout:
                raise self._busy() from None
        try:
            with disk_errors(HOLDER_NAME):
                holder = {"pid": os.getpid(), "started_at": datetime.now(UTC).isoformat(timespec="seconds")}
                write_atomic(self._dir / HOLDER_NAME, json.dumps(holder).encode())
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        (self._dir / HOLDER_NAME).unlink(missing_ok=True)
        self._lock.release()

    def _busy(self) -> BackendUnavailable:
        try:
            holder = json.loads((self._dir / HOLDER_NAME).read_bytes())
            pid, started = int(holder["pid"]), str(holder["started_at"])
        except (OSError, ValueError, KeyError, TypeError):  # the holder has the lock and not yet written its name
            return BackendUnavailable("Another process is ingesting into this knowledge base. Wait for it.")
        return BackendUnavailable(
            f"Process {pid} has been ingesting into this knowledge base since {started}. "
            "Wait until it is done, or stop it, and run the command again.",
            pid=pid,
            started_at=started,
        )


class Lease:
    """Shared lock of a file, until `release` or garbage collection.

    Raises:
        OSError: the file is missing.
    """

    def __init__(self, path: Path) -> None:
        descriptor = os.open(path, os.O_RDONLY)
        self._finalizer = weakref.finalize(self, os.close, descriptor)
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_SH)

    def release(self) -> None:
        """Release the lock. Idempotent."""
        self._finalizer()


def is_leased(path: Path) -> bool:
    """Return whether anyone holds a lease of a file; ``False`` if it is missing."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
