"""The visible communities, by the same rules as every tool's: `graphctx.retrieve.graph.communities`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from graphctx.model.interrupt import checkpoint
from graphctx.retrieve.graph.communities import CommunityIndex
from graphctx.retrieve.graph.view import GraphView
from graphctx.store.communities import read_phrased

_KEY_ENTITIES = 10
"""As many as a snapshot holds of each community."""


@dataclass(frozen=True, slots=True)
class SeenCommunity:
    """A community.

    Attributes:
        entities: rows, in the order of their ids.
        key: rows of the characteristic ones, the best first.
        n_units: how many units that may be seen treat of it.
        points: rows of sentences, the best first; ``summary`` is those that say most of it.
        phrased: a language model's sentences for it, if there are any and all they rest on may be seen.
    """

    id: str
    level: int
    parent_id: str | None
    title: str
    entities: tuple[int, ...]
    key: tuple[int, ...]
    n_units: int
    points: tuple[int, ...]
    summary: tuple[int, ...]
    phrased: tuple[str, ...]


def seen_communities(view: GraphView) -> list[SeenCommunity]:
    """The communities that something names which may be seen, by level and id."""
    return list(_each(CommunityIndex(view)))


def _each(seen: CommunityIndex) -> Iterator[SeenCommunity]:
    hierarchy = seen.hierarchy
    for row in np.flatnonzero(seen.visible).tolist():
        checkpoint()
        parent = int(hierarchy.parent[row])
        phrased = read_phrased(hierarchy.phrased(row))
        yield SeenCommunity(
            id=hierarchy.id(row),
            level=int(hierarchy.level[row]),
            parent_id=hierarchy.id(parent) if parent >= 0 else None,
            title=seen.title(row),
            entities=tuple(seen.members(row).tolist()),
            key=tuple(entity for entity, _ in seen.key_entities(row, _KEY_ENTITIES)),
            n_units=seen.n_units(row),
            points=tuple(seen.points(row).tolist()),
            summary=tuple(seen.summary(row).tolist()),
            phrased=tuple(one.text for one in phrased) if phrased and seen.as_summarised(row) else (),
        )
