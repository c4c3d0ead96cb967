"""RELATED: which entities are related, and how strongly, as far as what may be seen supports it.

Of a whole snapshot the edges are those of its table. Within a scope they are made anew from the facts and the sentences
that may be seen, with the formula by which the table was made: ``ln(1 + facts) + npmi * ln(1 + sentences)``, where
``npmi`` is the positive part of normalised pointwise mutual information (Bouma 2009) over the sentences that may be
seen. The table's third part, the likeness of two names, supports no edge there: it compares names that may stand
outside only.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.graph.view import View, gather_first
from graphctx.store.walk import gather

Weights = npt.NDArray[np.float64]

MAX_NAMES_APART = 12
"""Names of one sentence further apart than this do not count as named together (as when the table was made)."""

MAX_SENTENCES = 2_000
"""Of an entity that more sentences name, the first so many in reading order are looked at within a scope."""

MAX_LOOKED_AT = 60_000
"""The same for all entities of one step together: about a tenth of a second. The first entities come first."""


def related(view: View, entities: Rows, most: int) -> tuple[Rows, Rows, Weights]:
    """The entities related to some entities, near rows, far rows and weights.

    Args:
        view: what may be seen.
        entities: rows.
        most: at most so many of each, the strongest; more may come.
    """
    if view.whole:
        edges = view.tables.related
        positions, owner = gather_first(edges.ptr, entities, most)
        return entities[owner], edges.far[positions], edges.weight[positions]
    width = max(len(view.tables.entities), 1)
    near, far = _together(view, entities)
    pairs, together = np.unique(near * width + far, return_counts=True)
    near, far = _facts(view, entities)
    joined, n_facts = np.unique(near * width + far, return_counts=True)
    every = np.union1d(pairs, joined)
    sentences, facts = np.zeros(len(every)), np.zeros(len(every))
    sentences[np.searchsorted(every, pairs)] = together
    facts[np.searchsorted(every, joined)] = n_facts
    near, far = every // width, every % width
    weight = np.log1p(facts) + _npmi(view, near, far, sentences) * np.log1p(sentences)
    keep = weight > 0
    return near[keep], far[keep], weight[keep]


def _together(view: View, entities: Rows) -> tuple[Rows, Rows]:
    """Each sentence that names one of the entities beside another entity."""
    named, seen = view.tables.mentions.named, view.seen_named
    positions, owner = gather(named.ptr, entities)
    at = named.of_entity[positions]
    if seen is not None:
        at, owner = at[seen[at]], owner[seen[at]]
    at, owner = _first_of_each(at, owner)
    near, far = [], []
    last = len(named.sentence)
    for lag in range(1, MAX_NAMES_APART):
        for step in (lag, -lag):
            other = at + step
            inside = (other >= 0) & (other < last)
            here, there = at[inside], other[inside]
            same = named.sentence[here] == named.sentence[there]
            near.append(named.entity[here[same]])
            far.append(named.entity[there[same]])
    return np.concatenate(near), np.concatenate(far)


def _first_of_each(at: Rows, owner: Rows) -> tuple[Rows, Rows]:
    place = np.arange(len(owner)) - np.searchsorted(owner, owner)
    first = place < MAX_SENTENCES
    return at[first][:MAX_LOOKED_AT], owner[first][:MAX_LOOKED_AT]


def _facts(view: View, entities: Rows) -> tuple[Rows, Rows]:
    """Each fact that joins one of the entities with another, and may be seen."""
    facts = view.tables.facts
    positions, owner = gather(facts.ptr, entities)
    near, far = entities[owner], facts.far[positions]
    keep = near != far
    if view.index.visible is not None:
        keep &= view.index.visible[facts.unit[facts.of_entity[positions]]]
    return near[keep], far[keep]


def _npmi(view: View, near: Rows, far: Rows, together: Weights) -> Weights:
    occurrences, n_sentences = view.occurrences
    if not n_sentences:
        return np.zeros(len(near))
    joint = together / n_sentences
    independent = occurrences[near] * occurrences[far] / n_sentences**2
    with np.errstate(divide="ignore", invalid="ignore"):
        npmi = np.log(joint / independent) / -np.log(joint)
    found: Weights = np.clip(np.nan_to_num(npmi, nan=0.0, posinf=1.0, neginf=0.0), 0.0, 1.0)
    return found
