"""The outline: what is above and below documents, sections and units, in reading order.

The text before a document's first heading is a section without a heading, of level 0; here its units stand directly
below the document.
"""

from __future__ import annotations

import numpy as np

from graphctx.retrieve.graph.view import Key, View


def children(view: View, key: Key) -> list[Key]:
    """What is directly below a document or a section: its own units first, then sections."""
    sections, units = view.tables.sections, view.tables.units
    if key.kind == "section":
        below = sections.child[sections.child_ptr[key.row] : sections.child_ptr[key.row + 1]].tolist()
        own = [key.row]
    else:
        first, last = (int(np.searchsorted(sections.doc, row)) for row in (key.row, key.row + 1))
        rows = range(first, last)
        own = [row for row in rows if sections.level[row] == 0]
        below = [row for row in rows if sections.level[row] > 0 and sections.parent[row] < 0]
    found = [
        view.key("unit", unit)
        for row in own
        for unit in range(int(np.searchsorted(units.section, row)), int(np.searchsorted(units.section, row + 1)))
    ]
    return found + [view.key("section", row) for row in below]


def count_below(view: View, key: Key) -> int:
    """How many nodes are directly below a document or a section."""
    return len(children(view, key))


def parents(view: View, key: Key) -> list[Key]:
    """What is above a section or a unit, the nearest first, the document last."""
    sections = view.tables.sections
    row = int(view.tables.units.section[key.row]) if key.kind == "unit" else int(sections.parent[key.row])
    chain = []
    while row >= 0:
        if sections.level[row] > 0:
            chain.append(view.key("section", row))
        row = int(sections.parent[row])
    return [*chain, view.key("document", view.document_of(key))]
