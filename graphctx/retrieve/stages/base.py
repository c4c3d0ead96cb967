"""Protocols and data of the exchangeable stages of ranking: first stage, expansion, reranker."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Protocol

from graphctx.retrieve.arrays import NO_SCORES, Mask, Rows, Scores, SparseScores
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import Question


class Scorer(Protocol):
    """Returns the first-stage scores of any units."""

    def bm25(self, rows: Rows) -> Scores:
        """Return BM25, float32 [len(rows)]."""

    def cosine(self, rows: Rows) -> Scores:
        """Return the cosine with the question, float32 [len(rows)]."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a first stage finds.

    Attributes:
        rows: candidate units, sorted: the union of the two lists below.
        lexical: the best units by BM25, best first.
        nearest: the best units by vector, best first.
        bm25_max: the largest BM25 of all visible units.
        cosine_min, cosine_max: the range of cosines, for scaling.
        scorer: scores any other unit.
    """

    rows: Rows
    lexical: Rows
    nearest: Rows
    bm25_max: float
    cosine_min: float
    cosine_max: float
    scorer: Scorer


class FirstStage(Protocol):
    """Finds candidate units by words and by vector."""

    def __call__(self, index: SearchIndex, question: Question, k: int) -> Candidates:
        """Return ``k`` candidates of each search among the visible units of ``index``."""


@dataclass(frozen=True, slots=True)
class Edges:
    """Edges that an expansion followed, as parallel arrays: from a seed unit through an entity to a unit.

    Attributes:
        source, target: unit rows.
        entity: entity rows.
        sentence: rows of the sentences of the source that name the entity, -1 where there is none.
        value: the weight of each edge, float32.
    """

    source: Rows
    entity: Rows
    target: Rows
    sentence: Rows
    value: Scores

    def select(self, keep: Rows | Mask) -> Edges:
        """Return some of the edges, by position or by mask."""
        return Edges(*(getattr(self, field.name)[keep] for field in fields(self)))


@dataclass(frozen=True, slots=True)
class Expanded:
    """What an expansion adds to the ranking.

    Attributes:
        gain: what it adds to the score of each unit.
        edges: by kind, for explanations and for the choice of sentences.
    """

    gain: SparseScores
    edges: dict[str, Edges]

    def n_edges(self, kind: str) -> int:
        """Return how many edges of a kind were followed."""
        return len(self.edges[kind].value) if kind in self.edges else 0


NOT_EXPANDED = Expanded(NO_SCORES, {})


class Expansion(Protocol):
    """Leads from seed units to further units."""

    def __call__(self, index: SearchIndex, question: Question, seeds: SparseScores, candidates: Rows) -> Expanded:
        """Return what the seeds lead to.

        Args:
            index: the visible part of the snapshot.
            question: the parsed question.
            seeds: units to start from, with strengths in 0..1.
            candidates: units that the first stage found, sorted; an expansion may lead elsewhere.
        """


class Reranker(Protocol):
    """Rescores the ranked units."""

    def __call__(self, index: SearchIndex, question: Question, rows: Rows, scores: Scores) -> Scores:
        """Return new scores of the ranked units; units with the same score keep their order.

        Args:
            index: the visible part of the snapshot.
            question: the parsed question.
            rows: all ranked units, best first.
            scores: their scores, float32 beside them. The first has at least the score of the second.
        """
