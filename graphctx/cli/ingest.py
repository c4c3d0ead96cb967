"""``graphctx ingest``: documents in, a published snapshot out."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphctx.cli.mcp_config import program
from graphctx.cli.options import DEFAULT_KB, JsonOption
from graphctx.errors import InvalidArgument

if TYPE_CHECKING:
    from graphctx.cli.jobs import Job
    from graphctx.ingest.report import IngestPlan
    from graphctx.knowledge_base import KnowledgeBase


def ingest(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Files and folders to read.")] = [],  # noqa: B006
    kb: Annotated[
        Path | None,
        typer.Option(
            "--kb",
            envvar="GRAPHCTX_KB",
            metavar="DIR",
            help="The knowledge base's folder; made if there is none.",
            show_default=str(DEFAULT_KB),
        ),
    ] = None,
    pipeline: Annotated[
        Path | None, typer.Option("--pipeline", metavar="FILE", help="Run the job that this TOML file describes.")
    ] = None,
    prune: Annotated[bool, typer.Option("--prune", help="Drop documents whose file has gone.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Let --prune drop more than half of the documents.")] = False,
    processes: Annotated[
        int | None,
        typer.Option("--processes", metavar="N", min=1, help="Worker processes; by default one for each core."),
    ] = None,
    project_id: Annotated[
        str | None,
        typer.Option("--project-id", metavar="ID", help="The project; fixed when the knowledge base is made."),
    ] = None,
    graph_engine: Annotated[
        str | None,
        typer.Option("--graph-engine", metavar="kuzu|ladybug", help="The graph engine of a fresh knowledge base."),
    ] = None,
    engine: Annotated[
        str, typer.Option("--engine", metavar="local|dask", help="Where the work is done; dask is not available yet.")
    ] = "local",
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Only say what would be added, replaced and dropped. Where a language model is set, also what "
            "phrasing the summaries would cost: for this all steps before it are done, into the cache.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Read documents, index them and publish a snapshot.

    A later ingest into the same knowledge base adds and replaces documents; what has not changed is not worked on
    again. What was published before stays in use until the fresh snapshot is complete, and stays if the ingest
    fails or is stopped.
    """
    from graphctx.cli.console import errors_console, output_console, print_json
    from graphctx.cli.jobs import Job, read_job
    from graphctx.cli.progress import progress_view
    from graphctx.cli.summary import show_plan, show_report

    _check_engine(engine)
    if (pipeline is None) == (not paths):
        raise InvalidArgument("Give either paths or --pipeline FILE, and only one of them: graphctx ingest FOLDER.")
    job = read_job(pipeline) if pipeline else Job(paths=[str(path) for path in paths])
    if missing := [path for path in job.paths if not os.path.exists(path)]:  # noqa: PTH110 - `Path.exists` may raise
        raise InvalidArgument(f"There is no such file or folder: {', '.join(missing)}.", paths=missing)
    folder = kb or Path(job.kb or DEFAULT_KB)
    project = job.project_id if project_id is None else project_id
    made = not dry_run and not folder.expanduser().exists()
    try:
        if dry_run:
            plan = _plan(folder, job, project, graph_engine, prune=prune or job.prune, processes=processes)
            if as_json:
                print_json(plan)
            else:
                show_plan(output_console(), plan)
            return
        with _opened(folder, project, graph_engine, job.ingest) as base, progress_view() as view:
            report = base.ingest(
                job.paths,
                prune=prune or job.prune,
                prune_most=yes or job.prune_most,
                processes=processes,
                on_progress=view,
            )
    except KeyboardInterrupt:
        errors_console().print(_stopped(folder.expanduser()), style="yellow", soft_wrap=True)
        raise typer.Exit(130) from None
    except InvalidArgument:
        if made:
            _unmake(folder.expanduser())
        raise
    if not report.added + report.replaced + report.removed + report.unchanged:
        raise InvalidArgument(
            f"None of the {len(report.skipped)} files could be read, so nothing was ingested: "
            + "; ".join(f"{item.uri}: {item.reason}" for item in report.skipped[:5]),
            skipped=[item.model_dump() for item in report.skipped],
        )
    if as_json:
        print_json(report)
        return
    show_report(output_console(), report)
    where = "" if folder == DEFAULT_KB else f" --kb {shlex.quote(str(folder))}"
    command = "graphctx" if shutil.which("graphctx") else shlex.join(program())
    output_console().print(f'\nNext: {command} ask{where} "your question"', style="green", soft_wrap=True)


def _stopped(folder: Path) -> str:
    from graphctx.store.snapshot import current_or_none

    if current_or_none(folder):
        return "stopped; the published snapshot is untouched"
    return "stopped; nothing is published yet. What was done is kept, and the next run goes on from there"


def _unmake(folder: Path) -> None:
    """Take away a knowledge base that this command has made and put nothing into."""
    if {path.name for path in folder.glob("*")} <= {"kb.toml", "ingest.lock", "cache"}:
        shutil.rmtree(folder, ignore_errors=True)


def _check_engine(engine: str) -> None:
    if engine == "dask":
        raise InvalidArgument(
            "--engine dask is not available yet. Leave it out: the work is spread over the cores of this machine.",
            field="engine",
            value=engine,
            allowed=["local"],
        )
    if engine != "local":
        raise InvalidArgument(f"--engine is {engine!r}; use local.", field="engine", value=engine, allowed=["local"])


def _opened(
    folder: Path, project_id: str | None, graph_engine: str | None, settings: dict[str, object], *, create: bool = True
) -> KnowledgeBase:
    from graphctx.knowledge_base import KnowledgeBase
    from graphctx.model.arguments import parse_arguments
    from graphctx.settings import IngestSettings

    base = KnowledgeBase.open(folder, create=create, project_id=project_id, engine=graph_engine)
    group = parse_arguments(IngestSettings, {**base.settings.ingest.model_dump(), **settings})
    base.settings = base.settings.model_copy(update={"ingest": group})
    return base


def _plan(
    folder: Path, job: Job, project_id: str | None, graph_engine: str | None, *, prune: bool, processes: int | None
) -> IngestPlan:
    """The plan for a knowledge base; one that is not there is planned for in a place that is gone afterwards."""
    from tempfile import TemporaryDirectory

    from graphctx.cli.progress import progress_view
    from graphctx.store.config import has_snapshots

    place = folder.expanduser().resolve()
    with TemporaryDirectory(prefix="graphctx-") as temporary:
        # Under the same names, so that a fresh one gets the project that it will get.
        stand_in = Path(temporary) / (place.parent.name or "root") / place.name
        there = (place / "kb.toml").exists() or has_snapshots(place)
        with (
            _opened(place if there else stand_in, project_id, graph_engine, job.ingest, create=not there) as base,
            progress_view() as view,
        ):
            return base.plan_ingest(job.paths, prune=prune, processes=processes, on_progress=view)
