"""graph.describe: what nodes are (tool contract, section 4.1)."""

from __future__ import annotations

from graphctx.model.graph import DescribeAnswer
from graphctx.model.requests import DescribeInput
from graphctx.server.call_context import CallContext
from graphctx.server.render_graph import describe_text
from graphctx.server.tool import Reply, Tool
from graphctx.server.tools.graph.shared import graph_description, graph_reply, resolved


def _run(context: CallContext, asked: DescribeInput) -> Reply[DescribeAnswer]:
    request = resolved(context, asked)
    return graph_reply(
        context,
        request,
        context.searcher.graph.describe(request),
        lambda nodes, said: DescribeAnswer(nodes=nodes, **said),
        lambda answer: describe_text(context, answer),
    )


DESCRIBE = Tool(
    name="graph.describe",
    toolset="graph",
    title="Describe documents, sections and entities",
    description=graph_description(
        DescribeInput,
        use_when="you have ids, document URIs or entity names and want to know what they are: name, kind, place and "
        "size. It also finds the id of an entity.",
        not_when="you want what surrounds a node (graph.expand) or what a text says (kb.retrieve_evidence).",
        returns="nodes (25), as many as were asked for",
        follow_up="graph.expand from an id.",
    ),
    input=DescribeInput,
    output=DescribeAnswer,
    run=_run,
)
