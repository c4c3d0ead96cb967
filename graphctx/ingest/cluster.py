"""The cluster step: recursive Leiden (Traag et al. 2019) over the entity graph, by igraph.

Clusters over the maximum size are clustered again inside, down to a maximum depth, which gives the hierarchy:
level 0 is the root level, and a community that was not divided has no children.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from graphctx.model.ids import content_id
from graphctx.model.knowledge import Community

if TYPE_CHECKING:
    import igraph

CLUSTER_VERSION = 1
MAX_COMMUNITY_SIZE = 40
MAX_DEPTH = 6
MIN_COMMUNITY_SIZE = 3
"""Two entities and their one edge are no theme."""
SEED = 20_250_101
_ITERATIONS = 2
_TITLE_NAMES = 3


def cluster(
    related: pa.Table,
    entity_ids: Sequence[str],
    names: Sequence[str],
    *,
    max_size: int = MAX_COMMUNITY_SIZE,
    max_depth: int = MAX_DEPTH,
) -> list[Community]:
    """Cluster the entity graph.

    Args:
        related: schema ``RELATED``; its ``weight`` is used.
        entity_ids: ids by row.
        names: names by row, for titles.
        max_size: a cluster with more entities is divided further.
        max_depth: at most this many levels.

    Returns:
        Communities sorted by level and id.
    """
    import igraph

    edges = np.stack([related["source_row"].to_numpy(), related["target_row"].to_numpy()], axis=1)
    graph = igraph.Graph(n=len(entity_ids), edges=edges)
    graph.es["weight"] = related["weight"].to_numpy().astype(float)
    graph.vs["row"] = list(range(len(entity_ids)))
    strength = np.array(graph.strength(weights="weight"))
    igraph.set_random_number_generator(random.Random(SEED))
    try:
        return _Hierarchy(entity_ids, names, strength, max_size, max_depth).build(graph)
    finally:
        igraph.set_random_number_generator(random)


class _Hierarchy:
    def __init__(
        self, ids: Sequence[str], names: Sequence[str], strength: np.ndarray, max_size: int, max_depth: int
    ) -> None:
        self._ids, self._names, self._strength = ids, names, strength
        self._max_size, self._max_depth = max_size, max_depth

    def build(self, graph: igraph.Graph) -> list[Community]:
        found: list[Community] = []
        waiting: list[tuple[igraph.Graph, int, str | None]] = [(graph, 0, None)]
        while waiting:
            part, level, parent = waiting.pop()
            for members in self._parts(part):
                if parent is not None and len(members) == part.vcount():
                    continue  # it cannot be divided, and once is enough
                community = self._community(part, members, level, parent)
                found.append(community)
                divisible = len(members) > self._max_size and len(members) < part.vcount()
                if divisible and level + 1 < self._max_depth:
                    waiting.append((part.induced_subgraph(members), level + 1, community.id))
        return sorted(found, key=lambda c: (c.level, c.id))

    @staticmethod
    def _parts(graph: igraph.Graph) -> list[list[int]]:
        clusters = graph.community_leiden(objective_function="modularity", weights="weight", n_iterations=_ITERATIONS)
        return [members for members in clusters if len(members) >= MIN_COMMUNITY_SIZE]

    def _community(self, graph: igraph.Graph, members: list[int], level: int, parent: str | None) -> Community:
        rows = [graph.vs[member]["row"] for member in members]
        ids = sorted(self._ids[row] for row in rows)
        leaders = sorted(rows, key=lambda row: (-self._strength[row], self._ids[row]))[:_TITLE_NAMES]
        return Community(
            id=content_id("c", level, *ids),
            level=level,
            parent_id=parent,
            entity_ids=tuple(ids),
            title=", ".join(self._names[row] for row in leaders),
        )
