"""Which communities are rated, on trees of any shape."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphctx.retrieve.global_search.descend import BEARS, PATIENCE, Descent, descend


@dataclass
class Shape:
    """The children of each community; of the roots `-1`."""

    below: dict[int, list[int]] = field(default_factory=dict)

    @property
    def child(self) -> list[np.ndarray]:
        return [np.array(self.below.get(row, []), dtype=np.int64) for row in range(self.count)]

    @property
    def count(self) -> int:
        return sum(map(len, self.below.values()))


class Tree:
    """Communities as far as a descent looks at them."""

    def __init__(self, parents: list[int]) -> None:
        shape = Shape()
        for row, parent in enumerate(parents):
            shape.below.setdefault(parent, []).append(row)
        self.hierarchy = _Hierarchy(shape.child)
        self._roots = shape.below.get(-1, [])

    def roots(self) -> np.ndarray:
        return np.array(self._roots, dtype=np.int64)

    def children(self, row: int) -> np.ndarray:
        return self.hierarchy.child[row]


@dataclass
class _Hierarchy:
    child: list[np.ndarray]


def run(parents: list[int], ratings: list[float], tests: int, evidence: list[float] | None = None) -> Descent:
    weights = np.array(evidence if evidence is not None else ratings)
    return descend(Tree(parents), weights, lambda row: ratings[row], tests)  # type: ignore[arg-type]


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[int], list[float]]:
    count = draw(st.integers(1, 60))
    parents = [draw(st.integers(-1, row - 1)) for row in range(count)]
    ratings = draw(st.lists(st.floats(0, 1), min_size=count, max_size=count))
    return parents, ratings


@given(trees(), st.integers(4, 80))
def test_the_tests_are_kept_to_and_what_is_chosen_bears(tree: tuple[list[int], list[float]], tests: int) -> None:
    parents, ratings = tree
    made = run(parents, ratings, tests)
    assert len(made.ratings) <= tests
    assert set(made.descended) <= set(made.ratings)
    assert set(made.chosen) <= set(made.ratings)
    best = max(made.ratings.values(), default=0.0)
    assert all(ratings[row] >= BEARS * best and ratings[row] > 0 for row in made.chosen)
    assert [ratings[row] for row in made.chosen] == sorted((ratings[row] for row in made.chosen), reverse=True)
    for row in made.ratings:  # nothing is rated before what is above it
        assert parents[row] == -1 or parents[row] in made.descended
    # The best of all that was rated is always told: by itself or by a child that is rated as high.
    assert not best or any(ratings[row] == best for row in made.chosen)


def test_a_parent_gives_way_to_a_better_child_and_stays_beside_a_worse_one() -> None:
    assert run([-1, 0, -1, 2], [0.5, 0.6, 0.5, 0.4], 10).chosen == [1, 2, 3]


def test_a_branch_that_does_not_bear_is_not_descended_into() -> None:
    made = run([-1, -1, 0, 1], [0.9, 0.2, 0.9, 1.0], 10)
    assert made.descended == [0]
    assert 3 not in made.ratings


def test_several_in_a_row_that_do_not_bear_end_the_search_among_the_roots() -> None:
    ratings = [1.0] + [0.1] * 500
    made = run([-1] * 501, ratings, 1000)
    assert len(made.ratings) == 1 + PATIENCE


def test_the_number_of_rated_communities_does_not_grow_with_their_number() -> None:
    rated = {}
    for roots in (50, 5_000):
        parents = [-1] * roots + [row for row in range(roots) for _ in range(10)]
        ratings = [0.9 if row % roots == 7 else 0.1 for row in range(roots)] + [0.1] * (10 * roots)
        rated[roots] = len(run(parents, ratings, 64).ratings)
    assert rated[50] == rated[5_000] <= 64


def test_half_of_the_tests_are_for_roots_while_there_is_something_below() -> None:
    parents = [-1] * 20 + [0] * 20
    made = run(parents, [0.9] * 40, 20)
    assert sum(parents[row] == -1 for row in made.ratings) == 10
    assert made.descended == [0]


def test_what_is_left_of_the_tests_goes_to_further_roots() -> None:
    assert len(run([-1] * 20, [0.9] * 20, 20).ratings) == 20
