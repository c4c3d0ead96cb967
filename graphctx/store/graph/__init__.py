"""Graph engines behind one protocol. Another engine is a module with ``make_engine(name)`` and a line in `ENGINES`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from graphctx.errors import InvalidArgument

if TYPE_CHECKING:
    from graphctx.store.graph.base import GraphEngine

ENGINES = {
    "kuzu": "graphctx.store.graph.cypher",
    "ladybug": "graphctx.store.graph.cypher",
}
"""The module of each engine by what ``[graph] engine`` may say; the first is the default."""

DEFAULT_ENGINE = next(iter(ENGINES))


def make_graph_engine(name: str = DEFAULT_ENGINE) -> GraphEngine:
    """Make the engine of a name.

    Usage::

        engine = make_graph_engine("kuzu")
        counts = engine.build(directory / "graph.kuzu", tables)
        store = engine.open(directory / "graph.kuzu")
        store.query("MATCH (e:Entity) RETURN e.name LIMIT 3").rows

    Raises:
        InvalidArgument: there is no engine of that name.
    """
    if name not in ENGINES:
        raise InvalidArgument(f"There is no graph engine {name!r}; there are {', '.join(ENGINES)}.", engine=name)
    engine: GraphEngine = import_module(ENGINES[name]).make_engine(name)
    return engine
