"""The cluster step: recursive Leiden (Traag et al. 2019) over the entity graph, by igraph.

Clusters over the maximum size are divided again inside, which gives the hierarchy: level 0 is the root level, and a
community that was not divided is a leaf. The children of a community hold all of its entities, and no leaf is over
the maximum size: at the last level that the depth allows, what is too large is divided until it fits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from graphctx.ingest.partition import MIN_COMMUNITY_SIZE, divide, leiden, random_numbers_of_our_own
from graphctx.model.ids import content_id
from graphctx.model.interrupt import checkpoint
from graphctx.model.knowledge import Community

if TYPE_CHECKING:
    import igraph

Int = npt.NDArray[np.int64]
Real = npt.NDArray[np.float64]

CLUSTER_VERSION = 3
MAX_COMMUNITY_SIZE = 40
MAX_DEPTH = 6


def cluster(
    related: pa.Table,
    entity_ids: Sequence[str],
    *,
    max_size: int = MAX_COMMUNITY_SIZE,
    max_depth: int = MAX_DEPTH,
    on_done: Callable[[int], None] = lambda done: None,
) -> list[Community]:
    """Cluster the entity graph.

    Args:
        related: schema ``RELATED``; its ``weight`` is used.
        entity_ids: ids by row, sorted.
        max_size: a cluster with more entities is divided further; at least 3.
        max_depth: at most this many levels.
        on_done: told how many entities have been given their place.

    Returns:
        Communities sorted by level and id. Entities that are related to at most one other belong to none.
    """
    import igraph

    edges = np.stack([related["source_row"].to_numpy(), related["target_row"].to_numpy()], axis=1).astype(np.int64)
    weight = related["weight"].to_numpy().astype(np.float64)
    graph = igraph.Graph(n=len(entity_ids), edges=edges)
    graph.es["weight"] = weight
    graph.vs["row"] = list(range(len(entity_ids)))
    with random_numbers_of_our_own():
        nodes = _hierarchy(graph, max_size, max_depth, on_done)
    on_done(len(entity_ids))  # with those that belong nowhere
    return _communities(nodes, entity_ids, edges, weight)


@dataclass(frozen=True, slots=True)
class _Node:
    """A community before it has an id: ``parent`` is a position in the list of nodes, -1 for a root."""

    level: int
    parent: int
    rows: Int


def _hierarchy(graph: igraph.Graph, max_size: int, max_depth: int, on_done: Callable[[int], None]) -> list[_Node]:
    nodes: list[_Node] = []
    placed = 0
    waiting: deque[tuple[igraph.Graph, int, int]] = deque([(graph, 0, -1)])
    while waiting:
        checkpoint()
        part, level, parent = waiting.popleft()
        if parent < 0:
            members = [one for one in leiden(part) if len(one) >= MIN_COMMUNITY_SIZE]
        else:
            members = divide(part, max_size)
        if level + 1 >= max_depth:
            members = _small_enough(part, members, max_size)
        rows = np.array(part.vs["row"], dtype=np.int64)
        for one in members:
            if len(one) > max_size:
                waiting.append((part.induced_subgraph(one), level + 1, len(nodes)))
            else:
                placed += len(one)
            nodes.append(_Node(level, parent, rows[one]))
        on_done(placed)
    return nodes


def _small_enough(graph: igraph.Graph, parts: list[list[int]], max_size: int) -> list[list[int]]:
    """The same vertices in parts that are not over the maximum size."""
    done: list[list[int]] = []
    waiting = parts[::-1]
    while waiting:
        part = waiting.pop()
        if len(part) <= max_size:
            done.append(part)
        else:
            inside = divide(graph.induced_subgraph(part), max_size)
            waiting += [[part[at] for at in one] for one in reversed(inside)]
    return done


def _communities(nodes: Sequence[_Node], entity_ids: Sequence[str], edges: Int, weight: Real) -> list[Community]:
    ids = [""] * len(nodes)
    found = []
    total = float(weight.sum())
    strength = _strength(edges, weight, len(entity_ids))
    for level in range(max((node.level for node in nodes), default=-1) + 1):
        here = [number for number, node in enumerate(nodes) if node.level == level]
        owner = np.full(len(entity_ids), -1, dtype=np.int64)
        for place, number in enumerate(here):
            owner[nodes[number].rows] = place
        inside = (owner[edges[:, 0]] >= 0) & (owner[edges[:, 0]] == owner[edges[:, 1]])
        inner = _strength(edges[inside], weight[inside], len(entity_ids))
        within = np.bincount(owner[edges[inside, 0]], weights=weight[inside], minlength=len(here))
        for place, number in enumerate(here):
            node = nodes[number]
            rows = np.sort(node.rows)
            leader = entity_ids[rows[np.argmax(inner[rows])]]  # the first of equals, so the smallest id
            ids[number] = content_id("c", level, leader)
            found.append(
                Community(
                    id=ids[number],
                    level=level,
                    parent_id=ids[node.parent] if node.parent >= 0 else None,
                    entity_ids=tuple(entity_ids[row] for row in rows),
                    modularity=float(within[place] / total - (strength[rows].sum() / (2 * total)) ** 2),
                )
            )
    return sorted(found, key=lambda c: (c.level, c.id))


def _strength(edges: Int, weight: Real, count: int) -> Real:
    """The sum of the weights of each entity's edges."""
    sums: Real = np.zeros(count)
    for side in (0, 1):
        sums += np.bincount(edges[:, side], weights=weight, minlength=count)
    return sums
