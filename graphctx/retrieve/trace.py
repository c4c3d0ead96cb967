"""Inspection of a ranking: the order of units after each stage, and the edges that were followed.

For explanations and reports, off the path of answers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphctx.retrieve.arrays import Rows, Scores, SparseScores, top_rows
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.ranking import Ranking
from graphctx.retrieve.stages import Edges

FINAL = "final"
"""The stage that is the ranking itself."""


@dataclass(frozen=True, slots=True)
class Stage:
    """The units that a stage scores, best first, and their scores, float32 beside them."""

    rows: Rows
    scores: Scores

    def rank_of(self, rows: Rows) -> int | None:
        """Return the best rank of any of some units, from 1; ``None`` where the stage has none of them."""
        places = np.flatnonzero(np.isin(self.rows, rows))
        return int(places[0]) + 1 if len(places) else None


@dataclass(frozen=True, slots=True)
class TracedEdge:
    """One edge: rows of units, entity and carrying sentence (-1: none), and its weight."""

    kind: str
    source: int
    entity: int
    target: int
    sentence: int
    value: float


def stages(ranking: Ranking) -> dict[str, Stage]:
    """Return the stages of a ranking in order: ``bm25``, ``vector``, ``hybrid``, ``definition``, ``graph``, ``final``.

    ``definition`` is the boost of units that define what the question names, ``graph`` what the expansion adds.
    """
    found, hybrid = ranking.candidates, ranking.hybrid
    order = top_rows(hybrid.values, len(hybrid.rows))
    return {
        "bm25": Stage(found.lexical, found.scorer.bm25(found.lexical)),
        "vector": Stage(found.nearest, found.scorer.cosine(found.nearest)),
        "hybrid": Stage(hybrid.rows[order], hybrid.values[order]),
        "definition": _of_sparse(ranking.boost),
        "graph": _of_sparse(ranking.expanded.gain),
        FINAL: Stage(ranking.rows, ranking.scores),
    }


def _of_sparse(scores: SparseScores) -> Stage:
    rows = scores.top(len(scores.rows))
    return Stage(rows, scores.at(rows))


def edge_counts(ranking: Ranking) -> dict[str, int]:
    """Return how many edges of each kind were followed."""
    return {kind: len(edges.value) for kind, edges in ranking.expanded.edges.items()}


def best_edges(ranking: Ranking, targets: Rows) -> list[TracedEdge]:
    """Return the best edge of each kind to each of some units, best first; ties by kind and rows."""
    steps = []
    for kind, edges in ranking.expanded.edges.items():
        at = np.flatnonzero(np.isin(edges.target, targets))
        order = at[np.lexsort((edges.entity[at], edges.source[at], -edges.value[at], edges.target[at]))]
        first = np.append(True, edges.target[order][1:] != edges.target[order][:-1])[: len(order)]
        steps += [_traced(kind, edges, int(one)) for one in order[first]]
    return sorted(steps, key=lambda step: (-step.value, step.kind, step.target, step.source, step.entity))


def _traced(kind: str, edges: Edges, at: int) -> TracedEdge:
    source, entity, target = int(edges.source[at]), int(edges.entity[at]), int(edges.target[at])
    return TracedEdge(kind, source, entity, target, int(edges.sentence[at]), round(float(edges.value[at]), 4))


def units_of(index: SearchIndex, doc_uri: str, start_char: int | None = None, end_char: int | None = None) -> Rows:
    """Return the units of a document, or those that a span of it touches.

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
