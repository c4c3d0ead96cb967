"""The memoisation cache: results of costly steps by the hash of their input. It may be lost, and is never wrong.

SQLite in WAL mode keeps whole transactions through a kill. Each value carries a checksum of its key and bytes: one on a
damaged page counts as absent. A file that SQLite cannot use is moved aside and replaced by an empty one.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from itertools import islice
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from graphctx.errors import BackendUnavailable
from graphctx.store.files import disk_errors, disk_full

T = TypeVar("T")
P = ParamSpec("P")

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS memo ("
    "kind TEXT NOT NULL, key TEXT NOT NULL, crc INTEGER NOT NULL, value BLOB NOT NULL, UNIQUE (kind, key))",
    "CREATE TABLE IF NOT EXISTS used (kind TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY (kind, key)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS used_by (snapshot TEXT NOT NULL)",
)
_UNUSED = "NOT EXISTS (SELECT 1 FROM used WHERE used.kind = memo.kind AND used.key = memo.key)"
_READ_KEYS = 500  # keys per SELECT: below SQLite's oldest limit of 999 variables, and no slower than more
_WRITE_ROWS = 2_000  # rows per transaction: a full disk or a kill loses no more than this


def _guarded(method: Callable[Concatenate[Memo, P], T]) -> Callable[Concatenate[Memo, P], T]:
    """Run a method of a memo; where its file turns out to be damaged, run it once more on an empty one."""

    @wraps(method)
    def guarded(memo: Memo, /, *args: P.args, **options: P.kwargs) -> T:
        try:
            return method(memo, *args, **options)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            # An error without a code is Python's: a damaged text that is not UTF-8.
            if isinstance(error, sqlite3.OperationalError) and hasattr(error, "sqlite_errorcode"):
                memo._refuse(error)
                raise
            memo._db.close()
            memo._db = memo._rebuild()
            return method(memo, *args, **options)

    return guarded


class Memo:
    """A key-value store of bytes for one process at a time; a context manager.

    Usage::

        with Memo(kb_dir / "cache" / "memo.sqlite") as memo:
            known = memo.get_many("embed", keys)
            memo.put_many("embed", {key: compute(key) for key in keys if key not in known})

    Args:
        path: the SQLite file; created with its directory if it is missing, replaced if it is damaged.

    Raises:
        BackendUnavailable: another process has it open, or the disk is full or refuses writes.
    """

    def __init__(self, path: Path) -> None:
        self._path = Path(path)
        with disk_errors("the cache"):
            self._path.parent.mkdir(parents=True, exist_ok=True)
        self._db = self._open_or_rebuild()
        self._asked: dict[str, set[str]] = {}

    def __enter__(self) -> Memo:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @_guarded
    def get_many(self, kind: str, keys: Iterable[str]) -> dict[str, bytes]:
        """Return the stored values of some keys, in the order of ``keys``; absent keys are left out."""
        wanted = list(dict.fromkeys(keys))
        self._asked.setdefault(kind, set()).update(wanted)
        found: dict[str, bytes] = {}
        for batch in _batches(wanted, _READ_KEYS):
            marks = ",".join("?" * len(batch))
            query = f"SELECT key, crc, value FROM memo WHERE kind = ? AND key IN ({marks})"
            for key, crc, value in self._db.execute(query, (kind, *batch)):
                if isinstance(value, bytes) and crc == _crc(kind, key, value):
                    found[key] = value
        return {key: found[key] for key in wanted if key in found}

    @_guarded
    def put_many(self, kind: str, items: Mapping[str, bytes]) -> None:
        """Store values, replacing earlier ones, in transactions of 2,000; a kill loses the last one at most."""
        for batch in _batches(items.items(), _WRITE_ROWS):
            rows = [(kind, key, _crc(kind, key, value), value) for key, value in batch]
            with self._db:
                self._db.executemany("INSERT OR REPLACE INTO memo VALUES (?, ?, ?, ?)", rows)

    @_guarded
    def prune(self, kind: str, keep: Iterable[str]) -> int:
        """Delete the values of ``kind`` whose key is not in ``keep``, shrink the file, and return their number."""
        kept = set(keep)
        stored = [row[0] for row in self._db.execute("SELECT key FROM memo WHERE kind = ?", (kind,))]
        unused = [(kind, key) for key in stored if key not in kept]
        if unused:
            with self._db:
                self._db.executemany("DELETE FROM memo WHERE kind = ? AND key = ?", unused)
            self._db.execute("VACUUM")
        return len(unused)

    def evict_unused(self) -> int:
        """Delete the values that nobody asked for since the memo was opened, of kinds where they are more than half.

        An edit leaves the values of the earlier text behind. While they are few they stay: the edit may be undone.

        Returns:
            The number of deleted values.
        """
        stored = self.counts()
        stale = [kind for kind, asked in sorted(self._asked.items()) if stored.get(kind, 0) > 2 * len(asked)]
        return sum(self.prune(kind, self._asked[kind]) for kind in stale)

    @_guarded
    def record_usage(self, snapshot_id: str) -> None:
        """Record that a snapshot was made of exactly the values asked for since the memo was opened."""
        with self._db:
            self._db.execute("DELETE FROM used_by")
            self._db.execute("DELETE FROM used")
            for kind, asked in self._asked.items():
                self._db.executemany("INSERT INTO used VALUES (?, ?)", ((kind, key) for key in sorted(asked)))
            self._db.execute("INSERT INTO used_by VALUES (?)", (snapshot_id,))

    @_guarded
    def unused(self, snapshot_id: str | None) -> dict[str, int]:
        """Return how many values of each kind a snapshot does not use; all without `record_usage` for it."""
        where = _UNUSED if self._is_used_by(snapshot_id) else "TRUE"
        return dict(self._db.execute(f"SELECT kind, count(*) FROM memo WHERE {where} GROUP BY kind ORDER BY kind"))

    @_guarded
    def erase_unused(self, snapshot_id: str | None) -> None:
        """Delete the values that `unused` counts, with every byte of them in the files."""
        self._db.execute("PRAGMA secure_delete = ON")
        with self._db:
            if not self._is_used_by(snapshot_id):
                self._db.execute("DELETE FROM used_by")
                self._db.execute("DELETE FROM used")
            self._db.execute(f"DELETE FROM memo WHERE {_UNUSED}")
        self._db.execute("VACUUM")
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _is_used_by(self, snapshot_id: str | None) -> bool:
        return self._db.execute("SELECT snapshot FROM used_by").fetchall() == [(snapshot_id,)]

    @_guarded
    def counts(self) -> dict[str, int]:
        """Return the number of values by kind."""
        return dict(self._db.execute("SELECT kind, count(*) FROM memo GROUP BY kind ORDER BY kind").fetchall())

    def close(self) -> None:
        """Close the file. A closed memo cannot be used again."""
        self._db.close()

    def _open_or_rebuild(self) -> sqlite3.Connection:
        try:
            return self._open()
        except sqlite3.OperationalError as error:
            self._refuse(error)
            return self._rebuild()
        except sqlite3.DatabaseError:
            return self._rebuild()

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._path, timeout=0, check_same_thread=False)
        try:
            # Exclusive mode needs no shared memory, so that WAL works on any file system.
            db.execute("PRAGMA locking_mode = EXCLUSIVE")
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            with db:
                for statement in _SCHEMA:
                    db.execute(statement)
            db.execute("SELECT kind, key, crc, value FROM memo LIMIT 1").fetchall()
        except BaseException:
            db.close()
            raise
        return db

    def _rebuild(self) -> sqlite3.Connection:
        with disk_errors("the cache"):
            for path in self._files():
                if path.exists():
                    path.replace(path.with_name(f"{path.name}.damaged"))
        try:
            return self._open()
        except sqlite3.OperationalError as error:
            self._refuse(error)
            raise

    def _files(self) -> Iterator[Path]:
        yield self._path
        yield self._path.with_name(f"{self._path.name}-wal")

    def _refuse(self, error: sqlite3.OperationalError) -> None:
        """Raise the errors that rebuilding cannot repair: a cache in use, a full or read-only disk."""
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise BackendUnavailable(
                "Another process is using this knowledge base's cache. Wait until its ingest is done."
            ) from error
        name = f"{self._path.parent.name}/{self._path.name}"
        if code == sqlite3.SQLITE_FULL:
            raise disk_full(name, os.strerror(errno.ENOSPC)) from error
        if code == sqlite3.SQLITE_IOERR:  # also where a file may not grow: SQLite has a code for a full disk alone
            raise disk_full(name, f"{error}: the disk fails, or a quota or a limit of file size is reached") from error
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
            raise BackendUnavailable(
                f"Cannot use {name} ({error}). Check the permissions of the knowledge base and run the command again.",
                reason=str(error),
            ) from error


def _crc(kind: str, key: str, value: bytes) -> int:
    return zlib.crc32(value, zlib.crc32(f"{kind}\x1f{key}".encode("utf-8", "surrogatepass")))


def _batches(items: Iterable[T], size: int) -> Iterator[Sequence[T]]:
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch
