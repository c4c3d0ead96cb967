"""graph.children: what is below a document or a section (tool contract, section 4.1)."""

from __future__ import annotations

from graphctx.model.graph import ChildrenAnswer
from graphctx.model.requests import ChildrenInput
from graphctx.server.call_context import CallContext
from graphctx.server.render_graph import children_text
from graphctx.server.tool import Reply, Tool
from graphctx.server.tools.graph.shared import graph_description, graph_reply, resolved


def _run(context: CallContext, asked: ChildrenInput) -> Reply[ChildrenAnswer]:
    request = resolved(context, asked)
    found = context.searcher.graph.children(request)
    parent = next(iter(found.starts), None)
    return graph_reply(
        context,
        request,
        found,
        lambda children, said: ChildrenAnswer(parent_id=parent, children=children, **said),
        lambda answer: children_text(context, answer),
    )


CHILDREN = Tool(
    name="graph.children",
    toolset="graph",
    title="Go down the outline",
    description=graph_description(
        ChildrenInput,
        use_when="you want the outline of a document or a section, in reading order.",
        not_when="you look for something in it: kb.search with filters.path_prefix finds it.",
        returns="sections or units (25) directly below one parent",
        follow_up="graph.children of one of them, or kb.read_excerpt of a unit.",
    ),
    input=ChildrenInput,
    output=ChildrenAnswer,
    run=_run,
)
