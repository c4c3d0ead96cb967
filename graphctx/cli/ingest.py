"""``graphctx ingest``: documents in, a published snapshot out."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from graphctx.cli.console import counted, errors_console, output_console, print_json, print_list
from graphctx.cli.guard import EXIT_STOPPED
from graphctx.cli.options import DEFAULT_KB, JsonOption, NoIgnoreOption, require_choice
from graphctx.cli.progress import progress_view
from graphctx.cli.serve import program
from graphctx.errors import InvalidArgument

if TYPE_CHECKING:
    from graphctx.ingest.read.source import Source
    from graphctx.ingest.report import IngestPlan, IngestReport
    from graphctx.knowledge_base import IngestEngine, KnowledgeBase


def ingest(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH", help="Files, folders and addresses of web pages to read.")
    ] = [],
    kb: Annotated[
        Path | None,
        typer.Option(
            "--kb",
            envvar="GRAPHCTX_KB",
            metavar="DIR",
            help="The knowledge base's folder; created if it does not exist.",
            show_default=str(DEFAULT_KB),
        ),
    ] = None,
    pipeline: Annotated[
        Path | None, typer.Option("--pipeline", metavar="FILE", help="Run the job that this TOML file describes.")
    ] = None,
    prune: Annotated[bool, typer.Option("--prune", help="Drop documents whose file has gone.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Let --prune drop more than half of the documents.")] = False,
    include: Annotated[
        list[str],
        typer.Option(
            "--include", metavar="PATTERN", help="Of folders, only files that match, as in .gitignore; may be repeated."
        ),
    ] = [],
    exclude: Annotated[
        list[str],
        typer.Option("--exclude", metavar="PATTERN", help="Of folders, nothing that matches; may be repeated."),
    ] = [],
    no_ignore: NoIgnoreOption = False,
    processes: Annotated[
        int | None,
        typer.Option("--processes", metavar="N", min=1, help="Worker processes; by default one for each core."),
    ] = None,
    project_id: Annotated[
        str | None,
        typer.Option("--project-id", metavar="ID", help="The project; fixed when the knowledge base is created."),
    ] = None,
    graph_engine: Annotated[
        str | None,
        typer.Option("--graph-engine", metavar="kuzu|ladybug", help="The graph engine of a new knowledge base."),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            "--engine",
            metavar="local|dask",
            help="Where documents are read, split, extracted from and embedded: worker processes, or a Dask cluster.",
            show_default="local",
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler",
            metavar="ADDRESS",
            help="The scheduler of the Dask cluster, tcp://HOST:8786; without it, one is started on this machine.",
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Only show what would be added, replaced and dropped, and what it takes. Where a language model is "
            "set, also what phrasing would cost: this runs all earlier steps and caches their results.",
        ),
    ] = False,
    watch: Annotated[
        bool,
        typer.Option("--watch", help="Stay, and publish again after files have changed; SIGTERM ends it."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Read documents, index them and publish a snapshot.

    A later ingest into the same knowledge base adds and replaces documents; unchanged ones are not processed again.
    The published snapshot stays in use until the new one is complete, and stays if the ingest fails or is stopped.

    A dry run works on this machine alone.
    """
    from graphctx.cli.job import IngestJob, read_job
    from graphctx.cli.watch import missing_paths, watch_sources
    from graphctx.ingest.read.discover import IF_DELETED

    if (pipeline is None) == (not paths):
        raise InvalidArgument("Give either paths or --pipeline FILE, and only one of them: graphctx ingest FOLDER.")
    if watch and dry_run:
        raise InvalidArgument("Use either --watch or --dry-run: a dry run ends when it has shown its plan.")
    job = read_job(pipeline) if pipeline else None
    engine = engine or (job.engine if job else "local")
    scheduler = scheduler or (job.scheduler if job else None)
    require_choice("--engine", engine, ("local", "dask"))
    if scheduler is not None and engine != "dask":
        raise InvalidArgument("--scheduler is the address of a Dask cluster; add --engine dask.", field="scheduler")
    sources: list[str | Source] = [*job.all_sources] if job else [*paths]
    changed: dict[str, object] = {**(job.ingest if job else {})}
    changed |= {"ignore_files": False} if no_ignore else {}
    changed |= {name: value for name, value in (("include", include), ("exclude", exclude)) if value}
    job = job or IngestJob(paths=paths)
    folder = kb or Path(job.kb or DEFAULT_KB)
    if missing := missing_paths(sources):
        remedy = f" {IF_DELETED}" if (folder.expanduser() / "kb.toml").exists() else ""
        raise InvalidArgument(f"There is no such file or folder: {', '.join(missing)}.{remedy}", paths=missing)
    project = job.project_id if project_id is None else project_id
    prune = prune or job.prune
    created = not dry_run and not folder.expanduser().exists()
    try:
        if dry_run:
            plan = _plan(folder, sources, project, graph_engine, changed, prune=prune, processes=processes)
            if as_json:
                print_json(plan)
            else:
                _show_plan(plan)
            return
        with _opened(folder, project, graph_engine, changed) as base:

            def run() -> IngestReport:
                most = yes or job.prune_most
                with progress_view() as view:
                    report = base.ingest(
                        sources,
                        prune=prune,
                        prune_most=most,
                        processes=processes,
                        engine=cast("IngestEngine", engine),
                        scheduler=scheduler,
                        on_progress=view,
                    )
                if job.publish_to and report.snapshot_id:
                    base.publish(job.publish_to)
                return report

            if watch:
                watch_sources(sources, base.path, job.quiet_seconds, run, print_json if as_json else _show_report)
                return
            report = run()
    except KeyboardInterrupt:
        errors_console().print(_stopped(folder.expanduser()), style="yellow")
        raise typer.Exit(EXIT_STOPPED) from None
    except InvalidArgument:
        if created:
            _remove_empty(folder.expanduser())
        raise
    if not report.added + report.replaced + report.renamed + report.removed + report.unchanged:
        raise InvalidArgument(
            "No file could be read, so nothing was ingested: "
            + "; ".join(f"{item.uri}: {item.reason}" for item in report.skipped[:5]),
            skipped=[item.model_dump() for item in report.skipped],
        )
    if as_json:
        print_json(report)
        return
    _show_report(report)
    if not report.units:
        return
    option = "" if folder == DEFAULT_KB else f" --kb {shlex.quote(str(folder))}"
    command = "graphctx" if shutil.which("graphctx") else shlex.join(program())
    output_console().print(f'\nNext: {command} ask{option} "your question"', style="green")


def _stopped(folder: Path) -> str:
    from graphctx.store.snapshot import current_or_none

    if current_or_none(folder):
        return "stopped; the published snapshot is untouched"
    return "stopped; nothing is published yet. What was done is kept, and the next run goes on from there"


def _remove_empty(folder: Path) -> None:
    """Delete a knowledge base that this command created and that holds no documents."""
    if {path.name for path in folder.glob("*")} <= {"kb.toml", "ingest.lock", "cache"}:
        shutil.rmtree(folder, ignore_errors=True)


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
    folder: Path,
    sources: list[str | Source],
    project_id: str | None,
    graph_engine: str | None,
    settings: dict[str, object],
    *,
    prune: bool,
    processes: int | None,
) -> IngestPlan:
    """Plan an ingest; one into a knowledge base that does not exist is planned in a temporary folder."""
    from tempfile import TemporaryDirectory

    from graphctx.store.config import has_snapshots

    place = folder.expanduser().resolve()
    with TemporaryDirectory(prefix="graphctx-") as temporary:
        # The same folder names, from which a new knowledge base derives its project.
        stand_in = Path(temporary) / (place.parent.name or "root") / place.name
        exists = (place / "kb.toml").exists() or has_snapshots(place)
        with (
            _opened(place if exists else stand_in, project_id, graph_engine, settings, create=not exists) as base,
            progress_view() as view,
        ):
            return base.plan_ingest(sources, prune=prune, processes=processes, on_progress=view)


def _show_report(report: IngestReport) -> None:
    """Print what an ingest did and what the knowledge base holds."""
    from rich.table import Table

    console = output_console()
    outcome = "published" if report.changed else "nothing to do: the published snapshot is up to date"
    console.print(f"{report.project_id} · snapshot {report.snapshot_id} · {outcome}", style="bold")
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(justify="right")
    table.add_column()
    changes = ", ".join(
        f"{count:,} {name}"
        for name in ("added", "replaced", "renamed", "removed", "unchanged")
        if (count := getattr(report, name))
    )
    names = ("words", "sections", "units", "sentences", "entities", "mentions", "facts", "edges", "communities")
    for name in ("documents", *names):
        number, noun = counted(getattr(report, name), name).split(" ", 1)
        table.add_row(number, f"{noun} ({changes})" if name == "documents" and changes else noun)
    console.print(table)
    steps = ", ".join(f"{step} {seconds:.1f}" for step, seconds in report.seconds.items())
    console.print(f"{report.total_seconds:.1f} s in all: {steps}")
    if (done := report.phrasing) is not None:
        price = f", {done.cost:.4f} at the prices set" if done.cost else ""
        console.print(
            f"{done.model} phrased {done.answered:,} of {done.asked:,} summaries, {done.from_memo:,} more were kept "
            f"from before: {done.input_tokens:,} tokens in, {done.output_tokens:,} out{price}"
        )
    _show_remarks(report)


def _show_plan(plan: IngestPlan) -> None:
    """Print what an ingest would do."""
    console = output_console()
    published = f"snapshot {plan.snapshot_id} stays" if plan.snapshot_id else "nothing is published yet"
    outcome = "would publish" if plan.builds else "nothing to do"
    console.print(f"{plan.project_id} · dry run: {outcome} · {published}", style="bold")
    console.print(f"{counted(plan.documents, 'documents')} afterwards; {plan.unchanged:,} were read and are unchanged")
    print_list(console, "Would be added", plan.added)
    print_list(console, "Would be replaced", plan.replaced)
    print_list(console, "Would be renamed", [f"{old} → {new}" for new, old in plan.renamed.items()])
    print_list(console, "Would be dropped", plan.removed)
    if (expected := plan.estimate) is not None:
        console.print(
            f"About {_duration(expected.seconds)} for {expected.words:,} words, and {expected.disk_bytes / 1e6:,.0f} MB"
            f" on disk, from the speed at which {expected.measured_words:,} words were ingested here."
        )
    if plan.phrasing is not None:
        console.print(plan.phrasing.sentence)
    _show_remarks(plan)


def _duration(seconds: float) -> str:
    return f"{seconds / 60:,.0f} minutes" if seconds > 120 else f"{seconds:,.0f} s"


def _show_remarks(done: IngestReport | IngestPlan) -> None:
    console = output_console()
    print_list(console, "Skipped", [f"{item.uri}: {item.reason}" for item in done.skipped])
    print_list(console, "Notes", done.notes)
    print_list(console, "No longer found (kept; --prune drops them)", done.no_longer_found)
