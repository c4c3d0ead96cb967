"""``graphctx status``: what a knowledge base holds, and whether it is sound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from graphctx.cli.options import DEFAULT_KB, JsonOption, KbOption

if TYPE_CHECKING:
    from rich.console import Console

    from graphctx.store.status import Status


def status(kb: KbOption = DEFAULT_KB, as_json: JsonOption = False) -> None:
    """Show project, snapshot, counts, sizes and sources, and verify the published snapshot.

    Exits with 1 if verification finds the published snapshot damaged.
    """
    from graphctx.cli.console import output_console, print_json
    from graphctx.knowledge_base import KnowledgeBase

    with KnowledgeBase.open(kb) as base:
        found = base.status()
    if as_json:
        print_json(found)
    else:
        _show(output_console(), found)
    if found.fault:
        raise typer.Exit(1)


def _show(console: Console, found: Status) -> None:
    from rich.text import Text

    from graphctx.cli.console import named

    rows = {
        "project": found.project_id,
        "snapshot": found.snapshot_id or "none yet: graphctx ingest FOLDER makes one",
        "created": found.created_at or "",
        "counts": ", ".join(f"{count:,} {named(count, name)}" for name, count in found.counts.items()),
        "themes": "; ".join(
            f"level {one.level}: {one.communities:,} {named(one.communities, 'communities')} of at most "
            f"{one.largest:,} entities, modularity {one.modularity:.3f}"
            for one in found.community_levels
        ),
        "on disk": ", ".join(f"{size / 1e6:,.1f} MB {part}" for part, size in found.bytes_by_part.items()),
        "engine": found.engine,
        "embedder": found.embedder,
        "sources": ", ".join(f"{source.path} ({source.name})" for source in found.sources),
        "verified": "sizes and hashes of all files fit" if found.verified else found.fault or "",
        "note": " ".join(found.notes),
    }
    for name, value in rows.items():
        if value:
            line = Text(f"{name:<10}", style="dim").append(value, style="red" if value == found.fault else "default")
            console.print(line, soft_wrap=True)
