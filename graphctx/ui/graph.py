"""``graph``, ``names`` and ``themes``: the entities around some entities with their places, names, and the communities.

What the tools answer about one node at a time is here in one piece, as a drawing needs it: relations between all the
entities that are shown, their communities, and a layout that depends on these alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import Field

from graphctx.export.visible import Relations, relations_between
from graphctx.model.interrupt import checkpoint
from graphctx.model.requests import NodeRef, Scope, Strict
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.graph.communities import CommunityIndex
from graphctx.retrieve.graph.edges import edges_of
from graphctx.retrieve.graph.resolve import resolve
from graphctx.retrieve.graph.view import GraphView
from graphctx.ui.graph_layout import layout
from graphctx.ui.operation import AnyOperation, Operation, PageCall

MAX_NODES = 5_000
"""Most entities of one drawing: so many are panned and zoomed without stutter (``make bench-page``)."""

MAX_THEMES = 1_000
"""Most communities of a map; smaller circles could not be told apart."""

RELATIONS_PER_NODE = 4
"""A relation between two neighbours is drawn if it is among this many of the strongest of one of them; else names drown
in lines."""

LEAST_GROUPS = 4
"""Communities are coloured at the broadest level that has this many among the entities shown."""

SHOWN_GROUPS = 8
"""As many as people tell apart by colour; smaller ones share the last place of the legend."""

_ALL = 2**31 - 1


class DrawingInput(Strict):
    """Arguments of ``graph``: entities and how much around them; without entities those that most passages name."""

    entity_ids: list[NodeRef] = Field([], max_length=200, description="Ids or names of entities.")
    neighbours: int = Field(40, ge=0, le=500, description="Most neighbours of each entity, the strongest first.")
    max_nodes: int = Field(400, ge=1, le=MAX_NODES, description="Most entities in all.")


class NamesInput(Strict):
    """Arguments of ``names``."""

    text: str = Field(min_length=1, max_length=200, description="What names hold, or something similar.")
    limit: int = Field(10, ge=1, le=50, description="Most names.")


class ThemesInput(Strict):
    """Arguments of ``themes``."""

    max_themes: int = Field(400, ge=1, le=MAX_THEMES, description="Most communities, the broadest level first.")


def _graph(call: PageCall, asked: DrawingInput) -> dict[str, Any]:
    """Return entities, the relations between them, their communities and their places.

    Relations name their ends by place in the list of entities. ``n_neighbours`` is counted of the entities asked for.
    """
    view = _view(call)
    named = resolve(view, asked.entity_ids, "entity_ids", ("entity",)) if asked.entity_ids else None
    if named is None:
        rows, total, degrees = _most_named(view, asked.max_nodes)
    else:
        centres: Rows = np.array([key.row for key in named.keys], dtype=np.int64)
        rows, degrees = _around(view, centres, asked.neighbours, asked.max_nodes)
        total = len(rows)
    names = {row: names.name for row in _each(rows) if (names := view.names_of(row)) is not None}
    rows = np.array(sorted(names), dtype=np.int64)
    relations = relations_between(view, rows)
    drawn = _strongest(relations, np.array(list(degrees), dtype=np.int64))
    near, far = (np.searchsorted(rows, ends[drawn]) for ends in (relations.near, relations.far))
    community, group, groups = _groups(view, rows)
    places = layout(near, far, community)
    label = view.tables.entities.labels
    return {
        "snapshot_id": view.index.snapshot.id,
        "nodes": [
            {
                "id": view.id(view.key("entity", row)),
                "name": names[row],
                "label": label[row].as_py(),
                "n_units": len(view.naming_pairs(row)),
                "group": int(group[at]),
                "n_neighbours": degrees.get(row),
                "x": round(float(places[at, 0]), 2),
                "y": round(float(places[at, 1]), 2),
            }
            for at, row in enumerate(rows.tolist())
        ],
        "relations": [
            [int(one), int(other), round(float(weight), 2)]
            for one, other, weight in zip(near, far, relations.weight[drawn], strict=True)
        ],
        "groups": groups,
        "n_entities": total,
        "n_relations": len(relations),
        "unresolved": [one.model_dump(mode="json") for one in named.unresolved] if named else [],
    }


def _view(call: PageCall) -> GraphView:
    searcher = call.searcher()
    return GraphView(searcher.index, searcher.graph.tables)


def _each(rows: Rows) -> list[int]:
    checkpoint()
    found: list[int] = rows.tolist()
    return found


def _most_named(view: GraphView, most: int) -> tuple[Rows, int, dict[int, int]]:
    """Return the entities that most visible units name, ties by id, and how many there are."""
    n_units = np.diff(view.walk.entity_ptr)
    order = np.argsort(-n_units, kind="stable")
    return order[:most][n_units[order[:most]] > 0], int(np.count_nonzero(n_units)), {}


def _around(view: GraphView, centres: Rows, neighbours: int, most: int) -> tuple[Rows, dict[int, int]]:
    """Return the rows of some entities and their strongest neighbours, and the number of neighbours of each.

    Where there is no room for all, the strongest neighbour of each entity comes first, then the second of each.
    """
    first = view.number("entity")
    edges = edges_of(view, centres + first, ["RELATED"], "both", _ALL)
    order = np.lexsort((view.id_rank(edges.far), -edges.weight, edges.near))
    near, far = edges.near[order] - first, edges.far[order] - first
    place = np.arange(len(near)) - np.searchsorted(near, near)
    wanted = np.flatnonzero(place < neighbours)
    wanted = wanted[np.argsort(place[wanted], kind="stable")]
    rows = np.array(list(dict.fromkeys([*centres.tolist(), *far[wanted].tolist()]))[:most], dtype=np.int64)
    counted, n_neighbours = np.unique(near, return_counts=True)
    degrees = dict.fromkeys(centres.tolist(), 0) | dict(zip(counted.tolist(), n_neighbours.tolist(), strict=True))
    return rows, degrees


def _strongest(relations: Relations, centres: Rows) -> Rows:
    """Return the positions of the relations to draw, in order: all of the entities asked for, the best of others."""
    ends = np.concatenate([relations.near, relations.far])
    weight = np.tile(relations.weight, 2)
    order = np.lexsort((np.arange(len(ends)), -weight, ends))
    place = np.arange(len(ends)) - np.searchsorted(ends[order], ends[order])
    asked = np.flatnonzero(np.isin(relations.near, centres) | np.isin(relations.far, centres))
    kept: Rows = np.union1d(asked, order[place < RELATIONS_PER_NODE] % max(len(relations), 1))
    return kept


def _groups(view: GraphView, rows: Rows) -> tuple[Rows, Rows, list[dict[str, Any]]]:
    """Return the community of each entity, its group, and the groups: communities, the largest first; -1 for none."""
    communities = CommunityIndex(view)
    hierarchy = communities.hierarchy
    finest = hierarchy.finest[rows]
    community = finest
    for level in range(int(hierarchy.level.max(initial=-1)) + 1):
        community = finest
        while (deeper := (community >= 0) & (hierarchy.level[community] > level)).any():
            community = np.where(deeper, hierarchy.parent[community], community)
        if len(np.unique(community[community >= 0])) >= LEAST_GROUPS:
            break
    found, count = np.unique(community[community >= 0], return_counts=True)
    order = np.lexsort((hierarchy.rank[found], -count))[:SHOWN_GROUPS]
    group = np.full(len(rows), -1, dtype=np.int64)
    for at, row in enumerate(found[order].tolist()):
        group[community == row] = at
    shown = [
        {"id": hierarchy.id(row), "title": communities.title(row), "n_nodes": int(n)}
        for row, n in zip(found[order].tolist(), count[order], strict=True)
    ]
    return community, group, shown


def _names(call: PageCall, asked: NamesInput) -> dict[str, Any]:
    """Return names of entities that hold a text, or are spelled similarly, the most mentioned first."""
    found = call.searcher().catalog.entities(asked.text, Scope(), asked.limit)
    return {"names": list(found.values), "total": found.total}


def _themes(call: PageCall, asked: ThemesInput) -> dict[str, Any]:
    """Return the communities, broad levels first and the largest of a level first; a parent is before its children."""
    communities = CommunityIndex(_view(call))
    hierarchy = communities.hierarchy
    rows = np.flatnonzero(communities.visible)
    order = rows[np.lexsort((hierarchy.rank[rows], -communities.n_entities[rows], hierarchy.level[rows]))]
    shown = order[: asked.max_themes]
    return {
        "snapshot_id": communities.view.index.snapshot.id,
        "n_themes": len(rows),
        "themes": [
            {
                "id": hierarchy.id(row),
                "title": communities.title(row),
                "level": int(hierarchy.level[row]),
                "parent_id": hierarchy.id(parent) if (parent := int(hierarchy.parent[row])) >= 0 else None,
                "n_entities": int(communities.n_entities[row]),
                "n_units": communities.n_units(row),
            }
            for row in _each(shown)
        ],
    }


OPERATIONS: tuple[AnyOperation, ...] = (
    Operation("graph", DrawingInput, _graph),
    Operation("names", NamesInput, _names),
    Operation("themes", ThemesInput, _themes),
)
