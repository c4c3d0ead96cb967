"""Looking into a ranking: the order of units after each stage, where given units stand in it, and the edges walked.

For explanations and reports, off the path of answers. Stages and edge kinds are taken as the ranking has them, so
that one that is added there shows up here.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from graphctx.retrieve.first_stage import best_rows
from graphctx.retrieve.index import Rows, Scores, SearchIndex
from graphctx.retrieve.rank import Ranking
from graphctx.retrieve.sparse import Sparse
from graphctx.retrieve.walk import Edges

FINAL = "final"
"""The stage that is the ranking itself."""


@dataclass(frozen=True, slots=True)
class Stage:
    """The units that a stage knows, best first, and their scores there, float32 beside them."""

    rows: Rows
    scores: Scores

    def rank_of(self, rows: Rows) -> int | None:
        """The best rank of any of some units, from 1; ``None`` where the stage has none of them."""
        places = np.flatnonzero(np.isin(self.rows, rows))
        return int(places[0]) + 1 if len(places) else None


@dataclass(frozen=True, slots=True)
class Step:
    """One edge that was walked: rows of units, entity and carrying sentence (-1: none), and its worth."""

    kind: str
    source: int
    entity: int
    target: int
    sentence: int
    value: float


def stages(ranking: Ranking) -> dict[str, Stage]:
    """The stages of a ranking in their order: ``bm25``, ``vector``, ``base``, ``alias``, ``walk``, ``final``.

    ``alias`` is how much units are at home in what the question names, ``walk`` what the walk adds to each.
    """
    found = ranking.stage
    base = ranking.base
    order = best_rows(base.values, len(base.rows))
    return {
        "bm25": Stage(found.lexical, found.scorer.bm25(found.lexical)),
        "vector": Stage(found.nearest, found.scorer.cosine(found.nearest)),
        "base": Stage(base.rows[order], base.values[order]),
        "alias": _of_sparse(ranking.alias),
        "walk": _of_sparse(ranking.gain),
        FINAL: Stage(ranking.rows, ranking.scores),
    }


def score_parts(ranking: Ranking, rows: Rows) -> dict[str, Scores]:
    """What the scores of some ranked units are made of, each part float32 beside them, unweighted."""
    base = ranking.base
    at = np.searchsorted(base.rows, rows)
    return {
        "bm25": base.bm25[at],
        "cosine": base.cosine[at],
        "base": base.values[at],
        "alias": ranking.alias.at(rows),
        "walk": ranking.gain.at(rows),
    }


def _of_sparse(values: Sparse) -> Stage:
    rows = values.best(len(values.rows))
    return Stage(rows, values.at(rows))


def edge_counts(ranking: Ranking) -> dict[str, int]:
    """How many edges of each kind were walked."""
    return {kind: len(edges.value) for kind, edges in _kinds(ranking).items()}


def best_steps(ranking: Ranking, targets: Rows) -> list[Step]:
    """The best edge of each kind that leads to each of some units, the best first; ties by kind and rows."""
    steps = []
    for kind, edges in _kinds(ranking).items():
        at = np.flatnonzero(np.isin(edges.target, targets))
        order = at[np.lexsort((edges.entity[at], edges.source[at], -edges.value[at], edges.target[at]))]
        first = np.append(True, edges.target[order][1:] != edges.target[order][:-1])[: len(order)]
        steps += [_step(kind, edges, int(one)) for one in order[first]]
    return sorted(steps, key=lambda step: (-step.value, step.kind, step.target, step.source, step.entity))


def _step(kind: str, edges: Edges, at: int) -> Step:
    source, entity, target = int(edges.source[at]), int(edges.entity[at]), int(edges.target[at])
    return Step(kind, source, entity, target, int(edges.sentence[at]), round(float(edges.value[at]), 4))


def _kinds(ranking: Ranking) -> dict[str, Edges]:
    walk = ranking.walk
    if walk is None:
        return {}
    values = {field.name: getattr(walk, field.name) for field in fields(walk)}
    return {kind: edges for kind, edges in values.items() if isinstance(edges, Edges)}


def units_of(index: SearchIndex, doc_uri: str, start_char: int | None = None, end_char: int | None = None) -> Rows:
    """The units of a document, or those that a span of it touches.

    Raises:
        InvalidArgument: the snapshot has no such document.
    """
    rows = np.flatnonzero(index.walk.unit_doc == index.document(doc_uri).row)
    if start_char is None or end_char is None:
        return rows
    starts = index.units["start_char"].to_numpy()[rows]
    ends = index.units["end_char"].to_numpy()[rows]
    touched: Rows = rows[(starts < end_char) & (ends > start_char)]
    return touched
