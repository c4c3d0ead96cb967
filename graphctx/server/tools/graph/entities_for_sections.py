"""graph.entities_for_sections: what sections are about (tool contract, section 4.1)."""

from __future__ import annotations

from graphctx.model.graph import EntitiesAnswer
from graphctx.model.requests import EntitiesForSectionsInput
from graphctx.server.call_context import CallContext
from graphctx.server.render_graph import entities_text
from graphctx.server.tool import Reply, Tool
from graphctx.server.tools.graph.shared import graph_description, graph_reply, names_of, resolved


def _run(context: CallContext, asked: EntitiesForSectionsInput) -> Reply[EntitiesAnswer]:
    request = resolved(context, asked)
    found = context.searcher.graph.entities_for_sections(request)
    names = names_of(context, request, list(dict.fromkeys(entity.section_id for entity in found.items)))
    return graph_reply(
        context,
        request,
        found,
        lambda entities, said: EntitiesAnswer(entities=entities, **said),
        lambda answer: entities_text(context, answer, names),
    )


ENTITIES_FOR_SECTIONS = Tool(
    name="graph.entities_for_sections",
    toolset="graph",
    title="List the entities that sections name",
    description=graph_description(
        EntitiesForSectionsInput,
        use_when="you have passages and want the people, things and terms in them, as starting points in the graph.",
        not_when="you have the name of an entity already (graph.describe, graph.expand take names).",
        returns="entities (25, max_per_section a section), the most specific first",
        follow_up="graph.expand or graph.sections_for_entities with an entity's id.",
    ),
    input=EntitiesForSectionsInput,
    output=EntitiesAnswer,
    run=_run,
)
