"""The local walk: from seed units, through the entities they name, to the units those lead to.

Each edge is weighted by how well the sentence that carries it fits the question. A *home edge* leads to the unit
that is about an entity; an *entity edge* leads through a rare entity to any unit that names it. Formulas and
weights follow the recipe (docs/retrieval.md, steps 4 to 6).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphctx.retrieve.index import Rows, Scores, SearchIndex
from graphctx.retrieve.question import Question
from graphctx.retrieve.scope import Mask
from graphctx.store.walk import WalkArrays, gather

MAX_RARE_UNITS = 10
"""An entity that more units name joins nothing in particular."""

MAX_EDGES = 20_000
"""Bound of what one step starts from, an entity of a seed each; the best carrying sentences are kept. Each goes
on to at most ten units, or to the homes of its entity."""


def largest(rows: Rows, values: Scores) -> tuple[Rows, Scores]:
    """Distinct rows, sorted, and the largest value of each."""
    order = np.lexsort((values, rows))
    ordered = rows[order]
    last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True)) if len(ordered) else order
    return ordered[last], values[order][last].astype(np.float32)


@dataclass(frozen=True, slots=True)
class Edges:
    """Edges of a walk, parallel arrays: from a seed unit through an entity to a unit.

    ``sentence`` is the row of the carrying sentence in the source, -1 where there is none; ``value`` its weight.
    """

    source: Rows
    entity: Rows
    target: Rows
    sentence: Rows
    value: Scores

    def best_per_target(self) -> tuple[Rows, Scores]:
        """The units that edges lead to, distinct and sorted, and the largest value that leads to each."""
        return largest(self.target, self.value)

    def among(self, keep: Rows | Mask) -> Edges:
        """Some of the edges, by position or by mask."""
        return Edges(self.source[keep], self.entity[keep], self.target[keep], self.sentence[keep], self.value[keep])

    def elsewhere(self) -> Edges:
        """Only edges to units that are not their own source."""
        return self.among(self.target != self.source)


_NO_ROWS = np.empty(0, dtype=np.int64)
NO_EDGES = Edges(_NO_ROWS, _NO_ROWS, _NO_ROWS, _NO_ROWS, np.empty(0, dtype=np.float32))


@dataclass(frozen=True, slots=True)
class Walk:
    """Edges to homes, through rare entities (by place, and by the target's sentence), and to what completes a seed."""

    home: Edges
    place: Edges
    carried: Edges
    rest: Edges


def entity_specificity(walk: WalkArrays, entities: Rows) -> Scores:
    """``ln(N / df) / ln N`` of some entities, in 0..1."""
    n = max(walk.n_counted, 2)
    frequency = np.maximum(walk.entity_ptr[entities + 1] - walk.entity_ptr[entities], 1)
    specificity: Scores = np.clip(np.log(n / frequency) / np.log(n), 0.0, 1.0).astype(np.float32)
    return specificity


def alias_scores(walk: WalkArrays, question: Question) -> tuple[Rows, Scores]:
    """Units at home in what the question names, and how much: ``value * spec * proper / sqrt(homes)``.

    Returns:
        Distinct unit rows, sorted, and their scores.
    """
    if not len(question.entities):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
    homes, owner = gather(walk.home_ptr, question.entities)
    entity = question.entities[owner]
    count = (walk.home_ptr[entity + 1] - walk.home_ptr[entity]).astype(np.float32)
    weight = entity_specificity(walk, entity) * walk.entity_proper[entity] / np.sqrt(count)
    units = walk.home_unit[homes].astype(np.int64)
    value = (walk.home_value[homes] * weight).astype(np.float32)
    return largest(units, value)


def local_walk(index: SearchIndex, question: Question, seeds: Rows, strength: Scores) -> Walk:
    """Walk one hop from the seeds.

    Args:
        index: of what may be seen.
        question: made ready.
        seeds: unit rows.
        strength: float32 beside them, in 0..1.
    """
    walk = index.walk
    pairs, owner = gather(walk.unit_pair, seeds)
    entity = walk.pair_entity[pairs].astype(np.int64)
    useful = (walk.pair_home[pairs] == 0) & (walk.entity_ptr[entity + 1] - walk.entity_ptr[entity] >= 2)
    pairs, owner, entity = pairs[useful], owner[useful], entity[useful]
    carried, carrier = carrying_sentence(index, question, pairs)
    force = strength[owner] * carried
    alive = np.flatnonzero(force > 0)
    if len(alive) > MAX_EDGES:
        alive = np.sort(alive[np.lexsort((alive, -force[alive]))][:MAX_EDGES])
    start = _Start(seeds[owner[alive]], entity[alive], carrier[alive], force[alive])
    homes = _home_edges(walk, start)
    place, sentence = _entity_edges(index, question, start)
    return Walk(homes.elsewhere(), place.elsewhere(), sentence.elsewhere(), NO_EDGES)


@dataclass(frozen=True, slots=True)
class _Start:
    source: Rows
    entity: Rows
    sentence: Rows
    force: Scores


def carrying_sentence(index: SearchIndex, question: Question, pairs: Rows) -> tuple[Scores, Rows]:
    """For each pair the best cosine of a sentence that names its entity, floored at 0, and that sentence's row."""
    walk = index.walk
    positions, owner = gather(walk.pair_sentence_ptr, pairs)
    rows = walk.pair_sentence[positions].astype(np.int64)
    distinct, inverse = np.unique(rows, return_inverse=True)
    similarity = index.sentence_similarity(question.vector, distinct)[inverse]
    best = np.zeros(len(pairs), dtype=np.float32)
    np.maximum.at(best, owner, similarity)
    carrier = np.full(len(pairs), -1, dtype=np.int64)
    is_best = np.flatnonzero(similarity >= best[owner])[::-1]
    carrier[owner[is_best]] = rows[is_best]
    return best, carrier


def _home_edges(walk: WalkArrays, start: _Start) -> Edges:
    homes, owner = gather(walk.home_ptr, start.entity)
    entity = start.entity[owner]
    count = (walk.home_ptr[entity + 1] - walk.home_ptr[entity]).astype(np.float32)
    weight = entity_specificity(walk, entity) * walk.entity_proper[entity] / np.sqrt(count)
    return Edges(
        start.source[owner],
        entity,
        walk.home_unit[homes].astype(np.int64),
        start.sentence[owner],
        (start.force[owner] * walk.home_value[homes] * weight).astype(np.float32),
    )


def _entity_edges(index: SearchIndex, question: Question, start: _Start) -> tuple[Edges, Edges]:
    walk = index.walk
    frequency = walk.entity_ptr[start.entity + 1] - walk.entity_ptr[start.entity]
    rare = frequency <= MAX_RARE_UNITS
    entity = start.entity[rare]
    positions, owner = gather(walk.entity_ptr, entity)
    pairs = walk.entity_pair[positions].astype(np.int64)
    away = walk.pair_home[pairs] == 0
    pairs, owner = pairs[away], owner[away]
    inverse = entity_specificity(walk, entity) / np.sqrt(np.maximum(frequency[rare] - 1, 1)).astype(np.float32)
    value = start.force[rare][owner] * inverse[owner]
    carried, _ = carrying_sentence(index, question, pairs)
    ends = (start.source[rare][owner], entity[owner], walk.pair_unit[pairs].astype(np.int64))
    sentence = start.sentence[rare][owner]
    return (
        Edges(*ends, sentence, value * walk.pair_place[pairs]),
        Edges(*ends, sentence, value * carried),
    )
