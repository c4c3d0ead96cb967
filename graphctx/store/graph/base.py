"""The protocol of graph engines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class QueryResult:
    """Rows of a query; ``truncated`` if there were more than ``max_rows``."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    truncated: bool = False


@runtime_checkable
class GraphStore(Protocol):
    """One graph file: written once by `build`, then read by any number of threads.

    Args:
        path: the file; opened read-only on first use.
    """

    def __init__(self, path: Path) -> None: ...

    @classmethod
    def version(cls) -> str:
        """Return the version of the engine's library.

        Raises:
            BackendUnavailable: the library is not installed.
        """

    def build(self, tables: Mapping[str, pa.Table]) -> dict[str, int]:
        """Write the file.

        Args:
            tables: every table of ``store.schema.TABLES``.

        Returns:
            The number of nodes and relations of each label.

        Raises:
            InvalidArgument: the file exists.
            BackendUnavailable: the library is not installed, or the file could not be completed.
        """

    def query(
        self,
        cypher: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout_ms: int | None = None,
        max_rows: int | None = None,
    ) -> QueryResult:
        """Run one reading statement.

        A node is returned as a dict of its properties and ``_label``, a relation likewise, a path as ``nodes`` and
        ``relations``. Internal ids of the engine are left out.

        Args:
            cypher: one statement that reads the graph.
            params: a value for every ``$name`` of the statement.
            timeout_ms: milliseconds until the engine stops; recursive patterns may overrun them two- to threefold.
            max_rows: most rows to return.

        Raises:
            InvalidArgument: a syntax error (the engine's message), a parameter that does not match the statement,
                several statements, or a statement that writes, reads files or changes the engine.
            TimedOut: the statement ran past ``timeout_ms``.
            BackendUnavailable: the file is absent, damaged, or of another engine.
        """

    def counts(self) -> dict[str, int]:
        """Return the number of nodes and relations of each label, in the order of the schema."""

    def close(self) -> None:
        """Close the file. The next use opens it again."""
