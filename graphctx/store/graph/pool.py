"""At most one open database object per graph file in a process.

The engines do not refuse two objects on one file, and lose data silently when one of them writes. Uses are therefore
counted here, by device and inode: a file that replaced another under the same path is another file.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from graphctx.errors import BackendUnavailable
from graphctx.store.files import reason_of

READ_POOL_BYTES = 512 << 20  # pages kept in memory; the engines' default, 80 % of the machine, starves the models
MAX_DB_BYTES = 1 << 38  # address space that is reserved: 256 GiB, where kuzu's 8 TiB fails under a memory limit

_Key = tuple[str, int, int]


@dataclass(slots=True)
class _Open:
    database: Any
    users: int


_lock = threading.Lock()
_open: dict[_Key, _Open] = {}
_released: deque[_Key] = deque()
"""Uses that ended and are not yet subtracted. The garbage collector may end one at any moment, also in a thread that
holds the lock, so ending one never waits for the lock."""


class SharedDatabase:
    """A counted use of the read-only database object of a file, until `release` or garbage collection.

    Args:
        module: the engine's Python module.
        path: the finished graph file.

    Raises:
        BackendUnavailable: absent, damaged, locked by a writer, or written by another engine.
    """

    def __init__(self, module: ModuleType, path: Path) -> None:
        try:
            status = path.stat()
        except OSError as error:
            raise BackendUnavailable(
                f"The graph file {path.name} is missing. Run `graphctx ingest` again.", file=path.name
            ) from error
        key: _Key = (module.__name__, status.st_dev, status.st_ino)
        try:
            with _lock:
                entry = _open.get(key)
                if entry is None:
                    entry = _open[key] = _Open(_open_database(module, path), 0)
                entry.users += 1
        finally:
            _close_unused()
        self.database = entry.database
        self._finalizer = weakref.finalize(self, _release, key)
        self._finalizer.atexit = False  # a thread may still be asking then; the system closes the file

    def release(self) -> None:
        """End this use; the last one closes the file. Idempotent."""
        self._finalizer()


def _release(key: _Key) -> None:
    _released.append(key)
    _close_unused()


def _close_unused() -> None:
    """Subtract the uses that ended, unless the holder of the lock does."""
    while _released and _lock.acquire(blocking=False):
        try:
            while _released:
                key = _released.popleft()
                entry = _open[key]
                entry.users -= 1
                if entry.users == 0:
                    del _open[key]
                    entry.database.close()
        finally:
            _lock.release()


def _open_database(module: ModuleType, path: Path) -> Any:
    try:
        return module.Database(str(path), read_only=True, buffer_pool_size=READ_POOL_BYTES, max_db_size=MAX_DB_BYTES)
    except (RuntimeError, OSError, ValueError, IndexError, MemoryError) as error:
        reason = reason_of(error, path.parent)
        raise BackendUnavailable(
            f"{module.__name__} cannot open {path.name}: {reason} Run `graphctx ingest` again.",
            file=path.name,
            engine=module.__name__,
            reason=reason,
        ) from error
