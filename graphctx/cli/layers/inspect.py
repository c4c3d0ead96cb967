"""``graphctx layers inspect``: a layer's make-up, or one chunk with its history."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphctx.cli.layers.places import DirOption, FilesArgument, folder_of, stack_of
from graphctx.cli.options import JsonOption
from graphctx.errors import InvalidArgument
from graphctx.text.printable import one_line

if TYPE_CHECKING:
    from graphctx.layers import LayerStack, LayerView

_CONFLICTS = 20  # shown to a person; all are in the JSON object


def inspect(
    files: FilesArgument = [],  # noqa: B006
    id_: Annotated[
        int | None, typer.Option("--id", metavar="ID", help="Show this chunk, in each layer that has it.")
    ] = None,
    dir_: DirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how layers are made up and where they disagree, or a chunk whole, with its provenance and its revisions.

    The JSON object has layers and conflicts; with --id it has chunks and conflicts.
    """
    stack = stack_of(files, folder_of(dir_))
    if id_ is not None:
        _chunk(stack, id_, as_json=as_json)
    else:
        _layers(stack, as_json=as_json)


def _layers(stack: LayerStack, *, as_json: bool) -> None:
    from graphctx.cli.console import output_console, print_json
    from graphctx.cli.layers.shown import conflict_json, conflict_text, counted
    from graphctx.cli.places import shown_path

    views = stack.views()
    told = [_layer(view, stack.path(name)) for name, view in views.items()]
    conflicts = stack.conflicts()
    if as_json:
        print_json({"layers": told, "conflicts": [conflict_json(conflict) for conflict in conflicts]})
        return
    console = output_console()
    for layer in told:
        console.print(f"{layer['layer']}  {shown_path(Path(layer['path']))}", style="bold", soft_wrap=True)
        for name, value in _lines(layer):
            console.print(f"  {name:<10} {value}", soft_wrap=True)
    if conflicts:
        console.print(f"\n{counted(len(conflicts), 'conflict')}:", style="yellow")
        for conflict in conflicts[:_CONFLICTS]:
            console.print(f"  {conflict_text(conflict)}", soft_wrap=True)
        if len(conflicts) > _CONFLICTS:
            console.print(f"  and {len(conflicts) - _CONFLICTS:,} more (all of them with --json)")


def _layer(view: LayerView, path: Path) -> dict[str, Any]:
    from graphctx.cli.layers.listing import layer_json
    from graphctx.layers.format import SECTION_NAMES
    from graphctx.store.files import sha256_of

    file, newest = view.file, view.newest.nonzero()[0].tolist()
    sections = {SECTION_NAMES[kind]: section.end - section.start for kind, section in file.layout.sections.items()}
    kinds = Counter(file.kind(record) for record in newest)
    authors = Counter(file.string(int(file.layout.records["author_str_id"][record])) for record in newest)
    return {
        **layer_json(view),
        "path": str(path),
        "bytes": path.stat().st_size,
        "sha256": sha256_of(path),
        "version": f"1.{file.layout.minor}",
        "scale": file.scale,
        "sections": sections,
        "kinds": dict(sorted(kinds.items())),
        "authors": dict(sorted(authors.items())),
        "retracted": len(view.retractions),
        "profile": file.profile.as_json() if file.profile else None,
        "metadata": file.metadata,
        "signature": Path(f"{path}.sig").is_file(),
    }


def _lines(layer: dict[str, Any]) -> list[tuple[str, str]]:
    profile = layer["profile"]
    told = "none: chunks are compared by their words"
    if profile:
        parts = (profile["backend"], profile["model"], profile["revision"], f"norm {profile['output_norm']}")
        told = one_line(" ".join(part for part in parts if part))
    edited = layer["records"] - layer["chunks"]
    counts = f"{layer['chunks']:,}" + (f", {edited:,} older records" if edited else "")
    counts += f", {layer['retracted']:,} taken back" if layer["retracted"] else ""
    return [
        ("chunks", counts),
        ("kinds", ", ".join(f"{one_line(kind)} {count:,}" for kind, count in layer["kinds"].items()) or "none"),
        ("authors", ", ".join(f"{author} {count:,}" for author, count in layer["authors"].items()) or "none"),
        ("vectors", f"{layer['dim']} numbers of {layer['element_type']}"),
        ("profile", told),
        ("sections", ", ".join(f"{name} {size:,} B" for name, size in layer["sections"].items())),
        ("file", f"{layer['bytes']:,} B, format {layer['version']}, sha256 {layer['sha256'][:16]}…"),
        ("signature", "there; graphctx layers verify checks it" if layer["signature"] else "none"),
    ]


def _chunk(stack: LayerStack, chunk_id: int, *, as_json: bool) -> None:
    from graphctx.cli.console import output_console, print_json
    from graphctx.cli.layers.shown import (
        chunk_json,
        conflict_json,
        conflict_text,
        remarks,
        retractions_json,
        show_chunk,
    )

    entries = [entry for entry in stack.entries() if entry.chunk.id == chunk_id]
    if not entries:
        names = ", ".join(view.file.name for view in stack.views().values())
        raise InvalidArgument(
            f"There is no chunk {chunk_id} in {names}; graphctx layers list shows the ids.", field="id", value=chunk_id
        )
    views = stack.views()
    older = {
        e.layer: [views[e.layer].file.chunk(r) for r in _records(views[e.layer], chunk_id) if r != e.record]
        for e in entries
    }
    conflicts = list(dict.fromkeys(c for layer in older for c in stack.conflicts_of(layer, chunk_id)[0]))
    if as_json:
        told = [
            {
                "layer": e.layer,
                **chunk_json(e.chunk),
                "retracted_by": retractions_json(e.retracted_by),
                "older": [chunk_json(chunk) for chunk in older[e.layer]],
            }
            for e in entries
        ]
        print_json({"chunks": told, "conflicts": [conflict_json(conflict) for conflict in conflicts]})
        return
    console = output_console()
    for e in entries:
        show_chunk(console, e.layer, e.chunk, note=remarks(e.revisions, e.retracted_by))
        for chunk in reversed(older[e.layer]):
            show_chunk(console, e.layer, chunk, note="an older record, no longer in effect")
    for conflict in conflicts:
        console.print(conflict_text(conflict), style="yellow", soft_wrap=True)


def _records(view: LayerView, chunk_id: int) -> list[int]:
    found: list[int] = (view.file.ids == chunk_id).nonzero()[0].tolist()
    return found
