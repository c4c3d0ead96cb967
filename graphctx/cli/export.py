"""``graphctx export``: the published snapshot for other programs and for people."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from graphctx.cli.console import counted, output_console, print_json, warn
from graphctx.cli.options import DEFAULT_KB, JsonOption, KbOption, PathPrefixOption, TagOption, require_choice
from graphctx.cli.places import uri_prefix
from graphctx.cli.progress import progress_view
from graphctx.errors import InvalidArgument
from graphctx.export.options import DEFAULT_MAX_ENTITIES, DEFAULT_MAX_QUOTES, FORMATS, ExportReport

_NAMES = {"graphml": "{}.graphml", "parquet": "{}-tables", "html": "{}.html"}
"""Default names of exports, with the project's name."""

_FORMAT_OF = {"documents": "graphml", "max_entities": "html", "max_quotes": "html"}
"""The only format that an option has an effect on."""


def export(
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="graphml|parquet|html|redis",
            help="graphml: the entity graph. parquet: all tables. html: one page with a map of the communities. redis: "
            "concepts, sections and chunks as keys and vector sets of Redis 8.",
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
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="URL",
            help="redis: the database, redis://[user:password@]host:port/number. It holds one mirror.",
        ),
    ] = None,
    kb: KbOption = DEFAULT_KB,
    tag: TagOption = [],
    path_prefix: PathPrefixOption = None,
    documents: Annotated[
        bool, typer.Option("--documents", help="graphml: add documents as nodes, with what they mention.")
    ] = False,
    max_entities: Annotated[
        int | None,
        typer.Option(
            "--max-entities",
            metavar="N",
            min=1,
            max=20_000,
            help=f"html: show at most N entities; {DEFAULT_MAX_ENTITIES:,} by default.",
        ),
    ] = None,
    max_quotes: Annotated[
        int | None,
        typer.Option(
            "--max-quotes",
            metavar="N",
            min=0,
            max=20,
            help=f"html: at most N quotes of each entity; {DEFAULT_MAX_QUOTES} by default.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier export.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Write the published snapshot as GraphML, as Parquet tables, as one page to look at, or into Redis 8.

    graphml, html and redis hold what the boundary of the settings allows; parquet holds every table whole, and is for
    the owner of the knowledge base. The JSON object has path, files with their checksums, counts and left_out.
    """
    from graphctx.knowledge_base import KnowledgeBase

    options = {"documents": documents or None, "max_entities": max_entities, "max_quotes": max_quotes}
    limits: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    require_choice("--format", format_, FORMATS)
    for name in limits:
        if _FORMAT_OF[name] != format_:
            option = f"--{name.replace('_', '-')}"
            raise InvalidArgument(
                f"{option} has an effect with --format {_FORMAT_OF[name]} only. Leave it out.", field=name
            )
    for option, value, own in (("--to", to, format_ == "redis"), ("--out", out, format_ != "redis")):
        if value is not None and not own:
            raise InvalidArgument(f"{option} has no effect with --format {format_}. Leave it out.", field=option[2:])
    if format_ == "redis" and to is None:
        raise InvalidArgument("--format redis needs --to with the address of a Redis 8.", field="to")
    began = time.monotonic()
    with KnowledgeBase.open(kb) as base, progress_view() as view:
        report = base.export(
            to or out or Path(_NAMES[format_].format(_file_name(base.project_id))),
            cast(Any, format_),
            doc_tag=tag,
            path_prefix=uri_prefix(base, path_prefix),
            replace=force,
            on_progress=view.step,
            **limits,
        )
    if as_json:
        print_json(report)
    else:
        _show(report, time.monotonic() - began)


def _file_name(project_id: str) -> str:
    """Return the project as a visible file name of at most 80 characters without separators of folders."""
    return re.sub(r"[^\w.-]+", "-", project_id).strip(".-")[:80] or "graphctx"


def _show(report: ExportReport, seconds: float) -> None:
    size = sum(file.bytes for file in report.files)
    shown = f"{size / 1e6:,.1f} MB, " if size >= 1e6 else f"{size / 1e3:,.0f} kB, " if report.files else ""
    console = output_console()
    console.print(f"{report.path}  {shown}{seconds:.1f} s", style="bold")
    console.print(", ".join(counted(count, name) for name, count in report.counts.items()))
    for sentence in (*report.left_out, *report.notes):
        warn(sentence)
