"""Answers about the whole as a person reads them: points below their themes, and communities as a tree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from graphctx.cli.places import place_of, shown_path
from graphctx.cli.show import show_empty, show_span, span_lines
from graphctx.text.printable import one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text
    from rich.tree import Tree

    from graphctx.model.answers import GlobalAnswer
    from graphctx.model.graph import CommunityNode
    from graphctx.store.config import SourceEntry

_WIDE = 10_000
"""Columns: more than any label takes."""


def show_global(console: Console, question: str, answer: GlobalAnswer, sources: Sequence[SourceEntry]) -> None:
    """Print points with their citations, theme by theme, and how they were found."""
    from rich.text import Text

    from graphctx.model.answers import LOW_RATING

    console.print(f"Question: {question}\n", style="bold", soft_wrap=True)
    if not answer.points:
        show_empty(console, "No points found", answer.empty_reason or "no_match")
        return
    if answer.phrased:
        console.print("In a language model's words; the numbers are of the points below:\n", style="dim")
        for sentence in answer.phrased:
            cited = "".join(f"[{number}]" for number in sentence.points)
            console.print(Text(sentence.text).append(f" {cited}", style="cyan"), soft_wrap=True)
        console.print()
    themes = {theme.id for theme in answer.themes}
    places = [point.community_id if point.community_id in themes else "" for point in answer.points]
    heads = {
        theme.id: Text(one_line(theme.title), style="bold magenta").append(
            f" · {theme.id} · rating {theme.rating:.2f}\n", style="dim"
        )
        for theme in answer.themes
    }
    heads[""] = Text("Of no single theme\n", style="bold magenta")
    for place in dict.fromkeys(places):  # the group of the first point comes first
        console.print(heads[place], soft_wrap=True)
        for number, (own, point) in enumerate(zip(places, answer.points, strict=True), start=1):
            if own == place:
                cut = " · shortened" if point.truncated else ""
                show_span(console, number, point, point.quote, f"rating {point.rating:.2f}{cut}", sources)
    if all(point.rating < LOW_RATING for point in answer.points):
        console.print("None of these fits the question well: the documents may not treat of it.", style="yellow")
    told = answer.diagnostics
    made = "phrased by a language model" if answer.phrased else "extractive: every word is of a document"
    why = f" ({answer.note})" if answer.note else ""
    console.print(
        f"{made}{why} · of {told.communities} communities {told.rated} rated, {told.descended} gone into further, "
        f"{told.dropped} dropped",
        style="dim",
        soft_wrap=True,
    )
    if answer.limit_reason != "none":
        console.print("More points fit than the limits allow (--points-tokens, --max-points).", style="dim")
    console.print("One theme: graphctx communities ID", style="dim")


def show_tree(console: Console, title: str, communities: Iterable[CommunityNode]) -> None:
    """Print communities below one another; one whose parent is not among them stands at the top."""
    from rich.text import Text
    from rich.tree import Tree

    every = list(communities)
    root = Tree(Text(title, style="bold"), guide_style="dim")
    known = {community.id for community in every}
    held = {community.parent_id for community in every}
    branches: dict[str, Tree] = {}
    for community in sorted(every, key=lambda one: one.level):  # stable: broad ones first, else as they came
        above = branches[community.parent_id] if community.parent_id in known and community.parent_id else root
        hidden = 0 if community.id in held else community.n_children
        branches[community.id] = above.add(_label(community, hidden))
    # A terminal wraps long labels below their branch; into a pipe each goes whole on a line of its own.
    before = console.width
    console.width = before if console.is_terminal else _WIDE
    console.print(root)
    console.width = before


def show_community(
    console: Console, community: CommunityNode, parent: Sequence[CommunityNode], sources: Sequence[SourceEntry]
) -> None:
    """Print what a community is about, with its summary and where each sentence stands."""
    from rich.text import Text

    console.print(Text(one_line(community.title), style="bold magenta"), soft_wrap=True)
    console.print(Text(f"{community.id} · level {community.level} · {_sizes(community)}", style="dim"), soft_wrap=True)
    for above in parent:
        console.print(Text(f"part of {one_line(above.title)} · {above.id}", style="dim"), soft_wrap=True)
    if community.formerly:
        console.print(Text(f"formerly {', '.join(community.formerly)}", style="dim"), soft_wrap=True)
    names = ", ".join(key.name for key in community.key_entities)
    console.print(Text("\nKey entities: ", style="bold").append(names, style="not bold"), soft_wrap=True)
    if community.key_facts:
        console.print(Text("\nFacts", style="bold"))
        for fact in community.key_facts:
            console.print(Text(f"  - {fact}"), soft_wrap=True)
    if community.phrased:
        console.print(Text("\nIn a language model's words (the numbers are of the sentences below)", style="bold"))
        console.print(Text(community.phrased), soft_wrap=True)
    if community.summary:
        console.print(Text("\nSummary, word for word\n", style="bold"))
    for number, sentence in enumerate(community.summary, start=1):
        for at, line in enumerate(span_lines(console, sentence.text)):
            mark = f"[{number}] " if not at else "    "
            console.print(Text(mark, style="bold cyan").append(line, style="not bold default"), soft_wrap=True)
        place = place_of(sources, sentence.doc_uri, sentence.line, sentence.text)
        shown = one_line(sentence.doc_uri) if place.path is None else shown_path(place.path)
        shown += f":{place.line}" if place.line is not None else ""
        page = f" · page {sentence.page}" if place.line is None and sentence.page is not None else ""
        console.print(Text(f"    {shown}{page}", style="dim"), soft_wrap=True)


def _label(community: CommunityNode, hidden: int) -> Text:
    from rich.text import Text

    more = f" · {hidden} below" if hidden else ""
    return Text(one_line(community.title)).append(f" · {_sizes(community)}{more} · {community.id}", style="dim")


def _sizes(community: CommunityNode) -> str:
    entities = "1 entity" if community.n_entities == 1 else f"{community.n_entities} entities"
    return f"{entities}, {community.n_units} unit{'' if community.n_units == 1 else 's'}"
