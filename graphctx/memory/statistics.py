"""Counts of what is remembered."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from graphctx.memory.database import MemoryDatabase
from graphctx.memory.items import MemoryScope, Moment, from_micros, to_micros
from graphctx.memory.store import in_scope
from graphctx.settings import MemorySettings


class MemoryStatistics:
    """Counts in the file; an attribute of `Memory`.

    Usage::

        memory.statistics.counts(scope)["n_items"]
    """

    def __init__(self, database: MemoryDatabase, settings: MemorySettings) -> None:
        self._database, self._settings = database, settings

    def counts(self, scope: MemoryScope) -> dict[str, Any]:
        """Return counts of what is in scope: by kind, tier and state, of facts and entities; bytes of the store."""
        where, values = in_scope(scope)
        about, scoped = in_scope(scope, "facts")
        with self._database.read() as connection:
            groups = connection.execute(  # from the index items_counted alone
                "SELECT kind, tier, state, COUNT(*), SUM(usefulness), MIN(created_at), MAX(created_at), "
                f"MAX(created_iteration) FROM items WHERE {where} GROUP BY 1, 2, 3",
                values,
            ).fetchall()
            n_facts, n_holding = connection.execute(
                f"SELECT COUNT(*), COUNT(*) - COUNT(temporal_end) FROM facts WHERE {about}",
                scoped,
            ).fetchone()
            n_entities = connection.execute(
                f"SELECT COUNT(*) FROM (SELECT subject_key FROM facts WHERE {about} "
                f"UNION SELECT object_key FROM facts WHERE {about})",
                (*scoped, *scoped),
            ).fetchone()[0]
            by: list[Counter[str]] = [Counter(), Counter(), Counter()]
            for group in groups:
                for counts, value in zip(by, group, strict=False):
                    counts[str(value)] += group[3]
            n_items, usefulness = (sum(group[at] for group in groups) for at in (3, 4))
            return {
                "n_items": n_items,
                "by_kind": dict(sorted(by[0].items())),
                "by_tier": dict(sorted(by[1].items())),
                "by_state": dict(sorted(by[2].items())),
                "mean_usefulness": usefulness / n_items if groups else None,
                "oldest": from_micros(min(group[5] for group in groups)).isoformat() if groups else None,
                "newest": from_micros(max(group[6] for group in groups)).isoformat() if groups else None,
                "last_iteration": max((group[7] for group in groups), default=None),
                "n_facts": n_facts,
                "n_facts_holding": n_holding,
                "n_entities": n_entities,
                "store_bytes": self._database.size(),
                "max_bytes": self._settings.storage.max_size_mb << 20,
            }

    def n_writes(self, principal: str) -> int:
        """Return a number that grows with every change of the principal's items and facts, but not with their use."""
        with self._database.read() as connection:
            found = connection.execute("SELECT n FROM writes WHERE principal = ?", (principal,)).fetchone()
        return found[0] if found else 0

    def projects(self, principal: str) -> dict[str, int]:
        """Return the projects of a principal with the number of their items."""
        with self._database.read() as connection:
            query = "SELECT project, COUNT(*) FROM items WHERE principal = ? GROUP BY 1 ORDER BY 1"
            return dict(connection.execute(query, (principal,)).fetchall())

    def sessions(self, scope: MemoryScope, limit: int = 200) -> list[dict[str, Any]]:
        """Return the sessions of a project by their newest items: name, number of items, first and last time."""
        query = (
            "SELECT session, COUNT(*), MIN(created_at), MAX(created_at) FROM items "
            "WHERE principal = ? AND project = ? GROUP BY 1 ORDER BY 4 DESC, 1 LIMIT ?"
        )
        with self._database.read() as connection:
            rows = connection.execute(query, (scope.principal, scope.project, limit)).fetchall()
        return [
            {
                "session": name,
                "n_items": n,
                "first": from_micros(first).isoformat(),
                "last": from_micros(last).isoformat(),
            }
            for name, n, first, last in rows
        ]

    def other_sessions(self, scope: MemoryScope) -> dict[str, int]:
        """Return the other sessions of a project that keep memories to themselves, with the number of these."""
        with self._database.read() as connection:
            query = (
                "SELECT session, COUNT(*) FROM items WHERE principal = ? AND project = ? AND session <> ? "
                "AND persistence = 'session' GROUP BY 1 ORDER BY MAX(created_at) DESC, 1"
            )
            return dict(connection.execute(query, (scope.principal, scope.project, scope.session)).fetchall())

    def success_rate(self, tag: str, scope: MemoryScope, now: Moment) -> tuple[int, float | None]:
        """Return how many results of iterations have a tag, and the share of those that succeeded, if there are any."""
        where, values = in_scope(scope)
        query = (
            "SELECT COUNT(*), AVG(COALESCE(json_extract(metadata, '$.success'), 0)) FROM items "
            f"WHERE {where} AND kind = 'iteration' AND created_at <= ? AND instr(tags, ?)"
        )
        with self._database.read() as connection:
            found: tuple[int, float | None] = connection.execute(
                query, (*values, to_micros(now.at), json.dumps(tag))
            ).fetchone()
        return found

    def is_empty(self, scope: MemoryScope) -> bool:
        """Return whether nothing is stored in the scope."""
        where, values = in_scope(scope)
        with self._database.read() as connection:
            return connection.execute(f"SELECT 1 FROM items WHERE {where} LIMIT 1", values).fetchone() is None
