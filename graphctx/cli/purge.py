"""``graphctx purge``: leave no byte of what is not published any more."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from graphctx.cli.options import DEFAULT_KB, JsonOption, KbOption
from graphctx.errors import InvalidArgument

if TYPE_CHECKING:
    from graphctx.store.history import PurgeReport


def purge(
    kb: KbOption = DEFAULT_KB,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be erased.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Erase what the published snapshot does not hold: older snapshots, their memoised results, damaged copies.

    After `graphctx ingest --prune`, nothing of the dropped documents is left in the knowledge base's folder. There is
    no way back: `snapshots rollback` has nothing to go back to. Exits with 1 if something could not be erased.
    """
    from graphctx.cli.console import print_json
    from graphctx.store.config import read_config
    from graphctx.store.history import purge as erase

    read_config(kb)
    if not (dry_run or yes):
        if as_json or not sys.stdin.isatty():
            raise InvalidArgument("A purge cannot be undone. Add --yes to do it, or --dry-run to see what would go.")
        _show(erase(kb, dry_run=True))
        typer.confirm("Erase this for good?", abort=True)
    report = erase(kb, dry_run=dry_run)
    if as_json:
        print_json(report)
    else:
        _show(report)
    if report.kept_back:
        raise typer.Exit(1)


def _show(report: PurgeReport) -> None:
    from graphctx.cli.console import output_console

    console = output_console()
    verb = "Would erase" if report.dry_run else "Erased"
    rows = ", ".join(f"{count:,} of {kind}" for kind, count in report.memo_rows.items() if count)
    parts = {"older snapshots": ", ".join(report.snapshots), "leftovers": ", ".join(report.files), "memoised": rows}
    for name, what in parts.items():
        console.print(f"{verb} {name}: {what or 'none'}", soft_wrap=True)
    freed = f"{report.freed_bytes / 1e6:,.1f} MB"
    console.print(f"At least {freed} would be freed." if report.dry_run else f"{freed} freed.")
    for item in report.kept_back:
        console.print(f"Not erased: {item.name}: {item.reason}", style="red", soft_wrap=True)
    console.print(f"No purge reaches {'; '.join(report.out_of_reach)}.", style="dim", soft_wrap=True)
