"""Answers as a person reads them: quotes with their places, points below their themes, communities as a tree."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from graphctx.cli.console import counted, errors_console, warn
from graphctx.cli.places import shown_path
from graphctx.text.printable import one_line, visible
from graphctx.text.readable import hanging_indent, readable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.tree import Tree

    from graphctx.cli.places import DocumentFiles
    from graphctx.model.answers import EvidenceAnswer, GlobalAnswer, Point, Quote, SearchAnswer, SearchResult, Theme
    from graphctx.model.context import OptimalContext
    from graphctx.model.graph import CommunityNode

_OTHER_WORDS = "Try the words that the documents would use, or graphctx search with a few key words."
_EMPTY = {
    "no_snapshot": ("nothing is published in this knowledge base yet", "Add documents: graphctx ingest FOLDER"),
    "empty_knowledge_base": (
        "the documents of this knowledge base hold no text to quote",
        "Add some with text below their headings: graphctx ingest FOLDER",
    ),
    "nothing_in_scope": (
        "no document is within the boundary of this knowledge base",
        "Check [server] doc_tags and repositories in its kb.toml.",
    ),
    "filtered_out": (
        "no document passes the filters",
        "Drop --tag, --path-prefix or --updated-after; graphctx search without them shows what there is.",
    ),
    "no_communities": (
        "there are no communities here",
        "The documents are too few for any; add some with graphctx ingest. For a detail, ask without --global.",
    ),
    "no_match": ("nothing in the documents matches", _OTHER_WORDS),
    "no_evidence": (
        "nothing in the documents bears on the question",
        f"{_OTHER_WORDS} For a question about all of them, such as their themes: graphctx ask --global.",
    ),
}
"""Why an answer is empty, and what to do."""

_NEAR = "Only near matches: none of these fits the question well, the documents may not hold the answer."

_BAR = "│ "
_WIDE = 10_000
"""Columns: more than any label needs."""

_TREE_LINES = 18
"""Communities that are listed by default: with the title and a hint, about 20 lines."""


def show_evidence(console: Console, question: str, answer: EvidenceAnswer, files: DocumentFiles) -> None:
    """Print quotes with their citations."""
    console.print(f"Question: {question}\n", style="bold")
    _show_spelling(console, answer.read_as)
    if answer.unknown_words:
        console.print(f"No document holds {one_line(', '.join(answer.unknown_words))}.\n", style="yellow")
    if not answer.quotes:
        _show_empty(console, "No evidence found", answer.empty_reason)
        if answer.nearest:
            console.print(f"Closest documents (weak matches): {one_line(', '.join(answer.nearest))}", style="dim")
        return
    for number, quote in enumerate(answer.quotes, start=1):
        goes_on = f" · the {quote.continues} goes on" if quote.continues and not quote.truncated else ""
        note = f"confidence {quote.confidence:.2f}{_shortened(quote)}{goes_on}"
        _show_span(console, number, quote, quote.quote, note, files)
    _show_changed(files)
    if answer.answered == "near":
        console.print(_NEAR, style="yellow")
    if answer.limit_reason != "none":
        console.print(_limit_hint(answer), style="dim")


def _show_changed(files: DocumentFiles) -> None:
    """Print on standard error how many files that an answer names changed since their ingest."""
    if changed := sum(files.changed.values()):
        warn(f"{counted(changed, 'files')} changed since the ingest; run graphctx ingest again.")


def show_answered(context: OptimalContext) -> None:
    """Print on standard error notes, where nothing in a composed context fits its question, and why it is empty."""
    from graphctx.context.composer import NOTES

    console = errors_console()
    for note in context.notes:
        console.print(one_line(note), style="yellow")
    if context.empty_reason:
        _show_empty(console, "The context has no passages", context.empty_reason)
    if context.nearest:
        console.print(f"Closest documents (weak matches): {one_line(', '.join(context.nearest))}", style="dim")
    if NOTES["near"] in context.task_context:
        console.print(_NEAR, style="yellow")


def _show_spelling(console: Console, read_as: Mapping[str, str]) -> None:
    """Print which misspelt words were read as which."""
    if read_as:
        words = ", ".join(f"{one_line(typed)} as {one_line(read)}" for typed, read in read_as.items())
        console.print(f"No document holds these words as they are spelt; read {words}.\n", style="yellow")


def _limit_hint(answer: EvidenceAnswer) -> str:
    """Return what a limit left out, and which option shows it."""
    if answer.limit_reason in ("page_size", "node_cap"):
        return f"More quotes fit the question than the {len(answer.quotes)} shown; --max-quotes shows up to 20."
    if answer.limit_reason == "passage_cap":
        return "The passages that were quoted from hold no more; --top-k quotes from more of them."
    if not answer.partial:
        return "Some quotes are shortened; --max-quote-tokens lets them be longer."
    return "More quotes match than fit; lower --max-quote-tokens."


def show_search(console: Console, query: str, answer: SearchAnswer, files: DocumentFiles) -> None:
    """Print previews with their citations."""
    console.print(f"Query: {query}\n", style="bold")
    _show_spelling(console, answer.read_as)
    if not answer.results:
        _show_empty(console, "No results", answer.empty_reason)
        return
    for result in answer.results:
        _show_span(console, result.rank, result, result.preview, f"score {result.score:.3f}", files)
    _show_changed(files)
    if answer.limit_reason == "doc_cap":
        console.print("These documents contain more matches; --max-per-doc shows more of each.", style="dim")
    elif answer.limit_reason != "none":
        console.print("More results fit the query than are shown; --top-k shows up to 50.", style="dim")


def show_global(console: Console, question: str, answer: GlobalAnswer, files: DocumentFiles) -> None:
    """Print points with their citations, theme by theme, and how they were found."""
    from rich.text import Text

    from graphctx.model.answers import LOW_RATING
    from graphctx.model.assemble import phrased_as_shown, points_by_theme

    console.print(f"Question: {question}\n", style="bold")
    if not answer.points:
        _show_empty(console, "No points found", answer.empty_reason)
        return
    if answer.phrased:
        console.print("In a language model's words; the numbers are of the points below:\n", style="dim")
        for sentence in phrased_as_shown(answer):
            cited = "".join(f"[{number}]" for number in sentence.points)
            console.print(Text(sentence.text).append(f" {cited}", style="cyan"))
        console.print()
    titles = {
        theme.id: Text(one_line(theme.title), style="bold magenta").append(
            f" · {theme.id} · rating {theme.rating:.2f}{_holds(theme)}\n", style="dim"
        )
        for theme in answer.themes
    }
    titles[""] = Text("Not in any one theme\n", style="bold magenta")
    for theme, points in points_by_theme(answer).items():
        console.print(titles[theme])
        for number, point in points:
            _show_span(console, number, point, point.quote, f"rating {point.rating:.2f}{_shortened(point)}", files)
    _show_changed(files)
    if all(point.rating < LOW_RATING for point in answer.points):
        console.print("None of these fits the question well: the documents may not cover it.", style="yellow")
    origin = "phrased by a language model" if answer.phrased else "extractive: every word comes from a document"
    note = f" ({answer.note})" if answer.note else ""
    console.print(f"{origin}{note}", style="dim")
    if answer.limit_reason != "none":
        console.print("More points fit than the limits allow (--points-tokens, --max-points).", style="dim")
    console.print("One theme: graphctx communities ID", style="dim")


def _holds(theme: Theme) -> str:
    lists = (("names", theme.names), ("documents", theme.documents))
    held = "".join(f"\n{label}: {', '.join(map(one_line, items))}" for label, items in lists if items)
    return (f" · {theme.n_children} below" if theme.n_children else "") + held


def _shortened(item: Quote | Point) -> str:
    return " · shortened" if item.truncated else ""


def _show_span(
    console: Console,
    number: int,
    item: Quote | SearchResult | Point,
    text: str,
    note: str,
    files: DocumentFiles,
) -> None:
    """Print a span of a document in a block, with its place."""
    from rich.text import Text

    title = f"{item.title} › {item.heading}" if item.heading else item.title
    console.print(Text(f"[{number}] ", style="bold cyan").append(one_line(title), style="bold"))
    show_block(console, _wrapped(console, readable(visible(text), item.doc_uri)))
    place = files.locate(item.doc_uri, item.line, text)
    shown, style = one_line(item.doc_uri), ""
    if place.path is not None:
        shown, style = shown_path(place.path), f"link {place.path.as_uri()}"
    if place.line is not None:
        shown += f":{place.line}"
    elif item.page is not None:
        note = f"page {item.page} · {note}"
    if "#" in item.doc_uri:
        note = f"{one_line(item.doc_uri.partition('#')[2])} · {note}"
    console.print(Text("    ").append(shown, style=style).append(f" · {note}", style="dim"))
    console.print()


def show_block(console: Console, lines: Sequence[str]) -> None:
    """Print lines behind a bar."""
    from rich.text import Text

    for line in lines:
        console.print(Text("    ").append(_BAR, style="cyan").append(line))


def span_lines(console: Console, text: str) -> list[str]:
    """Return the lines of a span as they are; on a terminal those that are too long are wrapped."""
    return _wrapped(console, visible(text).split("\n"))


def _wrapped(console: Console, lines: Sequence[str]) -> list[str]:
    if not console.is_terminal:
        return list(lines)
    width = max(40, min(console.width, 120) - 4 - len(_BAR))
    return [
        part
        for line in lines
        for part in (
            textwrap.wrap(line, width, subsequent_indent=hanging_indent(line), break_on_hyphens=False)
            if len(line) > width
            else [line]
        )
    ]


def _show_empty(console: Console, what: str, reason: str | None) -> None:
    why, remedy = _EMPTY[reason or "no_match"]
    console.print(f"{what}: {why}.", style="yellow")
    console.print(remedy, style="dim")


def show_tree(console: Console, title: str, communities: Sequence[CommunityNode], *, whole: bool) -> None:
    """Print communities as a tree; one whose parent is not among them stands at the top."""
    from rich.text import Text
    from rich.tree import Tree

    root = Tree(Text(title, style="bold"), guide_style="dim")
    parents = {community.parent_id for community in communities}
    branches: dict[str, Tree] = {}
    ordered = sorted(communities, key=lambda one: one.level)  # stable
    shown = ordered if whole else ordered[:_TREE_LINES]
    hidden = len(ordered) - len(shown)
    for community in shown:
        below = 0 if community.id in parents else community.n_children
        hidden += below
        more = f" · {below} below" if below else ""
        label = Text(one_line(community.title)).append(f" · {_sizes(community)}{more} · {community.id}", style="dim")
        branches[community.id] = branches.get(community.parent_id or "", root).add(label)
    # A terminal wraps long labels below their branch; a pipe gets each label on one line.
    width = console.width
    console.width = width if console.is_terminal else _WIDE
    console.print(root)
    console.width = width
    if hidden and not whole:
        cut = f"the {len(shown)} largest of {len(ordered):,} are shown; " if len(shown) < len(ordered) else ""
        console.print(f"{cut}--all shows every level, --level N one level, and an id one community", style="dim")


def show_community(
    console: Console, community: CommunityNode, parents: Sequence[CommunityNode], files: DocumentFiles
) -> None:
    """Print what a community is about, with its summary and the place of each sentence."""
    from rich.text import Text

    console.print(Text(one_line(community.title), style="bold magenta"))
    console.print(f"{community.id} · level {community.level} · {_sizes(community)}", style="dim")
    for parent in parents:
        console.print(f"part of {one_line(parent.title)} · {parent.id}", style="dim")
    if community.formerly:
        console.print(f"formerly {', '.join(community.formerly)}", style="dim")
    names = ", ".join(key.name for key in community.key_entities)
    console.print(Text("\nKey entities: ", style="bold").append(names, style="not bold"))
    if community.documents:
        titles = ", ".join(map(one_line, community.documents))
        console.print(Text("Documents: ", style="bold").append(titles, style="not bold"))
    if community.key_facts:
        console.print("\nFacts", style="bold")
        for fact in community.key_facts:
            console.print(f"  - {fact}")
    if community.phrased:
        console.print("\nIn a language model's words (the numbers are of the sentences below)", style="bold")
        console.print(community.phrased)
    if community.summary:
        console.print("\nSummary, word for word\n", style="bold")
    for number, sentence in enumerate(community.summary, start=1):
        mark = f"[{number}] "
        for line in _wrapped(console, readable(visible(sentence.text), sentence.doc_uri)):
            console.print(Text(mark, style="bold cyan").append(line, style="not bold default"))
            mark = "    "
        place = files.locate(sentence.doc_uri, sentence.line, sentence.text)
        shown = one_line(sentence.doc_uri) if place.path is None else shown_path(place.path)
        if place.line is not None:
            shown += f":{place.line}"
        elif sentence.page is not None:
            shown += f" · page {sentence.page}"
        console.print(f"    {shown}", style="dim")
    _show_changed(files)


def _sizes(community: CommunityNode) -> str:
    return f"{counted(community.n_entities, 'entities')}, {counted(community.n_units, 'units')}"
