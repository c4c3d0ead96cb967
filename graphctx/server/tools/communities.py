"""graph.communities: what the documents are about, as a hierarchy of communities of entities."""

from __future__ import annotations

from graphctx.model.graph import CommunitiesAnswer, CommunityNode
from graphctx.model.requests import CommunitiesInput
from graphctx.server.render import counted, joined, one_line, quoted
from graphctx.server.tool import Description
from graphctx.server.tools.graph_base import NodeNames, graph_tool, sentence_below


def sizes_of(community: CommunityNode) -> str:
    """Return ``43 entities, 49 units, 6 below``."""
    below = f", {community.n_children} below" if community.n_children else ""
    return f"{counted(community.n_entities, 'entity')}, {counted(community.n_units, 'unit')}{below}"


def _blocks(answer: CommunitiesAnswer, _: NodeNames) -> list[str]:
    return [_block(community) for community in answer.communities]


def _block(community: CommunityNode) -> str:
    """Return a community with its place, its sizes and what is characteristic of it."""
    parent = f", part of {community.parent_id}" if community.parent_id else ""
    lines = [
        f"{one_line(community.title)} [{community.id}] (level {community.level}{parent}), {sizes_of(community)}",
        f"  Key entities: {joined(key.name for key in community.key_entities)}",
    ]
    if community.documents:
        lines.append(f"  Documents: {joined(community.documents)}")
    if community.key_facts:
        lines.append(f"  Facts: {joined(community.key_facts)}")
    if community.formerly:
        lines.append(f"  Formerly {', '.join(community.formerly)}")
    if community.phrased:
        lines.append("  In a language model's words; the numbers are of the sentences below:")
        lines.append(quoted(community.phrased, "  "))
    for number, sentence in enumerate(community.summary, start=1):
        mark = f"\n[{number}]" if community.phrased else ""
        lines[-1] += mark + sentence_below(sentence)
    return "\n".join(lines)


COMMUNITIES = graph_tool(
    "graph.communities",
    "See the themes of the documents",
    (CommunitiesInput, CommunitiesAnswer),
    "communities",
    lambda searcher, request: searcher.communities(request),
    _blocks,
    no_match="There is none of this kind in this scope. Leave level, parent_id or entity_id out.",
    follow="Further down: graph.communities with parent_id. What one says: with community_ids and include_snippet. A "
    "question about the whole: kb.global_search.",
    description=Description(
        use_when="you want an overview of what the documents are about: their themes, from broad to fine; also the "
        "themes of an entity, or what one theme says (community_ids with include_snippet).",
        not_when="you have a question: kb.global_search answers one about the whole, kb.retrieve_evidence one about a "
        "detail.",
        returns="{page_size} themes, the largest first, each with title, sizes and key entities, within {response}.",
        follow_up="go down with parent_id, call again with next_cursor, or kb.read_excerpt with a section_id.",
    ),
)
