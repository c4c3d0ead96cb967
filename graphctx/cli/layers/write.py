"""``graphctx layers write`` and ``tombstone``: what a person adds to a layer, and takes back."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphctx.cli.layers.places import DirOption, folder_of
from graphctx.cli.options import JsonOption
from graphctx.errors import InvalidArgument

if TYPE_CHECKING:
    from graphctx.layers import Chunk, Conflict, LayerName, LayerStack

WrittenLayerOption = Annotated[
    str, typer.Option("--layer", metavar="user|delta|local", help="The layer to write to; made if it is not there.")
]


def write(
    kind: Annotated[
        str, typer.Option("--kind", metavar="KIND", help="What sort of context it is, such as invariant or decision.")
    ],
    text: Annotated[
        str | None, typer.Option("--text", metavar="TEXT", help="What to write; standard input by default.")
    ] = None,
    sources: Annotated[
        list[str],
        typer.Option(
            "--source",
            metavar="FILE:LINE|ID",
            help="Where it comes from: a place such as docs/a.md:12, or a chunk's id; may be repeated.",
        ),
    ] = [],  # noqa: B006
    confidence: Annotated[
        float, typer.Option("--confidence", metavar="0..1", help="How sure you are that it is right.")
    ] = 1.0,
    edit: Annotated[
        int | None, typer.Option("--edit", metavar="ID", help="Write a revision of this chunk of the layer.")
    ] = None,
    layer: WrittenLayerOption = "user",
    dir_: DirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a chunk with the author human, and show which chunks contradict it.

    Nothing is changed or settled by a contradiction. The JSON object has layer, path, chunk, revised, conflicts and
    notes.
    """
    from graphctx.cli.console import output_console, print_json
    from graphctx.cli.layers.shown import chunk_json, show_chunk
    from graphctx.cli.places import shown_path
    from graphctx.layers import LayerStack, write_context

    stack = LayerStack(folder_of(dir_))
    done = write_context(
        stack,
        content=_content(text),
        kind=kind,
        confidence=confidence,
        scope=layer,
        sources=[int(source) if source.isascii() and source.isdigit() else source for source in sources],
        author="human",
        edit=_edited(edit),
    )
    path = stack.path(done.layer)
    conflicts, notes = _conflicts(stack, done.layer, done.chunk)
    if as_json:
        told: dict[str, Any] = {"layer": done.layer, "path": str(path), "chunk": chunk_json(done.chunk)}
        print_json(told | {"revised": done.revised} | _conflicts_json(conflicts, notes))
        return
    verb = "revised" if done.revised else "written"
    output_console().print(f"{verb} in {shown_path(path)}:", style="bold", soft_wrap=True)
    show_chunk(output_console(), done.layer, done.chunk)
    _show_conflicts(conflicts, notes)


def tombstone(
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Chunks to take back, as list shows them.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; kept as the tombstone's text.")],
    layer: WrittenLayerOption = "user",
    dir_: DirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take chunks back by a tombstone: chunks of the layer or, where it has no such id, of the layers after it.

    Chunks stay where they are; searches of what is in effect leave them out. The JSON object has layer, path, chunk
    (the tombstone) and taken_back.
    """
    from graphctx.cli.console import output_console, print_json
    from graphctx.cli.layers.promote import numbers_of
    from graphctx.cli.layers.shown import chunk_json, retractions_json
    from graphctx.cli.places import shown_path
    from graphctx.layers import LayerStack, take_back

    stack = LayerStack(folder_of(dir_))
    done = take_back(stack, numbers_of(ids), reason=reason, layer=layer)
    path = stack.path(done.layer)
    if as_json:
        told: dict[str, Any] = {"layer": done.layer, "path": str(path), "chunk": chunk_json(done.chunk)}
        print_json(told | {"taken_back": retractions_json(done.chunks)})
        return
    taken = ", ".join(f"{name} {number}" for name, number in done.chunks)
    output_console().print(f"{shown_path(path)}: tombstone {done.chunk.id} takes back {taken}", soft_wrap=True)


def _content(text: str | None) -> str:
    """The text to write.

    Raises:
        InvalidArgument: none was given, and standard input is a terminal or no UTF-8.
    """
    if text is not None:
        return text
    if sys.stdin.isatty():
        raise InvalidArgument("There is no text. Give --text, or the text on standard input.", field="text")
    try:
        return sys.stdin.buffer.read().decode("utf-8").rstrip("\n")
    except UnicodeDecodeError as error:
        raise InvalidArgument(
            f"Standard input is not UTF-8 at byte {error.start:,}; convert the text first.", field="text"
        ) from error


def _edited(chunk_id: int | None) -> int:
    if chunk_id is not None and chunk_id < 1:
        raise InvalidArgument(f"--edit is {chunk_id}; give a chunk's id, 1 or more.", field="edit", value=chunk_id)
    return chunk_id or 0


def _conflicts(stack: LayerStack, layer: LayerName, chunk: Chunk) -> tuple[tuple[Conflict, ...], tuple[str, ...]]:
    """What disagrees with a chunk that is on the disk already: what hinders the comparison is a note."""
    from graphctx.errors import GraphctxError

    try:
        return stack.conflicts_of(layer, chunk.id)
    except GraphctxError as error:
        return (), (f"Whether chunks disagree is not known: {error.message}",)


def _conflicts_json(conflicts: tuple[Conflict, ...], notes: tuple[str, ...]) -> dict[str, Any]:
    from graphctx.cli.layers.shown import conflict_json

    return {"conflicts": [conflict_json(conflict) for conflict in conflicts], "notes": list(notes)}


def _show_conflicts(conflicts: tuple[Conflict, ...], notes: tuple[str, ...]) -> None:
    from graphctx.cli.console import errors_console, output_console
    from graphctx.cli.layers.shown import conflict_text, title_of

    for conflict in conflicts:
        output_console().print(f"conflict: {conflict_text(conflict)}", style="yellow", soft_wrap=True)
        for member in conflict.members:
            output_console().print(f"  {member.layer} {member.id}: {title_of(member.claim or member.content)}")
    for note in notes:
        errors_console().print(note, style="dim", soft_wrap=True)
