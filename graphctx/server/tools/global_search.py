"""kb.global_search: a question about the whole in, cited points of many documents out."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from graphctx.model.assemble import global_answer
from graphctx.model.requests import GlobalSearchInput
from graphctx.model.themes import GlobalAnswer
from graphctx.server.call_context import CallContext
from graphctx.server.render_global import global_text
from graphctx.server.tool import Description, Reply, Tool
from graphctx.server.tools.limits import limits_of


def _run(context: CallContext, request: GlobalSearchInput) -> Reply[GlobalAnswer]:
    found = context.searcher.global_search(request)
    points = [
        point.model_copy(update={"passage_id": passage.passage_id, "uri": passage.uri})
        for point, passage in zip(found.items, context.passages(found), strict=True)
    ]
    page = global_answer(context.pager, request, replace(found, items=points), partial(global_text, context))
    return Reply(*page)


GLOBAL_SEARCH = Tool(
    name="kb.global_search",
    toolset="kb",
    title="Survey the documents on a question about the whole",
    description=Description(
        use_when="a question is about the documents as a whole: their main themes, what recurs, how something is dealt "
        "with across them. It goes from broad themes to fine ones and takes the sentences that bear on the question.",
        not_when="the answer is a detail that stands in one or two places: kb.retrieve_evidence finds it.",
        returns="max_points points (40), together points_tokens (1000) long, word for word from the documents, with "
        "citation, rating and theme; where a language model is set also phrased, citing points. The response keeps to "
        "{response}, or to less by max_tokens and max_bytes.",
        follow_up="repeat the call with next_cursor, raise points_tokens, call graph.communities with a theme's id, or "
        "kb.read_excerpt with a point's section_id as passage_id.",
        defaults=limits_of(GlobalSearchInput),
    ),
    input=GlobalSearchInput,
    output=GlobalAnswer,
    run=_run,
)
