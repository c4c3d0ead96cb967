"""Graph engines behind one protocol. Another engine is a class that satisfies `GraphStore` and a line in `ENGINES`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from graphctx.errors import InvalidArgument

if TYPE_CHECKING:
    from graphctx.store.graph.base import GraphStore

ENGINES = {
    "kuzu": "graphctx.store.graph.cypher:KuzuStore",
    "ladybug": "graphctx.store.graph.cypher:LadybugStore",
}
"""``module:class`` of each engine by its name in ``[graph] engine``; the first is the default."""

DEFAULT_ENGINE = next(iter(ENGINES))


def graph_engine(name: str = DEFAULT_ENGINE) -> type[GraphStore]:
    """Return the class of an engine.

    Usage::

        store = graph_engine("kuzu")(directory / "graph.kuzu")
        store.build(tables)
        store.query("MATCH (e:Entity) RETURN e.name LIMIT 3").rows

    Raises:
        InvalidArgument: there is no engine of that name.
    """
    if name not in ENGINES:
        raise InvalidArgument(f"There is no graph engine {name!r}; there are {', '.join(ENGINES)}.", engine=name)
    module, _, attribute = ENGINES[name].partition(":")
    engine: type[GraphStore] = getattr(import_module(module), attribute)
    return engine
