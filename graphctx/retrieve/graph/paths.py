"""Paths between two sets of nodes: the shortest first, then those whose weakest relation is strongest.

The search meets in the middle: as many steps from the starts as from the ends, at most one more. Only relations that
can lie on a path that is short enough are kept, and paths are taken from those best first.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from graphctx.model.graph import Path, Relation
from graphctx.model.interrupt import checkpoint
from graphctx.model.requests import RelType
from graphctx.retrieve.graph.edges import REL_TYPES, Edges, edges_of, joined
from graphctx.retrieve.graph.nodes import node
from graphctx.retrieve.graph.relations import relation
from graphctx.retrieve.graph.view import Key, View
from graphctx.retrieve.index import Rows

USUAL: tuple[RelType, ...] = ("MENTIONS", "RELATED", "LINKS_TO")
"""Where no types are asked for: what texts say joins nodes. That two of them stand in one document says little; the
document's tree is walked only where nothing else leads from the starts to the ends."""

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
        edges, trails = _find(view, starts, ends, wanted, max_hops, max_paths)
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
    graph = _Graph.of(view, edges, first, last, max_hops)
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


@dataclass(frozen=True, slots=True)
class _Graph:
    """What may lie on a path: for each node the edges that go on, and how far the ends are."""

    view: View
    starts: frozenset[int]
    leading: dict[int, list[tuple[int, int, float]]]
    distance: dict[int, int]

    @classmethod
    def of(cls, view: View, edges: Edges, starts: Rows, ends: Rows, max_hops: int) -> _Graph:
        before, after = _distances(edges, starts, max_hops), _distances(edges, ends, max_hops)
        numbers = np.array(sorted(before.keys() & after.keys()), dtype=np.int64)
        short = np.array([before[n] + after[n] <= max_hops for n in numbers.tolist()], dtype=bool)
        useful = np.isin(edges.near, numbers[short]) & np.isin(edges.far, numbers[short])
        at = np.flatnonzero(useful)
        weight = np.where(np.isin(edges.type[at], sorted(_TREE)), np.inf, edges.weight[at])
        leading: dict[int, list[tuple[int, int, float]]] = defaultdict(list)
        best: dict[tuple[int, int], tuple[float, int]] = {}
        for position, near, far, value in zip(
            at.tolist(), edges.near[at].tolist(), edges.far[at].tolist(), weight.tolist(), strict=True
        ):
            # Of several relations between two nodes the strongest makes the path.
            known = best.get((near, far))
            if known is None or value > known[0]:
                best[near, far] = (value, position)
        for (near, far), (value, position) in best.items():
            leading[near].append((position, far, value))
        return cls(view, frozenset(starts.tolist()), dict(leading), after)

    def paths(self, length: int, most: int) -> list[Trail]:
        """The best paths of one length: those that are begun are gone on with in the order of their weakest relation,
        which never grows stronger, so that the first to arrive are the best.
        """
        ids = _Ids(self.view)
        begun: list[_Begun] = [
            (-np.inf, (ids[number],), (number,), ())
            for number in self.starts
            if self.distance.get(number, length + 1) <= length
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
            for position, far, weight in self.leading.get(numbers[-1], ()):
                away = self.distance.get(far, left)
                arrives = away == 0
                if (
                    away < left
                    and arrives == (left == 1)
                    and far not in numbers
                    and (arrives or far not in self.starts)
                ):
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


def _distances(edges: Edges, sources: Rows, most: int) -> dict[int, int]:
    """How many edges lead from the nearest source to each node, up to ``most``."""
    order = np.argsort(edges.near, kind="stable")
    near, far = edges.near[order], edges.far[order]
    distance = dict.fromkeys(sources.tolist(), 0)
    frontier = seen = sources
    for hop in range(1, most + 1):
        reached = np.unique(far[_in(near, frontier)])
        frontier = np.setdiff1d(reached, seen, assume_unique=True)
        if not len(frontier):
            break
        distance.update(dict.fromkeys(frontier.tolist(), hop))
        seen = np.union1d(seen, frontier)
    return distance


def _in(values: Rows, wanted: Rows) -> Rows:
    return np.flatnonzero(np.isin(values, wanted))


def path(view: View, edges: Edges, trail: Trail, *, snippet: bool) -> Path:
    """What an answer says of a path; sentences stand with its relations, and with the node of a path of length 0."""
    relations: Iterator[Relation] = (relation(view, edges, at, snippet=snippet) for at in trail.steps)
    nodes = [node(view, view.node(number), snippet=snippet and not trail.steps) for number in trail.numbers]
    return Path(length=len(trail.steps), nodes=nodes, relations=list(relations))
