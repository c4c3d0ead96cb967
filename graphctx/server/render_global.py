"""The readable text of answers about the whole: communities, and the points of a global search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphctx.model.themes import (
    LOW_RATING,
    CommunitiesAnswer,
    CommunityNode,
    GlobalAnswer,
    GlobalDiagnostics,
    Point,
    Theme,
)
from graphctx.server.quoting import one_line, quoted
from graphctx.server.render import citation, head, how_named, more, why_empty
from graphctx.server.render_graph import counted, framed, sentence_below

if TYPE_CHECKING:
    from graphctx.server.call_context import CallContext

_NO_COMMUNITY = "There is none of this kind in this scope. Leave level, parent_id or entity_id out."
_FOLLOW = (
    "Further down: graph.communities with parent_id. What one says: with community_ids and include_snippet. A question "
    "about the whole: kb.global_search."
)

NO_THEME = "Of no single theme"
BAD_FIT = "None of these fits the question well: the documents may not treat of it."


def communities_text(context: CallContext, answer: CommunitiesAnswer) -> str:
    """Each community with its place, its sizes and what is characteristic of it."""
    blocks = [_community(community) for community in answer.communities]
    return framed(context, answer, "communities", blocks, "graph.communities", _FOLLOW, _NO_COMMUNITY)


def sizes_of(community: CommunityNode) -> str:
    """``43 entities, 49 units, 6 below``."""
    below = f", {community.n_children} below" if community.n_children else ""
    return f"{counted(community.n_entities, 'entity')}, {counted(community.n_units, 'unit')}{below}"


def _community(community: CommunityNode) -> str:
    parent = f", part of {community.parent_id}" if community.parent_id else ""
    lines = [
        f"{one_line(community.title)} [{community.id}] (level {community.level}{parent}), {sizes_of(community)}",
        f"  Key entities: {'; '.join(one_line(key.name) for key in community.key_entities)}",
    ]
    if community.key_facts:
        lines.append(f"  Facts: {'; '.join(map(one_line, community.key_facts))}")
    if community.formerly:
        lines.append(f"  Formerly {', '.join(community.formerly)}")
    if community.phrased:
        lines.append("  In a language model's words; the numbers are of the sentences below:")
        lines.append(quoted(community.phrased, "  "))
    for number, sentence in enumerate(community.summary, start=1):
        mark = f"\n[{number}]" if community.phrased else ""
        lines[-1] += mark + sentence_below(sentence)
    return "\n".join(lines)


def global_text(context: CallContext, answer: GlobalAnswer) -> str:
    """The points below the themes that they come from, after what a language model made of them."""
    start = head(answer, len(answer.points), "point")
    if answer.empty_reason:
        advice = "" if answer.empty_reason == "no_communities" else f" {considered(answer.diagnostics)}"
        ask = context.say("For a detail ask kb.retrieve_evidence.")
        return f"{start}. {why_empty(answer)}{advice} {ask}"
    blocks = [f"{start}, word for word. {how_made(answer)}"]
    if answer.phrased:
        said = (f"{one.text} {''.join(f'[{number}]' for number in one.points)}" for one in answer.phrased)
        blocks.append("\n".join(map(quoted, said)))
    numbered = list(enumerate(answer.points, start=1))
    heads = {theme.id: _theme(theme) for theme in answer.themes}
    groups: dict[str, list[str]] = {}
    for number, point in numbered:  # the group of the first point comes first
        group = point.community_id if point.community_id in heads else ""
        groups.setdefault(group, [heads.get(group, NO_THEME)]).append(_point(number, point))
    blocks += ["\n".join(group) for group in groups.values()]
    if fits_badly(answer):
        blocks.append(BAD_FIT)
    blocks.append(considered(answer.diagnostics))
    blocks += more(context, answer, "kb.global_search")
    follow = "A theme: graph.communities with its id in community_ids. More text: kb.read_excerpt with "
    blocks.append(context.say(follow + how_named(context)))
    return "\n\n".join(blocks)


def fits_badly(answer: GlobalAnswer) -> bool:
    """Whether no point fits the question well."""
    return all(point.rating < LOW_RATING for point in answer.points)


def how_made(answer: GlobalAnswer) -> str:
    """Whether a language model took part, in a sentence."""
    why = f" ({one_line(answer.note)})" if answer.note else ""
    if answer.phrased:
        return f"First, in a language model's words, what they come to{why}; the numbers are of points:"
    return f"No language model took part{why}."


def considered(diagnostics: GlobalDiagnostics) -> str:
    """How many communities were looked at, and what became of them."""
    return (
        f"Of {counted(diagnostics.communities, 'community')} {diagnostics.rated} were rated, "
        f"{diagnostics.descended} gone into further and {diagnostics.dropped} dropped."
    )


def _theme(theme: Theme) -> str:
    return f"{one_line(theme.title)} [{theme.id}] (level {theme.level}, rating {theme.rating:.2f})"


def _point(number: int, point: Point) -> str:
    where = citation(point.title, point.heading, point.doc_uri, point.line, point.page)
    cut = ", shortened" if point.truncated else ""
    return f"[{number}] {where}\nsection {point.section_id}, rating {point.rating:.2f}{cut}\n{quoted(point.quote)}"
