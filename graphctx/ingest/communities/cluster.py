"""The cluster step: recursive Leiden (Traag et al. 2019) over the entity graph, by igraph.

The roots are found with the documents and sections as further vertices, bound to the entities that they mention more
than chance would: writers put into one document what belongs together, and sentences alone join topics by common names.
Clusters over the maximum size are divided again inside, which makes the hierarchy: level 0 is the root level, and a
community that was not divided is a leaf. The children of a community hold all of its entities, and no leaf is over
the maximum size: at the last level that the depth allows, what is too large is divided until it fits.
"""

from __future__ import annotations

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

CLUSTER_VERSION = 10
MAX_COMMUNITY_SIZE = 25
MAX_DEPTH = 6
MIN_COMMUNITY_SIZE = 3
"""Two entities and their one edge make no theme."""

SMALL_ROOT = 10
"""A root community of fewer entities is part of the theme beside which it is mentioned."""

RESOLUTIONS = (1.0, 2.0, 4.0)
"""Of modularity: twice as high finds parts of about half the weight (Reichardt & Bornholdt 2006)."""

LARGE_ROOT = 100
ROOT_RESOLUTION = 2.0
"""Of the root level where most entities would be in roots of more than `LARGE_ROOT`: no one heading names all that."""

LARGE_GRAPH = 400_000
"""Edges of a graph that gets `_FEW_ITERATIONS` of Leiden."""

_FEW_ITERATIONS = 2
_MAX_ITERATIONS = 50
"""Graphs of documents are stable after ten iterations or so; but between divisions that are equally good Leiden can go
to and fro for ever, if it is left to end by itself."""


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
        places: where entities are mentioned, from narrow to wide, such as sections and documents: rows of places and
            of entities. Entities that a place binds are more likely in one root community, and a root community of
            fewer than `SMALL_ROOT` entities joins the larger one that is mentioned most beside it.
        max_size: a cluster with more entities is divided further; at least 3.
        max_depth: at most this many levels.
        on_done: called with how many entities are placed.

    Returns:
        Communities sorted by level and id. Entities that are related to no other belong to none.
    """
    import igraph

    edges = np.stack([related["source_row"].to_numpy(), related["target_row"].to_numpy()], axis=1).astype(np.int64)
    # Every weight moves a little with each sentence of the corpus, and communities must not.
    weight = np.round(related["weight"].to_numpy().astype(np.float64), 2)
    language = np.zeros(len(entity_ids), dtype=np.int64) if language is None else language
    kept = (language[edges[:, 0]] == language[edges[:, 1]]) & (weight > 0)
    edges, weight = edges[kept], weight[kept]
    graph = _graph(len(entity_ids), edges, weight)
    try:
        roots = _roots(edges, weight, places, language)
        for place, entity in places:
            roots = join_small_roots(roots, place, entity, language)
        nodes = _hierarchy(graph, roots, max_size, max_depth, on_done)
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


def _graph(count: int, edges: Int, weight: Real) -> igraph.Graph:
    import igraph

    graph = igraph.Graph(n=count, edges=edges)
    graph.es["weight"] = weight
    graph.vs["row"] = list(range(count))
    return graph


def _place_edges(place: Int, entity: Int) -> tuple[Int, Real]:
    """Return the places with the entities that they mention more than chance would, and how much more.

    As of two entities in `relate_entities`: positive normalised pointwise mutual information, by the logarithm of the
    mentions.
    """
    width = int(entity.max()) + 1
    keys, mentions = np.unique(place * width + entity, return_counts=True)
    where, what = np.divmod(keys, width)
    total = len(place)
    expected = np.bincount(place)[where] * np.bincount(entity)[what] / total
    worth = np.log(mentions / expected) / np.log((total + 1) / mentions) * np.log1p(mentions)
    worth = np.round(worth, 2)
    bound = worth > 0
    return np.stack([where[bound], what[bound]], axis=1), worth[bound]


def _with_places(
    edges: Int, weight: Real, places: Sequence[tuple[Int, Int]], language: Int
) -> tuple[igraph.Graph, Int | None]:
    """Return the entity graph with a vertex for each place in each language, and a division of it by the widest places.

    In the division an entity is with the widest place that it is bound to most, a narrower place with an entity.
    """
    count = len(language)
    every, weights = [edges], [weight]
    start = np.arange(count)
    for place, entity in reversed(places):
        if not len(place):
            continue
        place = np.unique(place * (int(language.max()) + 1) + language[entity], return_inverse=True)[1].ravel()
        pairs, worth = _place_edges(place, entity)
        order = np.lexsort((-pairs.sum(axis=1), worth))
        vertices = len(start) + np.arange(int(place.max()) + 1)
        if len(start) == count:
            start[pairs[order, 1]] = vertices[pairs[order, 0]]  # of several for an entity the last one stays
            start = np.concatenate([start, vertices])
        else:
            vertices[pairs[order, 0]] = start[pairs[order, 1]]
            start = np.concatenate([start, vertices])
        every.append(np.stack([pairs[:, 1], len(start) - len(vertices) + pairs[:, 0]], axis=1))
        weights.append(worth)
    graph = _graph(len(start), np.concatenate(every), np.concatenate(weights))
    return graph, np.unique(start, return_inverse=True)[1].ravel() if len(start) > count else None


def _roots(edges: Int, weight: Real, places: Sequence[tuple[Int, Int]], language: Int) -> list[list[int]]:
    """Return the root communities: at resolution 1, or at `ROOT_RESOLUTION` where those are large.

    Those of resolution 1 stay where the others would leave most entities in parts that are too small. What is in too
    small a part joins the root that it has the strongest edges to.
    """
    count = len(language)
    graph, start = _with_places(edges, weight, places, language)
    related = np.bincount(edges.ravel(), minlength=count) > 0

    def parts(resolution: float) -> list[list[int]]:
        found = _leiden(graph, resolution, start)
        entities = ([vertex for vertex in part if vertex < count and related[vertex]] for part in found)
        return [part for part in entities if len(part) >= MIN_COMMUNITY_SIZE]

    coarse = parts(1.0)
    if 2 * sum(len(part) for part in coarse if len(part) > LARGE_ROOT) <= sum(map(len, coarse)):
        return coarse
    owner = np.full(count, -1, dtype=np.int64)
    for number, part in enumerate(parts(ROOT_RESOLUTION)):
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
    grouped = [part.tolist() for part in np.split(order, ends_of) if len(part) and owner[part[0]] >= 0]
    rest = [[vertex for vertex in part if owner[vertex] < 0] for part in coarse]
    return sorted([*grouped, *(part for part in rest if len(part) >= MIN_COMMUNITY_SIZE)])


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
    on_done: Callable[[int], None],
) -> list[_Node]:
    nodes: list[_Node] = []
    placed = 0
    waiting: deque[tuple[igraph.Graph, int, int]] = deque([(graph, 0, -1)])
    while waiting:
        checkpoint()
        part, level, parent = waiting.popleft()
        members = roots if parent < 0 else divide(part, max_size)
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


class _NoChance:
    """Random numbers for igraph that are always the same.

    Leiden visits vertices in random order and merges some at random, by one sequence of numbers: after a change
    anywhere every later number falls to another vertex, and the division changes everywhere. With the highest integer
    igraph's shuffle keeps the order of vertices, which is that of the ids: as good as random, and that of the others
    stays when a vertex is added. Modularity is that of random numbers within 0.012 on five corpora.
    """

    def random(self) -> float:
        return 0.5

    def randint(self, low: int, high: int) -> int:
        return high

    def gauss(self, mean: float, deviation: float) -> float:
        return mean


def _leiden(graph: igraph.Graph, resolution: float, start: Int | None = None) -> list[list[int]]:
    """Return the parts that Leiden finds by modularity: sorted lists of vertices, sorted by their first.

    It begins with the division ``start``, or with every vertex alone, and ends when an iteration changes nothing.
    """
    import igraph

    igraph.set_random_number_generator(_NoChance())
    membership = None if start is None else start.tolist()
    for _ in range(_MAX_ITERATIONS if graph.ecount() <= LARGE_GRAPH else _FEW_ITERATIONS):
        checkpoint()
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
    return sorted(sorted(members) for members in clusters)


def divide(graph: igraph.Graph, max_size: int) -> list[list[int]]:
    """Divide a graph of more than ``max_size`` vertices into two parts or more, which may still be too large.

    No part is smaller than ``MIN_COMMUNITY_SIZE``, or than half of ``max_size`` where that is less.
    """
    least = min(MIN_COMMUNITY_SIZE, (max_size + 1) // 2)
    for resolution in RESOLUTIONS:
        parts = absorb_small_parts(graph, _leiden(graph, resolution), least, max_size)
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
