"""The cluster step: recursive Leiden (Traag et al. 2019) over the entity graph, by igraph.

Clusters over the maximum size are divided again inside, which makes the hierarchy: level 0 is the root level, and a
community that was not divided is a leaf. The children of a community hold all of its entities, and no leaf is over
the maximum size: at the last level that the depth allows, what is too large is divided until it fits.
"""

from __future__ import annotations

import math
import random
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from graphctx.model.ids import content_id
from graphctx.model.interrupt import checkpoint
from graphctx.model.knowledge import Community

if TYPE_CHECKING:
    import igraph

Int = npt.NDArray[np.int64]
Real = npt.NDArray[np.float64]

CLUSTER_VERSION = 8
MAX_COMMUNITY_SIZE = 25
MAX_DEPTH = 6
MIN_COMMUNITY_SIZE = 3
"""Two entities and their one edge make no theme."""

SMALL_ROOT = 10
"""A root community of fewer entities is part of the theme beside which it is mentioned."""

SEED = 20_250_101
RESOLUTIONS = (1.0, 2.0, 4.0)
"""Of modularity: twice as high finds parts of about half the weight (Reichardt & Bornholdt 2006)."""

LARGE_ROOT = 100
ROOT_RESOLUTION = 2.0
"""Of the root level where most entities would be in roots of more than `LARGE_ROOT`: no one heading names all that."""

RUNS = 64
RUN_EDGES = 400_000
"""Leiden ends in one of many divisions that are almost equally good. The best of many runs is found again after a
small change of the graph: on the sample handbook 91 % of the ids stay when a document comes or goes, 75 % after one
run (measured). All runs over the whole graph look at about `RUN_EDGES` edges together, and its parts get as many runs:
below roots that were not found again there is nothing to find again. A graph that is too large for `RUNS` is divided
once at its roots, from the division by documents: of 63,000 edges that finds the modularity of the best of six runs
from nothing (0.7485 and 0.7487) in a fifth of the time of one."""

_ONCE_ITERATIONS = 2
_MAX_ITERATIONS = 50
"""Iterations of a run at most. Graphs of documents are stable after ten or so; but between divisions that are equally
good Leiden can go to and fro for ever, if it is left to end by itself."""


def cluster_entities(
    related: pa.Table,
    entity_ids: Sequence[str],
    *,
    max_size: int = MAX_COMMUNITY_SIZE,
    max_depth: int = MAX_DEPTH,
    language: Int | None = None,
    places: Sequence[tuple[Int, Int]] = (),
    on_done: Callable[[int], None] = lambda done: None,
) -> list[Community]:
    """Cluster the entity graph.

    Args:
        related: schema ``RELATED``; its ``weight`` is used.
        entity_ids: ids by row, sorted.
        language: int64 [E], as `entity_languages` returns it; entities of different languages share no community.
        places: where entities are mentioned, from narrow to wide, such as units and documents: rows of places and of
            entities. A root community of fewer than `SMALL_ROOT` entities joins the larger one that is mentioned most
            beside it.
        max_size: a cluster with more entities is divided further; at least 3.
        max_depth: at most this many levels.
        on_done: called with how many entities are placed.

    Returns:
        Communities sorted by level and id. Entities that are related to at most one other belong to none.
    """
    import igraph

    edges = np.stack([related["source_row"].to_numpy(), related["target_row"].to_numpy()], axis=1).astype(np.int64)
    weight = related["weight"].to_numpy().astype(np.float64)
    language = np.zeros(len(entity_ids), dtype=np.int64) if language is None else language
    alike = language[edges[:, 0]] == language[edges[:, 1]]
    edges, weight = edges[alike], weight[alike]
    graph = igraph.Graph(n=len(entity_ids), edges=edges)
    graph.es["weight"] = weight
    graph.vs["row"] = list(range(len(entity_ids)))
    runs = min(RUNS, max(1, RUN_EDGES // max(1, graph.ecount())))
    start = _most_mentioning(*places[-1], len(entity_ids)) if places and runs < RUNS else None
    try:
        roots = _roots(graph, edges, weight, runs if start is None else 1, start)
        for place, entity in places:
            roots = join_small_roots(roots, place, entity, language)
        nodes = _hierarchy(graph, roots, max_size, max_depth, runs, on_done)
    finally:  # `_leiden` has set igraph's source of random numbers, which the whole process shares
        igraph.set_random_number_generator(random)
    on_done(len(entity_ids))  # including those in no community
    return _communities(nodes, entity_ids, edges, weight)


def entity_languages(languages: Sequence[str], document: Int, entity: Int, count: int) -> Int:
    """Return the language of each entity: that of the documents that mention it most.

    Args:
        languages: of each document, empty where it is not known.
        document, entity: int64 [m], the mentions: rows of documents and of entities.
        count: the number of entities.

    Returns:
        int64 [count], a number for each language; 0, the language with the most mentions, where none is known.
    """
    known = Counter(languages[row] for row in document.tolist() if languages[row])
    numbers = {name: number for number, name in enumerate(sorted(known, key=lambda name: (-known[name], name)))}
    found = np.zeros(count, dtype=np.int64)
    if len(numbers) < 2:
        return found
    spoken = np.array([numbers.get(name, -1) for name in languages], dtype=np.int64)[document]
    kept = spoken >= 0
    (row, number), mentions = np.unique(np.stack([entity[kept], spoken[kept]]), axis=1, return_counts=True)
    order = np.lexsort((-number, mentions))
    found[row[order]] = number[order]  # of several for an entity the last one stays
    return found


@dataclass(frozen=True, slots=True)
class _Node:
    """A community before it has an id: ``parent`` is a position in the list of nodes, -1 for a root."""

    level: int
    parent: int
    rows: Int


def _most_mentioning(place: Int, entity: Int, count: int) -> Int:
    """Return the place that mentions each of ``count`` entities most, numbered from 0."""
    pairs, mentions = np.unique(np.stack([place, entity]), axis=1, return_counts=True)
    order = np.lexsort((-pairs[0], mentions))
    found = np.full(count, -1, dtype=np.int64)
    found[pairs[1, order]] = pairs[0, order]  # of several for an entity the last one stays
    return np.unique(found, return_inverse=True)[1].ravel()


def _roots(graph: igraph.Graph, edges: Int, weight: Real, runs: int, start: Int | None) -> list[list[int]]:
    """The root communities: at resolution 1, or at `ROOT_RESOLUTION` where those are large.

    Those of resolution 1 stay where the others would leave most entities in parts that are too small. What is in too
    small a part joins the root that it has the strongest edges to.
    """
    coarse = [part for part in _leiden(graph, 1.0, runs, start) if len(part) >= MIN_COMMUNITY_SIZE]
    if 2 * sum(len(part) for part in coarse if len(part) > LARGE_ROOT) <= sum(map(len, coarse)):
        return coarse
    owner = np.full(graph.vcount(), -1, dtype=np.int64)
    for number, part in enumerate(_leiden(graph, ROOT_RESOLUTION, runs, start)):
        if len(part) >= MIN_COMMUNITY_SIZE:
            owner[part] = number
    if 2 * int((owner >= 0).sum()) < sum(map(len, coarse)):
        return coarse
    ends, weights = np.concatenate([edges, edges[:, ::-1]]), np.concatenate([weight, weight])
    while (bound := (owner[ends[:, 0]] < 0) & (owner[ends[:, 1]] >= 0)).any():
        pairs = np.stack([ends[bound, 0], owner[ends[bound, 1]]])
        (vertex, root), at = np.unique(pairs, axis=1, return_inverse=True)
        strength = np.round(np.bincount(at.ravel(), weights=weights[bound]), 9)
        order = np.lexsort((-root, strength))
        owner[vertex[order]] = root[order]  # of several for a vertex the last one stays
    order = np.argsort(owner, kind="stable")
    ends_of = np.flatnonzero(np.diff(owner[order])) + 1
    parts = [part.tolist() for part in np.split(order, ends_of) if len(part) and owner[part[0]] >= 0]
    rest = [[vertex for vertex in part if owner[vertex] < 0] for part in coarse]
    return sorted([*parts, *(part for part in rest if len(part) >= MIN_COMMUNITY_SIZE)])


def join_small_roots(roots: list[list[int]], place: Int, entity: Int, language: Int) -> list[list[int]]:
    """Join root communities of fewer than `SMALL_ROOT` entities with the larger ones that share most places with them.

    Args:
        roots: sorted entity rows of each.
        place, entity: int64 [m], the mentions: rows of places and of entities.
        language: int64 [E]; a root joins one of its own language.

    Returns:
        The roots that are left, sorted by their first entity. One that shares no place with a larger one stays.
    """
    owner = np.full(len(language), -1, dtype=np.int64)
    place = place * (int(language.max(initial=0)) + 1) + language[entity]
    for number, root in enumerate(roots):
        owner[root] = number
    small = np.array([len(root) < SMALL_ROOT for root in roots], dtype=bool)
    kept = owner[entity] >= 0
    if not small.any() or small.all() or not kept.any():
        return roots
    (where, root), mentions = np.unique(np.stack([place[kept], owner[entity[kept]]]), axis=1, return_counts=True)
    order = np.lexsort((root, -mentions, small[root], where))
    first = order[np.unique(where[order], return_index=True)[1]]  # of each place the larger root that is named most
    largest = np.full(int(place.max()) + 1, -1, dtype=np.int64)
    largest[where[first]] = np.where(small[root[first]], -1, root[first])
    meets = small[root] & (largest[where] >= 0)
    (joined, larger), shared = np.unique(np.stack([root[meets], largest[where[meets]]]), axis=1, return_counts=True)
    target = np.arange(len(roots))
    for at in np.lexsort((-larger, shared)).tolist():  # of several for a root the last one stays
        target[joined[at]] = larger[at]
    groups: dict[int, list[int]] = {}
    for number, root_rows in enumerate(roots):
        groups.setdefault(int(target[number]), []).extend(root_rows)
    return sorted(sorted(rows) for rows in groups.values())


def _hierarchy(
    graph: igraph.Graph,
    roots: list[list[int]],
    max_size: int,
    max_depth: int,
    runs: int,
    on_done: Callable[[int], None],
) -> list[_Node]:
    nodes: list[_Node] = []
    placed = 0
    waiting: deque[tuple[igraph.Graph, int, int]] = deque([(graph, 0, -1)])
    while waiting:
        checkpoint()
        part, level, parent = waiting.popleft()
        members = roots if parent < 0 else divide(part, max_size, runs)
        if level + 1 >= max_depth:
            members = _small_enough(part, members, max_size, runs)
        rows = np.array(part.vs["row"], dtype=np.int64)
        for one in members:
            if len(one) > max_size:
                waiting.append((part.induced_subgraph(one), level + 1, len(nodes)))
            else:
                placed += len(one)
            nodes.append(_Node(level, parent, rows[one]))
        on_done(placed)
    return nodes


def _small_enough(graph: igraph.Graph, parts: list[list[int]], max_size: int, runs: int) -> list[list[int]]:
    """The same vertices in parts that are not over the maximum size."""
    done: list[list[int]] = []
    waiting = parts[::-1]
    while waiting:
        part = waiting.pop()
        if len(part) <= max_size:
            done.append(part)
        else:
            inside = divide(graph.induced_subgraph(part), max_size, runs)
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


def _leiden(graph: igraph.Graph, resolution: float, runs: int, start: Int | None = None) -> list[list[int]]:
    """The best parts that some runs of Leiden find by modularity: sorted lists of vertices, sorted by their first.

    Each call begins with the same random numbers, so that what is found depends on this graph alone and not on what
    was divided before. A run begins with the division ``start``, or with every vertex alone.
    """
    import igraph

    igraph.set_random_number_generator(random.Random(SEED))
    best, found = -math.inf, []
    for _ in range(runs):
        checkpoint()
        clusters = _run(graph, resolution, None if start is None else start.tolist())
        quality = round(graph.modularity(clusters, weights="weight", resolution=resolution), 9) if runs > 1 else 0.0
        if quality > best:
            best, found = quality, [sorted(members) for members in clusters]
    return sorted(found)


def _run(graph: igraph.Graph, resolution: float, membership: list[int] | None) -> igraph.VertexClustering:
    """One run of Leiden: until an iteration changes nothing, or to its limit."""
    for _ in range(_MAX_ITERATIONS if graph.ecount() <= RUN_EDGES else _ONCE_ITERATIONS):
        clusters = graph.community_leiden(
            objective_function="modularity",
            weights="weight",
            resolution=resolution,
            n_iterations=1,
            initial_membership=membership,
        )
        if clusters.membership == membership:
            break
        membership = clusters.membership
    return clusters


def divide(graph: igraph.Graph, max_size: int, runs: int = 1) -> list[list[int]]:
    """Divide a graph of more than ``max_size`` vertices into two parts or more, which may still be too large.

    No part is smaller than ``MIN_COMMUNITY_SIZE``, or than half of ``max_size`` where that is less.
    """
    least = min(MIN_COMMUNITY_SIZE, (max_size + 1) // 2)
    for resolution in RESOLUTIONS:
        parts = absorb_small_parts(graph, _leiden(graph, resolution, runs), least, max_size)
        if len(parts) > 1:
            return parts
    return _evenly(graph, max_size)


def _evenly(graph: igraph.Graph, max_size: int) -> list[list[int]]:
    """Cut a graph into as few parts as fit, of equal size within one, along its maximum spanning trees."""
    tree = graph.spanning_tree(weights=[-weight for weight in graph.es["weight"]])
    strength = graph.strength(weights="weight")
    order: dict[int, None] = {}
    for start in sorted(range(graph.vcount()), key=lambda vertex: (-strength[vertex], vertex)):
        if start not in order:
            order |= dict.fromkeys(tree.dfs(start)[0])
    count = -(-len(order) // max_size)
    return sorted(sorted(part.tolist()) for part in np.array_split(np.array(list(order)), count))


def absorb_small_parts(graph: igraph.Graph, parts: list[list[int]], least: int, max_size: int) -> list[list[int]]:
    """Merge each part of fewer than ``least`` vertices into the part that it has the strongest edges to.

    A part that stays within ``max_size`` is preferred. Where most vertices lie in small parts, the graph counts as
    undivided and one part with all vertices is returned.
    """
    small = [number for number, part in enumerate(parts) if len(part) < least]
    if 2 * sum(len(parts[number]) for number in small) > graph.vcount():
        return [list(range(graph.vcount()))]
    owner = np.zeros(graph.vcount(), dtype=np.int64)
    for number, part in enumerate(parts):
        owner[part] = number
    size = np.bincount(owner, minlength=len(parts))
    weight = graph.es["weight"]
    whole = np.setdiff1d(np.arange(len(parts)), small)
    is_whole = np.isin(np.arange(len(parts)), whole)
    for number in small:
        checkpoint()
        added = len(parts[number])
        # Of all the parts that it is not bound to, only the first and the first with room can be chosen.
        roomy = whole[_has_room(size[whole], added, max_size)]
        bound = dict.fromkeys([*whole[:1].tolist(), *roomy[:1].tolist()], 0.0)
        for vertex in parts[number]:
            for edge in graph.incident(vertex):
                for end in graph.es[edge].tuple:
                    other = int(owner[end])
                    if is_whole[other]:
                        bound[other] = bound.get(other, 0.0) + weight[edge]
        room = dict(zip(bound, _has_room(size[list(bound)], added, max_size).tolist(), strict=True))
        chosen = min(bound, key=lambda one: (not room[one], -bound[one], one))
        owner[parts[number]] = chosen
        size[chosen] += added
    order = np.argsort(owner, kind="stable")
    ends = np.cumsum(np.bincount(owner, minlength=len(parts)))
    return [part.tolist() for part in np.split(order, ends)[: len(parts)] if len(part)]


def _has_room(size: npt.NDArray[np.int64], added: int, max_size: int) -> npt.NDArray[np.bool_]:
    """Which parts stay within the maximum size, or are over it in any case."""
    return (size + added <= max_size) | (size > max_size)
