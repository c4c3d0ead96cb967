"""``graphctx status``, ``remove`` and ``snapshots``: what a knowledge base holds, and removing and erasing from it."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphctx.cli.console import counted, output_console, print_json, print_list, print_table, warn
from graphctx.cli.guard import EXIT_ERROR, GuardedCommand, GuardedGroup
from graphctx.cli.options import DEFAULT_KB, DryRunOption, JsonOption, KbOption, TagOption, YesOption
from graphctx.errors import InvalidArgument

if TYPE_CHECKING:
    from graphctx.ingest.removal import RemovalReport
    from graphctx.store.history import PurgeReport
    from graphctx.store.status import Status

app = typer.Typer(cls=GuardedGroup, help="List snapshots, go back to one, or drop old ones.", no_args_is_help=True)


def status(kb: KbOption = DEFAULT_KB, as_json: JsonOption = False) -> None:
    """Show project, snapshot, counts, sizes and sources, and verify the published snapshot.

    Exits with 1 if the published snapshot is damaged.
    """
    from graphctx.knowledge_base import KnowledgeBase

    with KnowledgeBase.open(kb) as base:
        found = base.status()
    if as_json:
        print_json(found)
    else:
        _show_status(found)
    if found.fault:
        raise typer.Exit(EXIT_ERROR)


def _show_status(found: Status) -> None:
    from rich.text import Text

    rows = {
        "project": found.project_id,
        "snapshot": found.snapshot_id or "none yet: graphctx ingest FOLDER makes one",
        "created": found.created_at or "",
        "counts": ", ".join(counted(count, name) for name, count in found.counts.items()),
        "themes": "; ".join(
            f"level {one.level}: {counted(one.communities, 'communities')} of at most {one.largest:,} entities, "
            f"modularity {one.modularity:.3f}"
            for one in found.community_levels
        ),
        "on disk": ", ".join(f"{size / 1e6:,.1f} MB {part}" for part, size in found.bytes_by_part.items()),
        "engine": found.engine,
        "embedder": found.embedder,
        "sources": ", ".join(f"{source.path} ({source.name})" for source in found.sources),
        "verified": "sizes and hashes of all files are right" if found.verified else found.fault or "",
        "note": " ".join(found.notes),
    }
    console = output_console()
    for name, value in rows.items():
        if value:
            console.print(
                Text(f"{name:<10}", style="dim").append(value, style="red" if value == found.fault else "default")
            )


@app.command("list", cls=GuardedCommand)
def list_all(kb: KbOption = DEFAULT_KB, as_json: JsonOption = False) -> None:
    """List the snapshots, the newest first."""
    from graphctx.knowledge_base import KnowledgeBase
    from graphctx.store.config import read_config
    from graphctx.store.history import list_snapshots
    from graphctx.store.objects import origin_of
    from graphctx.store.snapshot import recovery_note

    if origin_of(kb):
        KnowledgeBase.open(kb).close()  # the first use of an address copies what is published there
    read_config(kb)
    found = list_snapshots(kb)
    if any(info.current for info in found) and (note := recovery_note(kb)):
        warn(note)
    if as_json:
        print_json({"snapshots": [asdict(info) for info in found]})
    elif not found:
        output_console().print("No snapshot yet. Make one: graphctx ingest FOLDER")
    else:
        print_table(
            ("", "snapshot", "created (UTC)", "documents", "MB", "engine", "problem"),
            [
                (
                    "→" if info.current else "",
                    info.id,
                    info.created_at[:16].replace("T", " "),
                    str(info.counts.get("documents", "")),
                    f"{info.size_bytes / 1e6:.1f}",
                    info.engine,
                    info.problem or "",
                )
                for info in found
            ],
        )


@app.command("rollback", cls=GuardedCommand)
def rollback(
    snapshot_id: Annotated[str, typer.Argument(metavar="SNAPSHOT", help="Its id, as the list shows it.")],
    kb: KbOption = DEFAULT_KB,
    as_json: JsonOption = False,
) -> None:
    """Verify an older snapshot and make it the published one."""
    from graphctx.store import history
    from graphctx.store.config import read_config
    from graphctx.store.lock import IngestLock

    read_config(kb)
    with IngestLock(kb):
        history.rollback(kb, snapshot_id)
    if as_json:
        print_json({"snapshot_id": snapshot_id})
    else:
        output_console().print(f"{snapshot_id} is the published snapshot now.")


@app.command("prune", cls=GuardedCommand)
def prune(
    keep: Annotated[
        int, typer.Option("--keep", metavar="N", help="How many to keep, the published one among them.")
    ] = 2,
    purge: Annotated[
        bool,
        typer.Option(
            "--purge", help="Erase everything that the published snapshot does not hold, the cached results among it."
        ),
    ] = False,
    kb: KbOption = DEFAULT_KB,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Delete all but the newest snapshots and the published one.

    With --purge, all older snapshots, their memoised results and damaged copies are erased: nothing of a removed
    document is left in the knowledge base's folder. This cannot be undone, so it needs an answer or --yes. Exits with 1
    if something could not be erased.
    """
    from graphctx.store import history
    from graphctx.store.config import read_config
    from graphctx.store.lock import IngestLock

    read_config(kb)
    if purge:
        _purge(kb, dry_run=dry_run, yes=yes, as_json=as_json)
        return
    with IngestLock(kb):
        dropped = history.prune(kb, keep, dry_run=dry_run)
    verb = "would be deleted" if dry_run else "deleted"
    if as_json:
        print_json({"deleted": dropped, "dry_run": dry_run})
    else:
        output_console().print(f"{len(dropped)} {verb}: {', '.join(dropped)}" if dropped else "Nothing to delete.")


def _purge(kb: Path, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    from graphctx.store.history import purge

    if not (dry_run or yes):
        _require_person("A purge cannot be undone", as_json)
        _show_purge(purge(kb, dry_run=True))
        typer.confirm("Erase this for good?", abort=True)
    report = purge(kb, dry_run=dry_run)
    if as_json:
        print_json(report)
    else:
        _show_purge(report)
    if report.kept_back:
        raise typer.Exit(EXIT_ERROR)


def remove(
    references: Annotated[
        list[str],
        typer.Argument(metavar="URI", help="URIs or ids of documents, their files, or folders."),
    ] = [],
    tag: TagOption = [],
    missing: Annotated[bool, typer.Option("--missing", help="Documents whose file is gone.")] = False,
    kb: KbOption = DEFAULT_KB,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Remove documents and publish a snapshot without them.

    They are gone from every answer, and stay out of later ingests (except with --missing): an ingest that names their
    file takes them in again. `graphctx snapshots prune --purge` then erases them from older snapshots and the cache.
    """
    from graphctx.cli.progress import progress_view
    from graphctx.knowledge_base import KnowledgeBase

    with KnowledgeBase.open(kb) as base:
        if not (dry_run or yes):
            plan = base.remove(references, tags=tag, missing=missing, dry_run=True)
            _require_person("Removing changes what is published", as_json)
            _show_removal(plan)
            if not plan.removed:
                return
            typer.confirm("Remove these documents?", abort=True)
        with progress_view() as view:
            report = base.remove(references, tags=tag, missing=missing, dry_run=dry_run, on_progress=view)
    if as_json:
        print_json(report)
    else:
        _show_removal(report)


def publish(
    to: Annotated[
        str,
        typer.Option("--to", metavar="URL", help="s3://BUCKET/FOLDER, gs://BUCKET/FOLDER or az://CONTAINER/FOLDER."),
    ],
    kb: KbOption = DEFAULT_KB,
    keep: Annotated[
        int, typer.Option("--keep", metavar="N", help="How many snapshots to keep there, this one among them.")
    ] = 2,
    force: Annotated[
        bool, typer.Option("--force", help="Send also the files that are there already; repairs damaged ones.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Publish the snapshot to an object store, from where any number of machines serve it.

    `graphctx serve --kb URL` and every other command that reads take the address for the folder. Servers pick up the
    next publish by themselves. Credentials, region and endpoint come from the environment, under the provider's own
    names (AWS_ACCESS_KEY_ID, …).
    """
    from graphctx.cli.progress import progress_view
    from graphctx.knowledge_base import KnowledgeBase

    with KnowledgeBase.open(kb) as base, progress_view() as view:
        done = base.publish(
            to, keep=keep, force=force, on_file=lambda sent, total: view.step("publish", sent, total, "files")
        )
    if as_json:
        print_json(done)
        return
    console = output_console()
    console.print(f"{done.snapshot_id} is published at {done.url}.", style="bold")
    sent = f"{counted(done.uploaded, 'files')} of {done.files:,} sent, {done.uploaded_bytes / 1e6:,.1f} MB"
    console.print(f"{sent}; {counted(len(done.removed), 'older snapshots')} deleted there.")


def _require_person(reason: str, as_json: bool) -> None:
    """Raise InvalidArgument if nobody can be asked."""
    if as_json or not sys.stdin.isatty():
        raise InvalidArgument(f"{reason}. Add --yes to do it, or --dry-run to see what would go.")


def _show_removal(report: RemovalReport) -> None:
    console = output_console()
    verb = "would be removed" if report.dry_run else "removed"
    count = counted(len(report.removed), "documents")
    console.print(f"{report.project_id} · {count} {verb}, {report.documents:,} left", style="bold")
    print_list(console, "Would be removed" if report.dry_run else "Removed", report.removed)
    print_list(console, "Their file is still there; later ingests leave it out unless they name it", report.kept_out)
    print_list(console, "Notes", report.notes)
    if report.removed and not report.dry_run:
        console.print("Older snapshots and the cache still hold them: graphctx snapshots prune --purge", style="dim")


def _show_purge(report: PurgeReport) -> None:
    console = output_console()
    verb = "Would erase" if report.dry_run else "Erased"
    rows = ", ".join(f"{count:,} of {kind}" for kind, count in report.memo_rows.items() if count)
    parts = {"older snapshots": ", ".join(report.snapshots), "leftovers": ", ".join(report.files), "memoised": rows}
    for name, what in parts.items():
        console.print(f"{verb} {name}: {what or 'none'}")
    freed = f"{report.freed_bytes / 1e6:,.1f} MB"
    console.print(f"At least {freed} would be freed." if report.dry_run else f"{freed} freed.")
    for item in report.kept_back:
        console.print(f"Not erased: {item.name}: {item.reason}", style="red")
    console.print(f"Not covered by a purge: {'; '.join(report.out_of_reach)}.", style="dim")
