"""graph.parents: what is above sections (tool contract, section 4.1)."""

from __future__ import annotations

from graphctx.model.graph import ParentsAnswer
from graphctx.model.requests import ParentsInput
from graphctx.server.call_context import CallContext
from graphctx.server.render_graph import parents_text
from graphctx.server.tool import Reply, Tool
from graphctx.server.tools.graph.shared import graph_description, graph_reply, resolved


def _run(context: CallContext, asked: ParentsInput) -> Reply[ParentsAnswer]:
    request = resolved(context, asked)
    return graph_reply(
        context,
        request,
        context.searcher.graph.parents(request),
        lambda sections, said: ParentsAnswer(sections=sections, **said),
        lambda answer: parents_text(context, answer),
    )


PARENTS = Tool(
    name="graph.parents",
    toolset="graph",
    title="Go up the outline",
    description=graph_description(
        ParentsInput,
        use_when="you want to know in which section, chapter and document a passage stands.",
        not_when="the heading and title of a search result already say it.",
        returns="sections (25), each with its ancestors, the document last",
        follow_up="graph.children of an ancestor, for what stands beside the passage.",
    ),
    input=ParentsInput,
    output=ParentsAnswer,
    run=_run,
)
