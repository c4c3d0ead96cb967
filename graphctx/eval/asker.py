"""A knowledge base asked by a named recipe, with the answers that its tools would give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from graphctx.model.answers import EmptyReason, EvidenceAnswer, SearchAnswer
from graphctx.model.arguments import parse_arguments
from graphctx.model.assemble import evidence_answer, search_answer
from graphctx.model.budgets import Limits
from graphctx.model.cursors import Cursors
from graphctx.model.found import Evidence
from graphctx.model.pages import Pager
from graphctx.model.requests import Filters, RetrieveInput, Scope, SearchInput
from graphctx.model.scope import Boundary
from graphctx.retrieve.recipe import DEFAULT_VARIANT, recipe_of

if TYPE_CHECKING:
    from graphctx.knowledge_base import KnowledgeBase
    from graphctx.retrieve.question import Question
    from graphctx.retrieve.rank import Ranking


class Asker:
    """Asks one snapshot, whatever is published meanwhile, within what the knowledge base may answer for.

    Attributes:
        retriever: of the snapshot.
        recipe: by which it is asked.
        scope: what the knowledge base may answer for.

    Args:
        kb: with a published snapshot.
        variant: the recipe, by its name.

    Raises:
        InvalidArgument: there is no such variant, or nothing is published.
    """

    def __init__(self, kb: KnowledgeBase, variant: str = DEFAULT_VARIANT) -> None:
        from graphctx.nlp.tokens import WordPieceCounter

        server = kb.settings.server
        self.recipe = recipe_of(variant)
        self.retriever = kb.pinned().require()
        self.scope = Boundary(kb.project_id, kb.environment, server.doc_tags, server.repositories).narrow(Scope())
        limits = Limits(server.max_tokens, server.max_bytes)
        self._pager = Pager(limits, WordPieceCounter().count, cursors=Cursors())

    def rank(self, question: str) -> tuple[Question, Ranking] | EmptyReason:
        """The ranking of all units, or why there is none."""
        return self.retriever.rank(question, "auto", self.scope, Filters(), self.recipe)

    def search(self, query: str, *, top_k: int, max_per_doc: int = 1, max_snippet_chars: int = 280) -> SearchAnswer:
        """The results of ``kb.search``, on one page.

        Raises:
            InvalidArgument: the query is blank or too long, or a number out of range.
        """
        options = {"max_per_doc": max_per_doc, "max_snippet_chars": max_snippet_chars}
        asked = {
            "query": query,
            "top_k": top_k,
            "page_size": top_k,
            "options": options,
            "scope": self.scope.model_dump(),
        }
        request = parse_arguments(SearchInput, asked)
        return search_answer(self._pager, request, self.retriever.find(request, self.recipe))[0]

    def evidence(self, question: str, **options: int) -> Evidence:
        """All quotes for a question, before the response budget.

        Args:
            question: any.
            options: of `RetrieveInput`.

        Raises:
            InvalidArgument: the question is blank or too long, or a number out of range.
        """
        return self.retriever.evidence(self._request(question, options), self.recipe)

    def pages(self, question: str, **options: int) -> Iterator[EvidenceAnswer]:
        """The answers of ``kb.retrieve_evidence``, call after call, until every quote was given.

        Raises:
            InvalidArgument: as `evidence`.
            BudgetExceeded: not even one quote fits.
        """
        request = self._request(question, options)
        found = self.retriever.evidence(request, self.recipe)
        cursor: str | None = ""
        while cursor is not None:
            page = request.model_copy(update={"cursor": cursor or None})
            answer, _ = evidence_answer(self._pager, page, found)
            yield answer
            cursor = answer.next_cursor

    def _request(self, question: str, options: dict[str, int]) -> RetrieveInput:
        return parse_arguments(RetrieveInput, {"question": question, **options, "scope": self.scope.model_dump()})
