"""Which communities a plain search leads to: cheap evidence, by which the descent chooses whom to rate first."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.communities import Communities
from graphctx.retrieve.ranking import RRF_K
from graphctx.store.walk import gather

Real = npt.NDArray[np.float64]

THEME_SHARE, THEME_ENTITIES = 0.4, 2
"""Of so many of its unit's entities, and no fewer of them than two, a point is said to belong to their community. With
less the title would be about something else: an aside that shares one name with it."""


def evidence_of(communities: Communities, units: Rows) -> Real:
    """How much the units that a search found speak of each community.

    A unit speaks of the communities of the entities that it names, once of each, and counts by its place as in
    reciprocal rank fusion. Nothing is compared with a question here: it is a look-up of the entities of a few units.

    Args:
        communities: that may be seen.
        units: unit rows, best first.

    Returns:
        float64 [C].
    """
    hierarchy, walk = communities.hierarchy, communities.view.walk
    found = np.zeros(len(hierarchy))
    pairs, owner = gather(walk.unit_pair, units)
    at = hierarchy.finest[walk.pair_entity[pairs]]
    keys = np.unique(np.stack([at, owner], axis=1)[at >= 0], axis=0).reshape(-1, 2)
    while len(keys):
        np.add.at(found, keys[:, 0], 1.0 / (RRF_K + 1 + keys[:, 1]))
        above = np.stack([hierarchy.parent[keys[:, 0]], keys[:, 1]], axis=1)
        keys = np.unique(above[above[:, 0] >= 0], axis=0).reshape(-1, 2)
    return np.round(found, 9)


def home_of_units(communities: Communities, units: Rows) -> Rows:
    """The finest community that most entities of each unit belong to, -1 where none does; ties to the lower row."""
    hierarchy, walk = communities.hierarchy, communities.view.walk
    pairs, owner = gather(walk.unit_pair, units)
    at = hierarchy.finest[walk.pair_entity[pairs]]
    kept = at >= 0
    kept[kept] = communities.seen[at[kept]]
    home = np.full(len(units), -1, dtype=np.int64)
    keys, counts = np.unique(np.stack([owner[kept], at[kept]], axis=1), axis=0, return_counts=True)
    order = np.lexsort((keys[:, 1], -counts, keys[:, 0]))
    first = order[np.flatnonzero(np.diff(keys[order, 0], prepend=-1))]
    home[keys[first, 0]] = keys[first, 1]
    return home


def themes_of_units(communities: Communities, units: Rows) -> Rows:
    """The finest community that enough of the entities of each unit belong to, -1 where there is none.

    Of several of one level that with the most of them, then the lower row.
    """
    hierarchy, walk = communities.hierarchy, communities.view.walk
    pairs, owner = gather(walk.unit_pair, units)
    n_entities = np.bincount(owner, minlength=len(units))
    at = hierarchy.finest[walk.pair_entity[pairs]]
    found = np.full(len(units), -1, dtype=np.int64)
    chains = []
    while (kept := at >= 0).any():
        owner, at = owner[kept], at[kept]
        chains.append(np.stack([owner, at], axis=1))
        at = hierarchy.parent[at]
    if not chains:
        return found
    keys, counts = np.unique(np.concatenate(chains), axis=0, return_counts=True)
    enough = (counts >= np.maximum(THEME_SHARE * n_entities[keys[:, 0]], THEME_ENTITIES)) & communities.seen[keys[:, 1]]
    keys, counts = keys[enough], counts[enough]
    order = np.lexsort((keys[:, 1], -counts, -hierarchy.level[keys[:, 1]], keys[:, 0]))
    first = order[np.flatnonzero(np.diff(keys[order, 0], prepend=-1))]
    found[keys[first, 0]] = keys[first, 1]
    return found
