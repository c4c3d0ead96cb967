"""The graph engines by name."""

from __future__ import annotations

from graphctx.errors import InvalidArgument
from graphctx.store.base import GraphEngine
from graphctx.store.engines import ENGINES


def make_graph_engine(name: str = ENGINES[0]) -> GraphEngine:
    """Make the engine of that name.

    Raises:
        InvalidArgument: there is none of that name.
    """
    if name == "kuzu":
        from graphctx.store.kuzu import KuzuEngine

        return KuzuEngine()
    if name == "ladybug":
        from graphctx.store.ladybug import LadybugEngine

        return LadybugEngine()
    raise InvalidArgument(f"There is no graph engine {name!r}; there are {', '.join(ENGINES)}.", engine=name)
