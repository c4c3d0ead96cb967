"""Nodes and relations as answers show them: short projections, with one sentence as a snippet if it is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from graphctx.errors import InternalError
from graphctx.model.graph import LinkedAlias, Node, Relation, Snippet
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.graph.edges import REL_TYPES, EdgeList, edges_of
from graphctx.retrieve.graph.sections import children
from graphctx.retrieve.graph.view import GraphView, NodeKey
from graphctx.text.graphemes import cut_end, cut_start
from graphctx.text.names import DETERMINERS, singular_of

MAX_SNIPPET_CHARS = 280

MAX_LINKED_ALIASES = 10
"""Entities that are the same thing, which are listed of one."""

MAX_FACTS = 3
"""Facts that are listed of a relation."""

MAX_FACT_CHARS = 120

_WEIGHTED = ("RELATED", "MENTIONS", "ALIAS_OF", "LINKS_TO")
_LEAD_IN = 80
"""Characters before a name that stands far inside a long sentence or block of code."""


def node(view: GraphView, key: NodeKey, *, snippet: bool = False) -> Node:
    """Return a visible node."""
    return Node(**node_fields(view, key, snippet=snippet))


def node_fields(view: GraphView, key: NodeKey, *, snippet: bool = False) -> dict[str, Any]:
    """Return the fields of `Node`."""
    fields = _PROJECTIONS[key.kind](view, key)
    return {"id": view.id(key), "kind": key.kind, **fields, "snippet": node_snippet(view, key) if snippet else None}


def _document(view: GraphView, key: NodeKey) -> dict[str, Any]:
    document = view.index.text_of(key.row)
    return {
        "name": document.title,
        "doc_uri": document.uri,
        "tags": list(document.tags),
        "updated_at": document.updated_at,
        "n_units": len(view.units_of(key)),
        "n_children": len(children(view, key)),
    }


def _section(view: GraphView, key: NodeKey) -> dict[str, Any]:
    sections = view.tables.sections
    path = sections.value("path", key.row)
    document = view.index.text_of(int(sections.doc[key.row]))
    start = sections.value("start_char", key.row)
    below = path[1:] if path and path[0].casefold() == document.title.casefold() else path  # as the headings of units
    return {
        "name": sections.value("title", key.row),
        "heading": " › ".join(below),
        "doc_uri": document.uri,
        "line": document.line(start),
        "page": document.page(start),
        "anchor": sections.value("anchor", key.row),
        "n_units": len(view.units_of(key)),
        "n_children": len(children(view, key)),
    }


def _unit(view: GraphView, key: NodeKey) -> dict[str, Any]:
    unit = view.index.unit(key.row)
    document = view.index.text_of(unit.doc_row)
    return {
        "name": view.tables.sections.value("title", int(view.tables.units.section[key.row])),
        "heading": unit.heading,
        "doc_uri": document.uri,
        "line": document.line(unit.start_char),
        "page": document.page(unit.start_char),
        "anchor": unit.anchor,
    }


def _entity(view: GraphView, key: NodeKey) -> dict[str, Any]:
    names = view.names_of(key.row)
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


_PROJECTIONS = {"document": _document, "section": _section, "unit": _unit, "entity": _entity}


def relation(view: GraphView, edges: EdgeList, at: int, *, snippet: bool = False) -> Relation:
    """Return the edge at a position, from its source to its target."""
    near, far = view.node(int(edges.near[at])), view.node(int(edges.far[at]))
    source, target = (near, far) if edges.outward[at] else (far, near)
    name = REL_TYPES[int(edges.type[at])]
    fields: dict[str, Any] = {}
    if name == "RELATED":
        source, target = sorted((source, target), key=view.id)
        facts = _visible_facts(view, source.row, target.row)
        fields = {
            "predicates": stated_facts(view, facts.tolist(), MAX_FACTS),
            "n_facts": len(facts),
            "n_units": _n_units_naming_both(view, source.row, target.row),
        }
    if name == "ALIAS_OF":
        shown = _visible_alias(view, source.row, target.row)
        fields["reason"] = view.tables.aliases.reason[shown]
        if snippet:
            fields["snippet"] = sentence_snippet(view, int(view.tables.aliases.sentence[shown]))
    if snippet and name == "RELATED":
        fields["snippet"] = _related_snippet(view, source.row, target.row)
    elif snippet and name == "MENTIONS":
        fields["snippet"] = mention_snippet(view, source.row, target.row)
    weight = float(edges.weight[at]) if name in _WEIGHTED else None
    return Relation(source=view.id(source), target=view.id(target), type=name, weight=weight, **fields)


def linked_aliases(view: GraphView, key: NodeKey) -> list[LinkedAlias]:
    """Return the entities that are the same thing as an entity, those that most documents show first."""
    found = []
    edges = edges_of(view, np.array([key.number]), ["ALIAS_OF"], "both", MAX_LINKED_ALIASES)
    for at in np.lexsort((view.id_rank(edges.far), -edges.weight))[:MAX_LINKED_ALIASES].tolist():
        other = view.node(int(edges.far[at]))
        source, target = (key, other) if edges.outward[at] else (other, key)
        reason = view.tables.aliases.reason[_visible_alias(view, source.row, target.row)]
        found.append(LinkedAlias(id=view.id(other), name=_entity(view, other)["name"], reason=reason))
    return found


def _visible_alias(view: GraphView, source: int, target: int) -> int:
    """Return the first visible row that shows that two entities are the same thing."""
    aliases = view.tables.aliases
    rows = np.flatnonzero((aliases.source == source) & (aliases.target == target))
    return int(rows[view.sees_sentences(aliases.sentence[rows])][0])


def stated_facts(view: GraphView, facts: Iterable[int], most: int) -> list[str]:
    """Return what facts say, in order; of two that begin alike but for number and articles, the longer one."""
    stated: dict[str, str] = {}
    for fact in facts:
        text = _fact_words(view, fact)
        words = (word for word in text.casefold().split() if word not in DETERMINERS)
        key = " ".join(map(singular_of, words)) + " "
        if any(other.startswith(key) for other in stated):
            continue
        if any(key.startswith(other) for other in stated):
            stated = {one: said for one, said in stated.items() if not key.startswith(one)} | {key: text}
        elif len(stated) < most:
            stated[key] = text
    return list(stated.values())


def _fact_words(view: GraphView, fact: int) -> str:
    """Return what a fact says, on one line of at most `MAX_FACT_CHARS` characters."""
    text = " ".join(view.tables.facts.text[fact].as_py().split())
    return text if len(text) <= MAX_FACT_CHARS else text[: cut_end(text, 0, MAX_FACT_CHARS)].rstrip()


def _visible_facts(view: GraphView, one: int, other: int) -> Rows:
    facts = view.tables.facts.between(one, other)
    visible = view.index.visible
    return facts if visible is None else facts[visible[view.tables.facts.unit[facts]]]


def _n_units_naming_both(view: GraphView, one: int, other: int) -> int:
    units = [view.walk.pair_unit[view.naming_pairs(entity)] for entity in (one, other)]
    return len(np.intersect1d(units[0], units[1], assume_unique=True))


def node_snippet(view: GraphView, key: NodeKey) -> Snippet | None:
    """Return a sentence that names an entity, from a definition if there is one; of other nodes the first sentence."""
    if key.kind != "entity":
        units = view.units_of(key)
        return _first_sentence(view, units[0]) if units else None
    pairs = view.pairs_of(key.row)
    if not len(pairs):
        return None
    mentioned = view.mention_counts(pairs) > 0
    best = np.lexsort((pairs, -view.walk.pair_place[pairs], -view.walk.pair_definition[pairs], ~mentioned))[0]
    return mention_snippet(view, int(view.walk.pair_unit[pairs[best]]), key.row)


def mention_snippet(view: GraphView, unit: int, entity: int) -> Snippet | None:
    """Return the sentence in which a unit first mentions an entity, or its first sentence if it mentions it nowhere.

    A sentence that would be cut before the name starts shortly before the name.
    """
    mentions = view.tables.mentions
    for at in mentions.of(unit, entity):
        sentence = int(mentions.sentence[at])
        start, end = int(view.walk.sentence_start[sentence]), int(view.walk.sentence_end[sentence])
        if mentions.end[at] > start + MAX_SNIPPET_CHARS:
            text = view.index.text_of(int(view.walk.unit_doc[unit])).text
            start = cut_start(text, max(start, int(mentions.start[at]) - _LEAD_IN), int(mentions.start[at]))
        return _span(view, unit, start, end)
    return _first_sentence(view, unit)


def sentence_snippet(view: GraphView, sentence: int, max_chars: int = MAX_SNIPPET_CHARS) -> Snippet:
    """Return a sentence by its row, cut to a number of characters."""
    start, end = int(view.walk.sentence_start[sentence]), int(view.walk.sentence_end[sentence])
    return _span(view, view.unit_of_sentence(sentence), start, end, max_chars)


def _related_snippet(view: GraphView, one: int, other: int) -> Snippet | None:
    """Return the sentence of the first fact that joins two entities, else the first sentence that mentions both."""
    facts = view.tables.facts
    for fact in _visible_facts(view, one, other)[:1].tolist():
        return _span(view, int(facts.unit[fact]), int(facts.start[fact]), int(facts.end[fact]))
    both = np.intersect1d(_sentences_mentioning(view, one), _sentences_mentioning(view, other))
    return sentence_snippet(view, int(both[0])) if len(both) else None


def _sentences_mentioning(view: GraphView, entity: int) -> Rows:
    mentions, visible = view.tables.mentions.by_sentence, view.visible_mentions
    at = mentions.of_entity[mentions.ptr[entity] : mentions.ptr[entity + 1]]
    rows: Rows = mentions.sentence[at if visible is None else at[visible[at]]]
    return rows


def _first_sentence(view: GraphView, unit: int) -> Snippet | None:
    first, end = view.walk.unit_sentence[unit : unit + 2]
    return sentence_snippet(view, int(first)) if first < end else None


def _span(view: GraphView, unit: int, start: int, end: int, max_chars: int = MAX_SNIPPET_CHARS) -> Snippet:
    place = view.index.unit(unit)
    document = view.index.text_of(place.doc_row)
    start += len(document.text[start:end]) - len(document.text[start:end].lstrip())
    if end - start > max_chars:
        end = cut_end(document.text, start, start + max_chars)
        end = start + len(document.text[start:end].rstrip())
    return Snippet(
        text=document.text[start:end],
        section_id=place.id,
        doc_uri=document.uri,
        start_char=start,
        end_char=end,
        line=document.line(start),
        page=document.page(start),
        anchor=place.anchor,
    )
