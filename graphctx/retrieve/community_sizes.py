"""How large communities are within a scope: members that are named there, and units that treat of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.graph.view import TITLE_PLACE, Mask, View
from graphctx.retrieve.hierarchy import Hierarchy


class Counted:
    """The sizes of all communities within one scope; it holds no index, or none would ever be let go.

    Attributes:
        naming: int64 [E], in how many of the units that may be seen each entity is named.
        n_entities: int64 [C], the members that are named there.
        titles, points: those that were made so far.
        units: int64 [C] by level, made when they are asked for.
    """

    def __init__(self, naming: Rows, n_entities: Rows) -> None:
        self.naming = naming
        self.n_entities = n_entities
        self.titles: dict[int, str] = {}
        self.points: dict[int, Rows] = {}
        self.units: dict[int, Rows] = {}

    @classmethod
    def of(cls, view: View, hierarchy: Hierarchy) -> Counted:
        """Count what may be seen."""
        pairs = _named_pairs(view)
        naming = np.bincount(view.walk.pair_entity[pairs], minlength=view.walk.n_entities).astype(np.int64)
        members = hierarchy.entities
        seen = np.ones(len(members.value), bool) if view.whole else naming[members.value] > 0
        return cls(naming, np.bincount(members.owner[seen], minlength=len(hierarchy)).astype(np.int64))


def treating_units(view: View, hierarchy: Hierarchy, level: int) -> Rows:
    """How many units that may be seen treat of each community of a level; 0 for those of other levels, int64 [C]."""
    walk, count = view.walk, len(hierarchy)
    members = hierarchy.entities
    here = hierarchy.level[members.owner] == level
    owner = np.full(walk.n_entities, -1, dtype=np.int64)
    owner[members.value[here]] = members.owner[here]
    n_units = max(walk.n_units, 1)

    def keys_of(unit: npt.NDArray[np.integer], entity: npt.NDArray[np.integer]) -> Rows:
        kept = owner[entity] >= 0
        keys: Rows = owner[entity[kept]] * n_units + unit[kept].astype(np.int64)
        return keys

    mentioned = np.flatnonzero(_mentions(view) > 0)
    keys, distinct = np.unique(
        keys_of(walk.pair_unit[mentioned], walk.pair_entity[mentioned].astype(np.int64)), return_counts=True
    )
    home_entity = np.repeat(np.arange(walk.n_entities), np.diff(walk.home_ptr))
    treats = (distinct >= 2) | np.isin(keys, keys_of(walk.home_unit, home_entity))
    having = np.bincount(keys[treats] // n_units, minlength=count)
    treats |= having[keys // n_units] == 0
    return np.bincount(keys[treats] // n_units, minlength=count).astype(np.int64)


def _mentions(view: View) -> npt.NDArray[np.integer]:
    """How often the unit of each pair that may be seen mentions its entity."""
    walk = view.walk
    if len(walk.pair_mentions) == len(walk.pair_unit):
        return walk.pair_mentions
    return view.mention_counts(np.arange(len(walk.pair_unit)))


def _named_pairs(view: View) -> Mask:
    """The pairs whose unit names its entity, as `View.naming_pairs` tells them, bool [P]."""
    if view.whole:
        return np.ones(len(view.walk.pair_unit), dtype=bool)
    named: Mask = (_mentions(view) > 0) | (view.walk.pair_place > TITLE_PLACE)
    return named
