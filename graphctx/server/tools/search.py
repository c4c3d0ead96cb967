"""kb.search: a short list of passages with previews, never their text (tool contract, section 4.3)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from graphctx.model.answers import SearchAnswer
from graphctx.model.assemble import search_answer
from graphctx.model.requests import SearchInput
from graphctx.server.call_context import CallContext
from graphctx.server.render import search_text
from graphctx.server.tool import Description, Reply, Tool


def _run(context: CallContext, request: SearchInput) -> Reply[SearchAnswer]:
    found = context.searcher.search(request)
    results = [
        result.model_copy(
            update={"passage_id": passage.passage_id, "scratch_uri": passage.uri, "size_bytes": passage.size_bytes}
        )
        for result, passage in zip(found.items, context.passages(found), strict=True)
    ]
    page = search_answer(context.pager, request, replace(found, items=results), partial(search_text, context))
    return Reply(*page)


SEARCH = Tool(
    name="kb.search",
    toolset="kb",
    title="Search the documents",
    description=Description(
        use_when="you want to explore which documents and sections bear on a topic, or to choose passages "
        "yourself before reading them.",
        not_when="you have a question to answer: kb.retrieve_evidence finds and quotes in one call.",
        returns="page_size results (5), each with a preview of one to three sentences exactly as in the "
        "document, and a passage_id; never whole sections. The response keeps to {response}, "
        "or to less by max_tokens and max_bytes.",
        follow_up="call again with next_cursor, or call kb.extract_evidence or kb.read_excerpt with the section_id of "
        "results as passage ids.",
        defaults="top_k 5, page_size 5, max_per_doc 1, max_snippet_chars 280, mode auto. "
        "Max: top_k 50, page_size 50, max_per_doc 20, max_snippet_chars 1000.",
    ),
    input=SearchInput,
    output=SearchAnswer,
    run=_run,
)
