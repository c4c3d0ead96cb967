"""Ask questions about the whole by global search and by three simple ways to fill the same budget, and measure both."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING

import numpy as np

from graphctx.eval.ask import Asker, OnAsked
from graphctx.eval.golden import bind
from graphctx.eval.measures import (
    MAX_QUOTES,
    MOST_POINTS,
    POINT_BUDGETS,
    CountTokens,
    QuotedText,
    filled,
    point_measures,
)
from graphctx.eval.records import GLOBAL, Golden, Outcome, SuiteRun
from graphctx.model.requests import GlobalOptions, GlobalSearchInput, RetrieveInput, RetrieveOptions

if TYPE_CHECKING:
    from graphctx.eval.suites import Suite
    from graphctx.knowledge_base import KnowledgeBase
    from graphctx.model.results import GlobalResults


QUOTED_FROM = 20
"""Passages that ``evidence`` quotes from: as many as quotes, so that each may be from another."""

Rival = Callable[[str], Iterable[QuotedText]]
"""From a question to the texts that are given for it, best first, without end if need be."""


class Rivals:
    """The baselines over one knowledge base.

    Args:
        kb: with a published snapshot.
        count: tokens of a text.
    """

    def __init__(self, kb: KnowledgeBase, count: CountTokens) -> None:
        self._count = count
        self._searching = Asker(kb, "hybrid")
        self._quoting = Asker(kb)
        self._index = self._searching.searcher.index

    @property
    def by_name(self) -> dict[str, Rival]:
        """Name to baseline, in the order in which they are shown."""
        return {"hybrid": self.hybrid, "summaries": self.summaries, "evidence": self.evidence}

    def hybrid(self, question: str) -> Iterator[QuotedText]:
        """Yield the sentences of the units that a plain search ranks first, in the order of each unit."""
        found = self._searching.rank(question)
        if isinstance(found, tuple):
            for unit in found[1].rows.tolist():
                for row in self._index.sentence_rows([unit])[0].tolist():
                    yield self._sentence(row)

    def summaries(self, question: str) -> Iterator[QuotedText]:
        """Return the sentences of the root communities' summaries; each once, and the same for every question."""
        return map(self._sentence, self._root_summaries)

    def evidence(self, question: str) -> Iterator[QuotedText]:
        """Yield the quotes for a question."""
        request = RetrieveInput(
            question=question,
            max_quotes=MAX_QUOTES,
            top_k=QUOTED_FROM,
            include_context_tokens=0,
            options=RetrieveOptions(mode="hybrid_local"),
        )
        found = self._quoting.searcher.evidence(request, self._quoting.variant)
        for quote in found.items:
            yield QuotedText(quote.doc_uri, quote.start_char, quote.end_char, quote.quote, self._count(quote.quote))

    @cached_property
    def _root_summaries(self) -> list[int]:
        table = self._index.snapshot.table("communities", ["level", "summary_rows"])
        levels, rows = (table[name].to_pylist() for name in ("level", "summary_rows"))
        chosen = (row for level, some in zip(levels, rows, strict=True) if level == 0 for row in some)
        return list(dict.fromkeys(chosen))

    def _sentence(self, row: int) -> QuotedText:
        walk = self._index.walk
        unit = int(np.searchsorted(walk.unit_sentence, row, side="right")) - 1
        document = self._index.text_of(int(walk.unit_doc[unit]))
        start, end = int(walk.sentence_start[row]), int(walk.sentence_end[row])
        text = document.text[start:end]
        return QuotedText(document.uri, start, end, text, self._count(text))


_SPARE = 8
"""A baseline is read until it has this many times the largest budget; hardly any later piece is short enough to fit."""


def run_global_suite(suite: Suite, kb: KnowledgeBase, *, on_asked: OnAsked | None = None) -> SuiteRun:
    """Ask every question of a suite of points.

    Args:
        suite: of the kind ``points``.
        kb: with the suite's documents.
        on_asked: called after each question.

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
    asking.found(goldens[0].question, POINT_BUDGETS[0])  # what is opened on first use is not timed
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
        """Return everything that a global search gives within a budget of tokens, and no words of a language model."""
        return self._searcher.global_search(
            GlobalSearchInput(
                question=question,
                points_tokens=budget,
                max_points=MOST_POINTS,
                options=GlobalOptions(phrase=False, include_diagnostics=True),
            )
        )

    def pieces(self, found: GlobalResults) -> list[QuotedText]:
        """Return the points as pieces of text."""
        return [
            QuotedText(one.doc_uri, one.start_char, one.end_char, one.quote, self._count(one.quote))
            for one in found.items
        ]

    def ask(self, golden: Golden) -> Outcome:
        """Ask once for each budget.

        Beside the measures of `point_measures`: ``rated``, ``descended`` and ``dropped`` communities (means over the
        budgets), ``exact``, and ``in_budget``, whether no answer weighs more than it may.
        """
        measures: dict[str, float] = {}
        times, exact, within = [], [], True
        counts = dict.fromkeys(("rated", "descended", "dropped"), 0.0)
        for budget in POINT_BUDGETS:
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
                counts[name] += getattr(found, name) / len(POINT_BUDGETS)
        measures |= {name: round(value, 6) for name, value in counts.items()} | {"in_budget": float(within)}
        if exact:
            measures["exact"] = sum(exact) / len(exact)
        return Outcome(golden, (), frozenset(), (), measures, {"global_search": sorted(times)[len(times) // 2]})


def _of_rival(golden: Golden, rival: Rival) -> Outcome:
    pieces = list(enough(rival(golden.question)))
    measures: dict[str, float] = {}
    for budget in POINT_BUDGETS:
        measures |= point_measures(golden.points, filled(pieces, budget), budget)
    return Outcome(golden, (), frozenset(), (), measures)


def enough(pieces: Iterable[QuotedText], most: int = _SPARE * POINT_BUDGETS[-1]) -> Iterable[QuotedText]:
    """Return the leading pieces until they reach ``most`` tokens together."""
    read = 0

    def wanted(piece: QuotedText) -> bool:
        nonlocal read
        before, read = read, read + piece.tokens
        return before < most

    return takewhile(wanted, pieces)
