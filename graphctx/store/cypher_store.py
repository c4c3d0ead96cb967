"""An open graph of either engine, spoken to in Cypher."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from graphctx.errors import BackendUnavailable, InvalidArgument, TimedOut
from graphctx.store.base import Direction, Neighbour, NodeKind, QueryResult
from graphctx.store.cypher_guard import check_reading
from graphctx.store.cypher_pool import SharedDatabase
from graphctx.store.ddl import NODE_TABLES, REL_TABLES, RelTable
from graphctx.store.reasons import reason_of

MAX_HOPS = 10  # a shortest path longer than this tells nobody anything, and costs a walk over the whole graph

_KIND_OF_PREFIX = {"d": "Document", "s": "Section", "u": "TextUnit", "e": "Entity", "c": "Community"}


class CypherStore:
    """A graph file behind the ``GraphStore`` protocol.

    Args:
        module: ``kuzu`` or ``ladybug``; they share their Python interface and their Cypher.
        path: the graph file, which is opened when it is first used.
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
        """See ``GraphStore.query``."""
        given = dict(params or {})
        statement = check_reading(cypher, given)
        if timeout_ms is not None and timeout_ms < 1:
            raise InvalidArgument(f"timeout_ms must be 1 or more, not {timeout_ms}.", timeout_ms=timeout_ms)
        if max_rows is not None and max_rows < 0:
            raise InvalidArgument(f"max_rows must be 0 or more, not {max_rows}.", max_rows=max_rows)
        with self._connection(timeout_ms) as connection, _engine_errors(timeout_ms):
            result = connection.execute(statement, given)
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
        """See ``GraphStore.counts``."""
        counts = {}
        for node in NODE_TABLES:
            counts[node.label] = int(self.query(f"MATCH (n:{node.label}) RETURN count(*)").rows[0][0])
        for rel in REL_TABLES:
            counts[rel.label] = int(self.query(f"MATCH ()-[r:{rel.label}]->() RETURN count(*)").rows[0][0])
        return counts

    def nodes(self, kind: NodeKind, ids: Sequence[str]) -> list[dict[str, Any]]:
        """See ``GraphStore.nodes``."""
        columns = next((table.columns for table in NODE_TABLES if table.label == kind), None)
        if columns is None:
            labels = ", ".join(table.label for table in NODE_TABLES)
            raise InvalidArgument(f"There is no kind of node {kind!r}; there are {labels}.", kind=kind)
        if not ids:
            return []
        listed = ", ".join(f"n.{name}" for name, _ in columns)
        result = self.query(f"MATCH (n:{kind}) WHERE n.id IN $ids RETURN {listed}", {"ids": list(ids)})
        names = [name for name, _ in columns]
        found = {row[0]: dict(zip(names, row, strict=True)) for row in result.rows}
        return [found[node_id] for node_id in ids if node_id in found]

    def neighbours(
        self,
        node_id: str,
        rel_types: Sequence[str] | None = None,
        direction: Direction = "both",
        limit: int = 50,
    ) -> list[Neighbour]:
        """See ``GraphStore.neighbours``."""
        labels = [rel.label for rel in REL_TABLES]
        if unknown := [label for label in rel_types or () if label not in labels]:
            raise InvalidArgument(
                f"There is no relation {unknown[0]!r}; there are {', '.join(labels)}.", unknown=unknown
            )
        if direction not in ("out", "in", "both"):
            raise InvalidArgument(f"direction is 'out', 'in' or 'both', not {direction!r}.", direction=direction)
        if limit < 1:
            raise InvalidArgument(f"limit must be 1 or more, not {limit}.", limit=limit)
        kind = _KIND_OF_PREFIX.get(node_id.partition("_")[0])
        found: list[Neighbour] = []
        for rel in REL_TABLES:
            if rel_types is not None and rel.label not in rel_types:
                continue
            if rel.source == kind and direction != "in":
                found += self._one_hop(node_id, rel, outgoing=True, limit=limit)
            if rel.target == kind and direction != "out":
                found += self._one_hop(node_id, rel, outgoing=False, limit=limit)
        return found

    def _one_hop(self, node_id: str, rel: RelTable, *, outgoing: bool, limit: int) -> list[Neighbour]:
        near, far = (rel.source, rel.target) if outgoing else (rel.target, rel.source)
        arrow = f"-[r:{rel.label}]->" if outgoing else f"<-[r:{rel.label}]-"
        first = f"r.{rel.columns[0][0]} DESC, " if rel.columns else ""
        result = self.query(
            f"MATCH (a:{near} {{id: $id}}){arrow}(b:{far}) RETURN r, b ORDER BY {first}b.id LIMIT {limit}",
            {"id": node_id},
        )
        return [
            Neighbour(
                relation=rel.label,
                outgoing=outgoing,
                numbers={name: edge[name] for name, _ in rel.columns},
                kind=far,
                node={key: value for key, value in node.items() if key != "_label"},
            )
            for edge, node in result.rows
        ]

    def shortest_paths(
        self, source_id: str, target_id: str, max_hops: int = 4, limit: int = 10
    ) -> list[tuple[str, ...]]:
        """See ``GraphStore.shortest_paths``."""
        if not 1 <= max_hops <= MAX_HOPS:
            raise InvalidArgument(f"max_hops is 1 to {MAX_HOPS}, not {max_hops}.", max_hops=max_hops)
        if limit < 1:
            raise InvalidArgument(f"limit must be 1 or more, not {limit}.", limit=limit)
        if source_id == target_id:
            return [(source_id,)] if self.nodes("Entity", [source_id]) else []
        result = self.query(
            f"MATCH p = (a:Entity {{id: $source}})-[:RELATED* ALL SHORTEST 1..{max_hops}]-"
            "(b:Entity {id: $target}) WITH properties(nodes(p), 'id') AS ids "
            f"RETURN ids ORDER BY list_to_string(' ', ids) LIMIT {limit}",
            {"source": source_id, "target": target_id},
        )
        return [tuple(ids) for (ids,) in result.rows]

    def close(self) -> None:
        """See ``GraphStore.close``."""
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
    except (
        TypeError,
        ValueError,
        AttributeError,
        OverflowError,
    ) as error:  # a parameter that has no Cypher type
        raise InvalidArgument(f"A parameter cannot be given to the graph engine: {error}.") from error


def _plain(value: Any) -> Any:
    """A value without the engine's internal ids; kuzu writes ``_label`` where ladybug writes ``_LABEL``."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    lowered = {key.lower() if key.startswith("_") else key: item for key, item in value.items()}
    if lowered.keys() == {"_nodes", "_rels"}:
        return {"nodes": _plain(lowered["_nodes"]), "relations": _plain(lowered["_rels"])}
    internal = ("_id", "_src", "_dst") if "_label" in lowered else ()
    return {key: _plain(item) for key, item in lowered.items() if key not in internal}
