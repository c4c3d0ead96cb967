"""Kuzu and its fork ladybug: one Cypher, one Python interface, and so one adapter for both."""

from __future__ import annotations

import importlib

# kuzu 0.11.3 uses importlib.util without importing it, and fails on the first pyarrow parameter otherwise.
import importlib.util
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa

from graphctx.errors import BackendUnavailable, InternalError, InvalidArgument, TimedOut
from graphctx.store.files import disk_errors, reason_of
from graphctx.store.graph.base import QueryResult
from graphctx.store.graph.guard import check_reading
from graphctx.store.graph.pool import MAX_DB_BYTES, SharedDatabase
from graphctx.store.graph.schema import NODE_TABLES, REL_TABLES, NodeTable, RelTable, node_rows, relation_rows

BUILD_POOL_BYTES = 2 << 30  # an upper bound, taken as needed: 100k nodes and 1M edges stay below 1 GiB

_PACKAGES = {"kuzu": "graphctx", "ladybug": "graphctx[ladybug]"}
"""The engines' Python modules, and what to install where one is absent."""


def make_engine(name: str) -> CypherEngine:
    """Return the engine of a Python module, ``kuzu`` or ``ladybug``."""
    return CypherEngine(name, _PACKAGES[name])


class CypherEngine:
    """A `GraphEngine`.

    Args:
        name: the Python module, which is also the suffix of the files.
        package: the package to install where the module is absent.
    """

    def __init__(self, name: str, package: str) -> None:
        self._name = name
        self._package = package

    @property
    def name(self) -> str:
        """See `GraphEngine.name`."""
        return self._name

    @property
    def version(self) -> str:
        """See `GraphEngine.version`."""
        return str(self._module.__version__)

    @cached_property
    def _module(self) -> ModuleType:
        # Both register the same names in pybind11's process-wide table, and crash beside each other.
        if others := [name for name in _PACKAGES if name != self._name and name in sys.modules]:
            raise BackendUnavailable(
                f"{self._name} cannot be loaded into a process that uses {others[0]}. Start another process.",
                engine=self._name,
                loaded=others[0],
            )
        try:
            return importlib.import_module(self._name)
        except ImportError as error:
            raise BackendUnavailable(
                f"The graph engine {self._name!r} is not installed. Run `pip install '{self._package}'`.",
                engine=self._name,
            ) from error

    def build(self, path: Path, tables: Mapping[str, pa.Table]) -> dict[str, int]:
        """See `GraphEngine.build`."""
        path = Path(path)
        if path.exists():
            raise InvalidArgument(f"{path.name} exists already. Build into a new file.", file=path.name)
        nodes, relations = node_rows(tables), relation_rows(tables)
        try:
            with disk_errors(path.name):
                self._copy(path, {**nodes, **relations})
        except RuntimeError as error:
            reason = str(error).replace(str(path), path.name)
            raise self._failed(reason) from error
        if left := [
            other.name for other in path.parent.iterdir() if other.name.startswith(path.name) and other != path
        ]:
            raise BackendUnavailable(
                f"{self._name} left {left[0]} beside {path.name}: the graph is not complete. Ingest again.",
                files=left,
            )
        return {label: rows.num_rows for label, rows in {**nodes, **relations}.items()}

    def open(self, path: Path) -> CypherStore:
        """See `GraphEngine.open`."""
        return CypherStore(self._module, path)

    def _copy(self, path: Path, rows: Mapping[str, pa.Table]) -> None:
        # Closed on success alone: kuzu aborts the process on closing what it could not write. That it may do so
        # later, when these objects go, is why `publish` builds in a process of its own.
        database = self._module.Database(str(path), buffer_pool_size=BUILD_POOL_BYTES, max_db_size=MAX_DB_BYTES)
        connection = self._module.Connection(database)
        schema: tuple[NodeTable | RelTable, ...] = (*NODE_TABLES, *REL_TABLES)
        for table in schema:
            connection.execute(table.ddl).close()
            if rows[table.label].num_rows:
                connection.execute(f"COPY {table.label} FROM $rows", {"rows": rows[table.label]}).close()
        # Without it the rows may lie in the write-ahead log, and kuzu drops a damaged log silently.
        connection.execute("CHECKPOINT").close()
        connection.close()
        database.close()

    def _failed(self, reason: str) -> Exception:
        if reason.startswith(("Copy exception", "Binder exception", "Runtime exception")):
            return InternalError(f"{self._name} refused the graph's rows: {reason}", reason=reason)
        return BackendUnavailable(f"{self._name} could not write the graph: {reason}", reason=reason)


class CypherStore:
    """A `GraphStore`.

    Args:
        module: ``kuzu`` or ``ladybug``.
        path: the graph file, opened on first use.
    """

    def __init__(self, module: ModuleType, path: Path) -> None:
        self._module = module
        self._path = Path(path)
        self._lock = threading.Lock()
        self._shared: SharedDatabase | None = None

    def query(
        self,
        cypher: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout_ms: int | None = None,
        max_rows: int | None = None,
    ) -> QueryResult:
        """See `GraphStore.query`."""
        given = dict(params or {})
        check_reading(cypher, given)
        if timeout_ms is not None and timeout_ms < 1:
            raise InvalidArgument(f"timeout_ms must be 1 or more, not {timeout_ms}.", timeout_ms=timeout_ms)
        if max_rows is not None and max_rows < 0:
            raise InvalidArgument(f"max_rows must be 0 or more, not {max_rows}.", max_rows=max_rows)
        with self._connection(timeout_ms) as connection, _engine_errors(timeout_ms):
            result = connection.execute(cypher, given)
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
        counts = {}
        for node in NODE_TABLES:
            counts[node.label] = int(self.query(f"MATCH (n:{node.label}) RETURN count(*)").rows[0][0])
        for rel in REL_TABLES:
            counts[rel.label] = int(self.query(f"MATCH ()-[r:{rel.label}]->() RETURN count(*)").rows[0][0])
        return counts

    def close(self) -> None:
        """See `GraphStore.close`."""
        with self._lock:
            shared, self._shared = self._shared, None
        if shared is not None:
            shared.release()

    @contextmanager
    def _connection(self, timeout_ms: int | None) -> Iterator[Any]:
        # A connection costs 0.35 ms and is this query's own, so that its timeout concerns no other thread.
        with self._lock:
            if self._shared is None:
                self._shared = SharedDatabase(self._module, self._path)
            shared = self._shared
        connection = self._module.Connection(shared.database)
        try:
            if timeout_ms is not None:
                connection.set_query_timeout(timeout_ms)
            yield connection
        finally:
            connection.close()


@contextmanager
def _engine_errors(timeout_ms: int | None) -> Iterator[None]:
    """Map what the engines raise, which is ``RuntimeError`` with a kind at the start of its text."""
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
                f"The Cypher statement needs too much memory ({reason}). Narrow it.",
                reason=reason,
            ) from error
        raise InvalidArgument(f"The graph engine refused the Cypher statement: {reason}", reason=reason) from error
    except (TypeError, ValueError, AttributeError, OverflowError) as error:  # a parameter that has no Cypher type
        raise InvalidArgument(f"A parameter cannot be given to the graph engine: {error}.") from error


def _plain(value: Any) -> Any:
    """Return a value without the engine's internal ids; kuzu writes ``_label`` where ladybug writes ``_LABEL`."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    lowered = {key.lower() if key.startswith("_") else key: item for key, item in value.items()}
    if lowered.keys() == {"_nodes", "_rels"}:
        return {"nodes": _plain(lowered["_nodes"]), "relations": _plain(lowered["_rels"])}
    internal = ("_id", "_src", "_dst") if "_label" in lowered else ()
    return {key: _plain(item) for key, item in lowered.items() if key not in internal}
