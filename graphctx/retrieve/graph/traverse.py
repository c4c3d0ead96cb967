"""Traversal: the nodes around some nodes, breadth first, and the best paths between two sets of nodes.

The search for paths meets in the middle: it spreads as many steps from the starts as from the ends, at most one more.
Among the edges that it found it lists simple paths by length, then by their weakest edge, then by ids.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from graphctx.model.graph import Neighbour, Path
from graphctx.model.interrupt import checkpoint
from graphctx.model.requests import MAX_NODES, Direction, RelType
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.graph.edges import REL_TYPES, EdgeList, edges_of
from graphctx.retrieve.graph.nodes import node, node_fields, relation
from graphctx.retrieve.graph.view import GraphView, NodeKey

MAX_VIA = 3
"""Relations that are listed of each node that was reached."""

EXPAND_PER_NODE = 2 * MAX_NODES + 32
"""Edges of a type and direction of one node that an expansion looks at: so many that only nodes beyond the largest
``max_nodes`` are missed, be all others among the starts."""

DEFAULT_TYPES: tuple[RelType, ...] = ("MENTIONS", "RELATED", "ALIAS_OF", "LINKS_TO")
"""Relations that paths follow if the request names none. The outline is followed only where these lead nowhere: that
two nodes stand in one document says little."""

NEAR_HOPS = 2
"""Paths of this length are looked for first: they need only the edges of the starts and of the ends."""

PER_END = 4_000
"""Edges of a type and direction of a start or an end that paths may follow."""

PER_INNER_NODE = 100
"""The same of a node between them."""

MAX_FRONTIER = 1_000
"""Nodes of a step that are spread from, those with the strongest edges first."""

MAX_STEPS = 20_000
"""Partial paths that are looked at."""

_OUTLINE = [REL_TYPES.index(name) for name in ("HAS_SECTION", "PARENT_OF", "HAS_UNIT", "NEXT")]
_RELATED = REL_TYPES.index("RELATED")


@dataclass(frozen=True, slots=True)
class ReachedNode:
    """A node that an expansion reached: its number, its distance, and the edges to it, the strongest first."""

    number: int
    hop: int
    edges: EdgeList


@dataclass(frozen=True, slots=True)
class NodePath:
    """A path: the numbers of its nodes, and the positions of its edges in an `EdgeList`."""

    numbers: tuple[int, ...]
    edges: tuple[int, ...]


def expand(
    view: GraphView,
    starts: Sequence[NodeKey],
    *,
    types: Sequence[RelType],
    direction: Direction,
    max_hops: int,
    max_nodes: int,
) -> tuple[list[ReachedNode], bool]:
    """Return the nodes around some nodes, by hop, then weight, then id.

    Returns:
        At most ``max_nodes`` nodes, and whether there are more.
    """
    frontier = visited = np.unique(np.array([key.number for key in starts], dtype=np.int64))
    reached: list[ReachedNode] = []
    for hop in range(1, max_hops + 1):
        checkpoint()
        edges = edges_of(view, frontier, types, direction, EXPAND_PER_NODE)
        edges = edges.take(~np.isin(edges.far, visited))
        groups = _by_far_node(view, edges)
        room = max_nodes - len(reached)
        reached += [ReachedNode(int(edges.far[group[0]]), hop, edges.take(group)) for group in groups[:room]]
        if len(groups) > room:
            return reached, True
        frontier = np.array([item.number for item in reached if item.hop == hop], dtype=np.int64)
        visited = np.union1d(visited, frontier)
    return reached, False


def _by_far_node(view: GraphView, edges: EdgeList) -> list[Rows]:
    """Return the positions of the edges to each node, the strongest first; nodes by their strongest, then by id."""
    if not len(edges):
        return []
    order = np.lexsort((edges.outward, view.id_rank(edges.near), edges.type, -edges.weight, edges.far))
    groups = np.split(order, np.flatnonzero(np.diff(edges.far[order])) + 1)
    first = np.array([group[0] for group in groups])
    ranked = np.lexsort((view.id_rank(edges.far[first]), -edges.weight[first]))
    return [groups[at] for at in ranked.tolist()]


def neighbour(view: GraphView, reached: ReachedNode, *, snippet: bool) -> Neighbour:
    """Return a node that was reached, with its strongest relations; the strongest has a snippet if it is asked for."""
    edges = reached.edges
    distinct: dict[tuple[int, int, bool], int] = {}  # RELATED and links may be found from both ends
    for at in range(len(edges)):
        distinct.setdefault((int(edges.near[at]), int(edges.type[at]), bool(edges.outward[at])), at)
    via = [relation(view, edges, at, snippet=snippet and at == 0) for at in list(distinct.values())[:MAX_VIA]]
    return Neighbour(hop=reached.hop, via=via, **node_fields(view, view.node(reached.number), snippet=snippet))


def find_paths(
    view: GraphView,
    starts: Sequence[NodeKey],
    ends: Sequence[NodeKey],
    *,
    types: Sequence[RelType],
    max_hops: int,
    max_paths: int,
) -> tuple[EdgeList, list[NodePath]]:
    """Return the simple paths from starts to ends that pass no other start or end.

    Args:
        view: what is visible.
        starts, ends: a node that is both is a path of length 0.
        types: of relations, followed either way; empty for `DEFAULT_TYPES`, and for all where these lead nowhere.
        max_hops: the longest path.
        max_paths: at most this many, by length, then the weight of the weakest edge, then ids.

    Returns:
        The edges that were found, and the paths over them.
    """
    first, last = (np.unique(np.array([key.number for key in keys], dtype=np.int64)) for keys in (starts, ends))
    for wanted in [types] if types else [DEFAULT_TYPES, ()]:
        for hops in sorted({min(NEAR_HOPS, max_hops), max_hops}):
            edges = _edges_between(view, first, last, wanted, hops)
            paths = _paths_over(view, edges, first, last, hops, max_paths)
            if len(paths) >= max_paths:
                return edges, paths
        if paths:
            break
    return edges, paths


def _edges_between(view: GraphView, first: Rows, last: Rows, types: Sequence[RelType], max_hops: int) -> EdgeList:
    """Return the edges around starts and ends, each once from either end."""
    from_starts = _spread(view, first, types, (max_hops + 1) // 2)
    edges = EdgeList.concatenate([from_starts, _spread(view, last, types, max_hops // 2)])
    both = EdgeList.concatenate([edges, edges.reversed()])
    # RELATED has no direction: the same edge may be found from one end and from the other.
    outward = np.where(both.type == _RELATED, both.near < both.far, both.outward)
    both = EdgeList(both.near, both.far, outward, both.type, both.weight)
    order = np.lexsort((outward, both.type, both.far, both.near))
    key = np.stack([both.near, both.far, both.type, outward])[:, order]
    distinct = np.ones(len(order), dtype=bool)
    distinct[1:] = (key[:, 1:] != key[:, :-1]).any(axis=0)
    return both.take(order[distinct])


def _spread(view: GraphView, numbers: Rows, types: Sequence[RelType], hops: int) -> EdgeList:
    """Return the edges within some hops of some nodes."""
    found: list[EdgeList] = []
    frontier = visited = numbers
    for hop in range(hops):
        checkpoint()
        edges = edges_of(view, frontier, types, "both", PER_INNER_NODE if hop else PER_END)
        found.append(edges)
        fresh = edges.take(~np.isin(edges.far, visited))
        order = np.lexsort((view.id_rank(fresh.far), -fresh.weight))
        far, at = np.unique(fresh.far[order], return_index=True)
        frontier = far[np.argsort(at)][:MAX_FRONTIER]
        visited = np.union1d(visited, frontier)
    return EdgeList.concatenate(found)


def _paths_over(
    view: GraphView, edges: EdgeList, starts: Rows, ends: Rows, max_hops: int, max_paths: int
) -> list[NodePath]:
    """Return the best paths over some edges, the shortest first."""

    @cache
    def id_of(number: int) -> str:
        return view.id(view.node(number))

    nodes = np.unique(np.concatenate([starts, ends, edges.near, edges.far]))
    near_at, far_at = np.searchsorted(nodes, edges.near), np.searchsorted(nodes, edges.far)
    from_starts = _distances(near_at, far_at, np.searchsorted(nodes, starts), len(nodes), max_hops)[near_at]
    to_ends = _distances(near_at, far_at, np.searchsorted(nodes, ends), len(nodes), max_hops)[far_at]
    both = np.intersect1d(starts, ends).tolist()
    paths = [NodePath((number,), ()) for number in sorted(both, key=id_of)][:max_paths]
    is_start = frozenset(starts.tolist())
    for length in range(1, max_hops + 1):
        if len(paths) >= max_paths:
            break
        steps = _steps(edges, np.flatnonzero(from_starts + 1 + to_ends <= length), to_ends)
        # Partial paths in the order of their weakest edge, which never grows stronger: the first complete are the best.
        heap: list[tuple[float, tuple[str, ...], tuple[int, ...], tuple[int, ...]]] = [
            (-np.inf, (id_of(number),), (number,), ()) for number in starts.tolist() if number in steps
        ]
        heapq.heapify(heap)
        for count in range(MAX_STEPS):
            if not heap or len(paths) >= max_paths:
                break
            if count % 1_000 == 0:
                checkpoint()
            weakest, ids, numbers, taken = heapq.heappop(heap)
            left = length - len(taken)
            if not left:
                paths.append(NodePath(numbers, taken))
                continue
            for position, far, distance, weight in steps.get(numbers[-1], ()):
                if distance >= left or (distance == 0) != (left == 1) or far in numbers:
                    continue  # too far from an end, an end before the last step, or already on the path
                if distance == 0 or far not in is_start:
                    heapq.heappush(
                        heap, (max(weakest, -weight), (*ids, id_of(far)), (*numbers, far), (*taken, position))
                    )
    return paths


def _distances(near: Rows, far: Rows, sources: Rows, n_nodes: int, most: int) -> Rows:
    """Return the number of edges from the nearest source to each node; ``most + 1`` if it is farther away."""
    distance = np.full(n_nodes, most + 1, dtype=np.int64)
    distance[sources] = 0
    for hop in range(1, most + 1):
        reached = far[distance[near] == hop - 1]
        distance[reached[distance[reached] > hop]] = hop
    return distance


def _steps(edges: EdgeList, some: Rows, to_ends: Rows) -> dict[int, list[tuple[int, int, int, float]]]:
    """Return some edges by their near node, the strongest of each pair of nodes.

    Args:
        edges: all edges.
        some: positions of those that may lie on a path.
        to_ends: the distance of each edge's far node to an end.

    Returns:
        Node to position of the edge, far node, its distance to an end, and weight. Edges of the outline have no
        weight, and weaken no path.
    """
    weight = np.where(np.isin(edges.type[some], _OUTLINE), np.inf, edges.weight[some])
    order = np.lexsort((some, -weight, edges.far[some], edges.near[some]))
    some, weight = some[order], weight[order]
    near, far = edges.near[some], edges.far[some]
    strongest = np.ones(len(some), dtype=bool)
    strongest[1:] = (near[1:] != near[:-1]) | (far[1:] != far[:-1])
    steps: dict[int, list[tuple[int, int, int, float]]] = defaultdict(list)
    columns = (column[strongest].tolist() for column in (near, some, far, to_ends[some], weight))
    for node_number, *step in zip(*columns, strict=True):
        steps[node_number].append(tuple(step))
    return steps


def path(view: GraphView, edges: EdgeList, found: NodePath, *, snippet: bool) -> Path:
    """Return a path with its nodes and relations; relations have snippets if they are asked for."""
    return Path(
        length=len(found.edges),
        nodes=[node(view, view.node(number)) for number in found.numbers],
        relations=[relation(view, edges, at, snippet=snippet) for at in found.edges],
    )
