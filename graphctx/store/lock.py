"""One ingester at a time, across processes.

The lock is the operating system's, on ``ingest.lock``: it goes when its holder goes, however that dies. Who
holds it stands in ``ingest.lock.json`` beside it, which is a message to people and decides nothing.
"""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from graphctx.errors import BackendUnavailable
from graphctx.store.files import disk_errors, write_atomic

LOCK_NAME = "ingest.lock"
HOLDER_NAME = "ingest.lock.json"


class IngestLock:
    """Hold the knowledge base for writing, as a context manager.

    Args:
        kb_dir: the knowledge base; made if it is not there.

    Raises:
        BackendUnavailable: on entering, at once, when another process or thread holds it; the message names
            it.
    """

    def __init__(self, kb_dir: Path) -> None:
        from filelock import FileLock

        self._dir = Path(kb_dir)
        self._lock = FileLock(self._dir / LOCK_NAME, timeout=0, is_singleton=False)

    def __enter__(self) -> IngestLock:
        from filelock import Timeout

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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        (self._dir / HOLDER_NAME).unlink(missing_ok=True)
        self._lock.release()

    def _busy(self) -> BackendUnavailable:
        try:
            holder = json.loads((self._dir / HOLDER_NAME).read_bytes())
            pid, started = int(holder["pid"]), str(holder["started_at"])
        except (
            OSError,
            ValueError,
            KeyError,
            TypeError,
        ):  # the holder is between taking the lock and signing
            return BackendUnavailable("Another process is ingesting into this knowledge base. Wait for it.")
        return BackendUnavailable(
            f"Process {pid} has been ingesting into this knowledge base since {started}. "
            "Wait until it is done, or stop it, and run the command again.",
            pid=pid,
            started_at=started,
        )
