"""``graphctx snapshots``: what was published, going back, and making room."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from graphctx.cli.guard import GuardedCommand, GuardedGroup
from graphctx.cli.options import DEFAULT_KB, JsonOption, KbOption

app = typer.Typer(cls=GuardedGroup, help="List snapshots, go back to one, or drop old ones.", no_args_is_help=True)


@app.command("list", cls=GuardedCommand)
def list_all(kb: KbOption = DEFAULT_KB, as_json: JsonOption = False) -> None:
    """List the snapshots, the newest first."""
    from graphctx.cli.console import errors_console, output_console, print_json, print_table
    from graphctx.store.history import list_snapshots
    from graphctx.store.snapshot import recovery_note

    _require(kb)
    found = list_snapshots(kb)
    if any(info.current for info in found) and (note := recovery_note(kb)):
        errors_console().print(note, style="yellow", soft_wrap=True)
    if as_json:
        print_json({"snapshots": [asdict(info) for info in found]})
        return
    if not found:
        output_console().print("No snapshot yet. Make one: graphctx ingest FOLDER")
        return
    print_table(
        ("", "snapshot", "created", "documents", "MB", "engine", "problem"),
        [
            (
                "→" if info.current else "",
                info.id,
                info.created_at,
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
    from graphctx.cli.console import output_console, print_json
    from graphctx.store import history
    from graphctx.store.lock import IngestLock

    _require(kb)
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
    kb: KbOption = DEFAULT_KB,
    as_json: JsonOption = False,
) -> None:
    """Delete all but the newest snapshots and the published one."""
    from graphctx.cli.console import output_console, print_json
    from graphctx.store import history
    from graphctx.store.lock import IngestLock

    _require(kb)
    with IngestLock(kb):
        dropped = history.prune(kb, keep)
    if as_json:
        print_json({"deleted": dropped})
    else:
        output_console().print(f"{len(dropped)} deleted: {', '.join(dropped)}" if dropped else "Nothing to delete.")


def _require(kb: Path) -> None:
    """Fail if this folder is no knowledge base, before anything is made in it."""
    from graphctx.store.config import read_config

    read_config(kb)
