"""``graphctx eval``: golden questions asked of a knowledge base, and what came back measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from graphctx.cli.options import DEFAULT_KB, JsonOption
from graphctx.errors import InvalidArgument

if TYPE_CHECKING:
    from graphctx.eval.records import SuiteRun
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
    as_json: JsonOption = False,
) -> None:
    """Ask golden questions and measure what is found and quoted.

    Shares are in percent and are means over the questions that a measure applies to. docs/evaluation.md defines
    every measure, the form of suites, and the JSON object.
    """
    from graphctx.cli.console import output_console, print_json, print_table
    from graphctx.eval.show import main_table, notes, types_table
    from graphctx.eval.summary import SCHEMA, summary
    from graphctx.retrieve.recipe import recipe_of

    if not suites:
        raise InvalidArgument("Name a suite: a golden file, or a folder with corpus.jsonl and questions.jsonl.")
    names = list(dict.fromkeys(name.strip() for name in variants.split(",") if name.strip()))
    for name in names:
        recipe_of(name)
    loaded = _loaded(suites, corpus, judge, blank_titles, limit)
    runs = [_run(suite, names, kb, work) for suite in loaded]
    found: dict[str, Any] = {"schema": SCHEMA, "suites": [summary(run) for run in runs]}
    if as_json:
        print_json(found)
        return
    console = output_console()
    print_table(*main_table(found["suites"]))
    heads, rows = types_table(found["suites"])
    if rows:
        console.print("\nBy type of question", style="bold")
        print_table(heads, rows)
    console.print()
    for line in notes(found["suites"]):
        console.print(line, style="dim", soft_wrap=True)


def _loaded(suites: list[Path], corpus: Path | None, judge: str, blank_titles: bool, limit: int) -> list[Suite]:
    from graphctx.eval.suites import load_suite

    if judge not in ("auto", "documents", "units"):
        raise InvalidArgument(f"--judge is {judge!r}; use auto, documents or units.", field="judge", value=judge)
    loaded = [
        load_suite(path, corpus=corpus, judge=cast("Judge", judge), blank_titles=blank_titles, limit=limit)
        for path in suites
    ]
    names = [suite.name for suite in loaded]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InvalidArgument(
            f"Two suites are called {twice[0]!r}. Name each once; a suite's TOML file can give it another name.",
            value=twice[0],
        )
    return loaded


def _run(suite: Suite, variants: list[str], kb: Path | None, work: Path) -> SuiteRun:
    import os

    from graphctx.cli.console import errors_console
    from graphctx.cli.progress import progress_view
    from graphctx.eval.ask import run_suite
    from graphctx.eval.corpora import open_for
    from graphctx.ingest.report import Progress

    console = errors_console()
    console.print(f"{suite.name}", style="bold", soft_wrap=True)
    default = Path(os.environ.get("GRAPHCTX_KB") or DEFAULT_KB)
    with progress_view() as view, open_for(suite, kb=kb, default_kb=default, work=work, on_progress=view) as base:

        def asked(variant: str, done: int, total: int) -> None:
            view(Progress(cast(Any, variant), done, total, "questions"))  # a step of its own, as far as is shown

        return run_suite(suite, base, variants, on_asked=asked)
