"""Expansion: breadth first from some nodes, the nearest first, then the strongest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graphctx.model.graph import Neighbour
from graphctx.model.interrupt import checkpoint
from graphctx.model.requests import MAX_NODES, Direction, RelType
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.graph.edges import Edges, edges_of
from graphctx.retrieve.graph.nodes import node_fields
from graphctx.retrieve.graph.relations import relation
from graphctx.retrieve.graph.view import Key, View

MAX_VIA = 3
"""Relations that are told of each node that was reached."""

PER_NODE = 2 * MAX_NODES + 32
"""Relations of a type and direction that are looked at of one node: as many as all nodes that an answer and its starts
may have, and as many again, so that only nodes beyond the cap are missed."""


@dataclass(frozen=True, slots=True)
class Reached:
    """A node that was reached: its number, at which hop, and the edges that lead to it, the strongest first."""

    number: int
    hop: int
    edges: Edges


def expand(
    view: View,
    starts: Sequence[Key],
    *,
    types: Sequence[RelType],
    direction: Direction,
    max_hops: int,
    max_nodes: int,
) -> tuple[list[Reached], bool]:
    """The nodes around some nodes, by hop, then the weight of the strongest relation, then id.

    Returns:
        At most ``max_nodes``, and whether there were more.
    """
    frontier = np.unique(np.array([key.number for key in starts], dtype=np.int64))
    seen = frontier
    reached: list[Reached] = []
    for hop in range(1, max_hops + 1):
        checkpoint()
        edges = edges_of(view, frontier, types, direction, PER_NODE)
        edges = edges.among(~np.isin(edges.far, seen))
        groups = _by_node(view, edges)
        room = max_nodes - len(reached)
        reached += [Reached(int(edges.far[group[0]]), hop, edges.among(group)) for group in groups[:room]]
        if len(groups) > room:
            return reached, True
        frontier = np.array([item.number for item in reached if item.hop == hop], dtype=np.int64)
        if not len(frontier):
            break
        seen = np.union1d(seen, frontier)
    return reached, False


def _by_node(view: View, edges: Edges) -> list[Rows]:
    """The positions of the edges to each node, the strongest first; nodes by that weight, then id."""
    if not len(edges):
        return []
    order = np.lexsort((edges.outward, view.id_rank(edges.near), edges.type, -edges.weight, edges.far))
    groups = np.split(order, np.flatnonzero(np.diff(edges.far[order])) + 1)
    first = np.array([group[0] for group in groups])
    ranked = np.lexsort((view.id_rank(edges.far[first]), -edges.weight[first]))
    return [groups[at] for at in ranked.tolist()]


def neighbour(view: View, reached: Reached, *, snippet: bool) -> Neighbour:
    """What an answer says of a node that was reached; of the strongest relation with a sentence if it is RELATED."""
    fields = node_fields(view, view.node(reached.number), snippet=snippet)
    via = [relation(view, reached.edges, at, snippet=snippet and at == 0) for at in _distinct(reached.edges)]
    return Neighbour(hop=reached.hop, via=via, **fields)


def _distinct(edges: Edges) -> list[int]:
    """The first edges: RELATED and links may lead back and forth, each is told once."""
    seen: dict[tuple[int, int, bool], int] = {}
    for at in range(len(edges)):
        seen.setdefault((int(edges.near[at]), int(edges.type[at]), bool(edges.outward[at])), at)
        if len(seen) == MAX_VIA:
            break
    return list(seen.values())
