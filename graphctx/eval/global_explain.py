"""At which stage of global search each gold point was lost, and tables of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from graphctx.errors import InvalidArgument
from graphctx.eval.ask import Asker
from graphctx.eval.golden import bind
from graphctx.eval.measures import MOST_POINTS, POINT_BUDGETS, QuotedText, stated, states
from graphctx.eval.show import Table
from graphctx.model.requests import GlobalSearchInput
from graphctx.retrieve.global_search.points import units_of
from graphctx.retrieve.global_search.reduce import SAME_WORDS
from graphctx.retrieve.global_search.search import GlobalSearch
from graphctx.retrieve.graph.communities import CommunityIndex
from graphctx.retrieve.graph.view import GraphView
from graphctx.retrieve.variants import DEFAULT
from graphctx.text.lexical import words

if TYPE_CHECKING:
    from graphctx.eval.records import Golden, GoldPoint
    from graphctx.eval.suites import Suite
    from graphctx.knowledge_base import KnowledgeBase
    from graphctx.nlp.tokens import WordPieceCounter
    from graphctx.retrieve.arrays import Rows
    from graphctx.retrieve.global_search.search import GlobalOutcome


Stage = Literal[
    "stated",
    "no sentence",
    "no community",
    "not rated",
    "not chosen",
    "passed over",
    "near copy",
    "budget",
    "no evidence",
]

STAGES: dict[Stage, str] = {
    "stated": "a point of the answer states it",
    "no sentence": "no sentence of the documents is near enough to any of its places",
    "no community": "no community has one of its sentences among its points, and the search did not find their units",
    "not rated": "communities have it, and none of them was compared with the question",
    "not chosen": "a community with it was rated, and none was found to bear on the question",
    "passed over": "a community that bears on the question has it, and it was too short, or rated below hundreds",
    "near copy": "it was a candidate, and a point that was given has nearly the same words",
    "budget": "it was a candidate, and others filled the budget",
    "no evidence": "nothing was given, for nothing seemed to bear on the question",
}
"""Where a gold point may end, in the order of the search, and what that means."""

_LIMITS = GlobalSearchInput(question="?")
"""What the evaluation leaves at its defaults."""


@dataclass(frozen=True, slots=True)
class Loss:
    """What became of one gold point.

    Attributes:
        point: in words.
        stages: budget to where it ended.
        rank: the best place of its sentences among all candidates by rating, from 1; ``None`` where it was none.
        holding: the titles of the communities that have it among their points, the broadest first.
    """

    point: str
    stages: dict[int, Stage]
    rank: int | None
    holding: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RelevantCommunity:
    """A community that was found to bear on a question."""

    title: str
    level: int
    rating: float


@dataclass(frozen=True, slots=True)
class Losses:
    """What became of the gold points of a question.

    Attributes:
        id, question: of the suite.
        communities: that may be seen.
        rated, candidates: how many communities and sentences were compared with the question.
        chosen: the communities that bear on it, the best first.
        points: in the order of the suite.
    """

    id: str
    question: str
    communities: int
    rated: int
    candidates: int
    chosen: tuple[RelevantCommunity, ...]
    points: tuple[Loss, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the same as JSON values."""
        return asdict(self)


def totals(found: Iterable[Losses]) -> dict[int, Counter[Stage]]:
    """Budget to how many points ended at each stage."""
    counts: dict[int, Counter[Stage]] = {budget: Counter() for budget in POINT_BUDGETS}
    for one in found:
        for point in one.points:
            for budget, stage in point.stages.items():
                counts[budget][stage] += 1
    return counts


class Tracer:
    """Follows gold points through global search.

    Args:
        kb: with a published snapshot.
        tokens: counts them.
    """

    def __init__(self, kb: KnowledgeBase, tokens: WordPieceCounter) -> None:
        asker = Asker(kb)
        self._searcher = asker.searcher
        self._index = self._searcher.index
        tables = self._searcher.graph.tables
        self._communities = CommunityIndex(GraphView(self._index, tables))
        self._tokens = tokens
        self._uris = self._index.documents["uri"].to_pylist()

    def follow(self, golden: Golden) -> Losses:
        """What became of each point of a question within each budget."""
        ranked = self._searcher.rank(golden.question, DEFAULT)
        if not isinstance(ranked, tuple):
            return Losses(golden.id, golden.question, 0, 0, 0, (), ())
        search = GlobalSearch(self._communities, *ranked, self._tokens)
        runs = {
            budget: search.run(
                tests=_LIMITS.options.relevance_tests,
                points_tokens=budget,
                max_points=MOST_POINTS,
                max_point_tokens=_LIMITS.max_point_tokens,
            )
            for budget in POINT_BUDGETS
        }
        some = runs[POINT_BUDGETS[0]]
        title, level = self._communities.title, self._communities.hierarchy.level
        chosen = [
            RelevantCommunity(title(row), int(level[row]), some.selection.ratings[row])
            for row in some.selection.relevant
        ]
        bears = {budget: search.is_answerable(run) for budget, run in runs.items()}
        points = [self._loss(point, runs, bears) for point in golden.points]
        seen = int(self._communities.visible.sum())
        rated, candidates = len(some.selection.ratings), len(some.candidates)
        return Losses(golden.id, golden.question, seen, rated, candidates, tuple(chosen), tuple(points))

    def _loss(self, point: GoldPoint, runs: dict[int, GlobalOutcome], bears: dict[int, bool]) -> Loss:
        some = next(iter(runs.values()))
        rows = self._sentences(point)
        holding = [
            row
            for row in np.flatnonzero(self._communities.visible).tolist()
            if np.isin(rows, self._communities.points(row)).any()
        ]
        best = np.argsort(-some.candidates.rating, kind="stable")
        places = np.flatnonzero(np.isin(some.candidates.rows[best], rows))
        return Loss(
            point.point,
            {budget: self._stage(point, rows, holding, run, bears=bears[budget]) for budget, run in runs.items()},
            int(places[0]) + 1 if len(places) else None,
            tuple(self._communities.title(row) for row in holding),
        )

    def _stage(self, point: GoldPoint, rows: Rows, holding: Sequence[int], run: GlobalOutcome, *, bears: bool) -> Stage:
        if stated(point, self._points(run)):
            return "stated" if bears else "no evidence"
        if not len(rows):
            return "no sentence"
        candidates = rows[np.isin(rows, run.candidates.rows)]
        if len(candidates):
            return "near copy" if self._copied(candidates, run) else "budget"
        if not holding:
            return "no community"
        if not any(row in run.selection.ratings for row in holding):
            return "not rated"
        if not any(row in run.selection.relevant for row in holding):
            return "not chosen"
        return "passed over"

    def _points(self, run: GlobalOutcome) -> list[QuotedText]:
        documents = self._index.walk.unit_doc[run.candidates.units].tolist()
        return [
            QuotedText(self._uris[documents[one.at]], one.cut.start_char, one.cut.end_char, "", 0) for one in run.points
        ]

    def _copied(self, rows: Rows, run: GlobalOutcome) -> bool:
        """Return whether each of some sentences is a near copy of a point that was given."""
        points = [self._words(row) for row in run.candidates.rows[[one.at for one in run.points]].tolist()]
        return all(any(_jaccard(self._words(row), one) >= SAME_WORDS for one in points) for row in rows.tolist())

    def _words(self, sentence: int) -> frozenset[str]:
        walk = self._index.walk
        text = self._index.text_of(int(walk.unit_doc[units_of(self._index, np.array([sentence]))[0]])).text
        return frozenset(words(text[int(walk.sentence_start[sentence]) : int(walk.sentence_end[sentence])]))

    def _sentences(self, point: GoldPoint) -> Rows:
        """Return the sentence rows that state a point."""
        walk = self._index.walk
        found = []
        for span in point.spans:
            document = self._uris.index(span.doc_uri)
            units = np.flatnonzero(walk.unit_doc == document)
            for row in self._index.sentence_rows(units)[0].tolist():
                piece = QuotedText(span.doc_uri, int(walk.sentence_start[row]), int(walk.sentence_end[row]), "", 0)
                if states(piece, span):
                    found.append(row)
        return np.unique(np.array(found, dtype=np.int64))


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(len(one | other), 1)


ALL = "all"
"""Instead of an id: every question of the suite."""


def explain_points(suite: Suite, kb: KnowledgeBase, question: str) -> list[Losses]:
    """Follow the gold points of one question of a suite, or of all.

    Args:
        suite: of the kind ``points``.
        kb: with its documents.
        question: an id, the question itself, or `ALL`.

    Raises:
        InvalidArgument: the suite has no such question, or its gold is not in the knowledge base.
    """
    from graphctx.nlp.tokens import WordPieceCounter

    wanted = [item for item in suite.rows if question in (ALL, item.row.id, item.row.question)]
    if not wanted:
        raise InvalidArgument(
            f"{suite.name} has no question {question!r}, and only its own questions have gold points to follow. "
            f"Give one of their ids (the first is {suite.rows[0].row.id!r}), or {ALL!r}.",
            value=question,
        )
    tracer = Tracer(kb, WordPieceCounter())
    return [tracer.follow(golden) for golden in bind(wanted, kb, source=suite.path.name, prefix=suite.prefix)]


def as_dict(suite: str, found: Sequence[Losses]) -> dict[str, Any]:
    """Return the same as JSON values, with the number of points that ended at each stage by budget."""
    return {
        "suite": suite,
        "questions": [one.as_dict() for one in found],
        "totals": {str(budget): {name: counts[name] for name in STAGES} for budget, counts in totals(found).items()},
    }


def totals_table(found: Sequence[Losses]) -> Table:
    """Return how many points ended at each stage, by budget."""
    counts = totals(found)
    rows = [
        [stage, *(str(counts[budget][stage]) for budget in POINT_BUDGETS), meaning]
        for stage, meaning in STAGES.items()
        if any(counts[budget][stage] for budget in POINT_BUDGETS)
    ]
    return ["stage", *(f"at {budget}" for budget in POINT_BUDGETS), ""], rows


def points_table(losses: Losses) -> Table:
    """Return one row a point: where it ended at each budget, its place among the candidates, and who has it."""
    rows = [
        [
            one.point,
            *(one.stages[budget] for budget in POINT_BUDGETS),
            "" if one.rank is None else f"{one.rank} of {losses.candidates}",
            "; ".join(one.holding),
        ]
        for one in losses.points
    ]
    return ["point", *(f"at {budget}" for budget in POINT_BUDGETS), "rank", "communities with it"], rows


def headline(losses: Losses) -> list[str]:
    """Return the question, and how its search went, a line each."""
    chosen = "; ".join(f"{one.title} ({one.rating:.2f})" for one in losses.chosen)
    return [
        f"{losses.id}: {losses.question}",
        f"{losses.rated} of {losses.communities} communities rated, {losses.candidates} sentences looked at",
        f"chosen: {chosen or 'none'}",
    ]
