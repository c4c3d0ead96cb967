"""Commands that back up, delete and mend the memory."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from graphctx.cli.console import print_json, print_text
from graphctx.cli.memory.shared import (
    AllProjectsOption,
    MemoryOption,
    PrincipalOption,
    ProjectOption,
    folder_of,
    opened,
)
from graphctx.cli.options import DEFAULT_KB, JsonOption, KbOption
from graphctx.errors import InvalidArgument


def backup(
    target: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; it must not exist.")],
    memory: MemoryOption = None,
    kb: KbOption = DEFAULT_KB,
) -> None:
    """Copy the store to a file, consistently, while servers use it. A backup is a store: put it into a folder."""
    if target.exists():
        raise InvalidArgument(f"{target.name} exists already; name another file.", field="target")
    with opened(kb, memory) as (store, _, _now):
        store.database.backup(target)
    print_text(f"Backed up to {target} ({target.stat().st_size:,} bytes).")


def wipe(
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    all_projects: AllProjectsOption = False,
    memory: MemoryOption = None,
    project: ProjectOption = None,
    principal: PrincipalOption = "",
    kb: KbOption = DEFAULT_KB,
    as_json: JsonOption = False,
) -> None:
    """Delete everything that is remembered in a project, or in all, from the disk too."""
    with opened(kb, memory, project, "", principal) as (store, scope, _):
        what = "all projects" if all_projects else f"project {scope.project!r}"
        if not yes:
            if as_json or not sys.stdin.isatty():
                raise InvalidArgument(f"This deletes everything remembered in {what}; confirm it with --yes.")
            typer.confirm(f"Delete everything remembered in {what} for good?", abort=True, err=True)
        n_deleted = store.wipe(scope, all_projects=all_projects)
    if as_json:
        print_json({"deleted": n_deleted})
    else:
        print_text(f"{n_deleted:,} items deleted.")


def repair(memory: MemoryOption = None, kb: KbOption = DEFAULT_KB, as_json: JsonOption = False) -> None:
    """Make a sound store of what can be read of a damaged one, whose file is kept. Stop the servers first."""
    from graphctx.memory import repair as repair_store

    report = repair_store(folder_of(kb, memory)[0])
    if as_json:
        print_json(asdict(report))
        return
    if not (report.items or report.facts):
        print_text("Nothing could be read; the store is empty now.")
    print_text(f"{report.items:,} items and {report.facts:,} facts saved; {report.lost:,} rows could not be read.")
    print_text(f"The former file is kept as {report.damaged_file}; delete it when nothing is missing.")


def reindex(memory: MemoryOption = None, kb: KbOption = DEFAULT_KB, as_json: JsonOption = False) -> None:
    """Embed items that have no vector, or all after another embedder was set."""
    with opened(kb, memory) as (store, _, _now):
        n_items = store.reindex()
    if as_json:
        print_json({"items": n_items})
    else:
        print_text(f"{n_items:,} items embedded.")
