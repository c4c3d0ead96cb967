"""Rest edges: from a seed, through an entity, to a candidate that holds what the question asks for and the seed lacks.

The last hop of a question is often a unit that merely *mentions* the bridging entity, beside the words that the first
hop leaves open: "the waterfall in the country where the Bubye River is" leads through Zimbabwe to the unit that has
both Zimbabwe and a waterfall. Only candidates that some search or edge has found already are looked at, so that no
limit on how common the entity is is needed, and the work does not grow with the corpus.
"""

from __future__ import annotations

import numpy as np

from graphctx.retrieve.index import Rows, Scores, SearchIndex
from graphctx.retrieve.question import Question
from graphctx.retrieve.walk import MAX_EDGES, Edges, carrying_sentence, entity_specificity
from graphctx.store.walk import gather

MEANING_SHARE = 0.3
"""How much of an edge's fit is the cosine of the target's naming sentence; the rest is the words that it completes."""

MIN_OPEN = 0.5
"""A seed that holds nearly all of the question leaves nothing for a further hop: what it lacks counts as at least this
share of the question, or whoever holds its last word would complete it."""


def rest_edges(index: SearchIndex, question: Question, seeds: Rows, strength: Scores, candidates: Rows) -> Edges:
    """The rest edges from seeds to candidates.

    ``value = strength * c * sqrt(spec * proper) * (0.7 * completed + 0.3 * max(0, cosine))``, where ``c`` is the best
    cosine of the question with a sentence of the seed that names the entity, ``completed`` the share, weighted by
    inverse document frequency, of the question's terms that the seed lacks which the target holds (see `MIN_OPEN`), and
    ``cosine`` that of the target's best sentence with the entity. An entity that the question names bridges nothing.

    Args:
        index: of what may be seen.
        question: made ready.
        seeds: unit rows.
        strength: float32 beside them, in 0..1.
        candidates: unit rows, sorted and distinct.
    """
    walk = index.walk
    pairs, seed = gather(walk.unit_pair, seeds)
    entity = walk.pair_entity[pairs].astype(np.int64)
    common = walk.entity_ptr[entity + 1] - walk.entity_ptr[entity] >= 2
    bridging = common & (walk.pair_home[pairs] == 0) & ~np.isin(entity, question.entities)
    pairs, seed, entity = pairs[bridging], seed[bridging], entity[bridging]
    ends, candidate = gather(walk.unit_pair, candidates)
    named = walk.pair_entity[ends].astype(np.int64)
    shared = np.isin(named, entity)
    ends, candidate, named = ends[shared], candidate[shared], named[shared]
    carried, carrier = carrying_sentence(index, question, pairs)
    fit, _ = carrying_sentence(index, question, ends)
    weight = strength[seed] * carried * np.sqrt(entity_specificity(walk, entity) * walk.entity_proper[entity])
    left, right = _join(entity, named)
    keep = (seeds[seed[left]] != candidates[candidate[right]]) & (weight[left] > 0)
    left, right = left[keep], right[keep]
    completed = _completed(index, question, seeds, seed[left], candidates, candidate[right])
    value = weight[left] * ((1 - MEANING_SHARE) * completed + MEANING_SHARE * fit[right])
    alive = np.flatnonzero(value > 0)
    if len(alive) > MAX_EDGES:
        alive = np.sort(alive[np.lexsort((alive, -value[alive]))][:MAX_EDGES])
    left, right = left[alive], right[alive]
    return Edges(
        seeds[seed[left]], entity[left], candidates[candidate[right]], carrier[left], value[alive].astype(np.float32)
    )


def _join(left: Rows, right: Rows) -> tuple[Rows, Rows]:
    """All pairs of positions with the same value: positions in ``left`` and in ``right``."""
    order = np.argsort(right, kind="stable")
    ordered = right[order]
    first = np.searchsorted(ordered, left, side="left")
    count = np.searchsorted(ordered, left, side="right") - first
    owner = np.repeat(np.arange(len(left)), count)
    offset = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
    return owner, order[first[owner] + offset]


def _completed(
    index: SearchIndex, question: Question, seeds: Rows, seed: Rows, candidates: Rows, candidate: Rows
) -> Scores:
    """For each pair the share of the question's terms that the seed lacks which the candidate holds, by idf."""
    idf = np.array([index.bm25.idf(term) for term in question.terms], dtype=np.float32)
    held_by_seed = index.bm25.holders(question.terms, seeds)
    held = index.bm25.holders(question.terms, candidates)
    idf[~(held_by_seed.any(axis=0) | held.any(axis=0))] = 0.0  # what nobody holds completes nothing
    lacking = np.einsum("ij,j->i", ~held_by_seed, idf)
    gained = np.einsum("sj,cj,j->sc", ~held_by_seed, held, idf)
    open_at_least = max(MIN_OPEN * float(idf.sum()), 1e-6)
    share: Scores = (gained[seed, candidate] / np.maximum(lacking[seed], open_at_least)).astype(np.float32)
    return share
