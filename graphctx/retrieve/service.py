"""Questions in, evidence out: the steps of retrieval, in order.

``question -> first stage -> seeds -> walk -> rank -> spans -> citations``
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from graphctx.model.answers import EmptyReason, Quote, RunMode, SearchResult
from graphctx.model.found import Evidence, Found, GlobalFound, UnitText
from graphctx.model.interrupt import checkpoint
from graphctx.model.requests import (
    ExtractEvidenceInput,
    Filters,
    GlobalSearchInput,
    Mode,
    RetrieveInput,
    Scope,
    SearchInput,
)
from graphctx.retrieve.cite import Cut, Tokens, preview_span, quote
from graphctx.retrieve.confidence import anything_bears
from graphctx.retrieve.evidence import Pick, find_evidence, preview_values
from graphctx.retrieve.extract import extract
from graphctx.retrieve.global_search.route import asks_for_the_whole
from graphctx.retrieve.index import Rows, SearchIndex, Unit
from graphctx.retrieve.question import Question, understand
from graphctx.retrieve.rank import Ranking, cap_per_document, rank
from graphctx.retrieve.recipe import DEFAULT, QuoteWeights, Recipe
from graphctx.retrieve.scope import Nothing, why_nothing
from graphctx.retrieve.sentences import SentencePool, best_part, sentence_pool
from graphctx.settings import RetrieveSettings

if TYPE_CHECKING:
    from graphctx.retrieve.catalog import Catalog
    from graphctx.retrieve.communities import Communities
    from graphctx.retrieve.global_search.phrase import Phrasing
    from graphctx.retrieve.graph import GraphExplorer

MAX_NEAREST = 3
"""Documents that are named where nothing bears on a question."""


class Retriever:
    """Retrieval over one snapshot, or over what one scope leaves of it. Thread-safe."""

    def __init__(
        self, index: SearchIndex, tokens: Tokens, settings: RetrieveSettings, phrasing: Phrasing | None = None
    ) -> None:
        """Open nothing yet.

        Args:
            index: of what may be seen.
            tokens: measures quotes.
            settings: how to retrieve.
            phrasing: the language model that phrases the points of a global search; none does without.
        """
        self.index = index
        self._tokens = tokens
        self._settings = settings
        self._phrasing = phrasing

    @cached_property
    def graph(self) -> GraphExplorer:
        """The graph, to explore."""
        from graphctx.retrieve.graph import GraphExplorer

        return GraphExplorer(self.index)

    @cached_property
    def catalog(self) -> Catalog:
        """Names and whole documents."""
        from graphctx.retrieve.catalog import Catalog

        return Catalog(self.index, self.graph.tables)

    def within(self, scope: Scope, filters: Filters) -> Retriever | Nothing:
        """Retrieval over what a request may see, or why that is nothing."""
        nothing = why_nothing(self.index, scope, filters)
        if nothing is not None:
            return nothing
        index = self.index.within(scope, filters)
        return self if index is self.index else Retriever(index, self._tokens, self._settings, self._phrasing)

    def find(self, request: SearchInput, recipe: Recipe = DEFAULT) -> Found:
        """Find the units that bear on a query, with previews that show why."""
        within = self.within(request.scope, request.filters)
        if isinstance(within, Nothing):
            return Found(
                items=(),
                snapshot_id=self.index.snapshot.id,
                empty_reason=within.reason,
                filtered_by=within.filtered_by,
            )
        return within._find(request, recipe)

    def _find(self, request: SearchInput, recipe: Recipe) -> Found:
        question, ranking = self._ranked(request.query, request.options.mode, recipe)
        positions = cap_per_document(self.index, ranking, request.top_k, request.options.max_per_doc)
        results = self._results(question, ranking, positions, request, recipe.quote)
        reason: EmptyReason | None = None if results else "no_match"
        capped = len(positions) < min(request.top_k, len(ranking.rows))
        return Found(
            items=results,
            snapshot_id=self.index.snapshot.id,
            empty_reason=reason,
            capped="doc_cap" if capped else "none",
        )

    def evidence(self, request: RetrieveInput, recipe: Recipe = DEFAULT) -> Evidence:
        """Find units and quote the sentences that answer the question."""
        within = self.within(request.scope, request.filters)
        if isinstance(within, Nothing):
            return self._nothing(within, request.options.mode)
        if recipe == DEFAULT and request.options.mode == "auto" and request.options.rerank:
            whole = self._evidence_of_the_whole(within, request)
            if whole is not None:
                return whole
        return within._evidence(request, recipe)

    def _evidence_of_the_whole(self, within: Retriever, request: RetrieveInput) -> Evidence | None:
        """Quotes of a global search, where a question asks for the whole and there are communities to ask."""
        if not asks_for_the_whole(request.question):
            return None
        from graphctx.retrieve.global_search.quotes import global_quotes
        from graphctx.retrieve.global_search.search import GlobalSearch

        communities = self._communities(within.index)
        if not communities.seen.any():
            return None
        question, ranking = within._ranked(request.question, request.options.mode, DEFAULT)
        search = GlobalSearch(communities, question, ranking, self._tokens)
        made = global_quotes(search, request, self._settings.max_per_document)
        if not made.quotes:
            return None  # what is empty says why as for any other question
        capped = made.more_passages and len(made.quotes) < request.max_quotes
        return within._quoted(made.quotes, "global", made.candidates, None, made.stages, capped=capped)

    def global_search(self, request: GlobalSearchInput) -> GlobalFound:
        """Find what communities, and the units of a plain search, have to say to a question about the whole."""
        within = self.within(request.scope, request.filters)
        if isinstance(within, Nothing):
            return GlobalFound(
                items=(),
                snapshot_id=self.index.snapshot.id,
                empty_reason=within.reason,
                filtered_by=within.filtered_by,
            )
        from graphctx.retrieve.global_search.search import GlobalSearch

        question, ranking = within._ranked(request.question, "auto", DEFAULT)
        search = GlobalSearch(self._communities(within.index), question, ranking, self._tokens)
        return search.found(request, self._phrasing)

    def _communities(self, index: SearchIndex) -> Communities:
        """The communities of what an index sees; tables are those of the whole, read once."""
        from graphctx.retrieve.graph.view import View

        return self.graph.tables.communities.within(View(index, self.graph.tables))

    def _evidence(self, request: RetrieveInput, recipe: Recipe) -> Evidence:
        question, ranking = self._ranked(request.question, request.options.mode, recipe)
        if not (request.options.rerank and recipe.quote.rerank):
            return self._lexical_evidence(request, question, ranking)
        limit = max(1, min(self._settings.max_per_document, request.top_k))
        found = find_evidence(
            self.index,
            question,
            ranking,
            top_units=request.top_k,
            max_per_document=limit,
            max_quotes=request.max_quotes,
            max_quote_tokens=request.max_quote_tokens,
            weights=recipe.quote,
            tokens=self._tokens,
        )
        rows = ranking.rows[found.unit_positions]
        distinct: dict[str, Quote] = {}
        checkpoint()
        for pick in found.picks:  # long blocks that differ elsewhere may be cut to the same words
            made = self._quote(request, question, found.pool, rows, pick)
            distinct.setdefault(made.quote, made)
        quotes = list(distinct.values())
        reason: EmptyReason | None = None if quotes else "no_match"
        nearest: list[str] = []
        if quotes and not anything_bears(self.index, [quote.confidence for quote in quotes]):
            quotes, reason, nearest = [], "no_evidence", self._documents(rows)
        stages = _stages(question, ranking, len(found.pool))
        capped = 0 < len(quotes) < request.max_quotes and len(rows) < len(ranking.rows)
        return self._quoted(quotes, ranking.mode, len(rows), reason, stages, nearest, capped=capped)

    def _quoted(
        self,
        quotes: Sequence[Quote],
        mode: RunMode,
        candidates: int,
        reason: EmptyReason | None,
        stages: dict[str, str | int | float | bool] | None = None,
        nearest: Sequence[str] = (),
        *,
        capped: bool = False,
    ) -> Evidence:
        return Evidence(
            items=quotes,
            snapshot_id=self.index.snapshot.id,
            mode=mode,
            candidates=candidates,
            empty_reason=reason,
            stages=stages or {},
            nearest=nearest,
            capped="passage_cap" if capped else "none",
        )

    def _nothing(self, nothing: Nothing, mode: Mode) -> Evidence:
        return Evidence(
            items=(),
            snapshot_id=self.index.snapshot.id,
            mode=self._mode(mode),
            empty_reason=nothing.reason,
            filtered_by=nothing.filtered_by,
        )

    def _documents(self, rows: Rows) -> list[str]:
        """The URIs of the first documents of some units."""
        documents = list(dict.fromkeys(self.index.walk.unit_doc[rows].tolist()))[:MAX_NEAREST]
        return [self.index.text_of(row).uri for row in documents]

    def _quote(self, request: RetrieveInput, question: Question, pool: SentencePool, rows: Rows, pick: Pick) -> Quote:
        """The quote of a pick; one that is too long to be whole begins at the lines that bear on the question."""
        start, end = int(pool.start[pick.first]), int(pool.end[pick.last])
        cut = Cut(start, end, not pick.whole)
        if not pick.fits:
            text = pool.documents[pick.first].text
            cut = best_part(self.index, question, text, (start, end), request.max_quote_tokens, self._tokens)
        return quote(
            self.index,
            int(rows[pool.unit[pick.first]]),
            cut,
            context_tokens=request.include_context_tokens,
            confidence=pick.confidence,
            tokens=self._tokens,
        )

    def _lexical_evidence(self, request: RetrieveInput, question: Question, ranking: Ranking) -> Evidence:
        """Quote from the best units, one of each document, by lexical overlap alone."""
        rows = ranking.rows[cap_per_document(self.index, ranking, request.top_k, 1)]
        quotes = extract(self.index, request.question, [int(row) for row in rows], request, self._tokens)
        reason: EmptyReason | None = None if quotes else "no_match"
        stages = _stages(question, ranking, 0)
        capped = 0 < len(quotes) < request.max_quotes and len(rows) < len(ranking.rows)
        return self._quoted(quotes, ranking.mode, len(rows), reason, stages, capped=capped)

    def extract(self, request: ExtractEvidenceInput, section_ids: Sequence[str]) -> Evidence:
        """Quote from given units by the lexical algorithm alone.

        Raises:
            InvalidArgument: there is no such unit that the request may see.
        """
        within = self.within(request.scope, Filters())
        return self._nothing(within, "auto") if isinstance(within, Nothing) else within._extract(request, section_ids)

    def _extract(self, request: ExtractEvidenceInput, section_ids: Sequence[str]) -> Evidence:
        checkpoint()
        rows = [self.index.unit_row(section_id) for section_id in section_ids]
        quotes = extract(self.index, request.question, rows, request, self._tokens)
        reason: EmptyReason | None = None if quotes else "no_match"
        return self._quoted(quotes, self._mode("auto"), len(rows), reason)

    def unit(self, section_id: str) -> UnitText:
        """The whole text of a unit, with its place."""
        unit = self.index.unit(self.index.unit_row(section_id))
        document = self.index.text_of(unit.doc_row)
        return UnitText(
            section_id=unit.id,
            doc_id=document.id,
            doc_uri=document.uri,
            tags=document.tags,
            title=document.title,
            heading=unit.heading,
            anchor=unit.anchor,
            text=document.text[unit.start_char : unit.end_char],
            start_char=unit.start_char,
            end_char=unit.end_char,
            line=document.line(unit.start_char),
            page_starts=document.page_starts,
            updated_at=document.updated_at,
        )

    def _mode(self, asked: Mode) -> RunMode:
        return "hybrid_local" if asked == "auto" else asked

    def rank(
        self, text: str, mode: Mode, scope: Scope, filters: Filters, recipe: Recipe = DEFAULT
    ) -> tuple[Question, Ranking] | EmptyReason:
        """Rank units, or say why there are none to rank.

        Args:
            text: the question.
            mode: ``vector_only`` orders by the vector search alone, whatever the recipe.
            scope, filters: what may be seen.
            recipe: how to rank.
        """
        within = self.within(scope, filters)
        return within.reason if isinstance(within, Nothing) else within._ranked(text, mode, recipe)

    def _ranked(self, text: str, mode: Mode, recipe: Recipe) -> tuple[Question, Ranking]:
        question = understand(text, self.index)
        checkpoint()
        ranking = rank(
            self.index,
            question,
            first="vector" if self._mode(mode) == "vector_only" else recipe.first,
            weights=recipe.rank,
            candidates=self._settings.candidates,
            engine=self._settings.first_stage,
        )
        checkpoint()
        return question, ranking

    def _results(
        self, question: Question, ranking: Ranking, positions: np.ndarray, request: SearchInput, weights: QuoteWeights
    ) -> list[SearchResult]:
        pool = sentence_pool(self.index, question, ranking.rows[positions])
        values = preview_values(pool, weights).tolist()
        limit = request.options.max_snippet_chars
        results = []
        for number, position in enumerate(positions):
            checkpoint()
            unit = self.index.unit(int(ranking.rows[position]))
            document = self.index.text_of(unit.doc_row)
            own = np.flatnonzero(pool.unit == number).tolist()
            spans = [(int(pool.start[at]), int(pool.end[at])) for at in own]
            start, end = preview_span(
                spans or [(unit.start_char, unit.end_char)], [values[at] for at in own] or [0.0], limit
            )
            if end - start > limit:
                span = (start, end)
                # As many tokens as characters: no token is empty.
                part = best_part(self.index, question, document.text, span, limit, self._tokens, limit)
                start, end = part.start_char, part.end_char
            results.append(
                SearchResult(
                    section_id=unit.id,
                    doc_uri=document.uri,
                    doc_id=document.id,
                    doc_tag=",".join(document.tags),
                    title=document.title,
                    heading=unit.heading,
                    rank=number + 1,
                    score=round(float(ranking.scores[position]), 4),
                    source=ranking.sources[position],
                    preview=document.text[start:end],
                    start_char=start,
                    end_char=end,
                    line=document.line(start),
                    page=document.page(start),
                    anchor=unit.anchor,
                    size_bytes=len(document.text[unit.start_char : unit.end_char].encode("utf-8")),
                    scores=_scores(ranking, int(position)) if request.options.include_scores else None,
                    debug=_debug(unit, ranking) if request.options.include_debug else None,
                )
            )
        return results


def _scores(ranking: Ranking, position: int) -> dict[str, float]:
    """The parts of a score: of the first stage, base, alias boost and what the walk added.

    Base, alias and graph make the score, but for the one or two units that are kept in front with the largest of all.
    """
    row = ranking.rows[position : position + 1]
    at = int(np.searchsorted(ranking.base.rows, row[0]))
    parts = {
        "bm25": float(ranking.base.bm25[at]),
        "cosine": float(ranking.base.cosine[at]),
        "base": float(ranking.base.values[at]),
        "alias": float(ranking.boost.at(row)[0]),
        "graph": float(ranking.gain.at(row)[0]),
    }
    return {name: round(value, 4) for name, value in parts.items()}


def _debug(unit: Unit, ranking: Ranking) -> dict[str, str | int | float | bool]:
    """Where the whole unit lies, what it is, and how many were scored beside it."""
    return {
        "mode": ranking.mode,
        "unit_kind": unit.kind,
        "unit_start_char": unit.start_char,
        "unit_end_char": unit.end_char,
        "units_scored": ranking.n_candidates,
    }


def _stages(question: Question, ranking: Ranking, n_sentences: int) -> dict[str, str | int | float | bool]:
    walk = ranking.walk
    return {
        "question_terms": len(question.terms),
        "question_entities": len(question.entities),
        "units_scored": ranking.n_candidates,
        "home_edges": len(walk.home.value) if walk else 0,
        "entity_edges": len(walk.place.value) if walk else 0,
        "sentences_scored": n_sentences,
    }
