"""The entity graph: which entities are related, and how strongly.

Two entities are related if a fact joins them, or if sentences name both more often than chance would have it (positive
pointwise mutual information). A block of code is no sentence.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from graphctx.ingest.link import Linked
from graphctx.model.knowledge import Fact
from graphctx.store.schema import RELATED

Int = npt.NDArray[np.int64]

MAX_ENTITIES_PER_SENTENCE = 12
"""A sentence that names more is a list; only neighbours within this distance count as named together."""


def relate_entities(linked: Linked, facts: Sequence[Fact]) -> pa.Table:
    """Relate the entities of a corpus.

    Args:
        linked: entities and their mentions.
        facts: those between entities; a fact with a pruned end is ignored.

    Returns:
        A table of schema ``RELATED``.
    """
    row = linked.entity_rows()
    mentions = linked.mentions.filter(pc.not_equal(linked.mentions["kind"], "code_block"))
    ends = [
        (row[fact.subject_id], row[fact.object_id]) for fact in facts if {fact.subject_id, fact.object_id} <= row.keys()
    ]
    subject, thing = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    return related_edges(
        mentions["sentence_row"].to_numpy().astype(np.int64),
        mentions["entity_row"].to_numpy().astype(np.int64),
        subject,
        thing,
    )


def related_edges(mention_sentence: Int, mention_entity: Int, fact_subject: Int, fact_object: Int) -> pa.Table:
    """Join facts and co-mentions to one undirected weighted edge list.

    Args:
        mention_sentence, mention_entity: rows, one for each mention.
        fact_subject, fact_object: entity rows, one for each fact.

    Returns:
        A table of schema ``RELATED``. ``weight = log(1 + facts) + npmi * log(1 + sentences)``, where ``npmi`` is the
        positive part of normalised pointwise mutual information (Bouma 2009).
    """
    pairs, together, npmi = _co_mentions(mention_sentence, mention_entity)
    facts, n_facts = _counted(fact_subject, fact_object)
    every = np.unique(np.concatenate([pairs, facts]), axis=0)
    if not len(every):
        return RELATED.empty_table()
    columns = {
        name: _spread(every, some, values)
        for name, some, values in (
            ("together", pairs, together.astype(np.float64)),
            ("npmi", pairs, npmi),
            ("facts", facts, n_facts.astype(np.float64)),
        )
    }
    weight = np.log1p(columns["facts"]) + columns["npmi"] * np.log1p(columns["together"])
    keep = weight > 0
    return pa.table(
        [
            pa.array(every[keep, 0].astype(np.int32)),
            pa.array(every[keep, 1].astype(np.int32)),
            pa.array(weight[keep].astype(np.float32)),
            pa.array(columns["facts"][keep].astype(np.int32)),
            pa.array(columns["together"][keep].astype(np.int32)),
        ],
        schema=RELATED,
    )


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
