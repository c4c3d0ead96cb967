"""graph.sections_for_entities: where entities are written about (tool contract, section 4.1)."""

from __future__ import annotations

from graphctx.model.graph import SectionsAnswer
from graphctx.model.requests import SectionsForEntitiesInput
from graphctx.server.call_context import CallContext
from graphctx.server.render_graph import sections_text
from graphctx.server.tool import Reply, Tool
from graphctx.server.tools.graph.shared import graph_description, graph_reply, names_of, resolved


def _run(context: CallContext, asked: SectionsForEntitiesInput) -> Reply[SectionsAnswer]:
    request = resolved(context, asked)
    found = context.searcher.graph.sections_for_entities(request)
    names = names_of(context, request, list(dict.fromkeys(section.entity_id for section in found.items)))
    return graph_reply(
        context,
        request,
        found,
        lambda sections, said: SectionsAnswer(sections=sections, **said),
        lambda answer: sections_text(context, answer, names),
    )


SECTIONS_FOR_ENTITIES = Tool(
    name="graph.sections_for_entities",
    toolset="graph",
    title="List the sections that name entities",
    description=graph_description(
        SectionsForEntitiesInput,
        use_when="you have an entity, by id or by name, and want the passages that speak of it, its own first.",
        not_when="you have a question about it: kb.retrieve_evidence quotes the answer.",
        returns="sections (25, max_per_entity an entity), where it is written about most first",
        follow_up="kb.extract_evidence or kb.read_excerpt with up to three section_ids.",
    ),
    input=SectionsForEntitiesInput,
    output=SectionsAnswer,
    run=_run,
)
