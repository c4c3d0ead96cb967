"""Paths between two sets of nodes: the shortest first, then those whose weakest relation is strongest.

The search meets in the middle: as many steps from the starts as from the ends, at most one more. Only relations that
can lie on a path that is short enough are kept, and paths are taken from those best first.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graphctx.model.graph import Path
from graphctx.model.interrupt import checkpoint
from graphctx.model.requests import RelType
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.graph.edges import REL_TYPES, Edges, edges_of, joined
from graphctx.retrieve.graph.nodes import node
from graphctx.retrieve.graph.relations import relation
from graphctx.retrieve.graph.view import Key, View

USUAL: tuple[RelType, ...] = ("MENTIONS", "RELATED", "LINKS_TO")
"""Where no types are asked for: what texts say joins nodes. That two of them stand in one document says little; the
document's tree is walked only where nothing else leads from the starts to the ends."""

NEAR_HOPS = 2
"""Paths up to this length need nothing but the relations of the starts and of the ends."""

PER_END = 4_000
"""Relations of a type and direction that are looked at of a start or an end: in effect all."""

PER_NODE = 100
"""The same of a node between them."""

MAX_FRONTIER = 1_000
"""Nodes of a step that are gone on from, those with the strongest relations first."""

MAX_STEPS = 20_000
"""Partial paths that are looked at."""

_Begun = tuple[float, tuple[str, ...], tuple[int, ...], tuple[int, ...]]
"""A path that is begun: its weakest weight, negated; the ids and the numbers of its nodes; its relations."""

_TREE = frozenset(REL_TYPES.index(name) for name in ("HAS_SECTION", "PARENT_OF", "HAS_UNIT", "NEXT"))


@dataclass(frozen=True, slots=True)
class Trail:
    """A path: the numbers of its nodes, and the positions of its relations among the edges that were found."""

    numbers: tuple[int, ...]
    steps: tuple[int, ...]


def find_paths(
    view: View, starts: Sequence[Key], ends: Sequence[Key], *, types: Sequence[RelType], max_hops: int, max_paths: int
) -> tuple[Edges, list[Trail]]:
    """The paths between starts and ends that pass no node twice, and no start or end on their way.

    Args:
        view: what may be seen.
        starts, ends: a node that is both is a path of length 0.
        types: of relations, which are followed either way; `USUAL`, and else all, where there is none.
        max_hops: longest path.
        max_paths: at most so many, by length, then the weight of the weakest relation, then ids.

    Returns:
        The edges that were found, and the paths as positions in them.
    """
    for wanted in [types] if types else [USUAL, ()]:
        for hops in sorted({min(NEAR_HOPS, max_hops), max_hops}):  # mostly, near ones are all that are wanted
            edges, trails = _find(view, starts, ends, wanted, hops, max_paths)
            if len(trails) >= max_paths:
                return edges, trails
        if trails:
            break
    return edges, trails


def _find(
    view: View, starts: Sequence[Key], ends: Sequence[Key], types: Sequence[RelType], max_hops: int, max_paths: int
) -> tuple[Edges, list[Trail]]:
    first = np.unique(np.array([key.number for key in starts], dtype=np.int64))
    last = np.unique(np.array([key.number for key in ends], dtype=np.int64))
    edges = joined(
        [
            _spread(view, first, types, (max_hops + 1) // 2),
            _turned(_spread(view, last, types, max_hops // 2)),
        ]
    )
    edges = _both_ways(edges)
    graph = _Graph(view, edges, first, last, max_hops)
    trails = [Trail((int(number),), ()) for number in first[np.isin(first, last)]][:max_paths]
    trails.sort(key=lambda trail: view.ids(np.array(trail.numbers)))
    for length in range(1, max_hops + 1):
        if len(trails) >= max_paths:
            break
        trails += graph.paths(length, max_paths - len(trails))
    return edges, trails


def _spread(view: View, numbers: Rows, types: Sequence[RelType], hops: int) -> Edges:
    """All edges within some hops of some nodes."""
    found: list[Edges] = []
    frontier = seen = numbers
    for hop in range(hops):
        checkpoint()
        edges = edges_of(view, frontier, types, "both", PER_NODE if hop else PER_END)
        found.append(edges)
        fresh = edges.among(~np.isin(edges.far, seen))
        order = np.lexsort((view.id_rank(fresh.far), -fresh.weight))
        far, at = np.unique(fresh.far[order], return_index=True)
        frontier = far[np.argsort(at)][:MAX_FRONTIER]
        if not len(frontier):
            break
        seen = np.union1d(seen, frontier)
    return joined(found)


def _turned(edges: Edges) -> Edges:
    return Edges(edges.far, edges.near, ~edges.outward, edges.type, edges.weight)


def _both_ways(edges: Edges) -> Edges:
    """Each edge once from either end."""
    every = joined([edges, _turned(edges)])
    # RELATED has no direction: what was found from one end and from the other is the same edge.
    related = every.type == REL_TYPES.index("RELATED")
    outward = np.where(related, every.near < every.far, every.outward)
    order = np.lexsort((outward, every.type, every.far, every.near))
    parts = (every.near[order], every.far[order], every.type[order], outward[order])
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = np.logical_or.reduce([part[1:] != part[:-1] for part in parts])
    once = every.among(order[fresh])
    return Edges(once.near, once.far, outward[order[fresh]], once.type, once.weight)


class _Graph:
    """What was found, with how far each node is from the starts and the ends."""

    def __init__(self, view: View, edges: Edges, starts: Rows, ends: Rows, max_hops: int) -> None:
        self._view = view
        self._edges = edges
        self._starts = frozenset(starts.tolist())
        self._nodes, places = np.unique(np.concatenate([starts, ends, edges.near, edges.far]), return_inverse=True)
        sizes = np.cumsum([len(starts), len(ends), len(edges)])
        at_start, at_end, self._near, self._far = np.split(places.reshape(-1), sizes)
        self._before = self._distances(at_start, max_hops)
        self._after = self._distances(at_end, max_hops)

    def _distances(self, sources: Rows, most: int) -> Rows:
        """How many edges lead from the nearest source to each node; more than ``most`` where none is so near."""
        distance = np.full(len(self._nodes), most + 1, dtype=np.int64)
        distance[sources] = 0
        for hop in range(1, most + 1):
            reached = self._far[distance[self._near] == hop - 1]
            fresh = reached[distance[reached] > hop]
            distance[fresh] = hop
        return distance

    def _leading(self, length: int) -> dict[int, list[tuple[int, int, int, float]]]:
        """For each node the edges that may lie on a path of a length: position, where to, how far the end is from
        there, weight. Of several between two nodes the strongest.
        """
        edges = self._edges
        at = np.flatnonzero(self._before[self._near] + 1 + self._after[self._far] <= length)
        weight = np.where(np.isin(edges.type[at], sorted(_TREE)), np.inf, edges.weight[at])
        order = np.lexsort((at, -weight, edges.far[at], edges.near[at]))
        at, weight = at[order], weight[order]
        near, far = edges.near[at], edges.far[at]
        best = np.ones(len(at), dtype=bool)
        best[1:] = (near[1:] != near[:-1]) | (far[1:] != far[:-1])
        at, near, far, weight = at[best], near[best], far[best], weight[best]
        leading: dict[int, list[tuple[int, int, int, float]]] = defaultdict(list)
        columns = (near, at, far, self._after[self._far[at]], weight)
        for source, *rest in zip(*(column.tolist() for column in columns), strict=True):
            leading[source].append(tuple(rest))
        return leading

    def paths(self, length: int, most: int) -> list[Trail]:
        """The best paths of one length: those that are begun are gone on with in the order of their weakest relation,
        which never grows stronger, so that the first to arrive are the best.
        """
        leading = self._leading(length)
        ids = _Ids(self._view)
        begun: list[_Begun] = [
            (-np.inf, (ids[number],), (number,), ()) for number in sorted(self._starts) if number in leading
        ]
        heapq.heapify(begun)
        found: list[Trail] = []
        for step in range(MAX_STEPS):
            if not begun or len(found) == most:
                break
            if step % 1_000 == 0:
                checkpoint()
            weakest, named, numbers, steps = heapq.heappop(begun)
            left = length - len(steps)
            if not left:
                found.append(Trail(numbers, steps))
                continue
            for position, far, away, weight in leading.get(numbers[-1], ()):
                if away >= left or (away == 0) != (left == 1) or far in numbers:
                    continue  # too far, or an end on the way, or there already
                if away == 0 or far not in self._starts:
                    further = (*numbers, far), (*steps, position)
                    heapq.heappush(begun, (max(weakest, -weight), (*named, ids[far]), *further))
        return found


class _Ids(dict[int, str]):
    """The ids of nodes, looked up once."""

    def __init__(self, view: View) -> None:
        super().__init__()
        self._view = view

    def __missing__(self, number: int) -> str:
        self[number] = self._view.id(self._view.node(number))
        return self[number]


def path(view: View, edges: Edges, trail: Trail, *, snippet: bool) -> Path:
    """What an answer says of a path; sentences stand with its relations, those that have one."""
    return Path(
        length=len(trail.steps),
        nodes=[node(view, view.node(number)) for number in trail.numbers],
        relations=[relation(view, edges, at, snippet=snippet) for at in trail.steps],
    )
