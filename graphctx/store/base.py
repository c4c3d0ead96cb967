"""The protocols behind which graph engines stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import pyarrow as pa

NodeKind = Literal["Document", "Section", "TextUnit", "Entity", "Community"]
Direction = Literal["out", "in", "both"]


@dataclass(frozen=True, slots=True)
class QueryResult:
    """Rows of a query. ``truncated`` says that there were more than ``max_rows``."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A node one relation away: the relation's label and numbers, and the node at its other end.

    ``outgoing`` says that the relation leads from the node that was asked about to this one.
    """

    relation: str
    outgoing: bool
    numbers: dict[str, float | int]
    kind: str
    node: dict[str, Any]


@runtime_checkable
class GraphStore(Protocol):
    """One graph file, open for reading. It may be used from several threads."""

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
            timeout_ms: stop the engine after this time; recursive patterns may overrun it two- to threefold.
            max_rows: keep this many rows.

        Raises:
            InvalidArgument: a syntax error (the engine's message), a parameter without a value or without a
                place, several statements, or a statement that writes, reads files or changes the engine.
            TimedOut: ran past ``timeout_ms``.
            BackendUnavailable: the file is absent, damaged, or of another engine.
        """

    def counts(self) -> dict[str, int]:
        """How many nodes and relations there are of each label, in the order of the schema."""

    def nodes(self, kind: NodeKind, ids: Sequence[str]) -> list[dict[str, Any]]:
        """The properties of nodes of one kind, in the order of ``ids``; unknown ids are left out."""

    def neighbours(
        self,
        node_id: str,
        rel_types: Sequence[str] | None = None,
        direction: Direction = "both",
        limit: int = 50,
    ) -> list[Neighbour]:
        """What is one relation away from a node, of any kind.

        Sorted by relation in the order of the schema, outgoing first, then by weight or count from the
        highest, then by id. ``limit`` holds for each relation and direction, so that a node's many mentions
        do not hide its few relations. An unknown ``node_id`` has no neighbours.

        Raises:
            InvalidArgument: an unknown relation or direction.
        """

    def shortest_paths(
        self, source_id: str, target_id: str, max_hops: int = 4, limit: int = 10
    ) -> list[tuple[str, ...]]:
        """All shortest paths between two entities over ``RELATED``, as tuples of entity ids, sorted.

        Empty if there is none within ``max_hops`` (1 to 10), or either id is unknown.
        """

    def close(self) -> None:
        """Give the file back. The store opens it again when it is used again."""


@runtime_checkable
class GraphEngine(Protocol):
    """Builds graph files and opens them."""

    @property
    def name(self) -> str:
        """What ``kb.toml`` calls it; also the suffix of its files."""

    @property
    def version(self) -> str:
        """The library's version."""

    def build(self, path: Path, tables: Mapping[str, pa.Table]) -> dict[str, int]:
        """Write a new graph file from the tables of ``schema.TABLES``.

        Args:
            path: where no file is yet.
            tables: every table of the snapshot.

        Returns:
            The number of nodes and relations of each label.

        Raises:
            InvalidArgument: a file is there already.
            BackendUnavailable: the engine is not installed, or could not finish the file.
        """

    def open(self, path: Path) -> GraphStore:
        """A store for a finished file. The file is opened, read-only, when it is first used."""
