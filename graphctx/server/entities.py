"""Entities of the documents by name, so that remembered facts and documents speak of the same things."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from graphctx.errors import InvalidArgument
from graphctx.model.graph import Node
from graphctx.model.requests import DescribeInput, Scope

if TYPE_CHECKING:
    from graphctx.retrieve.searcher import Searcher

_MAX_NAME_CHARS = 300
_MAX_REMEMBERED = 4096


def entity_named(searcher: Searcher, name: str) -> Node | None:
    """Return the entity that documents within the boundary call by a name; ``None`` if there is none or several."""
    if not searcher.snapshot_id or not name.strip() or len(name) > _MAX_NAME_CHARS:
        return None
    try:
        found = searcher.graph.describe(DescribeInput(scope=searcher.boundary.narrow(Scope()), node_ids=[name]))
    except InvalidArgument:
        return None
    entities = [node for node in found.items if node.kind == "entity"]
    return entities[0] if len(entities) == 1 else None


def name_resolver(searcher: Callable[[], Searcher]) -> Callable[[str], Sequence[str]]:
    """Return a function that returns the names of the entity that a name means; empty if documents have none."""

    @lru_cache(maxsize=_MAX_REMEMBERED)
    def names(snapshot_id: str, name: str) -> tuple[str, ...]:
        entity = entity_named(searcher(), name)
        return () if entity is None else (entity.name, *entity.aliases)

    return lambda name: names(searcher().snapshot_id, name)
