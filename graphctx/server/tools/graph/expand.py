"""graph.expand: the nodes around some nodes (tool contract, section 4.1)."""

from __future__ import annotations

from graphctx.model.graph import ExpandAnswer
from graphctx.model.requests import ExpandInput
from graphctx.server.call_context import CallContext
from graphctx.server.render_graph import expand_text
from graphctx.server.tool import Reply, Tool
from graphctx.server.tools.graph.shared import graph_description, graph_reply, names_of, resolved


def _run(context: CallContext, asked: ExpandInput) -> Reply[ExpandAnswer]:
    request = resolved(context, asked)
    found = context.searcher.graph.expand(request)
    names = names_of(context, request, found.starts)
    return graph_reply(
        context,
        request,
        found,
        lambda nodes, said: ExpandAnswer(starts=list(found.starts), nodes=nodes, **said),
        lambda answer: expand_text(context, answer, names),
    )


EXPAND = Tool(
    name="graph.expand",
    toolset="graph",
    title="Explore around nodes",
    description=graph_description(
        ExpandInput,
        use_when="you want to know what an entity, a section or a document is related to, and how.",
        not_when="you know both ends and want the connection (graph.paths), or want the texts that name an entity "
        "(graph.sections_for_entities).",
        returns="nodes (25) with the relations that led to them, nearest and strongest first",
        follow_up="graph.expand from one of the nodes; narrow it with rel_types, direction or filters.",
    ),
    input=ExpandInput,
    output=ExpandAnswer,
    run=_run,
)
