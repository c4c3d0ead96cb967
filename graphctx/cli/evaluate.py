"""``graphctx eval``: golden questions asked of a knowledge base, and what came back measured."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from graphctx.cli.guard import EXIT_ERROR
from graphctx.cli.options import DEFAULT_KB, JsonOption
from graphctx.errors import InvalidArgument

if TYPE_CHECKING:
    from graphctx.cli.progress import ProgressView
    from graphctx.eval.baseline import Regression
    from graphctx.eval.run import Measured, Where
    from graphctx.eval.suites import Judge, Suite

DEFAULT_WORK = Path(".kb/eval")


def evaluate(
    suites: Annotated[
        list[Path],
        typer.Argument(
            metavar="SUITE...", help="Golden files (JSONL), or folders with corpus.jsonl and questions.jsonl."
        ),
    ] = [],  # noqa: B006 - typer copies the default
    kb: Annotated[
        Path | None,
        typer.Option(
            "--kb",
            metavar="DIR",
            help="Ask this knowledge base and ingest nothing. By default the suite's corpus is ingested; for a suite "
            "that names none, $GRAPHCTX_KB or ./.graphctx is asked.",
            rich_help_panel="Common",
        ),
    ] = None,
    corpus: Annotated[
        Path | None, typer.Option("--corpus", metavar="PATH", help="The documents, instead of what the suite names.")
    ] = None,
    variants: Annotated[
        str,
        typer.Option(
            "--variants", metavar="A,B", help="Recipes to compare: bm25, vector, rrf, hybrid, hybrid_local, …"
        ),
    ] = "hybrid_local",
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=0, help="Ask only the first so many questions; 0 for all.")
    ] = 0,
    judge: Annotated[
        str,
        typer.Option(
            "--judge",
            metavar="auto|documents|units",
            help="What is ranked; auto takes units where documents are long and gold spans are given.",
        ),
    ] = "auto",
    blank_titles: Annotated[
        bool, typer.Option("--blank-titles", help="Take a JSONL corpus without its titles.")
    ] = False,
    work: Annotated[
        Path, typer.Option("--work", metavar="DIR", help="Where knowledge bases made for suites are kept.")
    ] = DEFAULT_WORK,
    ranking_only: Annotated[
        bool, typer.Option("--ranking-only", help="Search only, and ask for no quotes: faster.")
    ] = False,
    baseline: Annotated[
        Path | None,
        typer.Option("--baseline", metavar="FILE", help="Fail with exit code 1 if something is significantly worse."),
    ] = None,
    write_baseline: Annotated[
        Path | None, typer.Option("--write-baseline", metavar="FILE", help="Write what was measured as a baseline.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a report with plots and the worst questions.")
    ] = None,
    explain: Annotated[
        str | None,
        typer.Option(
            "--explain",
            metavar="QUESTION",
            help="Measure nothing; show stage by stage how one question is answered. An id of the suite's, or any "
            "question; the first variant answers.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Ask golden questions and measure what is found and quoted.

    Shares are in percent and are means over the questions that a measure applies to. docs/evaluation.md defines
    every measure, the form of suites, and the JSON object. Variants are compared with hybrid_local, or with the first
    where that is not among them.
    """
    from graphctx.cli.console import print_json
    from graphctx.eval.run import Where
    from graphctx.eval.suites import load_suite
    from graphctx.retrieve.recipe import recipe_of

    names = list(dict.fromkeys(name.strip() for name in variants.split(",") if name.strip()))
    for name in names:
        recipe_of(name)
    if not names:
        raise InvalidArgument("--variants names none.", field="variants", value=variants)
    if judge not in ("auto", "documents", "units"):
        raise InvalidArgument(f"--judge is {judge!r}; use auto, documents or units.", field="judge", value=judge)
    loaded = [
        load_suite(path, corpus=corpus, judge=cast("Judge", judge), blank_titles=blank_titles, limit=limit)
        for path in suites
    ]
    where = Where(kb, Path(os.environ.get("GRAPHCTX_KB") or DEFAULT_KB), work)
    if explain is not None:
        _explain(explain, loaded, where, names[0], as_json=as_json)
        return
    _check_names(loaded)
    measured = _measured(loaded, names, where, ranking_only=ranking_only, with_misses=html is not None)
    regressions = _with_baselines(measured, baseline, write_baseline)
    if html is not None:
        from graphctx.eval.report import write_html

        write_html(html, measured.runs, measured.comparisons, measured.misses)
    if as_json:
        print_json(_as_json(measured, regressions))
    else:
        _show(measured, regressions, compared_with=baseline)
    if regressions:
        raise typer.Exit(EXIT_ERROR)


def _check_names(suites: list[Suite]) -> None:
    if not suites:
        raise InvalidArgument("Name a suite: a golden file, or a folder with corpus.jsonl and questions.jsonl.")
    names = [suite.name for suite in suites]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InvalidArgument(
            f"Two suites are called {twice[0]!r}. Name each once; a suite's TOML file can give it another name.",
            value=twice[0],
        )


def _measured(
    suites: list[Suite], variants: list[str], where: Where, *, ranking_only: bool, with_misses: bool
) -> Measured:
    from graphctx.cli.console import errors_console
    from graphctx.cli.progress import progress_view
    from graphctx.eval.run import Measured
    from graphctx.ingest.report import Progress

    measured = Measured()
    for suite in suites:
        errors_console().print(suite.name, style="bold", soft_wrap=True)
        with progress_view() as view:

            def asked(variant: str, done: int, total: int, view: ProgressView = view) -> None:
                view(Progress(cast(Any, variant), done, total, "questions"))  # shown like a step of an ingest

            measured.add(
                suite,
                variants,
                where,
                ranking_only=variants if ranking_only else (),
                with_misses=with_misses,
                on_progress=view,
                on_asked=asked,
            )
    return measured


def _with_baselines(measured: Measured, baseline: Path | None, fresh: Path | None) -> list[Regression]:
    """Check against one baseline, then write another: both may be the same file."""
    from graphctx.eval.baseline import check, write

    if not measured.runs and (baseline or fresh):
        raise InvalidArgument("Baselines hold suites of questions; none was named.")
    regressions = check(baseline, measured.runs) if baseline else []
    if fresh is not None:
        write(fresh, measured.runs)
    return regressions


def _as_json(measured: Measured, regressions: list[Regression]) -> dict[str, Any]:
    from dataclasses import asdict

    from graphctx.eval.summary import SCHEMA, summary

    return {
        "schema": SCHEMA,
        "suites": [summary(run) for run in measured.runs],
        "entities": [run.as_dict() for run in measured.entities],
        "comparisons": [{**asdict(one), "sure": one.sure} for one in measured.comparisons],
        "regressions": [{**asdict(one), "message": str(one)} for one in regressions],
    }


def _show(measured: Measured, regressions: list[Regression], *, compared_with: Path | None) -> None:
    from graphctx.cli.console import errors_console, output_console, print_table
    from graphctx.eval.show import comparisons_table, entities_table, main_table, notes, types_table
    from graphctx.eval.summary import summary

    console = output_console()
    suites = [summary(run) for run in measured.runs]
    tables = {
        "": main_table(suites),
        "By type of question": types_table(suites),
        "Compared, question by question": comparisons_table(measured.comparisons),
        "Entities": entities_table(measured.entities),
    }
    filled = {title: table for title, table in tables.items() if table[1]}
    for number, (title, (heads, rows)) in enumerate(filled.items()):
        if title:
            console.print(f"\n{title}" if number else title, style="bold")
        print_table(heads, rows)
    if suites:
        console.print()
    for line in notes(suites):
        console.print(line, style="dim", soft_wrap=True)
    for one in regressions:
        errors_console().print(f"worse than {compared_with}: {one}", style="red", soft_wrap=True)
    if compared_with and not regressions:
        console.print(f"No measure is significantly below {compared_with}.", style="green", soft_wrap=True)


def _explain(question: str, suites: list[Suite], where: Where, variant: str, *, as_json: bool) -> None:
    from graphctx.cli.console import output_console, print_json
    from graphctx.cli.progress import progress_view
    from graphctx.eval.corpora import open_for
    from graphctx.eval.explain import explain
    from graphctx.eval.explain_text import show_explanation
    from graphctx.eval.suites import Suite

    suite = suites[0] if suites else Suite("", where.default_kb, "questions")
    known = {item.row.id: item.row.question for item in suite.rows}
    with (
        progress_view() as view,
        open_for(suite, kb=where.kb, default_kb=where.default_kb, work=where.work, on_progress=view) as kb,
    ):
        found = explain(kb, known.get(question, question), variant)
    if as_json:
        print_json(found.as_dict())
    else:
        show_explanation(output_console(), found)
