"""Sections: what is above and below them, the entities that they name, and the units that name an entity.

The text before a document's first heading is a section of level 0 without a heading; answers show its units directly
below the document.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphctx.errors import InvalidArgument
from graphctx.model.knowledge import LABELS
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.graph.view import GraphView, NodeKey
from graphctx.store.walk import gather


def children(view: GraphView, key: NodeKey) -> list[NodeKey]:
    """Return what is directly below a document or a section: its own units, then sections."""
    sections, units = view.tables.sections, view.tables.units
    if key.kind == "section":
        own = [key.row]
        below = sections.child[sections.child_ptr[key.row] : sections.child_ptr[key.row + 1]].tolist()
    else:
        rows = range(*np.searchsorted(sections.doc, [key.row, key.row + 1]).tolist())
        own = [row for row in rows if sections.level[row] == 0]
        below = [row for row in rows if sections.level[row] > 0 and sections.parent[row] < 0]
    of_own = [range(*np.searchsorted(units.section, [row, row + 1]).tolist()) for row in own]
    return [view.key("unit", unit) for some in of_own for unit in some] + [view.key("section", row) for row in below]


def parents(view: GraphView, key: NodeKey) -> list[NodeKey]:
    """Return what is above a section or a unit, the nearest first, the document last."""
    sections = view.tables.sections
    row = int(view.tables.units.section[key.row]) if key.kind == "unit" else int(sections.parent[key.row])
    chain = []
    while row >= 0:
        if sections.level[row] > 0:
            chain.append(view.key("section", row))
        row = int(sections.parent[row])
    return [*chain, view.key("document", view.document_of(key))]


def entities_of(view: GraphView, key: NodeKey, labels: Sequence[int], most: int) -> list[NodeKey]:
    """Return the entities that a unit, or a section with all that is below it, names.

    By specificity times the number of mentions, where a title or a heading counts as one mention; ties by id.

    Args:
        view: what is visible.
        key: a unit or a section.
        labels: positions in `LABELS`; empty for all.
        most: the largest number of entities.
    """
    walk = view.walk
    pairs, _ = gather(walk.unit_pair, np.array(view.units_of(key), dtype=np.int64))
    if labels:
        pairs = pairs[np.isin(walk.entity_label[walk.pair_entity[pairs]], labels)]
    pairs = pairs[view.names_entity(pairs)]
    entities, inverse = np.unique(walk.pair_entity[pairs].astype(np.int64), return_inverse=True)
    mentions = np.bincount(inverse, weights=np.maximum(view.mention_counts(pairs), 1), minlength=len(entities))
    value = np.round(view.specificity(entities) * mentions, 6)
    found: list[NodeKey] = []
    for row in entities[np.lexsort((entities, -value))].tolist():  # rows are in the order of ids
        if len(found) == most:
            break
        if view.whole or view.names_of(row) is not None:
            found.append(view.key("entity", row))
    return found


def units_naming(view: GraphView, key: NodeKey, most: int) -> list[NodeKey]:
    """Return the units that name an entity: definitions first, then by where they name it, then in reading order."""
    pairs, walk = view.naming_pairs(key.row), view.walk
    units: Rows = walk.pair_unit[pairs].astype(np.int64)
    order = np.lexsort((units, -walk.pair_place[pairs], -walk.pair_definition[pairs]))
    return [view.key("unit", row) for row in units[order][:most].tolist()]


def label_rows(labels: Sequence[str]) -> list[int]:
    """Return the positions of labels in `LABELS`.

    Raises:
        InvalidArgument: there is no such label.
    """
    for label in labels:
        if label not in LABELS:
            raise InvalidArgument(
                f"labels: there is no label {label!r}; there are {', '.join(LABELS)}.",
                field="labels",
                value=label,
                allowed=list(LABELS),
            )
    return [LABELS.index(label) for label in labels]
