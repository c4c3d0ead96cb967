"""Commands that back up, correct, delete and mend the memory."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from graphctx.cli.console import counted, errors_console, print_json, print_text
from graphctx.cli.memory.shared import (
    AllProjectsOption,
    CommandMemory,
    MemoryOption,
    folder_of,
    in_memory,
    opened,
)
from graphctx.cli.options import DEFAULT_KB, JsonOption, KbOption, YesOption
from graphctx.errors import InvalidArgument
from graphctx.text.printable import one_line


def backup(
    target: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; it must not exist.")],
    memory: MemoryOption = None,
    kb: KbOption = DEFAULT_KB,
) -> None:
    """Copy the store to a file, consistently, while servers use it. A backup is a store: put it into a folder."""
    if target.exists():
        raise InvalidArgument(f"{target.name} exists already; name another file.", field="target")
    with opened(kb, memory) as found:
        found.store.database.backup(target)
    print_text(f"Backed up to {target} ({target.stat().st_size:,} bytes).")


@in_memory()
def forget(
    memory: CommandMemory,
    ids: Annotated[list[str], typer.Argument(metavar="ID", help="Items (m_…), or 4 characters after that of each.")],
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Delete items and their facts, from the disk too."""
    items = [memory.store.get(item_id, memory.scope) for item_id in dict.fromkeys(ids)]
    for item in () if yes or as_json else items:
        errors_console().print(f"{item.id} {one_line(item.text)}", markup=False, highlight=False)
    _confirm(f"{counted(len(items), 'items')}", yes, as_json)
    n_deleted = memory.store.forget([item.id for item in items], memory.scope)
    if as_json:
        print_json({"deleted": n_deleted, "ids": [item.id for item in items]})
    else:
        print_text(f"{counted(n_deleted, 'items')} deleted.")


@in_memory()
def correct(
    memory: CommandMemory,
    item_id: Annotated[str, typer.Argument(metavar="ID", help="The item (m_…), or the first 4 characters after that.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What it says from now on.")],
    as_json: JsonOption = False,
) -> None:
    """Replace the text of an item; the old one stays in its history, and its facts end."""
    old = memory.store.get(item_id, memory.scope)
    outcome = memory.store.correct(old.id, text, memory.scope, memory.now)
    if as_json:
        print_json({"corrected": old.id, "id": outcome.item.id, "degraded": outcome.degraded})
    else:
        print_text(f"{old.id} is corrected by {outcome.item.id}.")


@in_memory(session=None)
def wipe(
    memory: CommandMemory,
    yes: YesOption = False,
    all_projects: AllProjectsOption = False,
    as_json: JsonOption = False,
) -> None:
    """Delete everything that is remembered in a project, or in all, from the disk too."""
    what = "all projects" if all_projects else f"project {memory.scope.project!r}"
    _confirm(f"everything remembered in {what}", yes, as_json)
    n_deleted = memory.store.wipe(memory.scope, all_projects=all_projects)
    if as_json:
        print_json({"deleted": n_deleted})
    else:
        print_text(f"{n_deleted:,} items deleted.")


def _confirm(what: str, yes: bool, as_json: bool) -> None:
    """Ask before something is deleted, unless ``--yes`` says so; without a terminal it is refused."""
    if not yes:
        if as_json or not sys.stdin.isatty():
            raise InvalidArgument(f"This deletes {what}; confirm it with --yes.")
        typer.confirm(f"Delete {what} for good?", abort=True, err=True)


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
    with opened(kb, memory) as found:
        n_items = found.store.reindex()
    if as_json:
        print_json({"items": n_items})
    else:
        print_text(f"{n_items:,} items embedded.")
