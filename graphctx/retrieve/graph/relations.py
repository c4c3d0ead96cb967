"""Relations as answers show them: source and target, what facts say, and one sentence where it is asked for."""

from __future__ import annotations

import numpy as np

from graphctx.model.graph import Relation, Snippet
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.graph.edges import REL_TYPES, Edges
from graphctx.retrieve.graph.snippets import mention_snippet, related_snippet
from graphctx.retrieve.graph.view import Key, View
from graphctx.text.graphemes import cut_end

MAX_PREDICATES = 3
MAX_PREDICATE_CHARS = 120
"""Of what facts say: a projection, and no place to carry text in."""


def relation(view: View, edges: Edges, at: int, *, snippet: bool = False) -> Relation:
    """One of some edges, from its source to its target."""
    near, far = view.node(int(edges.near[at])), view.node(int(edges.far[at]))
    source, target = (near, far) if edges.outward[at] else (far, near)
    name = REL_TYPES[int(edges.type[at])]
    if name == "RELATED" and view.id(target) < view.id(source):
        source, target = target, source
    weight = float(edges.weight[at])
    facts = _facts(view, source.row, target.row) if name == "RELATED" else None
    return Relation(
        source=view.id(source),
        target=view.id(target),
        type=name,
        weight=weight if name in ("RELATED", "MENTIONS", "LINKS_TO") else None,
        predicates=_predicates(view, facts) if facts is not None else [],
        n_facts=len(facts) if facts is not None else None,
        n_units=_units_naming_both(view, source.row, target.row) if facts is not None else None,
        snippet=_snippet(view, name, source, target) if snippet else None,
    )


def _facts(view: View, one: int, other: int) -> Rows:
    """The facts between two entities that may be seen."""
    facts = view.tables.facts.between(one, other)
    visible = view.index.visible
    return facts if visible is None else facts[visible[view.tables.facts.unit[facts]]]


def _predicates(view: View, facts: Rows) -> list[str]:
    said: dict[str, None] = {}
    for fact in facts.tolist():
        said.setdefault(fact_words(view, fact))
        if len(said) == MAX_PREDICATES:
            break
    return list(said)


def fact_words(view: View, fact: int) -> str:
    """What a fact says, on one line and not longer than a projection may be."""
    text = " ".join(view.tables.facts.text[fact].as_py().split())
    return text if len(text) <= MAX_PREDICATE_CHARS else text[: cut_end(text, 0, MAX_PREDICATE_CHARS)].rstrip()


def _units_naming_both(view: View, one: int, other: int) -> int:
    units = [view.walk.pair_unit[view.naming_pairs(entity)] for entity in (one, other)]
    return len(np.intersect1d(units[0], units[1], assume_unique=True))


def _snippet(view: View, name: str, source: Key, target: Key) -> Snippet | None:
    match name:
        case "RELATED":
            return related_snippet(view, source.row, target.row)
        case "MENTIONS":
            return mention_snippet(view, source.row, target.row)
        case _:
            return None
