"""The entity graph: which entities are related, and how strongly.

Two entities are related if a fact joins them, if sentences name both more often than chance would have it
(positive pointwise mutual information), or if their names are near-synonyms. A block of code is no sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from graphctx.ingest.link import Linked
from graphctx.model.knowledge import Fact
from graphctx.store.schema import RELATED

Int = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]

MAX_ENTITIES_PER_SENTENCE = 12
"""A sentence that names more is a list; only neighbours within this distance count as named together."""

SYNONYM_COSINE = 0.86
SYNONYMS_PER_ENTITY = 3
MAX_SYNONYM_ENTITIES = 40_000
"""The most mentioned entities are compared, so that the step stays bounded: 40k x 40k x 384 is about a minute."""

_BLOCK = 512
_DENSE = 64 * _BLOCK
_SLICE = 16_384
_DIRECTIONS = 64
"""Of 16,310 names, one pair in a thousand is then proposed, in a quarter of the time of all products."""

_MARGIN = 1e-4
_DIGITS = re.compile(r"\d+")


def relate_entities(linked: Linked, facts: Sequence[Fact], vectors: Vectors) -> pa.Table:
    """Relate the entities of a corpus.

    Args:
        linked: entities and their mentions.
        facts: those between entities; a fact with a pruned end is ignored.
        vectors: float32 [E, d], of the entities' names.

    Returns:
        A table of schema ``RELATED``.
    """
    row = linked.entity_rows()
    mentions = linked.mentions.filter(pc.not_equal(linked.mentions["kind"], "code_block"))
    mentioned = np.array([entity.n_mentions for entity in linked.entities], dtype=np.int64)
    ends = [
        (row[fact.subject_id], row[fact.object_id]) for fact in facts if {fact.subject_id, fact.object_id} <= row.keys()
    ]
    subject, thing = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    return related_edges(
        mentions["sentence_row"].to_numpy().astype(np.int64),
        mentions["entity_row"].to_numpy().astype(np.int64),
        subject,
        thing,
        near_synonyms(vectors, [entity.name for entity in linked.entities], mentioned),
    )


def related_edges(
    mention_sentence: Int,
    mention_entity: Int,
    fact_subject: Int,
    fact_object: Int,
    synonyms: tuple[Int, Int, Vectors],
) -> pa.Table:
    """Join facts, co-mentions and synonyms to one undirected weighted edge list.

    Args:
        mention_sentence, mention_entity: rows, one for each mention.
        fact_subject, fact_object: entity rows, one for each fact.
        synonyms: entity rows, entity rows and cosines, as `near_synonyms` returns them.

    Returns:
        A table of schema ``RELATED``. ``weight = log(1 + facts) + npmi * log(1 + sentences) + similarity``, where
        ``npmi`` is the positive part of normalised pointwise mutual information (Bouma 2009).
    """
    pairs, together, npmi = _co_mentions(mention_sentence, mention_entity)
    facts, n_facts = _counted(fact_subject, fact_object)
    same, similarity = _ordered(synonyms[0], synonyms[1]), synonyms[2]
    every = np.unique(np.concatenate([pairs, facts, same]), axis=0)
    if not len(every):
        return RELATED.empty_table()
    columns = {
        name: _spread(every, some, values)
        for name, some, values in (
            ("together", pairs, together.astype(np.float64)),
            ("npmi", pairs, npmi),
            ("facts", facts, n_facts.astype(np.float64)),
            ("similarity", same, similarity.astype(np.float64)),
        )
    }
    weight = np.log1p(columns["facts"]) + columns["npmi"] * np.log1p(columns["together"]) + columns["similarity"]
    keep = weight > 0
    return pa.table(
        [
            pa.array(every[keep, 0].astype(np.int32)),
            pa.array(every[keep, 1].astype(np.int32)),
            pa.array(weight[keep].astype(np.float32)),
            pa.array(columns["facts"][keep].astype(np.int32)),
            pa.array(columns["together"][keep].astype(np.int32)),
            pa.array(columns["similarity"][keep].astype(np.float32)),
        ],
        schema=RELATED,
    )


def near_synonyms(vectors: Vectors, names: list[str], n_mentions: Int) -> tuple[Int, Int, Vectors]:
    """Pairs of entities whose names mean nearly the same, by cosine; names that differ in their digits never do.

    Args:
        vectors: float32 [E, d], L2-normalised.
        names: E names.
        n_mentions: int [E].

    Returns:
        Lower rows, higher rows, cosines; sorted.
    """
    order = np.lexsort((np.arange(len(names)), -n_mentions))[:MAX_SYNONYM_ENTITIES]
    chosen = np.sort(order)
    some = vectors[chosen]
    bounding = _bounding(some)
    ends, values = np.zeros((0, 2), np.int64), np.zeros(0)
    for start in range(0, len(chosen), _BLOCK):
        # A matrix product's last bits depend on the number of threads: it only proposes, with a margin, and what it
        # proposes is computed again in one fixed order.
        most = bounding[start : start + _BLOCK] @ bounding[start:].T
        if np.count_nonzero(most >= SYNONYM_COSINE - _MARGIN) > _DENSE:
            most = some[start : start + _BLOCK] @ some[start:].T
        proposed = start + _proposed(most)
        for pairs in (proposed[at : at + _SLICE] for at in range(0, len(proposed), _SLICE)):
            exact = np.round(np.einsum("ij,ij->i", some[pairs[:, 0]], some[pairs[:, 1]], dtype=np.float64), 4)
            ends = np.concatenate([ends, pairs[exact >= SYNONYM_COSINE]])
            values = np.concatenate([values, exact[exact >= SYNONYM_COSINE]])
        best = _best_of_each(ends, values)
        ends, values = ends[best], values[best]
    digits = [_DIGITS.findall(names[at]) for at in chosen]
    same = np.array([digits[a] == digits[b] for a, b in ends.tolist()], dtype=bool)
    return chosen[ends[same, 0]], chosen[ends[same, 1]], values[same].astype(np.float32)


def _bounding(vectors: Vectors) -> Vectors:
    """Return shorter vectors, whose inner products are not below those of ``vectors`` [n, d].

    They are the projections on the `_DIRECTIONS` principal components, and the length of what those leave out: by the
    Cauchy-Schwarz inequality the product of two such lengths is at least the product of what is left out.
    """
    _, components = np.linalg.eigh(vectors.T @ vectors)
    projected = vectors @ components[:, -_DIRECTIONS:]
    left_out = np.square(vectors).sum(axis=1) - np.square(projected).sum(axis=1)
    return np.column_stack([projected, np.sqrt(np.maximum(left_out, 0))])


def _proposed(cosines: Vectors) -> Int:
    """Return the pairs of a block [b, n] of rows and these and all later rows that may be synonyms."""
    cosines[np.tril_indices(len(cosines))] = -1
    near = cosines >= SYNONYM_COSINE - _MARGIN
    if np.count_nonzero(near) > _DENSE:  # leave out those that cannot be among the best of either end
        floors = []
        for axis in (0, 1):
            last = cosines.shape[axis] - min(SYNONYMS_PER_ENTITY, cosines.shape[axis])
            floors.append(np.partition(cosines, last, axis=axis).take([last], axis=axis) - 2 * _MARGIN)
        near &= (cosines >= floors[0]) | (cosines >= floors[1])
    return np.stack(np.unravel_index(np.flatnonzero(near), near.shape), axis=1)


def _best_of_each(ends: Int, values: npt.NDArray[np.float64]) -> Int:
    """Return the places of the pairs that are among the best of one of their ends."""
    pair = np.tile(np.arange(len(ends)), 2)
    row, other = np.concatenate([ends, ends[:, ::-1]]).T
    best = np.lexsort((other, -values[pair], row))
    rank = np.arange(len(best)) - np.searchsorted(row[best], row[best])
    return np.unique(pair[best[rank < SYNONYMS_PER_ENTITY]])


def _co_mentions(sentence: Int, entity: Int) -> tuple[Int, Int, npt.NDArray[np.float64]]:
    """Pairs named in one sentence, in how many sentences, and their positive normalised PMI."""
    named = np.unique(np.stack([sentence, entity], axis=1), axis=0) if len(sentence) else np.empty((0, 2), np.int64)
    left, right = [], []
    for lag in range(1, MAX_ENTITIES_PER_SENTENCE):
        same = named[lag:, 0] == named[:-lag, 0]
        left.append(named[:-lag, 1][same])
        right.append(named[lag:, 1][same])
    pairs, together = _counted(np.concatenate(left), np.concatenate(right))
    if not len(pairs):
        return pairs, together, np.empty(0)
    n_sentences = len(np.unique(named[:, 0]))
    occurrences = np.bincount(named[:, 1])
    joint = together / n_sentences
    independent = occurrences[pairs[:, 0]] * occurrences[pairs[:, 1]] / n_sentences**2
    with np.errstate(divide="ignore", invalid="ignore"):
        npmi = np.log(joint / independent) / -np.log(joint)
    return pairs, together, np.clip(np.nan_to_num(npmi, nan=0.0, posinf=1.0), 0.0, 1.0)


def _ordered(a: Int, b: Int) -> Int:
    return np.stack([np.minimum(a, b), np.maximum(a, b)], axis=1).astype(np.int64).reshape(-1, 2)


def _counted(a: Int, b: Int) -> tuple[Int, Int]:
    """Distinct undirected pairs without loops, and how often each occurs."""
    pairs = _ordered(a, b)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    unique, counts = np.unique(pairs, axis=0, return_counts=True)
    return unique.reshape(-1, 2), counts.astype(np.int64)


def _spread(every: Int, some: Int, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Values of some of the pairs, at the places of those pairs among all; zero elsewhere."""
    result = np.zeros(len(every))
    if len(some):
        width = int(every.max()) + 1
        at = np.searchsorted(every[:, 0] * width + every[:, 1], some[:, 0] * width + some[:, 1])
        result[at] = values
    return result
