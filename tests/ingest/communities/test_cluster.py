from __future__ import annotations

import random

import igraph
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphctx.ingest.communities import cluster_entities, entity_languages
from graphctx.ingest.communities.cluster import absorb_small_parts
from graphctx.model.knowledge import Community
from graphctx.store.schema import RELATED


def table(edges: dict[tuple[int, int], float]) -> pa.Table:
    rows = [
        {"source_row": a, "target_row": b, "weight": w, "n_facts": 1, "n_units": 1, "similarity": 0.0}
        for (a, b), w in sorted(edges.items())
    ]
    return pa.Table.from_pylist(rows, schema=RELATED)


def names(n: int) -> list[str]:
    return [f"e_{i:04}" for i in range(n)]


def world(n: int, degree: int, seed: int, crossing: float = 0.1) -> pa.Table:
    """A random graph with groups in it; some edges cross them."""
    rng = np.random.default_rng(seed)
    edges = {}
    for _ in range(n * degree):
        a = int(rng.integers(n))
        b = int(rng.integers(n)) if rng.random() < crossing else (a // 20) * 20 + int(rng.integers(20))
        if a != b and b < n:
            edges[min(a, b), max(a, b)] = round(float(rng.random()) + 0.1, 2)
    return table(edges)


def run(related: pa.Table, n: int, **options: int) -> list[Community]:
    return cluster_entities(related, names(n), **options)


@settings(max_examples=25)
@given(st.integers(3, 300), st.integers(1, 6), st.integers(0, 1000), st.integers(3, 60), st.integers(1, 6))
def test_the_hierarchy_is_a_tree_of_nested_communities_and_no_leaf_is_too_large(
    n: int, degree: int, seed: int, max_size: int, max_depth: int
) -> None:
    found = run(world(n, degree, seed), n, max_size=max_size, max_depth=max_depth)
    by_id = {community.id: community for community in found}
    assert len(by_id) == len(found)
    assert [(c.level, c.id) for c in found] == sorted((c.level, c.id) for c in found)
    inside: dict[str, list[str]] = {}
    for community in found:
        assert len(community.entity_ids) >= min(3, (max_size + 1) // 2)
        assert list(community.entity_ids) == sorted(set(community.entity_ids))
        assert community.level < max_depth
        if community.parent_id is None:
            assert community.level == 0
        else:
            parent = by_id[community.parent_id]
            assert parent.level == community.level - 1
            assert set(community.entity_ids) < set(parent.entity_ids)
            assert len(parent.entity_ids) > max_size
            inside.setdefault(parent.id, []).extend(community.entity_ids)
    for community in found:
        if community.id in inside:
            assert sorted(inside[community.id]) == list(community.entity_ids)
        else:
            assert len(community.entity_ids) <= max_size
    for level in {c.level for c in found}:
        members = [e for c in found if c.level == level for e in c.entity_ids]
        assert len(members) == len(set(members))


@pytest.mark.parametrize("max_size", [3, 4, 5, 7, 40])
@pytest.mark.parametrize("depth", [1, 2, 6])
def test_what_leiden_cannot_divide_is_divided_all_the_same(max_size: int, depth: int) -> None:
    clique = table({(a, b): 1.0 for a in range(45) for b in range(a + 1, 45)})
    star = table({(0, i): 1.0 for i in range(1, 90)})
    for related, n in ((clique, 45), (star, 90)):
        found = run(related, n, max_size=max_size, max_depth=depth)
        parents = {c.parent_id for c in found}
        leaves = [c for c in found if c.id not in parents]
        assert all(min(3, (max_size + 1) // 2) <= len(c.entity_ids) <= max_size for c in leaves)
        assert sorted(e for c in leaves for e in c.entity_ids) == names(n)


def test_the_parts_of_modularity_add_up_to_that_of_the_division() -> None:
    n = 240
    related = world(n, 4, 11)
    found = run(related, n, max_size=12)
    edges = list(zip(related["source_row"].to_pylist(), related["target_row"].to_pylist(), strict=True))
    graph = igraph.Graph(n=n, edges=edges)
    for level in range(max(c.level for c in found) + 1):
        cut = cut_at(found, level)
        label = {entity: number for number, c in enumerate(cut) for entity in c.entity_ids}
        assert len(label) == n  # this graph has no part that is too small for a community
        whole = graph.modularity([label[name] for name in names(n)], weights=related["weight"].to_pylist())
        assert sum(c.modularity for c in cut) == pytest.approx(whole, abs=1e-9)


def cut_at(found: list[Community], level: int) -> list[Community]:
    """The communities of a level, and the leaves above it."""
    parents = {c.parent_id for c in found}
    return [c for c in found if c.level == level or (c.level < level and c.id not in parents)]


def test_a_new_entity_leaves_most_communities_as_they_are() -> None:
    n, ids = 2000, names(2000)
    related = world(n, 4, 1, crossing=0.3)
    before = {c.entity_ids for c in cluster_entities(related, ids)}
    kept = []
    for at in (5, 1000, 1999):
        edges = {
            tuple(row + (row >= at) for row in (r["source_row"], r["target_row"])): r["weight"]
            for r in related.to_pylist()
        }
        edges[at - 2, at] = edges[at - 1, at] = 0.5
        after = {c.entity_ids for c in cluster_entities(table(edges), [*ids[:at], f"{ids[at - 1]}_", *ids[at:]])}
        kept.append(len(before & after) / len(before))
    assert sum(kept) / len(kept) > 0.75


def test_two_runs_give_the_same_and_leave_the_random_numbers_of_others_alone() -> None:
    related = world(400, 4, 7)
    random.seed(3)
    first = run(related, 400)
    drawn = random.random()
    random.seed(3)
    assert random.random() == drawn
    random.seed(99)
    assert run(related, 400) == first


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_a_graph_without_edges_has_no_communities(n: int) -> None:
    assert run(RELATED.empty_table(), n) == []


LEAST = 3


@st.composite
def divided(draw: st.DrawFn) -> tuple[igraph.Graph, list[list[int]], int]:
    """A weighted graph, a division of it into parts that may be too small, and a largest size."""
    n = draw(st.integers(4, 40))
    vertices = st.integers(0, n - 1)
    edges = draw(st.dictionaries(st.tuples(vertices, vertices), st.sampled_from([0.1, 1.0, 2.0]), max_size=3 * n))
    edges = {(a, b): weight for (a, b), weight in edges.items() if a < b}
    graph = igraph.Graph(n=n, edges=list(edges))
    graph.es["weight"] = list(edges.values())
    owner = draw(st.lists(st.integers(0, n // 3), min_size=n, max_size=n))
    parts = [[vertex for vertex in range(n) if owner[vertex] == number] for number in sorted(set(owner))]
    return graph, sorted(parts), draw(st.integers(2 * LEAST - 1, 12))


@given(divided())
def test_a_part_that_is_too_small_joins_the_one_with_room_that_it_is_bound_to_most(
    given_: tuple[igraph.Graph, list[list[int]], int],
) -> None:
    graph, parts, max_size = given_
    small = [part for part in parts if len(part) < LEAST]
    expected = [list(range(graph.vcount()))]
    if 2 * sum(map(len, small)) <= graph.vcount():
        expected = [list(part) for part in parts if len(part) >= LEAST]
        for part in small:
            target = min(range(len(expected)), key=lambda one: rank(graph, part, expected[one], max_size, one))
            expected[target].extend(part)
    assert absorb_small_parts(graph, parts, LEAST, max_size) == [sorted(part) for part in expected]


def rank(graph: igraph.Graph, part: list[int], other: list[int], max_size: int, number: int) -> tuple[bool, float, int]:
    """The less the better: room first, then the weight of the edges between, then the order of the parts."""
    full = len(other) + len(part) > max_size >= len(other)
    inside, outside = set(part), set(other)
    weight = 0.0
    for vertex in part:
        for edge in graph.incident(vertex):
            (end,) = set(graph.es[edge].tuple) - {vertex}
            weight += graph.es[edge]["weight"] if end in outside - inside else 0.0
    return full, -weight, number


def test_a_small_root_is_part_of_the_one_that_is_mentioned_beside_it_most() -> None:
    groups = [range(12), range(12, 24), range(24, 28), range(28, 32)]
    related = table({(a, b): 1.0 for group in groups for a in group for b in group if a < b})
    beside = [(0, 0), (0, 24), (1, 12), (1, 24), (2, 13), (2, 25), (3, 28)]  # units, entities; nothing is beside 28
    unit, entity = np.array(beside, dtype=np.int64).T
    found = cluster_entities(related, names(32), max_size=40, places=[(unit, entity)])
    assert sorted(len(one.entity_ids) for one in found) == [4, 12, 16]
    [joined] = [one for one in found if len(one.entity_ids) == 16]
    assert set(joined.entity_ids) == {names(32)[row] for row in (*groups[1], *groups[2])}
    assert cluster_entities(related, names(32), max_size=40, places=[(unit[::-1], entity[::-1])]) == found


def test_entities_of_two_languages_share_no_community() -> None:
    related = table({(a, b): 1.0 for a in range(24) for b in range(a + 1, 24)})
    entity = np.array([*range(24), 12], dtype=np.int64)  # 12 is named in English once, and twice in German
    document = np.array([0] * 13 + [1] * 11 + [1], dtype=np.int64)
    entity, document = np.append(entity, 12), np.append(document, 1)
    language = entity_languages(["en", "de"], document, entity, 24)
    assert language.tolist() == [language[0]] * 12 + [language[23]] * 12
    assert language[0] != language[23]
    found = cluster_entities(related, names(24), max_size=40, language=language, places=[(document, entity)])
    assert sorted(one.entity_ids for one in found) == [tuple(names(24)[:12]), tuple(names(24)[12:])]
    assert entity_languages(["en", ""], document, entity, 24).tolist() == [0] * 24


def test_entities_that_documents_keep_apart_are_in_different_communities() -> None:
    pairs = {(at, at + 6): 0.2 for at in range(6)}
    related = table(
        pairs | {(a, b): 0.05 for first in (0, 6) for a in range(first, first + 6) for b in range(a + 1, first + 6)}
    )
    document, entity = (
        np.repeat(np.arange(2), 18),
        np.concatenate([np.tile(np.arange(one, one + 6), 3) for one in (0, 6)]),
    )
    found = cluster_entities(related, names(12), places=[(document, entity)])
    assert sorted(one.entity_ids for one in found) == [tuple(names(12)[:6]), tuple(names(12)[6:])]
    assert len(cluster_entities(related, names(12))) != 2


def test_entities_that_are_related_to_none_are_in_no_community() -> None:
    related = table({(a, b): 1.0 for a in range(5) for b in range(a + 1, 5)})
    mentions = (np.zeros(20, dtype=np.int64), np.arange(20))
    [found] = cluster_entities(related, names(40), places=[mentions])
    assert found.entity_ids == tuple(names(40)[:5])
