"""Ask a suite's questions and measure the answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING, Literal

from graphctx.eval.golden import bind
from graphctx.eval.measures import (
    BUDGETS,
    DEPTH,
    MAX_QUOTES,
    answer_measures,
    quote_measures,
    ranking_measures,
    within,
)
from graphctx.eval.records import Golden, GoldSpan, Outcome, SuiteRun
from graphctx.model.answers import EvidenceAnswer, SearchAnswer
from graphctx.model.arguments import parse_arguments
from graphctx.model.assemble import evidence_answer, search_answer
from graphctx.model.budgets import Limits
from graphctx.model.cursors import Cursors
from graphctx.model.pages import Pager
from graphctx.model.requests import RetrieveInput, SearchInput
from graphctx.model.results import EvidenceResults
from graphctx.retrieve.variants import DEFAULT_VARIANT, variant_named

if TYPE_CHECKING:
    from graphctx.eval.suites import Suite
    from graphctx.knowledge_base import KnowledgeBase
    from graphctx.model.answers import Quote
    from graphctx.retrieve.question import Question
    from graphctx.retrieve.ranking import Ranking
    from graphctx.retrieve.scope import Empty


class Asker:
    """Asks one pinned snapshot.

    Attributes:
        searcher: the pinned snapshot.
        variant: how it is asked.

    Args:
        kb: with a published snapshot.
        variant: its name.

    Raises:
        InvalidArgument: there is no such variant, or nothing is published.
    """

    def __init__(self, kb: KnowledgeBase, variant: str = DEFAULT_VARIANT) -> None:
        from graphctx.nlp.tokens import WordPieceCounter

        server = kb.settings.server
        self.variant = variant_named(variant)
        self.searcher = kb.searcher()
        _ = self.searcher.index  # raises where nothing is published
        limits = Limits(server.max_tokens, server.max_bytes)
        self._pager = Pager(limits, WordPieceCounter().count, cursors=Cursors())

    def rank(self, question: str) -> tuple[Question, Ranking] | Empty:
        """Return the ranking of all candidates, or why there is none."""
        return self.searcher.rank(question, self.variant)

    def search(self, query: str, *, top_k: int, max_per_doc: int = 1, max_snippet_chars: int = 280) -> SearchAnswer:
        """Return the answer of ``kb.search``, on one page.

        Raises:
            InvalidArgument: the query is blank or too long, or a number out of range.
        """
        options = {"max_per_doc": max_per_doc, "max_snippet_chars": max_snippet_chars}
        asked = {"query": query, "top_k": top_k, "page_size": top_k, "options": options}
        request = parse_arguments(SearchInput, asked)
        return search_answer(self._pager, request, self.searcher.search(request, self.variant))[0]

    def evidence(self, question: str, **options: int) -> EvidenceResults:
        """Return all quotes for a question, before the response budget.

        Args:
            question: any question.
            options: of `RetrieveInput`.

        Raises:
            InvalidArgument: the question is blank or too long, or a number out of range.
        """
        return self.searcher.evidence(_request(question, options), self.variant)

    def pages(self, question: str, **options: int) -> Iterator[EvidenceAnswer]:
        """Yield the answers of ``kb.retrieve_evidence``, call after call, until every quote is given.

        Raises:
            InvalidArgument: as `evidence`.
            BudgetExceeded: not even one quote fits.
        """
        request = _request(question, options)
        found = self.searcher.evidence(request, self.variant)
        cursor: str | None = ""
        while cursor is not None:
            page = request.model_copy(update={"cursor": cursor or None})
            answer, _ = evidence_answer(self._pager, page, found)
            yield answer
            cursor = answer.next_cursor


def _request(question: str, options: dict[str, int]) -> RetrieveInput:
    return parse_arguments(RetrieveInput, {"question": question, **options})


LONG_DOCUMENT_UNITS = 20
"""A document of this many units (about 5,000 tokens) is not an answer by itself: its units are judged, if the gold has
spans."""

OnAsked = Callable[[str, int, int], None]
"""Called with a variant, the number of questions it has answered, and the number of questions."""


def run_suite(
    suite: Suite,
    kb: KnowledgeBase,
    variants: Sequence[str] = (DEFAULT_VARIANT,),
    *,
    ranking_only: Sequence[str] = (),
    on_asked: OnAsked | None = None,
) -> SuiteRun:
    """Ask every question by every variant.

    Args:
        suite: of questions.
        kb: with the suite's documents.
        variants: names of variants; one that is named twice is run once.
        ranking_only: variants of which no quotes are asked for.
        on_asked: called after each question.

    Raises:
        InvalidArgument: there is no such variant, or the suite's gold is not in the knowledge base.
    """
    for variant in variants:
        variant_named(variant)
    goldens = bind(suite.rows, kb, source=suite.path.name, prefix=suite.prefix)
    units = _UnitPlaces(kb)
    by_units = units.judge(goldens) if suite.judge == "auto" else suite.judge == "units"
    judge: Literal["documents", "units"] = "units" if by_units else "documents"
    relevant = {golden.id: _relevant(golden, units, judge) for golden in goldens}
    not_ranked = [golden.id for golden in goldens if _has_gold(golden) and not relevant[golden.id]]
    spans = [span for golden in goldens for span in golden.gold_spans] if by_units else []
    outside = sum(not units.holding(span) for span in spans)
    kb.warm()
    outcomes = {}
    for variant in dict.fromkeys(variants):
        asking = _Asking(kb, variant, judge, quotes=variant not in ranking_only)
        if goldens:
            asking.warm(goldens[0])  # what is opened on first use is not timed
        answered = []
        for number, golden in enumerate(goldens, 1):
            answered.append(asking.ask(golden, relevant[golden.id]))
            if on_asked:
                on_asked(variant, number, len(goldens))
        outcomes[variant] = _with_ranking(answered)
    return SuiteRun(
        suite=suite.name,
        snapshot_id=kb.snapshot_id,
        outcomes=outcomes,
        judge=judge,
        left_out=suite.left_out,
        not_ranked=tuple(not_ranked),
        spans_outside=outside,
        warnings=suite.warnings,
    )


class _Asking:
    """Asks one question after another by one variant."""

    def __init__(self, kb: KnowledgeBase, variant: str, judge: Literal["documents", "units"], *, quotes: bool) -> None:
        from graphctx.nlp.tokens import WordPieceCounter

        self._kb = kb
        self._asker = Asker(kb, variant)
        self._judge = judge
        self._quotes = quotes
        self._count = WordPieceCounter().count

    def warm(self, golden: Golden) -> None:
        """Ask once, and measure nothing."""
        next(self._asker.pages(golden.question))

    def ask(self, golden: Golden, relevant: frozenset[str]) -> Outcome:
        """Search if there is something to find, then ask for evidence."""
        times: dict[str, float] = {}
        ranked = self._search(golden, times) if relevant else ()
        quotes: tuple[Quote, ...] = ()
        measures: dict[str, float] = {}
        if self._quotes:
            started = time.perf_counter()
            pages = self._asker.pages(golden.question)
            answer = next(pages)
            times["retrieve_evidence"] = (time.perf_counter() - started) * 1000
            quotes = tuple(answer.quotes)
            calls = 1 + sum(1 for _ in pages)
            measures = answer_measures(
                golden, answer, lambda uri: self._kb.document(uri).text, self._count, calls=calls
            )
            if golden.answerable:
                more = next(self._asker.pages(golden.question, max_quotes=MAX_QUOTES, include_context_tokens=0)).quotes
                for budget in BUDGETS:
                    measures |= quote_measures(golden, within(more, budget, self._count), self._count, f"@{budget}")
        return Outcome(golden, ranked, relevant, quotes, measures, times)

    def _search(self, golden: Golden, times: dict[str, float]) -> tuple[str, ...]:
        by_units = self._judge == "units"
        started = time.perf_counter()
        results = self._asker.search(
            golden.question,
            top_k=DEPTH,
            max_per_doc=DEPTH if by_units else 1,
            max_snippet_chars=40,  # previews are not looked at, and long ones could fill the response
        ).results
        times["search"] = (time.perf_counter() - started) * 1000
        if not by_units:
            return tuple(result.doc_uri for result in results)
        found = (self._kb.unit(result.section_id) for result in results)
        return tuple(_key(unit.doc_uri, unit.start_char, unit.end_char) for unit in found)


class _UnitPlaces:
    """Where the units of a knowledge base lie."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._index = kb.searcher().index

    @cached_property
    def _places(self) -> dict[str, list[tuple[int, int]]]:
        uris = self._index.documents["uri"].to_pylist()
        units = self._index.units
        places: dict[str, list[tuple[int, int]]] = {uri: [] for uri in uris}
        columns = (units[name].to_pylist() for name in ("doc_row", "start_char", "end_char"))
        for document, start, end in zip(*columns, strict=True):
            places[uris[document]].append((start, end))
        return places

    def judge(self, goldens: Sequence[Golden]) -> bool:
        """Return whether units are judged: the gold documents are long, and all questions with gold have spans."""
        answerable = [golden for golden in goldens if golden.answerable]
        documents = sorted({uri for golden in answerable for uri in golden.gold_docs})
        if not documents or not all(golden.gold_spans for golden in answerable if golden.gold_docs):
            return False
        return median(len(self._places[uri]) for uri in documents) >= LONG_DOCUMENT_UNITS

    def holding(self, span: GoldSpan) -> list[str]:
        """Return the keys of the units that a span overlaps."""
        return [
            _key(span.doc_uri, start, end)
            for start, end in self._places[span.doc_uri]
            if start < span.end_char and end > span.start_char
        ]


def _has_gold(golden: Golden) -> bool:
    return golden.answerable and bool(golden.gold_docs or golden.gold_spans)


def _relevant(golden: Golden, units: _UnitPlaces, judge: Literal["documents", "units"]) -> frozenset[str]:
    if not golden.answerable:
        return frozenset()
    if judge == "documents":
        return frozenset(golden.gold_docs)
    return frozenset(key for span in golden.gold_spans for key in units.holding(span))


def _with_ranking(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return the same outcomes with the measures of their rankings in front."""
    judged = [one for one in outcomes if one.relevant]
    found = ranking_measures(
        {one.golden.id: one.ranked for one in judged}, {one.golden.id: one.relevant for one in judged}
    )
    return [
        Outcome(
            one.golden,
            one.ranked,
            one.relevant,
            one.quotes,
            found.get(one.golden.id, {}) | one.measures,
            one.milliseconds,
        )
        for one in outcomes
    ]


def _key(uri: str, start: int, end: int) -> str:
    return f"{uri}@{start}-{end}"
