"""Kuzu, the default graph engine."""

from __future__ import annotations

from graphctx.store.cypher_engine import CypherEngine


class KuzuEngine(CypherEngine):
    """Graphs in ``graph.kuzu``."""

    def __init__(self) -> None:
        super().__init__("kuzu", "graphctx")
