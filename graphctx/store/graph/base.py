"""The protocols of graph engines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class QueryResult:
    """Rows of a query. ``truncated`` says that there were more than ``max_rows``."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    truncated: bool = False


@runtime_checkable
class GraphStore(Protocol):
    """One graph file, open for reading. Thread-safe."""

    def query(
        self,
        cypher: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout_ms: int | None = None,
        max_rows: int | None = None,
    ) -> QueryResult:
        """Run one reading statement.

        A node comes as a dict of its properties and ``_label``, a relation likewise, a path as ``nodes`` and
        ``relations``. Engine-internal ids are left out.

        Args:
            cypher: one statement that reads the graph.
            params: a value for every ``$name`` of the statement.
            timeout_ms: milliseconds until the engine stops; recursive patterns may overrun them two- to threefold.
            max_rows: most rows to return.

        Raises:
            InvalidArgument: a syntax error (the engine's message), a parameter without a value or without a
                place, several statements, or a statement that writes, reads files or changes the engine.
            TimedOut: the statement ran past ``timeout_ms``.
            BackendUnavailable: the file is absent, damaged, or of another engine.
        """

    def counts(self) -> dict[str, int]:
        """Return the number of nodes and relations of each label, in the order of the schema."""

    def close(self) -> None:
        """Close the file. The store opens it again when it is used again."""


@runtime_checkable
class GraphEngine(Protocol):
    """Builds graph files and opens them."""

    @property
    def name(self) -> str:
        """The name in ``kb.toml`` and the suffix of the files."""

    @property
    def version(self) -> str:
        """The library's version."""

    def build(self, path: Path, tables: Mapping[str, pa.Table]) -> dict[str, int]:
        """Write a new graph file.

        Args:
            path: where no file is yet.
            tables: every table of ``store.schema.TABLES``.

        Returns:
            The number of nodes and relations of each label.

        Raises:
            InvalidArgument: the file exists.
            BackendUnavailable: the engine is not installed, or could not finish the file.
        """

    def open(self, path: Path) -> GraphStore:
        """Return a store for a finished file, which is opened, read-only, on first use."""
