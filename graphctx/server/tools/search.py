"""kb.search: a short list of passages with previews, never their text (tool contract, section 4.3)."""

from __future__ import annotations

from graphctx.model.answers import Budget, LimitReason, SearchAnswer, SearchInput
from graphctx.model.budgets import CapReason
from graphctx.model.cursors import read_cursor, write_cursor
from graphctx.server.desk import Desk
from graphctx.server.render import search_text
from graphctx.server.tool import Description, Reply, Tool


def _run(desk: Desk, asked: SearchInput) -> Reply[SearchAnswer]:
    request = asked.model_copy(update={"scope": desk.scope(asked.scope)})
    found = desk.backend.find(request)
    start = read_cursor(request.cursor, request, found.snapshot_id)
    page = []
    for result in found.results[start : start + request.page_size]:
        passage = desk.shelve(result.section_id)
        page.append(
            result.model_copy(
                update={
                    "passage_id": passage.passage_id,
                    "scratch_uri": passage.uri,
                    "size_bytes": passage.size_bytes,
                }
            )
        )

    def build(n: int, cut: CapReason | None, budget: Budget) -> SearchAnswer:
        partial = start + n < len(found.results)
        reason: LimitReason = cut or ("page_size" if partial else "none")
        return SearchAnswer(
            results=page[:n],
            next_cursor=write_cursor(request, found.snapshot_id, start + n) if partial else None,
            partial=partial,
            limit_reason=reason,
            session_id=desk.session_id,
            scope=request.scope,
            budget=budget,
            truncated=cut is not None,
            empty_reason=found.empty_reason,
            snapshot_id=found.snapshot_id,
        )

    return desk.reply(len(page), build, search_text)


SEARCH = Tool(
    name="kb.search",
    title="Search the documents",
    description=Description(
        use_when="you want to explore which documents and sections bear on a topic, or to choose passages "
        "yourself before reading them.",
        not_when="you have a question to answer: kb.retrieve_evidence finds and quotes in one call.",
        returns="page_size results (5), each with a preview of one to three sentences exactly as in the "
        "document, and a passage_id; never whole sections. A response stays below 8,000 tokens and 30,000 "
        "bytes.",
        follow_up="call again with next_cursor, or call kb.extract_evidence or kb.read_excerpt with passage ids.",
        defaults="top_k 5, page_size 5, max_per_doc 1, max_snippet_chars 280, mode auto. "
        "Max: top_k 50, page_size 50, max_per_doc 20, max_snippet_chars 1000.",
    ),
    input=SearchInput,
    output=SearchAnswer,
    run=_run,
)
