"""Dynamic community selection: which communities of the hierarchy bear on a question.

As in GraphRAG's dynamic community selection and in LazyGraphRAG (Microsoft Research, 2024), the hierarchy is searched
from the roots down under a budget of relevance tests. There a language model says yes or no to a community; here a
community has a rating, which is compared with the best.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graphctx.model.interrupt import checkpoint
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.graph.communities import CommunityIndex
from graphctx.retrieve.ranking import RRF_K
from graphctx.store.walk import gather

RELEVANT = 0.5
"""A community is relevant if its rating is at least this much of the best one."""

THEME_SHARE, THEME_ENTITIES = 0.4, 2
"""The theme of a unit is a community that holds at least this much of its entities, and no fewer than two."""

Real = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CommunitySelection:
    """The communities that were rated for a question.

    Attributes:
        ratings: by row.
        expanded: communities with a child that was rated.
        relevant: best first.
    """

    ratings: dict[int, float]
    expanded: list[int]
    relevant: list[int]

    def nearest(self, rows: Rows, parent: Rows) -> Rows:
        """Return for each community itself or the nearest one above it that is relevant; itself if none is."""
        relevant = set(self.relevant)
        found = []
        for row in rows.tolist():
            at = row
            while at >= 0 and at not in relevant:
                at = int(parent[at])
            found.append(at if at >= 0 else row)
        return np.array(found, dtype=np.int64)


def select_communities(
    roots: Rows, children: Callable[[int], Rows], rate: Callable[[int], float], order: Real, tests: int
) -> CommunitySelection:
    """Rate communities level by level, below those that are relevant only.

    A level takes at most half of the tests that are left, so that a wide level leaves some for what is below it.

    Args:
        roots: the communities of the first level.
        children: returns the communities directly below one.
        rate: returns the rating of a community, in 0..1.
        order: float64 [C]; on each level those with a high value are rated first.
        tests: the largest number of ratings.
    """
    ratings: dict[int, float] = {}
    rows = roots
    while len(rows) and len(ratings) < tests:
        rows = rows[np.argsort(-order[rows], kind="stable")][: (tests - len(ratings) + 1) // 2]
        for row in rows.tolist():
            checkpoint()
            ratings[row] = rate(row)
        parents = [row for row in rows.tolist() if _relevant(ratings, row)]
        rows = np.concatenate([np.empty(0, dtype=np.int64), *map(children, parents)])
    expanded = [row for row in ratings if any(child in ratings for child in children(row).tolist())]
    relevant = sorted((row for row in ratings if _relevant(ratings, row)), key=lambda row: (-ratings[row], row))
    return CommunitySelection(ratings, expanded, relevant)


def _relevant(ratings: dict[int, float], row: int) -> bool:
    return ratings[row] > 0 and ratings[row] >= RELEVANT * max(ratings.values())


def community_scores(communities: CommunityIndex, units: Rows) -> Real:
    """Return how much some units name each community, float64 [C].

    A unit counts for the communities of the entities that it names, once for each, by reciprocal rank. This looks up
    the entities of a few units, and compares nothing with the question.

    Args:
        communities: of the scope.
        units: unit rows, best first.
    """
    hierarchy, walk = communities.hierarchy, communities.view.walk
    scores = np.zeros(len(hierarchy))
    pairs, rank = gather(walk.unit_pair, units)
    rows = hierarchy.finest[walk.pair_entity[pairs]]
    while (kept := rows >= 0).any():
        rows, rank = np.unique(np.stack([rows[kept], rank[kept]]), axis=1)
        np.add.at(scores, rows, 1.0 / (RRF_K + 1 + rank))
        rows = hierarchy.parent[rows]
    return np.round(scores, 9)


def themes_of_units(communities: CommunityIndex, units: Rows) -> Rows:
    """Return the theme of each unit: the finest community that holds enough of its entities, -1 if there is none.

    Of several at one level the one that holds the most, then the lower row.
    """
    hierarchy, walk = communities.hierarchy, communities.view.walk
    pairs, owner = gather(walk.unit_pair, units)
    n_entities = np.bincount(owner, minlength=len(units))
    rows = hierarchy.finest[walk.pair_entity[pairs]]
    levels = []
    while (kept := rows >= 0).any():
        owner, rows = owner[kept], rows[kept]
        levels.append(np.stack([owner, rows]))
        rows = hierarchy.parent[rows]
    themes: Rows = np.full(len(units), -1, dtype=np.int64)
    if levels:
        (owner, rows), counts = np.unique(np.concatenate(levels, axis=1), axis=1, return_counts=True)
        enough = communities.visible[rows] & (counts >= np.maximum(THEME_SHARE * n_entities[owner], THEME_ENTITIES))
        owner, rows, counts = owner[enough], rows[enough], counts[enough]
        order = np.lexsort((-rows, counts, hierarchy.level[rows]))
        themes[owner[order]] = rows[order]  # of several values for a unit the last one stays
    return themes
