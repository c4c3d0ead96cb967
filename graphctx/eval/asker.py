"""A knowledge base asked as one variant of retrieval, with the answers that its tools give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

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
    from graphctx.knowledge_base import KnowledgeBase
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
