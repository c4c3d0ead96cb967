"""The closing summary of an ingest, and what one would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphctx.cli.console import named
from graphctx.text.printable import one_line

if TYPE_CHECKING:
    from rich.console import Console

    from graphctx.ingest.report import IngestPlan, IngestReport, PhrasingReport

_SHOWN = 20
"""Skipped files that are listed by name; all of them are in the JSON report."""


def show_report(console: Console, report: IngestReport) -> None:
    """Print what an ingest did and what there is now."""
    from rich.table import Table

    outcome = "published" if report.changed else "nothing to do: the published snapshot stands"
    console.print(f"{report.project_id} · snapshot {report.snapshot_id} · {outcome}", style="bold", soft_wrap=True)
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(justify="right")
    table.add_column()
    changes = {
        "added": report.added,
        "replaced": report.replaced,
        "removed": report.removed,
        "unchanged": report.unchanged,
    }
    note = ", ".join(f"{count:,} {name}" for name, count in changes.items() if count)
    documents = named(report.documents, "documents")
    table.add_row(f"{report.documents:,}", f"{documents} ({note})" if note else documents)
    for name in ("words", "sections", "units", "sentences", "entities", "mentions", "facts", "edges", "communities"):
        table.add_row(f"{getattr(report, name):,}", named(getattr(report, name), name))
    console.print(table)
    steps = ", ".join(f"{step} {seconds:.1f}" for step, seconds in report.seconds.items())
    console.print(f"{report.total_seconds:.1f} s in all: {steps}", soft_wrap=True)
    if report.phrasing is not None:
        console.print(_phrasing(report.phrasing), soft_wrap=True)
    show_list(console, "Skipped", [f"{item.uri}: {item.reason}" for item in report.skipped])
    show_list(console, "Notes", report.notes)
    show_list(console, "No longer found (kept; --prune drops them)", report.no_longer_found)


def show_plan(console: Console, plan: IngestPlan) -> None:
    """Print what an ingest would do."""
    stands = f"snapshot {plan.snapshot_id} stays" if plan.snapshot_id else "nothing is published yet"
    outcome = "would publish" if plan.builds else "nothing to do"
    console.print(f"{plan.project_id} · dry run: {outcome} · {stands}", style="bold", soft_wrap=True)
    documents = named(plan.documents, "documents")
    console.print(f"{plan.documents:,} {documents} afterwards, {plan.unchanged:,} of them read and unchanged")
    show_list(console, "Would be added", plan.added)
    show_list(console, "Would be replaced", plan.replaced)
    show_list(console, "Would be dropped", plan.removed)
    if plan.phrasing is not None:
        console.print(plan.phrasing.sentence, soft_wrap=True)
    show_list(console, "Skipped", [f"{item.uri}: {item.reason}" for item in plan.skipped])
    show_list(console, "Notes", plan.notes)
    show_list(console, "No longer found (kept; --prune drops them)", plan.no_longer_found)


def _phrasing(done: PhrasingReport) -> str:
    price = f", {done.cost:.4f} at the prices set" if done.cost else ""
    return (
        f"{done.model} phrased {done.answered:,} of {done.asked:,} summaries, {done.from_memo:,} more were kept from "
        f"before: {done.input_tokens:,} tokens in, {done.output_tokens:,} out{price}"
    )


def show_list(console: Console, what: str, lines: list[str]) -> None:
    """Print a list below its name and length, a line each; nothing if it is empty."""
    if not lines:
        return
    console.print(f"{what}, {len(lines):,}:", style="yellow", soft_wrap=True)
    for line in lines[:_SHOWN]:
        console.print(f"  {one_line(line)}", soft_wrap=True)
    if len(lines) > _SHOWN:
        console.print(f"  and {len(lines) - _SHOWN:,} more (all of them with --json)", soft_wrap=True)
