"""Expansion over the graph of units and entities: definition, entity and bridge edges.

An edge leaves a seed unit through an entity that the seed mentions and does not define. The sentence that mentions the
entity carries the edge: its cosine with the question, floored at 0, is a factor of the edge's weight. A *definition
edge* leads to the units that define the entity (its page, its section, the sentence that says what it is). An *entity
edge* leads through a rare entity to the other units that mention it. A *bridge edge* leads to a candidate that mentions
the entity beside the question's terms that the seed lacks. docs/retrieval.md has the formulas.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from graphctx.model.interrupt import checkpoint
from graphctx.retrieve.arrays import NO_SCORES, Rows, Scores, SparseScores, is_in, top_rows, union
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import Question
from graphctx.retrieve.stages.base import NOT_EXPANDED, Edges, Expanded
from graphctx.store.walk import WalkArrays, gather

MAX_EDGES = 20_000
"""Bound of the edges of each kind; the heaviest are kept."""

MAX_REACHED = 200
"""Bound of the units reached by other edges that bridge edges may lead to."""

MAX_RARE_UNITS = 10
"""An entity that more units mention is too common to be informative."""

MEANING_SHARE = 0.3
"""Share of a bridge edge's fit that is the cosine of the target's sentence; the rest is the terms that it completes."""

MIN_OPEN = 0.5
"""What a seed lacks counts as at least this share of the question; otherwise a unit with the single remaining term
would score as a full completion."""


@dataclass(frozen=True, slots=True)
class GraphExpansion:
    """Expand over definition, entity and bridge edges; a `graphctx.retrieve.stages.base.Expansion`.

    Attributes:
        definition, entity, bridge: weights of the kinds of edges.
    """

    definition: float = 1.0
    entity: float = 0.2
    bridge: float = 1.0

    def __call__(self, index: SearchIndex, question: Question, seeds: SparseScores, candidates: Rows) -> Expanded:
        """Return the edges from the seeds, and what the best edge of each kind adds to each target."""
        start = _mentions_of(index, question, seeds)
        definition = _definition_edges(index.walk, start)
        entity = _entity_edges(index, question, start)
        gain = SparseScores.sum_of_best(_weighted(definition, self.definition), _weighted(entity, self.entity))
        checkpoint()
        reached = union(candidates, gain.top(MAX_REACHED))
        bridge = _bridge_edges(index, question, seeds.rows, start, reached)
        gain = SparseScores.sum_of_best((gain.rows, gain.values), _weighted(bridge, self.bridge))
        return Expanded(gain, {"definition": definition, "entity": entity, "bridge": bridge})


def _weighted(edges: Edges, weight: float) -> tuple[Rows, Scores]:
    """The targets of the edges of a kind, and their values times its weight; none where that is 0."""
    return (edges.target, edges.value * np.float32(weight)) if weight else (NO_SCORES.rows, NO_SCORES.values)


def no_expansion(index: SearchIndex, question: Question, seeds: SparseScores, candidates: Rows) -> Expanded:
    """Add nothing. The variant ``hybrid`` uses it; where the settings choose it, mode auto is vector_only."""
    return NOT_EXPANDED


def defining_units(walk: WalkArrays, question: Question, k: int) -> SparseScores:
    """Score the units that define what the question names: ``value * specificity * proper / sqrt(definitions)``."""
    if not len(question.entities):
        return NO_SCORES
    units, values, _ = _definitions(walk, question.entities, specificity(walk, question.entities))
    found = SparseScores.sum_of_best((units, values))
    if len(found.rows) <= k:
        return found
    best = np.sort(top_rows(found.values, k))
    return SparseScores(found.rows[best], found.values[best])


def specificity(walk: WalkArrays, entities: Rows) -> Scores:
    """Return ``ln(N / df) / ln N`` of some entities, in 0..1: inverse document frequency on the scale of the corpus."""
    n = max(walk.n_counted, 2)
    frequency = np.maximum(walk.entity_ptr[entities + 1] - walk.entity_ptr[entities], 1)
    share = np.log(n / frequency) / math.log(n)
    result: Scores = np.minimum(np.maximum(share, 0.0), 1.0).astype(np.float32)
    return result


@dataclass(frozen=True, slots=True)
class _Mentions:
    """Mentions in seeds that edges leave from: position of the seed, entity, carrying sentence, weight so far."""

    seed: Rows
    source: Rows
    entity: Rows
    specificity: Scores
    sentence: Rows
    weight: Scores


def _mentions_of(index: SearchIndex, question: Question, seeds: SparseScores) -> _Mentions:
    walk = index.walk
    pairs, seed = gather(walk.unit_pair, seeds.rows)
    entity = walk.pair_entity[pairs].astype(np.int64)
    leads_on = (walk.pair_definition[pairs] == 0) & (walk.entity_ptr[entity + 1] - walk.entity_ptr[entity] >= 2)
    pairs, seed, entity = pairs[leads_on], seed[leads_on], entity[leads_on]
    cosine, rows, similarity, owner = _best_cosine(index, question, pairs)
    carrier = np.full(len(pairs), -1, dtype=np.int64)
    is_best = (similarity >= cosine[owner]).nonzero()[0][::-1]
    carrier[owner[is_best]] = rows[is_best]
    weight = seeds.values[seed] * cosine
    kept = _heaviest(weight)
    seed, entity = seed[kept], entity[kept]
    return _Mentions(seed, seeds.rows[seed], entity, specificity(walk, entity), carrier[kept], weight[kept])


def _best_cosine(index: SearchIndex, question: Question, pairs: Rows) -> tuple[Scores, Rows, Scores, Rows]:
    """For each pair of unit and entity, the best cosine of a naming sentence, floored at 0.

    Also the rows of all naming sentences, their cosines, and the position of the pair that each names.
    """
    positions, owner = gather(index.walk.pair_sentence_ptr, pairs)
    rows = index.walk.pair_sentence[positions].astype(np.int64)
    similarity = question.sentences.at(rows)
    best = np.zeros(len(pairs), dtype=np.float32)
    np.maximum.at(best, owner, similarity)
    return best, rows, similarity, owner


def _definitions(walk: WalkArrays, entities: Rows, specific: Scores) -> tuple[Rows, Scores, Rows]:
    """The units that define some entities, their weights, and the position of the entity that each defines."""
    positions, owner = gather(walk.definition_ptr, entities)
    count = np.maximum(walk.definition_ptr[entities + 1] - walk.definition_ptr[entities], 1).astype(np.float32)
    weight = specific * walk.entity_proper[entities] / np.sqrt(count)
    value = (walk.definition_value[positions] * weight[owner]).astype(np.float32)
    return walk.definition_unit[positions].astype(np.int64), value, owner


def _definition_edges(walk: WalkArrays, start: _Mentions) -> Edges:
    target, value, owner = _definitions(walk, start.entity, start.specificity)
    value = (start.weight[owner] * value).astype(np.float32)
    edges = Edges(start.source[owner], start.entity[owner], target, start.sentence[owner], value)
    return edges.select(edges.target != edges.source)


def _entity_edges(index: SearchIndex, question: Question, start: _Mentions) -> Edges:
    """Edges through rare entities, worth ``weight * specificity / sqrt(df - 1) * (place + cosine)``.

    ``place`` tells where the target mentions the entity (title 0.7, first sentence 0.5, elsewhere 0.3), ``cosine`` is
    that of the question with the mentioning sentence there.
    """
    walk = index.walk
    frequency = walk.entity_ptr[start.entity + 1] - walk.entity_ptr[start.entity]
    rare = (frequency <= MAX_RARE_UNITS).nonzero()[0]
    positions, owner = gather(walk.entity_ptr, start.entity[rare])
    pairs = walk.entity_pair[positions].astype(np.int64)
    target, owner = walk.pair_unit[pairs].astype(np.int64), rare[owner]
    mentions = (walk.pair_definition[pairs] == 0) & (target != start.source[owner])
    pairs, target, owner = pairs[mentions], target[mentions], owner[mentions]
    cosine, *_ = _best_cosine(index, question, pairs)
    spread = start.specificity[owner] / np.sqrt(np.maximum(frequency[owner] - 1, 1))
    value = (start.weight[owner] * spread * (walk.pair_place[pairs] + cosine)).astype(np.float32)
    return Edges(start.source[owner], start.entity[owner], target, start.sentence[owner], value)


def _bridge_edges(index: SearchIndex, question: Question, seeds: Rows, start: _Mentions, candidates: Rows) -> Edges:
    """Edges to candidates, worth ``weight * sqrt(specificity * proper) * (0.7 * completed + 0.3 * max(0, cosine))``.

    An entity that the question names bridges nothing. Only candidates are looked at, so no limit on how common an
    entity is is needed, and the work does not grow with the corpus.
    """
    walk = index.walk
    bridging = (~is_in(start.entity, question.entities)).nonzero()[0]
    ends, candidate = gather(walk.unit_pair, candidates)
    named = walk.pair_entity[ends].astype(np.int64)
    shared = is_in(named, union(start.entity[bridging]))
    ends, candidate, named = ends[shared], candidate[shared], named[shared]
    left, right = _join(start.entity[bridging], named)
    left = bridging[left]
    elsewhere = start.source[left] != candidates[candidate[right]]
    left, right = left[elsewhere], right[elsewhere]
    fit, *_ = _best_cosine(index, question, ends)
    completed = _completed(index, question, seeds, start.seed[left], candidates, candidate[right])
    weight = (start.weight * np.sqrt(start.specificity * walk.entity_proper[start.entity]))[left]
    value = (weight * ((1 - MEANING_SHARE) * completed + MEANING_SHARE * fit[right])).astype(np.float32)
    kept = _heaviest(value)
    left, right = left[kept], right[kept]
    return Edges(
        start.source[left], start.entity[left], candidates[candidate[right]], start.sentence[left], value[kept]
    )


def _completed(
    index: SearchIndex, question: Question, seeds: Rows, seed: Rows, candidates: Rows, candidate: Rows
) -> Scores:
    """For each pair the share of the question's terms that the seed lacks and the candidate holds, weighted by idf."""
    idf = np.array(question.idf, dtype=np.float32)
    held = index.bm25.contains(question.terms, np.concatenate([seeds, candidates]))
    idf[~held.any(axis=0)] = 0.0  # a term that neither holds completes nothing
    held_by_seed, held = held[: len(seeds)], held[len(seeds) :]
    lacks = ~held_by_seed * idf
    lacking = lacks.sum(axis=1)
    gained = np.einsum("sj,cj->sc", lacks, held.astype(np.float32))
    open_at_least = max(MIN_OPEN * float(idf.sum()), 1e-6)
    share: Scores = (gained[seed, candidate] / np.maximum(lacking[seed], open_at_least)).astype(np.float32)
    return share


def _join(left: Rows, right: Rows) -> tuple[Rows, Rows]:
    """All pairs of positions with the same value: positions in ``left`` and in ``right``."""
    order = right.argsort(kind="stable")
    ordered = right[order]
    first = ordered.searchsorted(left, side="left")
    count = ordered.searchsorted(left, side="right") - first
    owner = np.arange(len(left)).repeat(count)
    return owner, order[(first + count - count.cumsum())[owner] + np.arange(len(owner))]


def _heaviest(weight: Scores) -> Rows:
    """Positions of the `MAX_EDGES` largest weights above 0, in order."""
    positive = (weight > 0).nonzero()[0]
    if len(positive) <= MAX_EDGES:
        return positive
    heaviest: Rows = np.sort(positive[np.lexsort((positive, -weight[positive]))][:MAX_EDGES])
    return heaviest
