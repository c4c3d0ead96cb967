"""``graphctx export``: what is published, for other programs and for people."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from graphctx.cli.options import DEFAULT_KB, JsonOption, KbOption, PathPrefixOption, TagOption
from graphctx.errors import InvalidArgument

if TYPE_CHECKING:
    from graphctx.export.report import ExportReport

_PLACES = {"graphml": "{}.graphml", "parquet": "{}-tables", "html": "{}.html"}
"""What an export is called by default, after the project."""

_OF_ONE_FORMAT = {"documents": "graphml", "max_entities": "html", "max_quotes": "html"}


def export(
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="graphml|parquet|html",
            help="graphml: the entity graph. parquet: all tables. html: one page with a map of the communities.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="PATH",
            help="The file to write, for parquet the folder; by default it is named after the project.",
        ),
    ] = None,
    kb: KbOption = DEFAULT_KB,
    tag: TagOption = [],  # noqa: B006 - typer copies the default
    path_prefix: PathPrefixOption = None,
    documents: Annotated[
        bool, typer.Option("--documents", help="graphml: documents are nodes too, with what they mention.")
    ] = False,
    max_entities: Annotated[
        int | None,
        typer.Option(
            "--max-entities", metavar="N", min=1, max=20_000, help="html: show at most N entities; 2,000 by default."
        ),
    ] = None,
    max_quotes: Annotated[
        int | None,
        typer.Option(
            "--max-quotes", metavar="N", min=0, max=20, help="html: at most N quotes of each entity; 3 by default."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what an export left there before.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Write what is published as GraphML, as Parquet tables, or as one page to look at.

    graphml and html hold what may be seen within the boundary of the settings; parquet holds every table whole, and is
    for the owner of the knowledge base. The JSON object has path, files with their checksums, counts and left_out.
    """
    from graphctx.cli.console import print_json
    from graphctx.cli.places import uri_prefix
    from graphctx.cli.progress import progress_view
    from graphctx.ingest.report import Progress
    from graphctx.knowledge_base import KnowledgeBase

    limits = {"documents": documents or None, "max_entities": max_entities, "max_quotes": max_quotes}
    given = {name: value for name, value in limits.items() if value is not None}
    _check(format_, given)
    began = time.monotonic()
    with KnowledgeBase.open(kb) as base, progress_view() as view:

        def told(step: str, done: int, total: int, unit: str) -> None:
            view(Progress(cast(Any, step), done, total, unit))  # shown like a step of an ingest

        report = base.export(
            out or Path(_PLACES[format_].format(_as_file_name(base.project_id))),
            cast(Any, format_),
            doc_tag=tag,
            path_prefix=uri_prefix(base, path_prefix),
            replace=force,
            on_progress=told,
            **given,
        )
    if as_json:
        print_json(report)
    else:
        _show(report, time.monotonic() - began)


def _check(format_: str, given: dict[str, Any]) -> None:
    if format_ not in _PLACES:
        raise InvalidArgument(
            f"--format is {format_!r}; use graphml, parquet or html.",
            field="format",
            value=format_,
            allowed=list(_PLACES),
        )
    for name in given:
        if _OF_ONE_FORMAT[name] != format_:
            option = f"--{name.replace('_', '-')}"
            raise InvalidArgument(
                f"{option} has a meaning for --format {_OF_ONE_FORMAT[name]} only. Leave it out.", field=name
            )


def _as_file_name(project_id: str) -> str:
    """The project as a file's name: without what separates folders or is hidden, and not too long."""
    return re.sub(r"[^\w.-]+", "-", project_id).strip(".-")[:80] or "graphctx"


def _show(report: ExportReport, seconds: float) -> None:
    from graphctx.cli.console import errors_console, named, output_console

    size = sum(file.bytes for file in report.files)
    counts = ", ".join(f"{count:,} {named(count, name)}" for name, count in report.counts.items())
    console = output_console()
    console.print(f"{report.path}  {_size(size)}, {seconds:.1f} s", style="bold", soft_wrap=True)
    console.print(counts, soft_wrap=True)
    for sentence in (*report.left_out, *report.notes):
        errors_console().print(sentence, style="yellow", soft_wrap=True)


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.1f} MB" if n_bytes >= 1e6 else f"{n_bytes / 1e3:,.0f} kB"
