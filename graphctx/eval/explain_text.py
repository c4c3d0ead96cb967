"""An explanation as a person reads it on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphctx.eval.explain import Edge, Explanation, SelectedQuote, UnitPlace

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_STAGES = {
    "bm25": "By words (BM25)",
    "vector": "By meaning (cosine of the unit)",
    "hybrid": "Hybrid score",
    "definition": "Units that define what the question names",
    "graph": "What the expansion adds",
}
_SHOWN = 5
"""Units shown of each stage; the JSON has more."""

_UNBOUNDED = 100_000
"""Wider than any row."""


def show_explanation(console: Console, explanation: Explanation) -> None:
    """Print the stages of one question in their order."""
    from rich.text import Text

    console.print(Text(f"Question: {explanation.question}", style="bold"), soft_wrap=True)
    head = f"variant {explanation.variant} · mode {explanation.mode or 'none'} · snapshot {explanation.snapshot_id}"
    console.print(Text(head, style="dim"), soft_wrap=True)
    if not explanation.mode:
        console.print(Text(f"Nothing was searched: {explanation.empty_reason}.", style="yellow"))
        return
    _heading(console, "The question")
    terms = ", ".join(f"{term} {weight:.1f}" for term, weight in explanation.terms.items())
    console.print(Text(f"terms (idf): {terms or 'none'}"), soft_wrap=True)
    entities = ", ".join(
        f"{one.name} ({one.units} units, defined in {one.definitions})" for one in explanation.entities
    )
    console.print(Text(f"names: {entities or 'none'}"), soft_wrap=True)
    console.print(Text(f"asks for: {explanation.kind or 'nothing special'}"), soft_wrap=True)
    for name, units in explanation.stages.items():
        if units:
            _heading(console, _STAGES.get(name, name))
            table = _table("#", "score", "unit")
            for one in units[:_SHOWN]:
                table.add_row(str(one.rank), f"{one.score:.3f}", _place(one.unit))
            _print(console, table)
    _show_expansion(console, explanation)
    _show_final(console, explanation)
    _heading(console, "Quotes")
    for number, quote in enumerate(explanation.quotes, start=1):
        _show_quote(console, number, quote)
    if not explanation.quotes:
        console.print(Text(f"none: {explanation.empty_reason}", style="yellow"))


def _show_expansion(console: Console, explanation: Explanation) -> None:
    if not explanation.edges_followed:
        return
    from rich.text import Text

    _heading(console, "The expansion")
    for place in explanation.seeds:
        console.print(Text("seed  ", style="cyan").append(_place(place)), soft_wrap=True)
    followed = ", ".join(f"{count} {kind}" for kind, count in explanation.edges_followed.items())
    console.print(
        Text(
            f"edges followed: {followed}. The best of each kind to each of the best units, before weights:", style="dim"
        )
    )
    target = 0
    for edge in sorted(explanation.edges, key=lambda edge: (edge.target_rank, -edge.value, edge.kind)):
        if edge.target_rank != target:
            target = edge.target_rank
            console.print(Text(f"#{target} ", style="bold cyan").append(_place(edge.target)), soft_wrap=True)
        _show_edge(console, edge)


def _show_edge(console: Console, edge: Edge) -> None:
    from rich.text import Text

    line = Text(f"    {edge.value:.3f} {edge.kind:8}", style="cyan")
    console.print(line.append(f"{edge.entity} ← ", style="bold").append(_place(edge.source)), soft_wrap=True)
    if edge.sentence:
        console.print(Text(f"      “{' '.join(edge.sentence.split())}”", style="dim"), soft_wrap=True)


def _show_final(console: Console, explanation: Explanation) -> None:
    _heading(console, "The ranking")
    names = list(explanation.final[0].parts) if explanation.final else []
    table = _table("#", "score", *names, "unit", "by")
    for one in explanation.final:
        parts = (f"{one.parts[name]:.3f}" for name in names)
        table.add_row(str(one.rank), f"{one.score:.3f}", *parts, _place(one.unit), one.source)
    _print(console, table)


def _show_quote(console: Console, number: int, quote: SelectedQuote) -> None:
    from rich.text import Text

    place = f"{quote.doc_uri}:{quote.line} [{quote.start_char}, {quote.end_char})"
    console.print(
        Text(f"[{number}] ", style="bold cyan").append(f"{place} · confidence {quote.confidence:.2f}"), soft_wrap=True
    )
    for sentence in quote.sentences:
        console.print(Text(f"    “{' '.join(sentence.text.split())}”"), soft_wrap=True)
        features = " · ".join(f"{name} {value:.2f}" for name, value in sentence.features.items() if value)
        console.print(Text(f"      {features}", style="dim"), soft_wrap=True)


def _print(console: Console, table: Table) -> None:
    """Folded at the width of a terminal; elsewhere a row is a line, however long."""
    if console.is_terminal:
        console.print(table)
        return
    from rich.console import Console as Wide
    from rich.text import Text

    wide = Wide(file=console.file, width=_UNBOUNDED, markup=False, emoji=False, highlight=False)
    with wide.capture() as capture:
        wide.print(table)
    console.print(Text("\n".join(line.rstrip() for line in capture.get().splitlines())), soft_wrap=True)


def _heading(console: Console, text: str) -> None:
    from rich.text import Text

    console.print()
    console.print(Text(text, style="bold underline"))


def _place(place: UnitPlace) -> str:
    return f"{place.doc_uri}:{place.line} {place.heading}"


def _table(*columns: str) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in columns:
        text = name in ("unit", "by")
        table.add_column(name, justify="left" if text else "right", no_wrap=not text, overflow="fold")
    return table
