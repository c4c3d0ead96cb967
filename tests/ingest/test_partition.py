from __future__ import annotations

import igraph
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.ingest import partition

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
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partition, "leiden", lambda graph, resolution: parts)
        patch.setattr(partition, "evenly", lambda graph, max_size: [list(range(graph.vcount()))])
        assert partition.divide(graph, max_size) == [sorted(part) for part in expected]


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
