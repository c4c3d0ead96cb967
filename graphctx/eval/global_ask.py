"""Asks questions about the whole, by global search and by simpler ways to fill the same budget, and measures both."""

from __future__ import annotations

import time
from collections.abc import Iterable
from itertools import takewhile
from typing import TYPE_CHECKING

from graphctx.eval.ask import OnAsked
from graphctx.eval.global_measures import BUDGETS, MOST_POINTS, CountTokens, Piece, filled, point_measures
from graphctx.eval.global_rivals import Rival, Rivals
from graphctx.eval.golden import bind
from graphctx.eval.records import GLOBAL, Golden, Outcome, SuiteRun
from graphctx.model.requests import GlobalOptions, GlobalSearchInput

if TYPE_CHECKING:
    from graphctx.eval.suites import Suite
    from graphctx.knowledge_base import KnowledgeBase
    from graphctx.model.results import GlobalResults

_SPARE = 8
"""A rival is read until so many budgets are full: what follows is hardly short enough to fit into what is left."""


def run_global_suite(suite: Suite, kb: KnowledgeBase, *, on_asked: OnAsked | None = None) -> SuiteRun:
    """Ask every question of a suite of points.

    Args:
        suite: of the kind ``points``.
        kb: with the suite's documents.
        on_asked: told after each question.

    Returns:
        The variants ``global``, ``hybrid``, ``summaries`` and ``evidence``; their measures are described in
        docs/evaluation.md.

    Raises:
        InvalidArgument: the suite's gold is not in the knowledge base.
    """
    from graphctx.nlp.tokens import WordPieceCounter

    goldens = bind(suite.rows, kb, source=suite.path.name, prefix=suite.prefix)
    kb.warm()
    count = WordPieceCounter().count
    asking = GlobalAsker(kb, count)
    asking.found(goldens[0].question, BUDGETS[0])  # what is opened on first use is not timed
    rivals = Rivals(kb, count).by_name
    outcomes: dict[str, list[Outcome]] = {}
    for variant in (GLOBAL, *rivals):
        outcomes[variant] = []
        for number, golden in enumerate(goldens, 1):
            one = asking.ask(golden) if variant == GLOBAL else _of_rival(golden, rivals[variant])
            outcomes[variant].append(one)
            if on_asked:
                on_asked(variant, number, len(goldens))
    return SuiteRun(
        suite=suite.name,
        snapshot_id=kb.snapshot_id,
        outcomes=outcomes,
        judge="points",
        left_out=suite.left_out,
        warnings=suite.warnings,
    )


class GlobalAsker:
    """Asks one snapshot for points, as ``kb.global_search`` does, before pages and response budgets.

    Args:
        kb: with a published snapshot.
        count: tokens of a text.
    """

    def __init__(self, kb: KnowledgeBase, count: CountTokens) -> None:
        self._searcher = kb.searcher()
        self._kb = kb
        self._count = count

    def found(self, question: str, budget: int) -> GlobalResults:
        """Everything that a global search gives within a budget of tokens, and no words of a language model."""
        return self._searcher.global_search(
            GlobalSearchInput(
                question=question,
                points_tokens=budget,
                max_points=MOST_POINTS,
                options=GlobalOptions(phrase=False, include_diagnostics=True),
            )
        )

    def pieces(self, found: GlobalResults) -> list[Piece]:
        """The points as pieces of text."""
        return [
            Piece(one.doc_uri, one.start_char, one.end_char, one.quote, self._count(one.quote)) for one in found.items
        ]

    def ask(self, golden: Golden) -> Outcome:
        """Ask once for each budget.

        Beside the measures of `point_measures`: ``rated``, ``descended`` and ``dropped`` communities (means over the
        budgets), ``exact``, and ``in_budget``, whether no answer weighs more than it may.
        """
        measures: dict[str, float] = {}
        times, exact, within = [], [], True
        counts = dict.fromkeys(("rated", "descended", "dropped"), 0.0)
        for budget in BUDGETS:
            started = time.perf_counter()
            found = self.found(golden.question, budget)
            times.append((time.perf_counter() - started) * 1000)
            pieces = self.pieces(found)
            exact += [
                self._kb.document(one.doc_uri).text[one.start_char : one.end_char] == one.quote for one in found.items
            ]
            measures |= point_measures(golden.points, pieces, budget)
            within &= measures[f"tokens@{budget}"] <= budget
            for name in counts:
                counts[name] += getattr(found, name) / len(BUDGETS)
        measures |= {name: round(value, 6) for name, value in counts.items()} | {"in_budget": float(within)}
        if exact:
            measures["exact"] = sum(exact) / len(exact)
        return Outcome(golden, (), frozenset(), (), measures, {"global_search": sorted(times)[len(times) // 2]})


def _of_rival(golden: Golden, rival: Rival) -> Outcome:
    pieces = list(_enough(rival(golden.question)))
    measures: dict[str, float] = {}
    for budget in BUDGETS:
        measures |= point_measures(golden.points, filled(pieces, budget), budget)
    return Outcome(golden, (), frozenset(), (), measures)


def _enough(pieces: Iterable[Piece], most: int = _SPARE * BUDGETS[-1]) -> Iterable[Piece]:
    """The first pieces, as many as weigh so much together."""
    read = 0

    def wanted(piece: Piece) -> bool:
        nonlocal read
        before, read = read, read + piece.tokens
        return before < most

    return takewhile(wanted, pieces)
