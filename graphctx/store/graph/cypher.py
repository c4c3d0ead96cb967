"""Kuzu and its fork ladybug: one Cypher, one Python interface, and so one adapter for both.

A process has at most one open database object per graph file: the engines do not refuse two objects on one file, and
lose data silently when one of them writes. Uses are therefore counted by device and inode; a file that replaced
another under the same path is another file.
"""

from __future__ import annotations

import importlib

# kuzu 0.11.3 uses importlib.util without importing it, and fails on the first pyarrow parameter otherwise.
import importlib.util
import sys
import threading
import weakref
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pyarrow as pa

from graphctx.errors import BackendUnavailable, InternalError, InvalidArgument, TimedOut
from graphctx.store.files import disk_errors, reason_of
from graphctx.store.graph.base import QueryResult
from graphctx.store.graph.guard import check_reading
from graphctx.store.graph.schema import NODE_TABLES, REL_TABLES, NodeTable, RelTable, node_rows, relation_rows

BUILD_POOL_BYTES = 2 << 30  # an upper bound, taken as needed: 100k nodes and 1M edges stay below 1 GiB
READ_POOL_BYTES = 512 << 20  # pages kept in memory; the engines' default, 80 % of the machine, starves the models
MAX_DB_BYTES = 1 << 38  # address space that is reserved: 256 GiB, where kuzu's 8 TiB fails under a memory limit

_PACKAGES = {"kuzu": "graphctx", "ladybug": "graphctx[ladybug]"}
"""The Python modules, and the package to install if one is absent."""


def _load(name: str) -> ModuleType:
    # Both register the same names in pybind11's process-wide table, and crash beside each other.
    if others := [other for other in _PACKAGES if other != name and other in sys.modules]:
        raise BackendUnavailable(
            f"{name} cannot be loaded into a process that uses {others[0]}. Start another process.",
            engine=name,
            loaded=others[0],
        )
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise BackendUnavailable(
            f"The graph engine {name!r} is not installed. Run `pip install '{_PACKAGES[name]}'`.", engine=name
        ) from error


class CypherStore:
    """The `GraphStore` of both engines. A subclass names the Python module."""

    module: ClassVar[str]

    def __init__(self, path: Path) -> None:
        self._path = Path(path)
        self._lock = threading.Lock()
        self._use: _DatabaseUse | None = None

    @classmethod
    def version(cls) -> str:
        """See `GraphStore.version`."""
        return str(_load(cls.module).__version__)

    def build(self, tables: Mapping[str, pa.Table]) -> dict[str, int]:
        """See `GraphStore.build`."""
        path = self._path
        if path.exists():
            raise InvalidArgument(f"{path.name} exists already. Build into a new file.", file=path.name)
        rows = {**node_rows(tables), **relation_rows(tables)}
        try:
            with disk_errors(path.name):
                self._copy(rows)
        except RuntimeError as error:
            reason = str(error).replace(str(path), path.name)
            if reason.startswith(("Copy exception", "Binder exception", "Runtime exception")):
                message = f"{self.module} refused the graph's rows: {reason}"
                raise InternalError(message, reason=reason) from error
            raise BackendUnavailable(f"{self.module} could not write the graph: {reason}", reason=reason) from error
        if left := [other.name for other in path.parent.glob(f"{path.name}*") if other != path]:
            raise BackendUnavailable(
                f"{self.module} left {left[0]} beside {path.name}: the graph is not complete. Ingest again.",
                files=left,
            )
        return {label: table.num_rows for label, table in rows.items()}

    def _copy(self, rows: Mapping[str, pa.Table]) -> None:
        # Closed on success alone: kuzu aborts the process on closing what it could not write. That it may do so
        # later, when these objects are collected, is why `publish` builds in a child process.
        module = _load(self.module)
        database = module.Database(str(self._path), buffer_pool_size=BUILD_POOL_BYTES, max_db_size=MAX_DB_BYTES)
        connection = module.Connection(database)
        schema: tuple[NodeTable | RelTable, ...] = (*NODE_TABLES, *REL_TABLES)
        for table in schema:
            connection.execute(table.ddl).close()
            if rows[table.label].num_rows:
                connection.execute(f"COPY {table.label} FROM $rows", {"rows": rows[table.label]}).close()
        # Without it the rows may stay in the write-ahead log, and kuzu drops a damaged log silently.
        connection.execute("CHECKPOINT").close()
        connection.close()
        database.close()

    def query(
        self,
        cypher: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout_ms: int | None = None,
        max_rows: int | None = None,
    ) -> QueryResult:
        """See `GraphStore.query`."""
        values = dict(params or {})
        check_reading(cypher, values)
        if timeout_ms is not None and timeout_ms < 1:
            raise InvalidArgument(f"timeout_ms must be 1 or more, not {timeout_ms}.", timeout_ms=timeout_ms)
        if max_rows is not None and max_rows < 0:
            raise InvalidArgument(f"max_rows must be 0 or more, not {max_rows}.", max_rows=max_rows)
        with self._connection(timeout_ms) as connection, _engine_errors(timeout_ms):
            result = connection.execute(cypher, values)
            try:
                columns = tuple(result.get_column_names())
                rows: list[tuple[Any, ...]] = []
                while result.has_next():
                    if max_rows is not None and len(rows) == max_rows:
                        return QueryResult(columns, rows, truncated=True)
                    rows.append(tuple(_plain(value) for value in result.get_next()))
                return QueryResult(columns, rows)
            finally:
                result.close()

    def counts(self) -> dict[str, int]:
        """See `GraphStore.counts`."""
        patterns = {node.label: f"(n:{node.label})" for node in NODE_TABLES}
        patterns |= {rel.label: f"()-[r:{rel.label}]->()" for rel in REL_TABLES}
        return {
            label: int(self.query(f"MATCH {pattern} RETURN count(*)").rows[0][0]) for label, pattern in patterns.items()
        }

    def close(self) -> None:
        """See `GraphStore.close`."""
        with self._lock:
            use, self._use = self._use, None
        if use is not None:
            use.release()

    @contextmanager
    def _connection(self, timeout_ms: int | None) -> Iterator[Any]:
        # A connection costs 0.35 ms and belongs to this query, so that its timeout concerns no other thread.
        module = _load(self.module)
        with self._lock:
            if self._use is None:
                self._use = _DatabaseUse(module, self._path)
            use = self._use
        connection = module.Connection(use.database)
        try:
            if timeout_ms is not None:
                connection.set_query_timeout(timeout_ms)
            yield connection
        finally:
            connection.close()


class KuzuStore(CypherStore):
    """A graph file of Kuzu."""

    module = "kuzu"


class LadybugStore(CypherStore):
    """A graph file of ladybug."""

    module = "ladybug"


@contextmanager
def _engine_errors(timeout_ms: int | None) -> Iterator[None]:
    """Convert the engines' ``RuntimeError``, whose text starts with its kind."""
    try:
        yield
    except RuntimeError as error:
        reason = str(error)
        if reason.startswith("Interrupted"):
            raise TimedOut(
                f"The Cypher statement ran past its {timeout_ms} ms. Narrow it, or give it more time.",
                timeout_ms=timeout_ms,
            ) from error
        if reason.startswith("IO exception"):
            reason = reason_of(error)
            raise BackendUnavailable(f"The graph cannot be read: {reason}", reason=reason) from error
        if reason.startswith("Buffer manager exception"):
            raise InvalidArgument(
                f"The Cypher statement needs too much memory ({reason}). Narrow it.", reason=reason
            ) from error
        raise InvalidArgument(f"The graph engine refused the Cypher statement: {reason}", reason=reason) from error
    except (TypeError, ValueError, AttributeError, OverflowError) as error:  # a parameter that has no Cypher type
        raise InvalidArgument(f"A parameter cannot be given to the graph engine: {error}.") from error


def _plain(value: Any) -> Any:
    """Return a value without the engine's internal ids; kuzu writes ``_label`` where ladybug writes ``_LABEL``."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    lowered = {key.lower() if key.startswith("_") else key: item for key, item in value.items()}
    if lowered.keys() == {"_nodes", "_rels"}:
        return {"nodes": _plain(lowered["_nodes"]), "relations": _plain(lowered["_rels"])}
    internal = ("_id", "_src", "_dst") if "_label" in lowered else ()
    return {key: _plain(item) for key, item in lowered.items() if key not in internal}


_Key = tuple[str, int, int]


@dataclass(slots=True)
class _OpenDatabase:
    database: Any
    users: int = 0


_lock = threading.Lock()
_open: dict[_Key, _OpenDatabase] = {}
_released: deque[_Key] = deque()
"""Uses that ended and are not yet subtracted. The garbage collector may end one at any moment, also in a thread that
holds the lock, so ending one never waits for the lock."""


class _DatabaseUse:
    """A counted use of the read-only database object of a file, until `release` or garbage collection."""

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
                    entry = _open[key] = _OpenDatabase(_open_database(module, path))
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
