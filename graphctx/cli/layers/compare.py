"""``graphctx layers diff``: what one layer says that another does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphctx.cli.layers.places import DirOption, file_of, folder_of
from graphctx.cli.options import JsonOption
from graphctx.text.printable import one_line, visible

if TYPE_CHECKING:
    from graphctx.layers import Change, Chunk, LayerDiff


def diff(
    old: Annotated[str, typer.Argument(metavar="OLD", help="A layer, or a file.")] = "base",
    new: Annotated[str, typer.Argument(metavar="NEW", help="A layer, or a file.")] = "delta",
    dir_: DirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare two layers, by default the delta layer with the base layer, by the newest record of each id.

    The JSON object has old, new, added, removed, changed (old, new, fields), moved (the same text under another id)
    and same.
    """
    from graphctx.cli.console import print_json
    from graphctx.cli.layers.shown import chunk_json
    from graphctx.cli.places import shown_path
    from graphctx.layers import LayerFile, LayerView
    from graphctx.layers import diff as compared

    folder = folder_of(dir_)
    one, two = file_of(old, folder), file_of(new, folder)
    with LayerFile.open(one) as first, LayerFile.open(two) as second:
        found = compared(LayerView("base", first), LayerView("base", second))
    if as_json:
        told: dict[str, Any] = {
            "old": str(one),
            "new": str(two),
            "added": [chunk_json(chunk) for chunk in found.added],
            "removed": [chunk_json(chunk) for chunk in found.removed],
            "changed": [
                {"old": chunk_json(c.old), "new": chunk_json(c.new), "fields": list(c.fields)} for c in found.changed
            ],
            "moved": [{"old_id": before, "new_id": after} for before, after in found.moved],
            "same": found.same,
        }
        print_json(told)
    else:
        _show(shown_path(one), shown_path(two), found)


def _show(one: str, two: str, found: LayerDiff) -> None:
    from graphctx.cli.console import output_console

    console = output_console()
    console.print(f"{one} → {two}", style="bold", soft_wrap=True)
    for sign, style, chunks in (("+", "green", found.added), ("-", "red", found.removed)):
        for chunk in chunks:
            console.print(f"{sign} {_line(chunk)}", style=style, soft_wrap=True)
    for change in found.changed:
        _show_change(change)
    for before, after in found.moved:
        console.print(f"= {before} is {after} there, with the same text", style="dim", soft_wrap=True)
    counts = {
        "added": len(found.added),
        "removed": len(found.removed),
        "changed": len(found.changed),
        "under another id": len(found.moved),
        "the same": found.same,
    }
    told = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    console.print(told or "Both are empty.", soft_wrap=True)


def _show_change(change: Change) -> None:
    from difflib import unified_diff

    from graphctx.cli.console import output_console
    from graphctx.cli.layers.shown import source_text

    console = output_console()
    console.print(f"~ {change.new.id} {', '.join(change.fields)}", style="yellow", soft_wrap=True)
    for field in change.fields:
        before, after = getattr(change.old, field), getattr(change.new, field)
        if field == "content":
            before, after = (visible(text).split("\n") for text in (before, after))
            for line in list(unified_diff(before, after, lineterm="", n=1))[2:]:
                console.print(f"    {line}", style={"+": "green", "-": "red"}.get(line[:1], "dim"), soft_wrap=True)
            continue
        if field == "sources":
            before, after = (", ".join(map(source_text, sources)) or "none" for sources in (before, after))
        console.print(f"    {field}: {one_line(str(before))} → {one_line(str(after))}", soft_wrap=True)


def _line(chunk: Chunk) -> str:
    from graphctx.cli.layers.shown import title_of

    said = f"{one_line(chunk.kind)} by {chunk.author}, confidence {chunk.confidence:.2f}"
    return f"{chunk.id} {said}: {title_of(chunk.content)}"
