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
    width = 1 + max((int(some.max()) for some in (mention_entity, fact_subject, fact_object) if len(some)), default=0)
    pairs, together, npmi = _co_mentions(mention_sentence, mention_entity, width)
    facts, n_facts = np.unique(_keys(fact_subject, fact_object, width), return_counts=True)
    every = np.union1d(pairs, facts)
    columns = {
        name: _spread(every, some, values)
        for name, some, values in (("together", pairs, together), ("npmi", pairs, npmi), ("facts", facts, n_facts))
    }
    weight = np.log1p(columns["facts"]) + columns["npmi"] * np.log1p(columns["together"])
    keep = weight > 0
    source, target = np.divmod(every[keep], width)
    return pa.table(
        [
            pa.array(source.astype(np.int32)),
            pa.array(target.astype(np.int32)),
            pa.array(weight[keep].astype(np.float32)),
            pa.array(columns["facts"][keep].astype(np.int32)),
            pa.array(columns["together"][keep].astype(np.int32)),
        ],
        schema=RELATED,
    )


def _co_mentions(sentence: Int, entity: Int, width: int) -> tuple[Int, Int, npt.NDArray[np.float64]]:
    """Keys of pairs named in one sentence, in how many sentences, and their positive normalised PMI."""
    sentences, entities = np.divmod(np.unique(sentence * width + entity), width)
    found = [np.zeros(0, dtype=np.int64)]
    for lag in range(1, MAX_ENTITIES_PER_SENTENCE):
        same = sentences[lag:] == sentences[:-lag]
        found.append(_keys(entities[:-lag][same], entities[lag:][same], width))
    pairs, together = np.unique(np.concatenate(found), return_counts=True)
    n_sentences = max(1, len(np.unique(sentences)))
    occurrences = np.bincount(entities, minlength=width)
    joint = together / n_sentences
    left, right = np.divmod(pairs, width)
    independent = occurrences[left] * occurrences[right] / n_sentences**2
    with np.errstate(divide="ignore", invalid="ignore"):
        npmi = np.log(joint / independent) / -np.log(joint)
    return pairs, together, np.clip(np.nan_to_num(npmi, nan=0.0, posinf=1.0), 0.0, 1.0)


def _keys(a: Int, b: Int, width: int) -> Int:
    """Return undirected pairs without loops, each as one number: ``smaller * width + larger``."""
    apart = a != b
    keys: Int = np.minimum(a, b)[apart] * width + np.maximum(a, b)[apart]
    return keys


def _spread(every: Int, some: Int, values: npt.NDArray[np.number]) -> npt.NDArray[np.float64]:
    """Values of some of the pairs, at the places of those pairs among all; zero elsewhere."""
    result = np.zeros(len(every))
    result[np.searchsorted(every, some)] = values
    return result
