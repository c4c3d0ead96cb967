"""``graphctx eval``: golden questions to a knowledge base, and measures of the answers."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from graphctx.cli.console import errors_console, output_console, print_json, print_table, warn
from graphctx.cli.guard import EXIT_ERROR
from graphctx.cli.options import DEFAULT_KB, JsonOption, require_choice
from graphctx.cli.progress import ProgressView, progress_view
from graphctx.errors import InvalidArgument

if TYPE_CHECKING:
    from graphctx.eval.baseline import Regression
    from graphctx.eval.global_explain import Losses
    from graphctx.eval.run import Measured, Where
    from graphctx.eval.suites import Judge, Suite

DEFAULT_WORK = Path(".kb/eval")


def evaluate(
    suites: Annotated[
        list[Path],
        typer.Argument(metavar="SUITE", help="Golden files (JSONL), or folders with corpus.jsonl and questions.jsonl."),
    ] = [],
    kb: Annotated[
        Path | None,
        typer.Option(
            "--kb",
            metavar="DIR",
            help="Ask this knowledge base and ingest nothing. By default the suite's corpus is ingested; for a suite "
            "that names none, $GRAPHCTX_KB or ./.graphctx is asked.",
        ),
    ] = None,
    corpus: Annotated[
        Path | None, typer.Option("--corpus", metavar="PATH", help="The documents, instead of what the suite names.")
    ] = None,
    variants: Annotated[
        str,
        typer.Option(
            "--variants", metavar="A,B", help="Variants to compare: bm25, vector, rrf, hybrid, hybrid_local, …"
        ),
    ] = "hybrid_local",
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=0, help="Ask only the first N questions; 0 for all.")
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
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            metavar="FILE",
            help="Write a report as JSON, which `graphctx ui` shows if it is in the folder reports of the knowledge "
            "base, or in that of its --reports.",
        ),
    ] = None,
    explain: Annotated[
        str | None,
        typer.Option(
            "--explain",
            metavar="QUESTION",
            help="Measure nothing; show stage by stage how one question is answered. An id of the suite's, or any "
            "question; the first variant answers. For a points suite, give an id or `all` to see where gold points "
            "were lost.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Ask golden questions and measure what is found and quoted.

    Shares are in percent and are means over the questions that a measure applies to. Variants are compared with
    hybrid_local, or with the first where that is not among them.
    """
    from graphctx.eval.run import Where
    from graphctx.eval.suites import load_suite
    from graphctx.retrieve.variants import variant_named

    names = list(dict.fromkeys(name.strip() for name in variants.split(",") if name.strip()))
    for name in names:
        variant_named(name)
    if not names:
        raise InvalidArgument("--variants is empty; name at least one.", field="variants", value=variants)
    require_choice("--judge", judge, ("auto", "documents", "units"))
    files = {"--html": html, "--report": report, "--baseline": baseline, "--write-baseline": write_baseline}
    _check_options(kb, corpus, explain, files)
    loaded = [
        load_suite(path, corpus=corpus, judge=cast("Judge", judge), blank_titles=blank_titles, limit=limit)
        for path in suites
    ]
    where = Where(kb, Path(os.environ.get("GRAPHCTX_KB") or DEFAULT_KB), work)
    if explain is not None:
        _explain(explain, loaded, where, names[0], as_json=as_json)
        return
    _check_names(loaded)
    if baseline is not None:
        from graphctx.eval.baseline import read

        read(baseline)
    measured = _measured(loaded, names, where, ranking_only=ranking_only, with_misses=bool(html or report))
    regressions = _with_baselines(measured, baseline, write_baseline, partly=limit > 0)
    if html is not None:
        from graphctx.eval.report import write_html

        write_html(html, measured.runs, measured.comparisons, measured.misses, entities=measured.entities)
        errors_console().print(f"report written to {html}", style="dim")
    if report is not None:
        from graphctx.eval.saved_report import write_report

        write_report(report, measured)
        errors_console().print(f"report written to {report}", style="dim")
    if as_json:
        print_json(_as_json(measured, regressions))
    else:
        _show(measured, regressions, compared_with=baseline)
    if regressions:
        raise typer.Exit(EXIT_ERROR)


def _check_options(kb: Path | None, corpus: Path | None, explain: str | None, files: Mapping[str, Path | None]) -> None:
    """Raise InvalidArgument for options that exclude each other and for files that could not be written."""
    if kb is not None and corpus is not None:
        raise InvalidArgument("--kb asks an existing knowledge base, and --corpus makes one. Give only one of them.")
    given = [name for name, file in files.items() if file is not None]
    if explain is not None and given:
        raise InvalidArgument(f"--explain measures nothing, so {given[0]} has no effect with it. Leave one out.")
    for name in ("--html", "--write-baseline"):
        file = files[name]
        if file is not None and not file.expanduser().parent.is_dir():
            raise InvalidArgument(
                f"{name} {file}: there is no folder {file.parent}. Make it first.", field=name, value=str(file)
            )


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
    from graphctx.eval.run import Measured

    measured = Measured()
    for suite in suites:
        errors_console().print(suite.name, style="bold")
        for warning in suite.warnings:
            warn(f"warning: {suite.path.name}: {warning}")
        with progress_view() as view:

            def asked(variant: str, done: int, total: int, view: ProgressView = view) -> None:
                view.step(variant, done, total, "questions")

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


def _with_baselines(measured: Measured, baseline: Path | None, fresh: Path | None, *, partly: bool) -> list[Regression]:
    """Check against one baseline, then write another; a run that fell below a baseline does not replace it."""
    from graphctx.eval.baseline import check, not_asked, write

    if not measured.runs and (baseline or fresh):
        raise InvalidArgument("Baselines hold suites of questions; none was named.")
    regressions = check(baseline, measured.runs, partly=partly) if baseline else []
    if baseline and partly and (count := not_asked(baseline, measured.runs)):
        warn(f"--limit: {count:,} of the baseline's questions were not asked, and are not compared")
    same = fresh is not None and baseline is not None and fresh.resolve() == baseline.resolve()
    if same and (regressions or partly):
        warn(f"{fresh} is kept: a run that is worse, or of some questions only, replaces no baseline")
    elif fresh is not None:
        write(fresh, measured.runs)
        errors_console().print(f"baseline written to {fresh}", style="dim")
    return regressions


def _as_json(measured: Measured, regressions: list[Regression]) -> dict[str, Any]:
    from dataclasses import asdict

    from graphctx.eval.summary import SCHEMA, summary

    return {
        "schema": SCHEMA,
        "suites": [summary(run) for run in measured.runs],
        "entities": [run.as_dict() for run in measured.entities],
        "comparisons": [one.as_dict() for one in measured.comparisons],
        "regressions": [{**asdict(one), "message": str(one)} for one in regressions],
    }


def _show(measured: Measured, regressions: list[Regression], *, compared_with: Path | None) -> None:
    from graphctx.eval.show import (
        comparisons_table,
        comparisons_tables,
        entities_table,
        few,
        main_table,
        main_tables,
        notes,
        types_table,
        types_tables,
    )
    from graphctx.eval.summary import summary

    console = output_console()
    suites = [summary(run) for run in measured.runs]
    entities = ("Entities", entities_table(measured.entities))
    if console.is_terminal:
        main = main_tables(suites, console.width)
        tables = [*main, *types_tables(suites), *comparisons_tables(measured.comparisons), entities]
    else:
        compared = ("Compared, question by question", comparisons_table(measured.comparisons))
        tables = [("", main_table(suites)), ("By type of question", types_table(suites)), compared, entities]
    for number, (title, (heads, rows)) in enumerate(one for one in tables if one[1][1]):
        if title:
            console.print(f"\n{title}" if number else title, style="bold")
        print_table(heads, rows)
    if suites:
        console.print()
    for line in (*notes(suites), *(few(suites) if measured.comparisons else ())):
        console.print(line, style="dim")
    for one in regressions:
        errors_console().print(f"worse than {compared_with}: {one}", style="red")
    if compared_with and not regressions:
        console.print(f"No measure is significantly below {compared_with}.", style="green")


def _explain(question: str, suites: list[Suite], where: Where, variant: str, *, as_json: bool) -> None:
    from graphctx.eval.explain import explain
    from graphctx.eval.explain_text import show_explanation
    from graphctx.eval.global_explain import as_dict, explain_points
    from graphctx.eval.run import open_for
    from graphctx.eval.suites import Suite

    suite = suites[0] if suites else Suite("", where.default_kb, "questions")
    if suite.kind == "points":
        with (
            progress_view() as view,
            open_for(suite, kb=where.kb, default_kb=where.default_kb, work=where.work, on_progress=view) as kb,
        ):
            lost = explain_points(suite, kb, question)
        if as_json:
            print_json(as_dict(suite.name, lost))
        else:
            _show_points(lost)
        return
    known = {item.row.id: item.row.question for item in suite.rows}
    if question == "all" and question not in known:
        raise InvalidArgument(
            "--explain all follows the points of questions about the whole, and these questions have none. Name one by "
            "its id, or write --html FILE for what became of the gold of the worst.",
            field="explain",
            value=question,
        )
    if known and question not in known and " " not in question.strip():
        warn(f"{suite.name} has no question of the id {question!r}; it is taken as a question.")
    with (
        progress_view() as view,
        open_for(suite, kb=where.kb, default_kb=where.default_kb, work=where.work, on_progress=view) as kb,
    ):
        found = explain(kb, known.get(question, question), variant)
    if as_json:
        print_json(found.as_dict())
    else:
        show_explanation(output_console(), found)


def _show_points(explained: Sequence[Losses]) -> None:
    from graphctx.eval.global_explain import headline, points_table, totals_table

    console = output_console()
    for one in explained:
        title, *lines = headline(one)
        console.print(title, style="bold")
        for line in lines:
            console.print(line, style="dim")
        print_table(*points_table(one))
        console.print()
    console.print(f"Where {sum(len(one.points) for one in explained):,} points ended", style="bold")
    print_table(*totals_table(explained))
