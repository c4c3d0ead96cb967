"""Which communities are rated and relevant, on trees of any shape."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.knowledge_base import KnowledgeBase
from graphctx.retrieve.global_search.selection import (
    RELEVANT,
    THEME_ENTITIES,
    THEME_SHARE,
    CommunitySelection,
    select_communities,
    themes_of_units,
)
from graphctx.retrieve.graph.communities import CommunityIndex
from graphctx.retrieve.graph.view import GraphView


def run(parents: Sequence[int], ratings: Sequence[float], tests: int) -> CommunitySelection:
    """Select in a tree that is given by the parent of each row; rows with a high rating are looked at first."""
    rows = [np.flatnonzero(np.array(parents) == row) for row in range(-1, len(parents))]
    return select_communities(rows[0], lambda row: rows[row + 1], lambda row: ratings[row], np.array(ratings), tests)


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[int], list[float]]:
    count = draw(st.integers(1, 60))
    parents = [draw(st.integers(-1, row - 1)) for row in range(count)]
    ratings = draw(st.lists(st.floats(0, 1, allow_subnormal=False), min_size=count, max_size=count))
    return parents, ratings


@given(trees(), st.integers(4, 80))
def test_the_budget_of_tests_is_kept_and_what_is_relevant_is_rated(
    tree: tuple[list[int], list[float]], tests: int
) -> None:
    parents, ratings = tree
    made = run(parents, ratings, tests)
    assert len(made.ratings) <= tests
    assert set(made.expanded) | set(made.relevant) <= set(made.ratings)
    best = max(made.ratings.values())
    assert set(made.relevant) == {row for row in made.ratings if ratings[row] >= RELEVANT * best > 0}
    assert [ratings[row] for row in made.relevant] == sorted((ratings[row] for row in made.relevant), reverse=True)
    assert all(parents[row] == -1 or parents[row] in made.expanded for row in made.ratings)


def test_below_a_community_that_is_not_relevant_nothing_is_rated() -> None:
    made = run([-1, -1, 0, 1], [0.9, 0.2, 0.9, 1.0], 10)
    assert made.expanded == [0]
    assert 3 not in made.ratings


def test_a_wide_level_leaves_tests_for_what_is_below_it() -> None:
    parents = [-1] * 500 + [0] * 20
    made = run(parents, [0.9] * 520, 20)
    assert sum(parents[row] == -1 for row in made.ratings) == 10
    assert sum(parents[row] == 0 for row in made.ratings) == 5


def test_the_nearest_relevant_community_is_at_or_above() -> None:
    selection = CommunitySelection({0: 0.9, 1: 0.1}, [0], [0])
    parent = np.array([-1, -1, 0, 2, 1])
    assert selection.nearest(np.array([3, 0, 4, -1]), parent).tolist() == [0, 0, 4, -1]


@pytest.mark.parametrize("level", [0, 1])
def test_the_theme_of_a_unit_holds_enough_of_its_entities(handbook_kb: KnowledgeBase, level: int) -> None:
    searcher = handbook_kb.searcher()
    walk = searcher.index.walk
    communities = CommunityIndex(GraphView(searcher.index, searcher.graph.tables))
    hierarchy = communities.hierarchy
    themes = themes_of_units(communities, np.arange(walk.n_units))
    at_level = np.flatnonzero((themes >= 0) & (hierarchy.level[themes] == level))
    assert len(at_level) > 10
    for unit in at_level.tolist():
        named = walk.pair_entity[walk.unit_pair[unit] : walk.unit_pair[unit + 1]]

        def held(row: int, named: np.ndarray = named) -> int:
            return int(np.isin(named, hierarchy.entities[row]).sum())

        theme = int(themes[unit])
        least = max(THEME_ENTITIES, THEME_SHARE * len(named))
        assert held(theme) >= least
        assert all(held(child) < least for child in hierarchy.child[theme].tolist())
