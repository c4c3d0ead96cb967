"""The file ``memory.db``: SQLite in WAL mode, durable writes, migrations, integrity, room on the disk."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from filelock import FileLock

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.text.lexical import terms

FILE_NAME = "memory.db"

_VERSION_1 = """
CREATE TABLE items (
  row INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, tier INTEGER NOT NULL,
  text TEXT NOT NULL, verbatim INTEGER NOT NULL, source_ids TEXT NOT NULL, tags TEXT NOT NULL, metadata TEXT NOT NULL,
  principal TEXT NOT NULL, project TEXT NOT NULL, session TEXT NOT NULL, persistence TEXT NOT NULL,
  author TEXT NOT NULL, source TEXT NOT NULL, created_at INTEGER NOT NULL, created_iteration INTEGER NOT NULL,
  used_at INTEGER, used_iteration INTEGER, confidence REAL NOT NULL, usefulness REAL NOT NULL,
  access_count INTEGER NOT NULL, valid_from INTEGER, valid_to INTEGER, state TEXT NOT NULL,
  vector BLOB, terms BLOB NOT NULL, facts_pending INTEGER NOT NULL);
CREATE INDEX items_by_project ON items (principal, project, created_at);
CREATE INDEX items_by_session ON items (principal, project, session, tier, kind);
CREATE INDEX items_by_kind ON items (principal, kind, created_at);
CREATE INDEX items_by_age ON items (principal, state, created_iteration, usefulness);
CREATE INDEX items_pending ON items (row) WHERE facts_pending;
CREATE INDEX items_by_tier ON items (principal, tier);
CREATE TABLE facts (
  row INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, subject TEXT NOT NULL, predicate TEXT NOT NULL,
  object TEXT NOT NULL, subject_key TEXT NOT NULL, predicate_key TEXT NOT NULL, object_key TEXT NOT NULL,
  temporal_start INTEGER NOT NULL, temporal_end INTEGER, recorded_at INTEGER NOT NULL, confidence REAL NOT NULL,
  source_item TEXT NOT NULL, start_char INTEGER NOT NULL, end_char INTEGER NOT NULL, ended_by TEXT NOT NULL,
  principal TEXT NOT NULL, project TEXT NOT NULL, session TEXT NOT NULL, persistence TEXT NOT NULL);
CREATE INDEX facts_by_subject ON facts (principal, subject_key, predicate_key);
CREATE INDEX facts_by_object ON facts (principal, object_key);
CREATE INDEX facts_by_source ON facts (source_item);
CREATE TABLE changes (version INTEGER PRIMARY KEY AUTOINCREMENT, row INTEGER NOT NULL UNIQUE);
CREATE TRIGGER item_added AFTER INSERT ON items
  BEGIN INSERT OR REPLACE INTO changes (row) VALUES (new.row); END;
CREATE TRIGGER item_changed AFTER UPDATE ON items
  BEGIN INSERT OR REPLACE INTO changes (row) VALUES (new.row); END;
CREATE TRIGGER item_deleted AFTER DELETE ON items
  BEGIN INSERT OR REPLACE INTO changes (row) VALUES (old.row); END;
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE VIRTUAL TABLE item_text USING fts5 (terms, content='', tokenize="ascii tokenchars '._:-'''");
"""

_COUNT_WRITE = """
  INSERT OR IGNORE INTO writes VALUES ({row}.principal, 0);
  UPDATE writes SET n = n + 1 WHERE principal = {row}.principal; END;"""
_WRITES = "CREATE TABLE writes (principal TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;" + "".join(
    f"CREATE TRIGGER {table}_{name} AFTER {event} ON {table} BEGIN {_COUNT_WRITE.format(row=row)}"
    for table, fields in (("items", "state, usefulness, confidence, metadata, valid_to"), ("facts", "temporal_end"))
    for name, event, row in (
        ("inserted", "INSERT", "new"),
        ("updated", f"UPDATE OF {fields}", "new"),  # a use of an item is no write
        ("deleted", "DELETE", "old"),
    )
)
_COUNTED = """
CREATE INDEX items_counted ON items
  (principal, kind, tier, state, persistence, project, session, usefulness, created_at, created_iteration);
"""

MIGRATIONS: tuple[str, ...] = (_VERSION_1, _WRITES, _COUNTED)
"""Scripts from each version of the file to the next; the first one makes an empty file."""


RESERVED_BYTES = 8 << 20
"""Free bytes of the disk below which only deletions are written: they too need room before they free some."""

_MOST_PAGES = 1 << 30


class MemoryFull(BackendUnavailable):
    """The disk, or the size that the settings allow, is full; ``missing`` has the bytes that the disk lacks."""

    def __init__(self, message: str, missing: int = 0) -> None:
        super().__init__(message, missing_bytes=missing)
        self.missing = missing


class MemoryDatabase:
    """One connection to ``memory.db``, shared by the threads of a process.

    Args:
        folder: created if it is missing.
        max_size_mb: MiB beyond which a write raises `MemoryFull`.
        busy_seconds: how long a write waits for other processes.

    Raises:
        BackendUnavailable: the file is damaged or of a later version, or cannot be opened.
        InvalidArgument: the folder is a file.
    """

    def __init__(self, folder: Path, *, max_size_mb: int = 500, busy_seconds: float = 10.0) -> None:
        self.path = Path(folder) / FILE_NAME
        self._lock = threading.RLock()
        self._busy = busy_seconds
        try:
            if self.path.parent.exists() and not self.path.parent.is_dir():
                raise InvalidArgument(f"{self.path.parent.name} is a file, and a memory is a folder.", field="memory")
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self._errors(), FileLock(self.path.with_suffix(".lock"), timeout=busy_seconds):
                self.path.touch(mode=0o600)  # what people say is theirs; SQLite gives its log the same mode
                for part in self.path.parent.glob(f"{FILE_NAME}*"):  # an earlier version let all read them
                    _make_private(part)
                self._connection = sqlite3.connect(
                    self.path, timeout=busy_seconds, isolation_level=None, check_same_thread=False
                )
                try:
                    self._prepare(max_size_mb)
                except BaseException:
                    self._connection.close()
                    raise
        except OSError as error:
            raise BackendUnavailable(
                f"The memory cannot be opened: {error.strerror or error}. Check its folder and permissions."
            ) from error

    def _prepare(self, max_size_mb: int) -> None:
        run = self._connection.execute
        version = run("PRAGMA user_version").fetchone()[0]
        if version > len(MIGRATIONS):
            raise BackendUnavailable(
                f"{FILE_NAME} has version {version}, and this graphctx reads up to {len(MIGRATIONS)}. Update graphctx.",
                version=version,
                supported=len(MIGRATIONS),
            )
        run("PRAGMA auto_vacuum=INCREMENTAL")  # has an effect on an empty file alone
        run("PRAGMA journal_mode=WAL")
        run("PRAGMA synchronous=FULL")
        run("PRAGMA secure_delete=ON")
        run("PRAGMA cache_size=-32000")
        for number in range(version, len(MIGRATIONS)):
            self._connection.executescript(
                f"BEGIN IMMEDIATE; {MIGRATIONS[number]} PRAGMA user_version={number + 1}; COMMIT;"
            )
        page = run("PRAGMA page_size").fetchone()[0]
        self._max_pages = max_size_mb * (1 << 20) // page

    def close(self) -> None:
        """Close the connection. Idempotent."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Hold one consistent view of the file while the block reads."""
        with self._lock, self._errors():
            if self._connection.in_transaction:  # within a write of this thread
                yield self._connection
                return
            self._connection.execute("BEGIN")
            try:
                yield self._connection
            finally:
                self._connection.execute("ROLLBACK")

    @contextmanager
    def write(self, *, durable: bool = True, limited: bool = True) -> Iterator[sqlite3.Connection]:
        """Write in one transaction, which is on the disk when the block has ended.

        Args:
            durable: ``False`` leaves the flush to the next durable write, for statistics of use.
            limited: ``False`` lets the file outgrow its limit, for deletions, which need room before they free some.

        Raises:
            MemoryFull: there is no room; nothing of the block is stored.
            BackendUnavailable: another process writes for too long, or the file is damaged.
        """
        with self._lock, self._errors():
            if limited and _missing_bytes(self.path.parent):
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                if missing := _missing_bytes(self.path.parent):
                    raise MemoryFull(_NO_ROOM, missing)
            self._connection.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
            self._connection.execute(f"PRAGMA max_page_count={self._max_pages if limited else _MOST_PAGES}")
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def data_version(self) -> tuple[int, int]:
        """Return a pair that changes with every commit, of this process or another."""
        with self._lock, self._errors():
            return self._connection.execute("PRAGMA data_version").fetchone()[0], self._connection.total_changes

    def purge(self) -> None:
        """Remove what was deleted from the disk: from the full text and the write-ahead log.

        `secure_delete` overwrites the pages themselves.
        """
        with self.write(limited=False) as connection:
            connection.execute("INSERT INTO item_text (item_text) VALUES ('optimize')")
        with self._lock, self._errors():
            self._connection.executescript("PRAGMA incremental_vacuum")  # execute() stops after one page
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def compact(self) -> None:
        """Write the file anew, without free pages."""
        with self._lock, self._errors():
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def size(self) -> int:
        """Return the bytes in use."""
        with self._lock, self._errors():
            run = self._connection.execute
            pages = run("PRAGMA page_count").fetchone()[0] - run("PRAGMA freelist_count").fetchone()[0]
            return int(pages * run("PRAGMA page_size").fetchone()[0])

    def integrity(self) -> list[str]:
        """Return the problems that SQLite finds; none if the file is sound."""
        try:
            with self._lock:
                found = [row[0] for row in self._connection.execute("PRAGMA integrity_check(20)")]
        except sqlite3.DatabaseError as error:
            return [str(error)]
        return [] if found == ["ok"] else found

    def backup(self, target: Path) -> None:
        """Copy the store to another file, consistently, while others write."""
        try:
            target.touch(mode=0o600)
            _make_private(target)
            copy = sqlite3.connect(target)
            copy.execute("PRAGMA user_version")
        except (OSError, sqlite3.OperationalError) as error:
            raise BackendUnavailable(f"{target.name} cannot be written: {error}. Check its folder.") from error
        with self._lock, self._errors(), closing(copy):
            self._connection.backup(copy)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            text = str(error)
            if "full" in text:
                raise MemoryFull(_NO_ROOM, _missing_bytes(self.path.parent)) from error
            if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_IOERR:
                raise BackendUnavailable(
                    f"The memory cannot be read or written ({text}): the disk fails, or a quota or a limit of file "
                    "size is reached. Free some space, or raise the limit."
                ) from error
            if "locked" in text or "busy" in text:
                raise BackendUnavailable(
                    f"Another process has been writing to the memory for more than {self._busy:g} s. Try again."
                ) from error
            raise BackendUnavailable(f"The memory cannot be used: {text}. Check its folder and disk.") from error
        except sqlite3.DatabaseError as error:
            if isinstance(error, (sqlite3.IntegrityError, sqlite3.ProgrammingError)):
                raise
            raise BackendUnavailable(
                f"{FILE_NAME} is damaged: {error}. Run `graphctx memory repair`, which keeps the damaged file."
            ) from error


def _make_private(path: Path) -> None:
    """Let the owner of a file alone read and write it."""
    with suppress(OSError):  # it is another user's, or just deleted
        path.chmod(0o600)


_NO_ROOM = (
    "The memory has no room for this: the disk or [memory.storage] max_size_mb is full. Forget or prune something, "
    "free disk space, or raise the setting."
)


def _missing_bytes(folder: Path) -> int:
    try:
        return max(0, RESERVED_BYTES - shutil.disk_usage(folder).free)
    except OSError:
        return 0


def add_text(connection: sqlite3.Connection, row: int, text: str) -> None:
    """Add an item to the full text; its terms are those of `graphctx.text.lexical.terms`."""
    connection.execute("INSERT INTO item_text (rowid, terms) VALUES (?, ?)", (row, " ".join(terms(text))))


def remove_text(connection: sqlite3.Connection, row: int, text: str) -> None:
    """Remove an item from the full text."""
    values = (row, " ".join(terms(text)))
    connection.execute("INSERT INTO item_text (item_text, rowid, terms) VALUES ('delete', ?, ?)", values)
