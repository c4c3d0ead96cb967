"""graph.communities: what the documents are about, as a hierarchy of communities of entities."""

from __future__ import annotations

from graphctx.model.requests import CommunitiesInput
from graphctx.model.themes import CommunitiesAnswer
from graphctx.server.call_context import CallContext
from graphctx.server.render_global import communities_text
from graphctx.server.tool import Description, Reply, Tool
from graphctx.server.tools.graph.shared import graph_reply, resolved
from graphctx.server.tools.limits import limits_of


def _run(context: CallContext, asked: CommunitiesInput) -> Reply[CommunitiesAnswer]:
    request = resolved(context, asked)
    return graph_reply(
        context,
        request,
        context.searcher.communities(request),
        lambda communities, said: CommunitiesAnswer(communities=communities, **said),
        lambda answer: communities_text(context, answer),
    )


COMMUNITIES = Tool(
    name="graph.communities",
    toolset="graph",
    title="See the themes of the documents",
    description=Description(
        use_when="you want an overview of what the documents are about: their themes, which are communities of "
        "entities, from broad to fine. Also to see which themes an entity belongs to, or what one theme says.",
        not_when="you have a question: kb.global_search answers one about the whole, kb.retrieve_evidence one about a "
        "detail. Nor to look for a name: kb.search and graph.describe find it.",
        returns="page_size communities (25), the largest first, each with its title, sizes and key entities; with "
        "community_ids facts too, and with include_snippet the whole summary of those. A response stays below "
        "{response}.",
        follow_up="repeat the call with next_cursor, go down with parent_id, or call kb.read_excerpt with a sentence's "
        "section_id.",
        defaults=limits_of(CommunitiesInput),
    ),
    input=CommunitiesInput,
    output=CommunitiesAnswer,
    run=_run,
)
