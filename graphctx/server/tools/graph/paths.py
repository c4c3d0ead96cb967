"""graph.paths: how nodes are connected (tool contract, section 4.1)."""

from __future__ import annotations

from graphctx.model.graph import PathsAnswer
from graphctx.model.requests import PathsInput
from graphctx.server.call_context import CallContext
from graphctx.server.render_graph import paths_text
from graphctx.server.tool import Reply, Tool
from graphctx.server.tools.graph.shared import graph_description, graph_reply, resolved


def _run(context: CallContext, asked: PathsInput) -> Reply[PathsAnswer]:
    request = resolved(context, asked)
    return graph_reply(
        context,
        request,
        context.searcher.graph.paths(request),
        lambda paths, said: PathsAnswer(paths=paths, **said),
        lambda answer: paths_text(context, answer),
    )


PATHS = Tool(
    name="graph.paths",
    toolset="graph",
    title="Find connections between nodes",
    description=graph_description(
        PathsInput,
        use_when="you ask how two things are connected, and through what.",
        not_when="you know only one end (graph.expand), or a question in words would do (kb.retrieve_evidence).",
        returns="paths (25, max_paths in all), shortest and strongest first",
        follow_up="raise max_hops, or read a section on the path with kb.read_excerpt.",
    ),
    input=PathsInput,
    output=PathsAnswer,
    run=_run,
)
