"""Nodes as answers show them: projections, with one sentence where it is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphctx.errors import InternalError
from graphctx.model.graph import Node
from graphctx.retrieve.graph.names import names_of
from graphctx.retrieve.graph.snippets import snippet_of
from graphctx.retrieve.graph.tree import count_below
from graphctx.retrieve.graph.view import Key, View


def node(view: View, key: Key, *, snippet: bool = False) -> Node:
    """A node, which may be seen."""
    return Node(**node_fields(view, key, snippet=snippet))


def node_fields(view: View, key: Key, *, snippet: bool = False) -> dict[str, Any]:
    """The fields of `Node`."""
    fields = _PARTS[key.kind](view, key)
    return {"id": view.id(key), "kind": key.kind, **fields, "snippet": snippet_of(view, key) if snippet else None}


def _document(view: View, key: Key) -> dict[str, Any]:
    document = view.index.text_of(key.row)
    return {
        "name": document.title,
        "doc_uri": document.uri,
        "tags": list(document.tags),
        "updated_at": document.updated_at,
        "n_units": int(np.count_nonzero(view.tables.units.doc == key.row)),
        "n_children": count_below(view, key),
    }


def _section(view: View, key: Key) -> dict[str, Any]:
    sections = view.tables.sections
    path = sections.value("path", key.row)
    title = sections.value("title", key.row)
    document = view.index.text_of(int(sections.doc[key.row]))
    start = sections.value("start_char", key.row)
    below = path[1:] if path and path[0].casefold() == document.title.casefold() else path  # as units say it
    return {
        "name": title,
        "heading": " › ".join(below),
        "doc_uri": document.uri,
        "line": document.line(start),
        "page": document.page(start),
        "anchor": sections.value("anchor", key.row),
        "n_units": len(view.units_of_section(key.row)),
        "n_children": count_below(view, key),
    }


def _unit(view: View, key: Key) -> dict[str, Any]:
    unit = view.index.unit(key.row)
    document = view.index.text_of(unit.doc_row)
    section = int(view.tables.units.section[key.row])
    return {
        "name": view.tables.sections.value("title", section),
        "heading": unit.heading,
        "doc_uri": document.uri,
        "line": document.line(unit.start_char),
        "page": document.page(unit.start_char),
        "anchor": unit.anchor,
    }


def _entity(view: View, key: Key) -> dict[str, Any]:
    names = names_of(view, key.row)
    if names is None:
        raise InternalError("An entity was reached that nothing names within the scope.", entity=view.id(key))
    pairs = view.naming_pairs(key.row)
    return {
        "name": names.name,
        "aliases": list(names.aliases),
        "label": view.tables.entities.labels[key.row].as_py(),
        "n_units": len(pairs),
        "n_mentions": int(view.mention_counts(pairs).sum()),
    }


_PARTS = {"document": _document, "section": _section, "unit": _unit, "entity": _entity}
