"""The searcher: one published snapshot, pinned, with one method for each kind of request.

``scope mask -> question -> first stage -> score -> expand -> rerank -> select -> cite``
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.model.answers import RunMode
from graphctx.model.context_source import ContextSource
from graphctx.model.graph import CommunityNode
from graphctx.model.interrupt import checkpoint
from graphctx.model.layers import NO_LAYERS
from graphctx.model.requests import (
    BudgetedRequest,
    CommunitiesInput,
    ExtractEvidenceInput,
    Filters,
    GlobalSearchInput,
    Mode,
    RetrieveInput,
    Scope,
    SearchInput,
)
from graphctx.model.results import EvidenceResults, GlobalResults, GraphResults, Results, SearchResults, UnitText
from graphctx.model.scope import Boundary
from graphctx.retrieve.cite import TokenCounter
from graphctx.retrieve.confidence import unknown_words
from graphctx.retrieve.evidence import lexical_quotes, semantic_quotes
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import Question, parse_question
from graphctx.retrieve.ranking import Ranking, quoted_units, rank, top_units
from graphctx.retrieve.results import search_results
from graphctx.retrieve.scope import Empty
from graphctx.retrieve.stages import EXPANSIONS, FIRST_STAGES, RERANKERS, stage_named
from graphctx.retrieve.variants import DEFAULT, Variant
from graphctx.settings import RetrieveSettings

if TYPE_CHECKING:
    from graphctx.retrieve.catalog import Catalog
    from graphctx.retrieve.global_search.phrase import PhraserConfig
    from graphctx.retrieve.graph import GraphExplorer

Listing = TypeVar("Listing", bound=Results[Any])


class SecondSource(ContextSource, Protocol):
    """Another source of passages beside the documents, merged into their ranking."""

    def merge_results(self, request: SearchInput, found: SearchResults) -> SearchResults:
        """Merge its results with those of the documents."""

    def merge_evidence(self, request: RetrieveInput, evidence: EvidenceResults) -> EvidenceResults:
        """Merge its quotes with those of the documents."""


class Searcher:
    """Answers requests from one snapshot, within the boundary of the settings and the scope of each request.

    Thread-safe. Every method raises ``ScopeViolation`` where a scope reaches outside the boundary, and returns an empty
    listing with its reason where the scope leaves nothing.

    Args:
        index: the visible part of the snapshot; ``None`` where nothing is published.
        boundary: what the knowledge base answers for.
        tokens: counts the tokens of quotes.
        settings: of the ``[retrieve]`` group.
        phraser: a language model that phrases the points of a global search; points stay extractive without.
        layers: the layers of AGENTS.db that ``options.layers`` asks for.

    Raises:
        InvalidArgument: the settings name a stage that is not registered.
    """

    def __init__(
        self,
        index: SearchIndex | None,
        boundary: Boundary,
        tokens: TokenCounter,
        settings: RetrieveSettings,
        *,
        phraser: PhraserConfig | None = None,
        layers: SecondSource | None = None,
    ) -> None:
        self.boundary = boundary
        self.layers = layers
        self.published = index
        self._tokens = tokens
        self._settings = settings
        self._phraser = phraser
        self._first_stage = stage_named(FIRST_STAGES, settings.first_stage, "retrieve.first_stage")
        self._expansion = stage_named(EXPANSIONS, settings.expansion, "retrieve.expansion")
        self._reranker = stage_named(RERANKERS, settings.reranker, "retrieve.reranker")

    @property
    def index(self) -> SearchIndex:
        """The visible part of the snapshot.

        Raises:
            BackendUnavailable: nothing is published yet.
        """
        if self.published is None:
            raise nothing_published()
        return self.published

    @property
    def snapshot_id(self) -> str:
        """The id of the snapshot; empty where nothing is published."""
        return self.published.snapshot.id if self.published is not None else ""

    @cached_property
    def graph(self) -> GraphExplorer:
        """The graph of the snapshot."""
        from graphctx.retrieve.graph import GraphExplorer

        return GraphExplorer(self.index)

    @cached_property
    def catalog(self) -> Catalog:
        """Names and whole documents."""
        from graphctx.retrieve.catalog import Catalog

        return Catalog(self.index, self.graph.tables)

    def search(self, request: SearchInput, variant: Variant = DEFAULT) -> SearchResults:
        """Find the units that bear on a query, each with a preview, best first."""
        scope, index, empty = self._within(request, request.filters)
        if index:
            found = self._search(index, request, scope, variant)
        else:
            found = self._nothing(SearchResults, scope, empty)
        if request.options.layers:
            return self.second_source(request.options.layers).merge_results(request, found)
        return found

    def evidence(self, request: RetrieveInput, variant: Variant = DEFAULT) -> EvidenceResults:
        """Find units and quote the sentences that answer a question: the surest quote first, then in reading order."""
        scope, index, empty = self._within(request, request.filters)
        if index:
            evidence = self._evidence(index, request, scope, variant)
        else:
            evidence = self._nothing(EvidenceResults, scope, empty, mode=self.mode(request.options.mode))
        if request.options.layers:
            return self.second_source(request.options.layers).merge_evidence(request, evidence)
        return evidence

    def extract(self, request: ExtractEvidenceInput, section_ids: Sequence[str]) -> EvidenceResults:
        """Quote from given units by lexical overlap alone (tool contract, section 4.6.1).

        Raises:
            InvalidArgument: there is no visible unit of such an id.
        """
        scope, index, empty = self._within(request, Filters())
        if index is None:
            return self._nothing(EvidenceResults, scope, empty, mode=self.mode("auto"))
        rows = [index.unit_row(section_id) for section_id in section_ids]
        found = lexical_quotes(index, request.question, rows, request, self._tokens)
        return EvidenceResults(
            items=found.quotes,
            rows=found.rows,
            scope=scope,
            snapshot_id=self.snapshot_id,
            mode=self.mode("auto"),
            candidates=len(rows),
            empty_reason=None if found.quotes else "no_match",
        )

    def global_search(self, request: GlobalSearchInput) -> GlobalResults:
        """Find points of many documents for a question about the whole, best first."""
        scope, index, empty = self._within(request, request.filters)
        if index is None:
            return self._nothing(GlobalResults, scope, empty)
        from graphctx.retrieve.global_search.search import GlobalSearch
        from graphctx.retrieve.graph.communities import CommunityIndex
        from graphctx.retrieve.graph.view import GraphView

        communities = CommunityIndex(GraphView(index, self.graph.tables))

        question, ranking = self._ranked(index, request.question, "auto", DEFAULT)
        search = GlobalSearch(communities, question, ranking, self._tokens)
        return search.found(request.model_copy(update={"scope": scope}), self._phraser)

    def communities(self, request: CommunitiesInput) -> GraphResults[CommunityNode]:
        """List or describe communities; an empty listing where nothing is published."""
        scope = self.boundary.narrow(request.scope)
        if self.published is None:
            return GraphResults(items=(), scope=scope, snapshot_id="", empty_reason="no_snapshot")
        return self.graph.communities(request.model_copy(update={"scope": scope}))

    def rank(
        self,
        text: str,
        variant: Variant = DEFAULT,
        scope: Scope | None = None,
        filters: Filters | None = None,
        mode: Mode = "auto",
    ) -> tuple[Question, Ranking] | Empty:
        """Rank the candidate units of a question, for contexts, explanations and evaluation."""
        index, empty = self._visible(self.boundary.narrow(scope or Scope()), filters or Filters())
        return self._ranked(index, text, mode, variant) if index else empty

    def unit(self, section_id: str, scope: Scope | None = None) -> UnitText:
        """Return the text and the place of a unit.

        Args:
            section_id: the id of a unit, or of a section for the unit that opens it.
            scope: of the request.

        Raises:
            InvalidArgument: there is no visible unit of this id.
        """
        index = self.index.within(self.boundary.narrow(scope or Scope()), Filters())
        return self.unit_at(index.unit_row(section_id))

    def unit_at(self, row: int) -> UnitText:
        """Return the text and the place of the unit of a row that an earlier result holds."""
        unit = self.index.unit(row)
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

    def document_text(self, doc_id: str) -> str:
        """Return the text that the spans of a document's units count in.

        Raises:
            InvalidArgument: there is no visible document of this id.
        """
        return self.index.document(doc_id).text

    def mode(self, asked: Mode) -> RunMode:
        """Return how a request runs: ``auto`` is hybrid local search, or vector search where the graph is off."""
        if asked != "auto":
            return asked
        return "hybrid_local" if self._settings.expansion != "none" else "vector_only"

    def second_source(self, asked: Sequence[str], field: str = "options.layers") -> SecondSource:
        """Return the layers.

        Raises:
            InvalidArgument: no layers are served.
        """
        if self.layers is None:
            raise InvalidArgument(
                f"{field}: {NO_LAYERS}",
                field=field,
                value=list(asked),
                allowed="left out",
                setting="layers.folder",
            )
        return self.layers

    def _within(self, request: BudgetedRequest, filters: Filters) -> tuple[Scope, SearchIndex | None, Empty]:
        """The scope that applies to a request, the index of what it sees, and why that is nothing."""
        scope = self.boundary.narrow(request.scope)
        return scope, *self._visible(scope, filters)

    def _visible(self, scope: Scope, filters: Filters) -> tuple[SearchIndex | None, Empty]:
        if self.published is None:
            return None, Empty("no_snapshot")
        index = self.published.within(scope, filters)
        if not len(index.visible_rows):
            return None, self.published.empty_reason(scope, filters) or Empty("no_match")
        return index, Empty("no_match")

    def _ranked(self, index: SearchIndex, text: str, mode: Mode, variant: Variant) -> tuple[Question, Ranking]:
        question = parse_question(text, index)
        checkpoint()
        ranking = rank(
            index,
            question,
            n_candidates=self._settings.candidates,
            mode="vector" if self.mode(mode) == "vector_only" else variant.ranking,
            first_stage=self._first_stage,
            expansion=variant.expansion or self._expansion,
            reranker=variant.reranker or self._reranker,
        )
        checkpoint()
        return question, ranking

    def _search(self, index: SearchIndex, request: SearchInput, scope: Scope, variant: Variant) -> SearchResults:
        question, ranking = self._ranked(index, request.query, request.options.mode, variant)
        positions = top_units(index, ranking, request.top_k, request.options.max_per_doc)
        results = list(search_results(index, question, ranking, positions, request, variant.selection, self._tokens))
        return SearchResults(
            items=results,
            rows=ranking.rows[positions].tolist(),
            scope=scope,
            snapshot_id=self.snapshot_id,
            empty_reason=None if results else "no_match",
            read_as=dict(question.read_as),
            capped="doc_cap" if len(results) < min(request.top_k, len(ranking.rows)) else "none",
        )

    def _evidence(self, index: SearchIndex, request: RetrieveInput, scope: Scope, variant: Variant) -> EvidenceResults:
        question, ranking = self._ranked(index, request.question, request.options.mode, variant)
        if request.options.rerank and variant.selection.semantic:  # the contract's name; no reranker is meant
            positions = quoted_units(index, ranking, request.top_k, self._settings.max_per_document)
            found = semantic_quotes(
                index, question, ranking, positions, request.top_k, request, variant.selection, self._tokens
            )
        else:
            positions = top_units(index, ranking, request.top_k, 1)
            rows = ranking.rows[positions].tolist()
            found = lexical_quotes(index, question.text, rows, request, self._tokens)
        more = len(found.quotes) < request.max_quotes and len(positions) < len(ranking.rows)
        return EvidenceResults(
            items=found.quotes,
            rows=found.rows,
            scope=scope,
            snapshot_id=self.snapshot_id,
            mode=ranking.mode,
            candidates=min(len(positions), request.top_k),
            empty_reason=None if found.quotes else "no_evidence" if found.nearest else "no_match",
            stages=_stages(question, ranking, found.n_sentences),
            nearest=found.nearest,
            unknown_words=unknown_words(index, question),
            read_as=dict(question.read_as),
            capped="passage_cap" if found.quotes and more else "none",
        )

    def _nothing(self, kind: Callable[..., Listing], scope: Scope, empty: Empty, **fields: Any) -> Listing:
        """Return a listing without items, and why it has none."""
        return kind(
            items=(),
            scope=scope,
            snapshot_id=self.snapshot_id,
            empty_reason=empty.reason,
            filtered_by=empty.filtered_by,
            **fields,
        )


def nothing_published() -> BackendUnavailable:
    """Return the error of a request that needs a snapshot where none is published."""
    return BackendUnavailable(
        "Nothing is published in this knowledge base yet. Run `graphctx ingest PATH`; if an ingest was stopped, "
        "run it again, and it goes on with what it had done.",
        file="CURRENT",
    )


def _stages(question: Question, ranking: Ranking, n_sentences: int) -> dict[str, str | int | float | bool]:
    return {
        "question_terms": len(question.terms),
        "question_entities": len(question.entities),
        "units_ranked": len(ranking.rows),
        "definition_edges": ranking.expanded.n_edges("definition"),
        "entity_edges": ranking.expanded.n_edges("entity"),
        "bridge_edges": ranking.expanded.n_edges("bridge"),
        "sentences_scored": n_sentences,
    }
