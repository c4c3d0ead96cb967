"""The edges of nodes, of all relation types, as the graph database has them.

Weights: MENTIONS has ``ln(1 + mentions) + definition value``, LINKS_TO ``ln(1 + hyperlinks + mentions of the title)``,
ALIAS_OF ``ln(1 + documents that show it)``, and the relations of the outline (HAS_SECTION, PARENT_OF, HAS_UNIT, NEXT)
have 0. RELATED has the weight of its table in a whole snapshot. Within a scope RELATED is computed from the visible
facts and sentences by the table's formula, ``ln(1 + facts) + npmi * ln(1 + sentences)``, where ``npmi`` is the positive
part of normalised pointwise mutual information (Bouma 2009) over the visible sentences. The table's edges between
similar names alone are left out there, as the names may stand outside only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import get_args

import numpy as np
import numpy.typing as npt

from graphctx.model.graph import NodeKind
from graphctx.model.interrupt import checkpoint
from graphctx.model.requests import Direction, RelType
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.graph.view import MAX_UNITS, GraphView, Mask, gather_first
from graphctx.store.walk import gather, pointers

REL_TYPES: tuple[RelType, ...] = get_args(RelType)

WEIGHT_DIGITS = 4
"""Weights are rounded before they are compared, so that the weights that are shown decide the order."""

MAX_NAMES_APART = 12
"""Entities of a sentence that are further apart in it do not count as mentioned together, as at ingest."""

MAX_SENTENCES = 2_000
"""Sentences of an entity, in reading order, that are looked at for RELATED within a scope."""

MAX_MENTIONS = 60_000
"""Mentions of all entities of one step that are looked at for RELATED within a scope: about a tenth of a second."""

Weights = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class EdgeList:
    """Edges as parallel arrays, each from a node that was asked about to the node that it leads to.

    Attributes:
        near, far: node numbers.
        outward: whether the near node is the source.
        type: positions in `REL_TYPES`.
        weight: 0 for relations without a weight.
    """

    near: Rows
    far: Rows
    outward: Mask
    type: Rows
    weight: Weights

    def __len__(self) -> int:
        return len(self.near)

    def take(self, keep: Rows | Mask) -> EdgeList:
        """Return some of the edges, by position or by mask."""
        return EdgeList(self.near[keep], self.far[keep], self.outward[keep], self.type[keep], self.weight[keep])

    def reversed(self) -> EdgeList:
        """Return the same edges from their other ends."""
        return EdgeList(self.far, self.near, ~self.outward, self.type, self.weight)

    @classmethod
    def concatenate(cls, parts: list[EdgeList]) -> EdgeList:
        """Join lists of edges."""
        rows = np.empty(0, dtype=np.int64)
        parts = [cls(rows, rows, rows.astype(bool), rows, rows.astype(np.float64)), *parts]
        columns = ([getattr(part, name) for part in parts] for name in cls.__slots__)
        return cls(*map(np.concatenate, columns))


Ends = tuple[Rows, Rows, Weights]
"""Near rows, far rows and weights."""

Neighbours = Callable[[GraphView, Rows, int], Ends]
"""From some rows to their neighbours by one relation; with at most this many of each row where that saves work."""


def edges_of(
    view: GraphView, numbers: Rows, types: Collection[RelType], direction: Direction, per_node: int
) -> EdgeList:
    """Return the visible edges of some nodes.

    Args:
        view: what is visible.
        numbers: distinct visible nodes.
        types: of relations; empty for all.
        direction: ``out`` from the source, ``in`` from the target; RELATED has no direction.
        per_node: at most this many edges of a type and direction of one node, the strongest first, ties by id.
    """
    found: list[EdgeList] = []
    for at, name in enumerate(REL_TYPES):
        if types and name not in types:
            continue
        source_kind, target_kind, from_source, from_target = _RELATIONS[name]
        for outward, neighbours in ((True, from_source), (False, from_target)):
            if neighbours is None or (direction == ("in" if outward else "out") and name != "RELATED"):
                continue
            near_kind, far_kind = (source_kind, target_kind) if outward else (target_kind, source_kind)
            rows = view.rows(numbers, near_kind)
            if not len(rows):
                continue
            checkpoint()
            near, far, weight = neighbours(view, rows, per_node)
            far = far + view.number(far_kind)
            weight = np.round(weight, WEIGHT_DIGITS)
            keep = _strongest(near, view.id_rank(far), weight, per_node)
            type_ = np.full(len(near), at, dtype=np.int64)
            edges = EdgeList(near + view.number(near_kind), far, np.full(len(near), outward), type_, weight)
            found.append(edges.take(keep))
    return EdgeList.concatenate(found)


def _strongest(near: Rows, rank: Rows, weight: Weights, most: int) -> Rows:
    """Return the positions of the strongest edges of each near row, ties by rank."""
    if len(near) <= most:
        return np.arange(len(near))
    order = np.lexsort((rank, -weight, near))
    kept: Rows = order[_position_in_group(near[order]) < most]
    return kept


def _position_in_group(groups: Rows) -> Rows:
    """Return how many equal values stand directly before each value of sorted groups."""
    position: Rows = np.arange(len(groups)) - np.searchsorted(groups, groups)
    return position


def _unweighted(near: Rows, far: Rows) -> Ends:
    return near, far, np.zeros(len(near))


def _sections(view: GraphView, rows: Rows, most: int) -> Ends:
    sections = view.tables.sections
    positions, owner = gather_first(pointers(sections.doc, len(view.tables.documents)), rows, most)
    return _unweighted(rows[owner], positions)


def _document(view: GraphView, rows: Rows, most: int) -> Ends:
    return _unweighted(rows, view.tables.sections.doc[rows])


def _subsections(view: GraphView, rows: Rows, most: int) -> Ends:
    sections = view.tables.sections
    positions, owner = gather_first(sections.child_ptr, rows, most)
    return _unweighted(rows[owner], sections.child[positions])


def _parent(view: GraphView, rows: Rows, most: int) -> Ends:
    parent = view.tables.sections.parent[rows]
    return _unweighted(rows[parent >= 0], parent[parent >= 0])


def _units(view: GraphView, rows: Rows, most: int) -> Ends:
    positions, owner = gather_first(pointers(view.tables.units.section, len(view.tables.sections)), rows, most)
    return _unweighted(rows[owner], positions)


def _section(view: GraphView, rows: Rows, most: int) -> Ends:
    return _unweighted(rows, view.tables.units.section[rows])


def _beside(step: int, view: GraphView, rows: Rows, most: int) -> Ends:
    doc = view.tables.units.doc
    rows = rows[(rows + step >= 0) & (rows + step < len(doc))]
    rows = rows[doc[rows] == doc[rows + step]]
    return _unweighted(rows, rows + step)


def _mentioned(view: GraphView, rows: Rows, most: int) -> Ends:
    pairs, owner = gather(view.walk.unit_pair, rows)
    return _mentions(view, rows[owner], pairs, view.walk.pair_entity[pairs].astype(np.int64))


def _mentioning(view: GraphView, rows: Rows, most: int) -> Ends:
    walk = view.walk
    positions, owner = gather(walk.entity_ptr, rows)
    pairs = walk.entity_pair[positions].astype(np.int64)
    keep = (_position_in_group(owner) < MAX_UNITS) | (walk.pair_definition[pairs] > 0)
    pairs, owner = pairs[keep], owner[keep]
    return _mentions(view, rows[owner], pairs, walk.pair_unit[pairs].astype(np.int64))


def _mentions(view: GraphView, near: Rows, pairs: Rows, far: Rows) -> Ends:
    count = view.mention_counts(pairs)
    weight = (np.log1p(count) + view.walk.pair_definition[pairs]).astype(np.float64)
    return near[count > 0], far[count > 0], weight[count > 0]


def _linked(view: GraphView, rows: Rows, most: int) -> Ends:
    links = view.tables.links
    positions, owner = gather(links.out_ptr, rows)
    return _links(view, rows[owner], links.target[positions], links.count[positions])


def _linking(view: GraphView, rows: Rows, most: int) -> Ends:
    links = view.tables.links
    positions, owner = gather(links.in_ptr, rows)
    positions = links.into[positions]
    return _links(view, rows[owner], links.source[positions], links.count[positions])


def _links(view: GraphView, near: Rows, far: Rows, count: Rows) -> Ends:
    visible = view.index.visible_documents
    keep = np.ones(len(far), dtype=bool) if visible is None else visible[far]
    return near[keep], far[keep], np.log1p(count[keep])


def _alias_of(view: GraphView, rows: Rows, most: int) -> Ends:
    aliases = view.tables.aliases
    return _aliases(view, rows, aliases.source, aliases.target)


def _aliased(view: GraphView, rows: Rows, most: int) -> Ends:
    aliases = view.tables.aliases
    return _aliases(view, rows, aliases.target, aliases.source)


def _aliases(view: GraphView, rows: Rows, near: Rows, far: Rows) -> Ends:
    shown = np.isin(near, rows) & view.sees_sentences(view.tables.aliases.sentence)
    width = max(len(view.tables.entities), 1)
    pairs, documents = np.unique(near[shown] * width + far[shown], return_counts=True)
    near, far = np.divmod(pairs, width)
    return near, far, np.log1p(documents)


def related(view: GraphView, entities: Rows, most: int) -> Ends:
    """Return the entities that are related to some entities.

    Args:
        view: what is visible.
        entities: rows.
        most: at most this many of each, the strongest; more may come.
    """
    if view.whole:
        edges = view.tables.related
        positions, owner = gather_first(edges.ptr, entities, most)
        return entities[owner], edges.far[positions], edges.weight[positions]
    width = max(len(view.tables.entities), 1)
    near, far = _mentioned_together(view, entities)
    by_sentence, n_sentences = np.unique(near * width + far, return_counts=True)
    near, far = _joined_by_facts(view, entities)
    by_fact, n_facts = np.unique(near * width + far, return_counts=True)
    pairs = np.union1d(by_sentence, by_fact)
    sentences, facts = np.zeros(len(pairs)), np.zeros(len(pairs))
    sentences[np.searchsorted(pairs, by_sentence)] = n_sentences
    facts[np.searchsorted(pairs, by_fact)] = n_facts
    near, far = np.divmod(pairs, width)
    weight = np.log1p(facts) + _npmi(view, near, far, sentences) * np.log1p(sentences)
    return near[weight > 0], far[weight > 0], weight[weight > 0]


def _mentioned_together(view: GraphView, entities: Rows) -> tuple[Rows, Rows]:
    """Return a pair for each visible sentence that mentions one of the entities beside another entity."""
    mentions, visible = view.tables.mentions.by_sentence, view.visible_mentions
    positions, owner = gather(mentions.ptr, entities)
    at = mentions.of_entity[positions]
    if visible is not None:
        at, owner = at[visible[at]], owner[visible[at]]
    at = at[_position_in_group(owner) < MAX_SENTENCES][:MAX_MENTIONS]
    near, far = [], []
    for lag in range(1, MAX_NAMES_APART):
        for other in (at + lag, at - lag):
            inside = (other >= 0) & (other < len(mentions.sentence))
            here, there = at[inside], other[inside]
            same = mentions.sentence[here] == mentions.sentence[there]
            near.append(mentions.entity[here[same]])
            far.append(mentions.entity[there[same]])
    return np.concatenate(near), np.concatenate(far)


def _joined_by_facts(view: GraphView, entities: Rows) -> tuple[Rows, Rows]:
    """Return a pair for each visible fact that joins one of the entities with another entity."""
    facts, visible = view.tables.facts, view.index.visible
    positions, owner = gather(facts.ptr, entities)
    near, far = entities[owner], facts.far[positions]
    keep = near != far
    if visible is not None:
        keep &= visible[facts.unit[facts.of_entity[positions]]]
    return near[keep], far[keep]


def _npmi(view: GraphView, near: Rows, far: Rows, together: Weights) -> Weights:
    """Return the positive part of normalised pointwise mutual information, ``ln(p(x,y) / p(x)p(y)) / -ln p(x,y)``."""
    occurrences, n_sentences = view.occurrences
    if not n_sentences:
        return np.zeros(len(near))
    joint = together / n_sentences
    independent = occurrences[near] * occurrences[far] / n_sentences**2
    with np.errstate(divide="ignore", invalid="ignore"):
        npmi = np.log(joint / independent) / -np.log(joint)
    found: Weights = np.clip(np.nan_to_num(npmi, nan=0.0, posinf=1.0, neginf=0.0), 0.0, 1.0)
    return found


_RELATIONS: dict[RelType, tuple[NodeKind, NodeKind, Neighbours, Neighbours | None]] = {
    "HAS_SECTION": ("document", "section", _sections, _document),
    "PARENT_OF": ("section", "section", _subsections, _parent),
    "HAS_UNIT": ("section", "unit", _units, _section),
    "NEXT": ("unit", "unit", partial(_beside, 1), partial(_beside, -1)),
    "MENTIONS": ("unit", "entity", _mentioned, _mentioning),
    "RELATED": ("entity", "entity", related, None),
    "ALIAS_OF": ("entity", "entity", _alias_of, _aliased),
    "LINKS_TO": ("document", "document", _linked, _linking),
}
"""The kinds of the source and the target of each relation, and the neighbours of each by it."""
