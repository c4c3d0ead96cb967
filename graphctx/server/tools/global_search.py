"""kb.global_search: a question about the whole in, cited points of many documents out."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from graphctx.model.answers import LOW_RATING, GlobalAnswer, GlobalDiagnostics, Point, Theme
from graphctx.model.assemble import global_answer, phrased_as_shown, points_by_theme
from graphctx.model.requests import GlobalSearchInput
from graphctx.server.call_context import CallContext
from graphctx.server.render import citation, counted, head, how_named, joined, more, one_line, quoted, why_empty
from graphctx.server.tool import Description, Reply, Tool


def _run(context: CallContext, request: GlobalSearchInput) -> Reply[GlobalAnswer]:
    found = context.searcher.global_search(request)
    points = [
        point.model_copy(update={"passage_id": passage.passage_id, "uri": passage.uri})
        for point, passage in zip(found.items, context.passages(found), strict=True)
    ]
    return Reply(*global_answer(context.pager, request, replace(found, items=points), partial(global_text, context)))


def global_text(context: CallContext, answer: GlobalAnswer) -> str:
    """Return the points below the themes that they come from, after a language model's sentences, if there are any."""
    start = head(answer, len(answer.points), "point")
    if answer.empty_reason:
        counts = "" if answer.empty_reason == "no_communities" else f" {_considered(answer.diagnostics)}"
        ask = context.say("For a detail ask kb.retrieve_evidence.")
        return f"{start}. {why_empty(answer)}{counts} {ask}"
    blocks = [f"{start}, word for word. {_how_made(answer)}"]
    if answer.phrased:
        said = (f"{one.text} {''.join(f'[{number}]' for number in one.points)}" for one in phrased_as_shown(answer))
        blocks.append("\n".join(map(quoted, said)))
    heads = {theme.id: _theme(theme) for theme in answer.themes}
    for theme, points in points_by_theme(answer).items():
        lines = [heads.get(theme, "Not in any one theme"), *(_point(number, point) for number, point in points)]
        blocks.append("\n".join(lines))
    if all(point.rating < LOW_RATING for point in answer.points):
        blocks.append("None of these fits the question well: the documents may not cover it.")
    blocks += [_considered(answer.diagnostics), *more(context, answer, "kb.global_search")]
    follow = (
        "A theme: graph.communities with its id in community_ids, or in parent_id for the themes below it. "
        "More text: kb.read_excerpt with "
    )
    return "\n\n".join([*blocks, context.say(follow + how_named(context))])


def _how_made(answer: GlobalAnswer) -> str:
    why = f" ({one_line(answer.note)})" if answer.note else ""
    if answer.phrased:
        return f"First, in a language model's words, what they come to{why}; the numbers are of points:"
    return f"No language model took part{why}."


def _considered(diagnostics: GlobalDiagnostics) -> str:
    return (
        f"Of {counted(diagnostics.communities, 'community')} {diagnostics.rated} were rated, "
        f"{diagnostics.descended} gone into further and {diagnostics.dropped} dropped."
    )


def _theme(theme: Theme) -> str:
    below = f", {theme.n_children} below" if theme.n_children else ""
    lines = [f"{one_line(theme.title)} [{theme.id}] (level {theme.level}, rating {theme.rating:.2f}{below})"]
    if theme.names:
        lines.append(f"  Names: {joined(theme.names)}")
    if theme.documents:
        lines.append(f"  Documents: {joined(theme.documents)}")
    return "\n".join(lines)


def _point(number: int, point: Point) -> str:
    where = citation(point.title, point.heading, point.doc_uri, point.line, point.page)
    cut = ", shortened" if point.truncated else ""
    return f"[{number}] {where}\nsection {point.section_id}, rating {point.rating:.2f}{cut}\n{quoted(point.quote)}"


GLOBAL_SEARCH = Tool(
    name="kb.global_search",
    toolset="kb",
    title="Survey the documents on a question about the whole",
    description=Description(
        use_when="a question is about the documents as a whole: their themes, what recurs, how they deal with "
        "something.",
        not_when="the answer is a detail that stands in one or two places: kb.retrieve_evidence finds it.",
        returns="{max_points} points, together points_tokens ({points_tokens}) long, word for word, each with title, "
        "URI and theme, within {response}.",
        follow_up="call graph.communities with a theme's id, kb.read_excerpt with a point's section_id, or again with "
        "next_cursor or larger points_tokens.",
    ),
    input=GlobalSearchInput,
    output=GlobalAnswer,
    run=_run,
)
