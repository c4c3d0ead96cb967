"""The relations of nodes, all types alike, as the graph database has them.

Weights: of RELATED the table's (or, within a scope, what `graphctx.retrieve.graph.related` makes of what may be seen),
of MENTIONS ``ln(1 + mentions) + home``, of LINKS_TO ``ln(1 + hyperlinks + mentions of the title)``. The relations of
the document's tree and NEXT have none, which counts as 0.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import get_args

import numpy as np

from graphctx.model.graph import NodeKind
from graphctx.model.interrupt import checkpoint
from graphctx.model.requests import Direction, RelType
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.graph.related import Weights, related
from graphctx.retrieve.graph.view import MAX_UNITS, Mask, View, gather_first
from graphctx.store.walk import gather, pointers

REL_TYPES: tuple[RelType, ...] = get_args(RelType)

WEIGHT_DIGITS = 4
"""Weights are rounded before they are compared: what is shown is what decides the order."""


@dataclass(frozen=True, slots=True)
class Edges:
    """Relations, parallel arrays: from the node that was asked about to the one it leads to, by their numbers.

    ``outward`` tells whether the former is the source, ``type`` is a position in `REL_TYPES`.
    """

    near: Rows
    far: Rows
    outward: Mask
    type: Rows
    weight: Weights

    def __len__(self) -> int:
        return len(self.near)

    def among(self, keep: Rows | Mask) -> Edges:
        """Some of them, by position or by mask."""
        return Edges(self.near[keep], self.far[keep], self.outward[keep], self.type[keep], self.weight[keep])


Ends = tuple[Rows, Rows, Weights]
"""Near rows, far rows and weights."""

Reach = Callable[[View, Rows, int], Ends]
"""Where some rows lead to, by at most so many relations each where there is an order to choose by."""


def edges_of(view: View, numbers: Rows, types: Collection[RelType], direction: Direction, per_node: int) -> Edges:
    """The relations of some nodes.

    Args:
        view: what may be seen; the nodes are in it, and so are all that are reached.
        numbers: of the nodes, distinct.
        types: of relations; all where there is none.
        direction: ``out`` from the source, ``in`` from the target; RELATED holds either way.
        per_node: at most so many relations of a type and direction of one node, the strongest first.
    """
    found: list[Edges] = []
    for at, name in enumerate(REL_TYPES):
        if types and name not in types:
            continue
        near_kind, far_kind, out, into = _RELATIONS[name]
        for outward, ends in ((True, out), (False, into)):
            if ends is None or (direction == ("in" if outward else "out") and name != "RELATED"):
                continue
            here, there = (near_kind, far_kind) if outward else (far_kind, near_kind)
            rows = view.rows(numbers, here)
            if not len(rows):
                continue
            checkpoint()
            near, far, weight = ends(view, rows, per_node)
            far_number = far + view.number(there)
            weight = np.round(weight, WEIGHT_DIGITS)
            keep = _strongest(near, view.id_rank(far_number), weight, per_node)
            made = Edges(
                near + view.number(here),
                far_number,
                np.full(len(near), outward),
                np.full(len(near), at, dtype=np.int64),
                weight,
            )
            found.append(made if keep is None else made.among(keep))
    return joined(found)


def joined(parts: list[Edges]) -> Edges:
    """Several one after the other."""
    if not parts:
        none = np.empty(0, dtype=np.int64)
        return Edges(none, none, none.astype(bool), none, none.astype(np.float64))
    return Edges(
        np.concatenate([part.near for part in parts]),
        np.concatenate([part.far for part in parts]),
        np.concatenate([part.outward for part in parts]),
        np.concatenate([part.type for part in parts]),
        np.concatenate([part.weight for part in parts]),
    )


def _strongest(near: Rows, rank: Rows, weight: Weights, most: int) -> Rows | None:
    """The positions of the strongest edges of each near row, ties by id; ``None`` where all are kept."""
    if len(near) <= most:
        return None
    order = np.lexsort((rank, -weight, near))
    ordered = near[order]
    place = np.arange(len(order)) - np.searchsorted(ordered, ordered)
    kept: Rows = order[place < most]
    return kept


def _weightless(near: Rows, far: Rows) -> Ends:
    return near, far, np.zeros(len(near))


def _sections(view: View, rows: Rows, most: int) -> Ends:
    sections = view.tables.sections
    positions, owner = gather_first(pointers(sections.doc, len(view.tables.documents)), rows, most)
    return _weightless(rows[owner], positions)


def _document(view: View, rows: Rows, most: int) -> Ends:
    return _weightless(rows, view.tables.sections.doc[rows])


def _subsections(view: View, rows: Rows, most: int) -> Ends:
    sections = view.tables.sections
    positions, owner = gather_first(sections.child_ptr, rows, most)
    return _weightless(rows[owner], sections.child[positions])


def _parent(view: View, rows: Rows, most: int) -> Ends:
    parent = view.tables.sections.parent[rows]
    return _weightless(rows[parent >= 0], parent[parent >= 0])


def _units(view: View, rows: Rows, most: int) -> Ends:
    positions, owner = gather_first(pointers(view.tables.units.section, len(view.tables.sections)), rows, most)
    return _weightless(rows[owner], positions)


def _section(view: View, rows: Rows, most: int) -> Ends:
    return _weightless(rows, view.tables.units.section[rows])


def _beside(step: int) -> Reach:
    def ends(view: View, rows: Rows, most: int) -> Ends:
        doc = view.tables.units.doc
        far = rows + step
        rows, far = rows[(far >= 0) & (far < len(doc))], far[(far >= 0) & (far < len(doc))]
        same = doc[rows] == doc[far]
        return _weightless(rows[same], far[same])

    return ends


def _mentioned(view: View, rows: Rows, most: int) -> Ends:
    pairs, owner = gather(view.walk.unit_pair, rows)
    return _mentions(view, rows[owner], pairs, view.walk.pair_entity[pairs].astype(np.int64))


def _mentioning(view: View, rows: Rows, most: int) -> Ends:
    walk = view.walk
    positions, owner = gather(walk.entity_ptr, rows)
    pairs = walk.entity_pair[positions].astype(np.int64)
    place = np.arange(len(owner)) - np.searchsorted(owner, owner)
    keep = (place < MAX_UNITS) | (walk.pair_home[pairs] > 0)
    pairs, owner = pairs[keep], owner[keep]
    return _mentions(view, rows[owner], pairs, walk.pair_unit[pairs].astype(np.int64))


def _mentions(view: View, near: Rows, pairs: Rows, far: Rows) -> Ends:
    count = view.mention_counts(pairs)
    said = count > 0
    weight = np.log1p(count) + view.walk.pair_home[pairs]
    return near[said], far[said], weight[said].astype(np.float64)


def _linked(view: View, rows: Rows, most: int) -> Ends:
    links = view.tables.links
    positions, owner = gather(links.out_ptr, rows)
    return _links(view, rows[owner], links.target[positions], links.count[positions])


def _linking(view: View, rows: Rows, most: int) -> Ends:
    links = view.tables.links
    positions, owner = gather(links.in_ptr, rows)
    positions = links.into[positions]
    return _links(view, rows[owner], links.source[positions], links.count[positions])


def _links(view: View, near: Rows, far: Rows, count: Rows) -> Ends:
    seen = view.index.visible_documents
    keep = np.ones(len(far), dtype=bool) if seen is None else seen[far]
    return near[keep], far[keep], np.log1p(count[keep])


_RELATIONS: dict[RelType, tuple[NodeKind, NodeKind, Reach, Reach | None]] = {
    "HAS_SECTION": ("document", "section", _sections, _document),
    "PARENT_OF": ("section", "section", _subsections, _parent),
    "HAS_UNIT": ("section", "unit", _units, _section),
    "NEXT": ("unit", "unit", _beside(1), _beside(-1)),
    "MENTIONS": ("unit", "entity", _mentioned, _mentioning),
    "RELATED": ("entity", "entity", related, None),
    "LINKS_TO": ("document", "document", _linked, _linking),
}
"""The kinds at the ends of a relation, and what leads from its source and from its target."""
