"""One question, stage by stage: why the units that were found were found, and why these sentences were quoted.

Needs nothing but a knowledge base and a question, so it explains answers to questions that are in no suite, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from graphctx.model.arguments import parse_arguments
from graphctx.model.requests import RetrieveInput, RetrieveOptions
from graphctx.retrieve.graph.view import GraphView
from graphctx.retrieve.variants import DEFAULT_VARIANT, variant_named

if TYPE_CHECKING:
    from graphctx.knowledge_base import KnowledgeBase
    from graphctx.model.answers import Quote
    from graphctx.retrieve.arrays import Rows
    from graphctx.retrieve.question import Question
    from graphctx.retrieve.ranking import Ranking
    from graphctx.retrieve.searcher import Searcher
    from graphctx.retrieve.sentences import SentencePool

SHOWN = 10
"""Units that are shown of each stage."""


@dataclass(frozen=True, slots=True)
class UnitPlace:
    """A unit, as a reader finds it: ``opening`` is how its text begins."""

    section_id: str
    doc_uri: str
    heading: str
    line: int
    start_char: int
    end_char: int
    opening: str


@dataclass(frozen=True, slots=True)
class Ranked:
    """A unit at its rank in a stage, with the stage's own score."""

    rank: int
    unit: UnitPlace
    score: float


@dataclass(frozen=True, slots=True)
class FinalRank:
    """A unit at its rank in the end, the stage that it owes its place to, its score, and what that is made of."""

    rank: int
    unit: UnitPlace
    source: str
    score: float
    parts: dict[str, float]


@dataclass(frozen=True, slots=True)
class QuestionEntity:
    """An entity that the question names: in how many units it is mentioned, and how many are its definition."""

    name: str
    label: str
    units: int
    definitions: int


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge that was followed; ``sentence`` stands in the source and justifies it. ``value`` is unweighted."""

    kind: str
    source: UnitPlace
    entity: str
    target: UnitPlace
    target_rank: int
    value: float
    sentence: str


@dataclass(frozen=True, slots=True)
class SelectedSentence:
    """A sentence of a quote, with the features that it was picked by."""

    text: str
    features: dict[str, float]


@dataclass(frozen=True, slots=True)
class SelectedQuote:
    """A quote, where it stands, and its sentences."""

    doc_uri: str
    section_id: str
    start_char: int
    end_char: int
    line: int
    confidence: float
    quote: str
    sentences: tuple[SelectedSentence, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """How one question was answered.

    Attributes:
        question, variant: what was asked, and by which variant.
        snapshot_id: of the knowledge base.
        mode: how the search ran; empty where nothing was searched.
        empty_reason: why there is nothing to explain, else empty.
        kind: of answer that the question asks for; empty where it does not show.
        terms: index terms of the question and their inverse document frequency.
        entities: what it names.
        stages: the best units by each of the stages before the end: both searches, the hybrid score, the definitions
            of what the question names (``definition``), and what the expansion adds (``graph``).
        final: the best units in the end, and those that are quoted.
        seeds: the seed units of the expansion.
        edges: the best edge of each kind to each of the units in ``final``.
        edges_followed: how many edges of each kind there were.
        quotes: the evidence.
    """

    question: str
    variant: str
    snapshot_id: str
    mode: str = ""
    empty_reason: str = ""
    kind: str = ""
    terms: dict[str, float] = field(default_factory=dict)
    entities: tuple[QuestionEntity, ...] = ()
    stages: dict[str, tuple[Ranked, ...]] = field(default_factory=dict)
    final: tuple[FinalRank, ...] = ()
    seeds: tuple[UnitPlace, ...] = ()
    edges: tuple[Edge, ...] = ()
    edges_followed: dict[str, int] = field(default_factory=dict)
    quotes: tuple[SelectedQuote, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the same as JSON values."""
        return asdict(self)


def explain(kb: KnowledgeBase, question: str, variant: str = DEFAULT_VARIANT) -> Explanation:
    """Answer a question and say how.

    Args:
        kb: with a published snapshot.
        question: any.
        variant: its name.

    Raises:
        InvalidArgument: there is no such variant, the question is blank or too long, or nothing is published.
    """
    return explain_request(kb.searcher(), parse_arguments(RetrieveInput, {"question": question}), variant)


def explain_request(searcher: Searcher, request: RetrieveInput, variant: str = DEFAULT_VARIANT) -> Explanation:
    """Answer a request from the documents, and say how.

    Args:
        searcher: of a published snapshot.
        request: its layers and its page are left out.
        variant: its name.

    Raises:
        InvalidArgument: there is no such variant.
        BackendUnavailable: nothing is published.
    """
    named, question, mode = variant_named(variant), request.question, request.options.mode
    snapshot_id = searcher.index.snapshot.id
    options = RetrieveOptions(mode=mode, rerank=request.options.rerank)
    request = request.model_copy(update={"options": options, "cursor": None})
    evidence = searcher.evidence(request, named)
    ranked = searcher.rank(question, named, request.scope, request.filters, mode)
    if not isinstance(ranked, tuple):
        return Explanation(question, variant, snapshot_id, empty_reason=ranked.reason)
    asked, ranking = ranked
    index = searcher.index.within(searcher.boundary.narrow(request.scope), request.filters)
    view = _View(GraphView(index, searcher.graph.tables), asked, ranking, evidence.rows)
    return Explanation(
        question=question,
        variant=variant,
        snapshot_id=snapshot_id,
        mode=ranking.mode,
        empty_reason=evidence.empty_reason or "",
        kind=asked.kind,
        terms={term: round(idf, 4) for term, idf in zip(asked.terms, asked.idf, strict=True)},
        entities=view.entities(),
        stages=view.stages(),
        final=view.final(),
        seeds=tuple(view.place(int(row)) for row in ranking.seeds),
        edges=view.edges(),
        edges_followed=view.edges_followed(),
        quotes=view.quotes(list(evidence.items)),
    )


class _View:
    """Describes the rows of a ranking; ``quoted`` are the units of its quotes."""

    def __init__(self, graph: GraphView, question: Question, ranking: Ranking, quoted: Sequence[int]) -> None:
        self._graph = graph
        self._index = graph.index
        self._question = question
        self._ranking = ranking
        best = np.isin(ranking.rows, list(quoted))
        best[:SHOWN] = True
        self._best: Rows = np.flatnonzero(best)

    def place(self, row: int) -> UnitPlace:
        unit = self._index.unit(row)
        document = self._index.text_of(unit.doc_row)
        heading = " › ".join(part for part in (document.title, unit.heading) if part)
        opening = _one_line(document.text[unit.start_char : unit.end_char], 80)
        return UnitPlace(
            unit.id, document.uri, heading, document.line(unit.start_char), unit.start_char, unit.end_char, opening
        )

    def entities(self) -> tuple[QuestionEntity, ...]:
        from graphctx.model.knowledge import LABELS

        walk = self._index.walk
        return tuple(
            QuestionEntity(
                name=self._name(row),
                label=LABELS[walk.entity_label[row]],
                units=int(walk.entity_ptr[row + 1] - walk.entity_ptr[row]),
                definitions=int(walk.definition_ptr[row + 1] - walk.definition_ptr[row]),
            )
            for row in self._question.entities.tolist()
        )

    def stages(self) -> dict[str, tuple[Ranked, ...]]:
        from graphctx.retrieve.trace import FINAL, stages

        return {
            name: tuple(
                Ranked(at + 1, self.place(int(row)), round(float(score), 4))
                for at, (row, score) in enumerate(zip(stage.rows[:SHOWN], stage.scores[:SHOWN], strict=True))
            )
            for name, stage in stages(self._ranking).items()
            if name != FINAL
        }

    def final(self) -> tuple[FinalRank, ...]:
        ranking = self._ranking
        rows = ranking.rows[self._best]
        parts = ranking.score_parts(rows)
        return tuple(
            FinalRank(
                rank=position + 1,
                unit=self.place(int(row)),
                source=ranking.sources[position],
                score=round(float(ranking.scores[position]), 4),
                parts={name: round(float(values[at]), 4) for name, values in parts.items()},
            )
            for at, (position, row) in enumerate(zip(self._best.tolist(), rows, strict=True))
        )

    def edges(self) -> tuple[Edge, ...]:
        from graphctx.retrieve.trace import best_edges

        best = self._ranking.rows[self._best]
        ranks = dict(zip(best.tolist(), (self._best + 1).tolist(), strict=True))
        return tuple(
            Edge(
                kind=step.kind,
                source=self.place(step.source),
                entity=self._name(step.entity) if step.entity >= 0 else "",
                target=self.place(step.target),
                target_rank=ranks[step.target],
                value=step.value,
                sentence=self._sentence(step.source, step.sentence) if step.sentence >= 0 else "",
            )
            for step in best_edges(self._ranking, best)
        )

    def edges_followed(self) -> dict[str, int]:
        from graphctx.retrieve.trace import edge_counts

        return edge_counts(self._ranking)

    def quotes(self, quotes: list[Quote]) -> tuple[SelectedQuote, ...]:
        from graphctx.retrieve.sentences import sentence_pool

        rows = np.array([self._index.unit_row(quote.section_id) for quote in quotes], dtype=np.int64)
        units = np.unique(rows)
        pool = sentence_pool(self._index, self._question, units)
        return tuple(
            SelectedQuote(
                doc_uri=quote.doc_uri,
                section_id=quote.section_id,
                start_char=quote.start_char,
                end_char=quote.end_char,
                line=quote.line,
                confidence=quote.confidence,
                quote=quote.quote,
                sentences=tuple(self._picked(pool, int(np.searchsorted(units, row)), quote)),
            )
            for quote, row in zip(quotes, rows, strict=True)
        )

    def _picked(self, pool: SentencePool, unit: int, quote: Quote) -> list[SelectedSentence]:
        """Return the sentences of a unit that a quote touches, with every feature that the pool has of them.

        ``unit`` is the unit's score as a share of the best.
        """
        walk = self._index.walk
        starts, ends = walk.sentence_start[pool.rows], walk.sentence_end[pool.rows]
        touched = (pool.unit == unit) & (starts < quote.end_char) & (ends > quote.start_char)
        at = np.flatnonzero(touched)
        rank = np.flatnonzero(self._ranking.rows == self._index.unit_row(quote.section_id))
        share = self._ranking.scores[rank[:1]] / self._ranking.scores[:SHOWN].max(initial=1e-9)
        features = {"unit": np.full(len(at), share[0] if len(share) else 0.0)}
        for one in fields(pool):
            values = getattr(pool, one.name)
            if isinstance(values, np.ndarray) and values.dtype.kind == "f":
                features[one.name] = values[at]
        return [
            SelectedSentence(pool.texts[row], {name: round(float(values[n]), 4) for name, values in features.items()})
            for n, row in enumerate(at)
        ]

    def _name(self, row: int) -> str:
        names = self._graph.names_of(row)
        return names.name if names is not None else ""

    def _sentence(self, unit: int, row: int) -> str:
        walk = self._index.walk
        text = self._index.text_of(int(walk.unit_doc[unit])).text
        return text[walk.sentence_start[row] : walk.sentence_end[row]]


def _one_line(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
