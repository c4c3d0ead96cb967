"""Kuzu and ladybug share their Cypher and their Python interface; this is the one adapter for both."""

from __future__ import annotations

import importlib

# kuzu 0.11.3 uses importlib.util without importing it, and fails on the first pyarrow parameter otherwise.
import importlib.util
import sys
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from types import ModuleType

import pyarrow as pa

from graphctx.errors import BackendUnavailable, InternalError, InvalidArgument
from graphctx.store.cypher_pool import MAX_DB_BYTES
from graphctx.store.cypher_rows import node_rows, relation_rows
from graphctx.store.cypher_store import CypherStore
from graphctx.store.ddl import NODE_TABLES, REL_TABLES, NodeTable, RelTable
from graphctx.store.engines import ENGINES
from graphctx.store.files import disk_errors

BUILD_POOL_BYTES = 2 << 30  # an upper bound, taken as needed: 100k nodes and 1M edges stay below 1 GiB


class CypherEngine:
    """A graph engine by the name of its Python module, behind the ``GraphEngine`` protocol.

    Args:
        name: the module, which is also the suffix of its files.
        extra: what to install when the module is absent.
    """

    def __init__(self, name: str, extra: str) -> None:
        self._name = name
        self._extra = extra

    @property
    def name(self) -> str:
        """See ``GraphEngine.name``."""
        return self._name

    @property
    def version(self) -> str:
        """See ``GraphEngine.version``."""
        return str(self._module.__version__)

    @cached_property
    def _module(self) -> ModuleType:
        # Both register the same names in pybind11's process-wide table, and crash beside each other.
        if others := [name for name in ENGINES if name != self._name and name in sys.modules]:
            raise BackendUnavailable(
                f"{self._name} cannot be loaded into a process that uses {others[0]}. Start another process.",
                engine=self._name,
                loaded=others[0],
            )
        try:
            return importlib.import_module(self._name)
        except ImportError as error:
            raise BackendUnavailable(
                f"The graph engine {self._name!r} is not installed. Run `pip install '{self._extra}'`.",
                engine=self._name,
            ) from error

    def build(self, path: Path, tables: Mapping[str, pa.Table]) -> dict[str, int]:
        """See ``GraphEngine.build``."""
        path = Path(path)
        if path.exists():
            raise InvalidArgument(f"{path.name} is there already; a graph is built anew.", file=path.name)
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
        """See ``GraphEngine.open``."""
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
