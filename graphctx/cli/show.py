"""Answers as a person reads them: what was asked, each quote in a block, where it stands, what was left out."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphctx.cli.places import place_of, shown_path
from graphctx.text.printable import one_line, visible

if TYPE_CHECKING:
    from rich.console import Console

    from graphctx.model.answers import EvidenceAnswer, Point, Quote, SearchAnswer, SearchResult
    from graphctx.store.config import SourceEntry

_EMPTY = {
    "no_snapshot": (
        "nothing is published in this knowledge base yet",
        "Put some documents in: graphctx ingest FOLDER",
    ),
    "empty_knowledge_base": (
        "there are no documents in this knowledge base yet",
        "Put some in: graphctx ingest FOLDER",
    ),
    "nothing_in_scope": (
        "no document is in the scope that this knowledge base is asked in",
        "Look at [server] in its kb.toml: doc_tags and repositories say what may be seen.",
    ),
    "filtered_out": (
        "no document passes the filters",
        "Drop --tag, --path-prefix or --updated-after; graphctx search without them shows what there is.",
    ),
    "no_communities": (
        "there are no communities here",
        "The documents are too few for any; add some with graphctx ingest. For a detail, ask without --global.",
    ),
    "no_match": (
        "nothing in the documents fits",
        "Try the words that the documents would use, or graphctx search with a few key words.",
    ),
    "no_evidence": (
        "nothing in the documents bears on the question",
        "Try the words that the documents would use, or graphctx search with a few key words.",
    ),
}
_BAR = "│ "


def show_evidence(console: Console, question: str, answer: EvidenceAnswer, sources: Sequence[SourceEntry]) -> None:
    """Print quotes with their citations."""
    from graphctx.model.answers import LOW_CONFIDENCE

    console.print(f"Question: {question}\n", style="bold", soft_wrap=True)
    if not answer.quotes:
        show_empty(console, "No evidence found", answer.empty_reason or "no_match")
        if answer.nearest:
            console.print(
                f"Nearest, though not near, come: {one_line(', '.join(answer.nearest))}", style="dim", soft_wrap=True
            )
        return
    for number, quote in enumerate(answer.quotes, start=1):
        cut = " · shortened" if quote.truncated else ""
        show_span(console, number, quote, quote.quote, f"confidence {quote.confidence:.2f}{cut}", sources)
    if all(quote.confidence < LOW_CONFIDENCE for quote in answer.quotes):
        console.print("None of these fits the question well: the documents may not hold the answer.", style="yellow")
    if answer.limit_reason != "none":
        console.print(_cut(answer), style="dim", soft_wrap=True)


def _cut(answer: EvidenceAnswer) -> str:
    """What of an answer was not shown, and which option shows it."""
    if answer.limit_reason in ("page_size", "node_cap"):
        return f"More quotes fit the question than the {len(answer.quotes)} shown; --max-quotes shows up to 20."
    if answer.limit_reason == "passage_cap":
        return "The passages that were quoted from hold no more; --top-k quotes from more of them."
    if not answer.partial:
        return "Some quotes are shortened; --max-quote-tokens lets them be longer."
    return "More quotes fit the question than the response may hold; shorter ones (--max-quote-tokens) leave room."


def show_search(console: Console, query: str, answer: SearchAnswer, sources: Sequence[SourceEntry]) -> None:
    """Print previews with their citations."""
    console.print(f"Query: {query}\n", style="bold", soft_wrap=True)
    if not answer.results:
        show_empty(console, "No results", answer.empty_reason or "no_match")
        return
    for result in answer.results:
        show_span(console, result.rank, result, result.preview, f"score {result.score:.3f}", sources)
    if answer.limit_reason == "doc_cap":
        console.print("More of these documents fits the query; --max-per-doc shows more of each.", style="dim")
    elif answer.limit_reason != "none":
        console.print("More results fit the query than are shown; --top-k shows up to 50.", style="dim")


def show_span(
    console: Console,
    number: int,
    item: Quote | SearchResult | Point,
    text: str,
    note: str,
    sources: Sequence[SourceEntry],
) -> None:
    """Print a span of a document in a block, with the place where it stands."""
    from rich.text import Text

    where = f"{item.title} › {item.heading}" if item.heading else item.title
    console.print(Text(f"[{number}] ", style="bold cyan").append(one_line(where), style="bold"), soft_wrap=True)
    for line in span_lines(console, text):
        console.print(Text("    ").append(_BAR, style="cyan").append(line), soft_wrap=True)
    place = place_of(sources, item.doc_uri, item.line, text)
    shown, style = one_line(item.doc_uri), ""
    if place.path is not None:
        shown, style = shown_path(place.path), f"link {place.path.as_uri()}"
    if place.line is not None:
        shown += f":{place.line}"
    elif item.page is not None:
        note = f"page {item.page} · {note}"
    if "#" in item.doc_uri:
        note = f"{one_line(item.doc_uri.partition('#')[2])} · {note}"
    console.print(Text("    ").append(shown, style=style).append(f" · {note}", style="dim"), soft_wrap=True)
    console.print()


def span_lines(console: Console, text: str) -> list[str]:
    """The lines of a span; on a terminal, those that are too long are wrapped, and no other is touched."""
    lines = visible(text).split("\n")
    if not console.is_terminal:
        return lines
    width = max(40, min(console.width, 120) - 4 - len(_BAR))
    return [
        part
        for line in lines
        for part in (textwrap.wrap(line, width, break_on_hyphens=False) if len(line) > width else [line])
    ]


def show_empty(console: Console, what: str, reason: str) -> None:
    """Say why there is nothing, and what to do."""
    why, remedy = _EMPTY[reason]
    console.print(f"{what}: {why}.", style="yellow", soft_wrap=True)
    console.print(remedy, style="dim", soft_wrap=True)
