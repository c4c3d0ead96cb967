"""Between text and entities: what sections name, and where entities are named."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphctx.errors import InvalidArgument
from graphctx.model.knowledge import LABELS
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.graph.names import names_of
from graphctx.retrieve.graph.view import TITLE_PLACE, Key, View
from graphctx.store.walk import gather


def label_rows(labels: Sequence[str]) -> list[int]:
    """The positions of labels in `LABELS`.

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


def entities_of(view: View, key: Key, labels: Sequence[int], most: int) -> list[Key]:
    """The entities that a unit, or the units of a section and of what is below it, name.

    By specificity times the number of mentions, where a title or a heading counts as one; ties by id.

    Args:
        view: what may be seen.
        key: a unit or a section.
        labels: positions of the labels that are wanted; all where there is none.
        most: at most so many.
    """
    units = np.array([key.row] if key.kind == "unit" else view.units_of_section(key.row), dtype=np.int64)
    pairs, _ = gather(view.walk.unit_pair, units)
    if labels:
        pairs = pairs[np.isin(view.walk.entity_label[view.walk.pair_entity[pairs]], labels)]
    counts = view.mention_counts(pairs)
    if not view.whole:  # other names of a unit may come from links of documents outside
        named = (counts > 0) | (view.walk.pair_place[pairs] > TITLE_PLACE)
        pairs, counts = pairs[named], counts[named]
    entities, inverse = np.unique(view.walk.pair_entity[pairs].astype(np.int64), return_inverse=True)
    mentions = np.bincount(inverse, weights=np.maximum(counts, 1), minlength=len(entities))
    value = np.round(view.specificity(entities) * mentions, 6)
    ordered = entities[np.lexsort((entities, -value))]  # rows are in the order of ids
    found: list[Key] = []
    for row in ordered.tolist():
        if len(found) == most:
            break
        if view.whole or names_of(view, row) is not None:
            found.append(view.key("entity", row))
    return found


def units_of(view: View, key: Key, most: int) -> list[Key]:
    """The units that name an entity: its homes, the surest first, then by where they name it, then in reading order."""
    pairs = view.naming_pairs(key.row)
    walk = view.walk
    units: Rows = walk.pair_unit[pairs].astype(np.int64)
    order = np.lexsort((units, -walk.pair_place[pairs], -walk.pair_home[pairs]))
    return [view.key("unit", row) for row in units[order][:most].tolist()]
