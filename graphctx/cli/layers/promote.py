"""``graphctx layers promote``: chunks into the user layer, with a person's approval."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from graphctx.cli.layers.approval import approved
from graphctx.cli.layers.places import DirOption, YesOption, folder_of, stack_in
from graphctx.cli.options import JsonOption
from graphctx.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphctx.layers import Chunk, LayerName, LayerStack, Promoted


def promote(
    ids: Annotated[list[str], typer.Argument(metavar="ID", help="Chunks, as list shows them.")],
    origin: Annotated[
        str, typer.Option("--from", metavar="delta|local", help="The layer that the chunks are in.")
    ] = "delta",
    revise: Annotated[
        bool,
        typer.Option(
            "--revise", help="Where the user layer has an id, make the chunk a revision there; else it gets a free id."
        ),
    ] = False,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Kept with the decision.")] = "",
    yes: YesOption = False,
    dir_: DirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Copy chunks into the user layer. What is promoted is shown first, and a person or CI (--yes) approves it.

    The origin stays as it is. A pending proposal of a chunk is recorded as accepted. The JSON object has promoted (id,
    user_id, already) and accepted, the proposals.
    """
    from graphctx.cli.console import output_console, print_json
    from graphctx.layers import decide, proposals
    from graphctx.layers import promote as promoted_by

    stack = stack_in(folder_of(dir_))
    wanted = numbers_of(ids)
    layer = _origin(origin)
    chunks = show_chunks(stack, layer, wanted)
    approver = approved(
        f"Promote {_count(len(chunks))} from {layer} to user?",
        yes=yes,
        command=f"graphctx layers promote {' '.join(map(str, wanted))}",
    )
    if approver is None:
        told_refused(as_json=as_json)
        return
    require_unchanged(stack, layer, chunks)
    done = promoted_by(stack, wanted, approved_by=approver, origin=layer, revise=revise)
    pending = [p.id for p in proposals(stack, "pending") if layer == "delta" and p.context_id in set(wanted)]
    for proposal_id in pending:
        decide(stack, proposal_id, "accept", approved_by=approver, reason=reason)
    if as_json:
        print_json({"promoted": [asdict(item) for item in done], "accepted": pending})
        return
    for item in done:
        output_console().print(promoted_text(item), soft_wrap=True)


def numbers_of(ids: Sequence[str]) -> list[int]:
    """Ids as they were typed: apart, or with commas between them.

    Raises:
        InvalidArgument: one is no number.
    """
    words = [word for text in ids for word in text.replace(",", " ").split()]
    for word in words:
        if not (word.isascii() and word.isdigit()):
            raise InvalidArgument(
                f"{word!r} is no chunk's id. Ids are numbers, as graphctx layers list shows them.",
                field="ids",
                value=word,
            )
    if not words:
        raise InvalidArgument("No id was given. graphctx layers list delta shows them.", field="ids")
    return list(dict.fromkeys(map(int, words)))


def show_chunks(stack: LayerStack, layer: LayerName, ids: Sequence[int]) -> dict[int, Chunk]:
    """Show chunks that are to be approved, and where other layers disagree with them, on standard error.

    Raises:
        InvalidArgument: the layer has none of such an id, or it is a tool's own.
    """
    from graphctx.cli.console import errors_console
    from graphctx.cli.layers.shown import conflict_text, remarks, show_for_approval
    from graphctx.layers.chunk import is_bookkeeping

    if stack.view(layer) is None:
        raise InvalidArgument(f"There is no {layer} layer here, {stack.path(layer)}.", field="from", value=layer)
    entries = {entry.chunk.id: entry for entry in stack.entries([layer])}
    for chunk_id in ids:
        if chunk_id not in entries:
            raise InvalidArgument(
                f"The {layer} layer has no chunk {chunk_id}; graphctx layers list {layer} shows the ids.",
                field="ids",
                value=chunk_id,
            )
        if is_bookkeeping(entries[chunk_id].chunk.kind):
            raise InvalidArgument(
                f"Chunk {chunk_id} is a {entries[chunk_id].chunk.kind}, which tools keep for themselves; it cannot be "
                "promoted.",
                field="ids",
                value=chunk_id,
            )
    console = errors_console()
    for chunk_id in ids:
        entry = entries[chunk_id]
        show_for_approval(console, layer, entry.chunk, remarks(entry.revisions, entry.retracted_by))
        for conflict in stack.conflicts_of(layer, chunk_id)[0]:
            console.print(f"    conflict: {conflict_text(conflict)}", style="yellow", soft_wrap=True)
    return {chunk_id: entries[chunk_id].chunk for chunk_id in ids}


def require_unchanged(stack: LayerStack, layer: LayerName, shown: dict[int, Chunk]) -> None:
    """Hold to what was shown: a chunk that was edited while somebody read it was not approved.

    Raises:
        InvalidArgument: one was edited meanwhile.
    """
    view = stack.view(layer)
    for chunk_id, chunk in shown.items():
        if view is None or view.file.chunk(view.file.record_of(chunk_id)) != chunk:
            raise InvalidArgument(
                f"Chunk {chunk_id} was changed while it was shown; nothing was promoted. Look at it again.",
                field="ids",
                value=chunk_id,
            )


def told_refused(*, as_json: bool) -> None:
    """Say that a person said no, and that nothing was done."""
    from graphctx.cli.console import output_console, print_json

    if as_json:
        print_json({"promoted": [], "accepted": [], "refused": True})
    else:
        output_console().print("Nothing was done.", style="yellow")
    raise typer.Exit(1)


def promoted_text(item: Promoted) -> str:
    """What became of a promoted chunk."""
    if item.already:
        return f"{item.id}: the user layer has it already, as {item.user_id}"
    renamed = "" if item.id == item.user_id else ", since its own id is another chunk's there"
    return f"{item.id}: in the user layer now, as {item.user_id}{renamed}"


def _origin(name: str) -> LayerName:
    from graphctx.layers import layer_named

    layer = layer_named(name)
    if layer not in ("delta", "local"):
        raise InvalidArgument(f"Chunks are promoted from delta or local, not from {layer}.", field="from", value=layer)
    return layer


def _count(number: int) -> str:
    return "this chunk" if number == 1 else f"these {number} chunks"
