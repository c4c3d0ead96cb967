"""kb.global_search: a question about the whole in, cited points of many documents out."""

from __future__ import annotations

from dataclasses import replace

from graphctx.model.assemble import global_answer
from graphctx.model.requests import GlobalSearchInput
from graphctx.model.themes import GlobalAnswer, Point
from graphctx.server.desk import Desk
from graphctx.server.render_global import global_text
from graphctx.server.tool import Description, Reply, Tool
from graphctx.server.tools.limits import limits_of


def _run(desk: Desk, asked: GlobalSearchInput) -> Reply[GlobalAnswer]:
    request = asked.model_copy(update={"scope": desk.scope(asked.scope)})
    found = desk.backend.global_search(request)
    whole = replace(found, items=[_shelved(desk, point) for point in found.items])
    return Reply(*global_answer(desk.pager, request, whole, lambda answer: global_text(desk, answer)))


def _shelved(desk: Desk, point: Point) -> Point:
    passage = desk.shelve(point.section_id)
    return point.model_copy(update={"passage_id": passage.passage_id, "uri": passage.uri})


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
