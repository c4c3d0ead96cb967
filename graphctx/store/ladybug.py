"""Ladybug, the maintained fork of kuzu: the same Cypher, another file format."""

from __future__ import annotations

from graphctx.store.cypher_engine import CypherEngine


class LadybugEngine(CypherEngine):
    """Graphs in ``graph.ladybug``."""

    def __init__(self) -> None:
        super().__init__("ladybug", "graphctx[ladybug]")
