"""``graphctx layers list``: what there is, a line for each chunk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphctx.cli.layers.places import DirOption, FilesArgument, folder_of, stack_of
from graphctx.cli.options import JsonOption
from graphctx.text.printable import one_line

if TYPE_CHECKING:
    from graphctx.layers import LayerEntry, LayerView

KindOption = Annotated[
    list[str], typer.Option("--kind", metavar="KIND", help="Only chunks of one of these kinds; may be repeated.")
]
LiveOption = Annotated[
    bool,
    typer.Option("--live", help="Leave out what was taken back, and chunks of tools: tombstones, options, proposals."),
]


def list_chunks(
    files: FilesArgument = [],  # noqa: B006
    kind: KindOption = [],  # noqa: B006
    live: LiveOption = False,
    dir_: DirOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the chunks of layers: of each id the newest record, by precedence of the layers and then by id.

    The JSON object has layers (layer, path, records, chunks, dim, element_type) and chunks.
    """
    from graphctx.cli.console import errors_console, output_console, print_json, print_table
    from graphctx.cli.layers.shown import chunk_json, counted, moment, remarks, retractions_json, title_of

    stack = stack_of(files, folder_of(dir_))
    views = stack.views()
    entries = [e for e in stack.entries(kinds=kind) if not live or _is_live(views[e.layer], e)]
    if as_json:
        told = [
            {
                "layer": e.layer,
                **chunk_json(e.chunk, content=False),
                "revisions": e.revisions,
                "retracted_by": retractions_json(e.retracted_by),
            }
            for e in entries
        ]
        layers = [layer_json(view) | {"path": str(stack.path(name))} for name, view in views.items()]
        print_json({"layers": layers, "chunks": told})
        return
    if not entries:
        output_console().print("No chunks." if not kind else f"No chunks of kind {', '.join(kind)}.", style="yellow")
        return
    print_table(
        ("layer", "id", "kind", "author", "confidence", "created", "sources", "", "content"),
        [
            (
                e.layer,
                str(e.chunk.id),
                one_line(e.chunk.kind),
                e.chunk.author,
                f"{e.chunk.confidence:.2f}",
                moment(e.chunk.created_at_unix_ms),
                str(len(e.chunk.sources)),
                remarks(e.revisions, e.retracted_by),
                title_of(e.chunk.content),
            )
            for e in entries
        ],
    )
    total = ", ".join(f"{name} {len(view.records):,}" for name, view in views.items())
    errors_console().print(f"{counted(len(entries), 'chunk')} shown; in all: {total}", style="dim", soft_wrap=True)


def layer_json(view: LayerView) -> dict[str, Any]:
    """A layer in figures."""
    return {
        "layer": view.name,
        "file": view.file.name,
        "records": len(view.file),
        "chunks": len(view.records),
        "dim": view.file.dim,
        "element_type": view.file.element_type,
    }


def _is_live(view: LayerView, entry: LayerEntry) -> bool:
    return not entry.retracted_by and not view.bookkeeping[entry.record]
