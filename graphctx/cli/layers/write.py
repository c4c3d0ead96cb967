"""``graphctx layers write``, ``tombstone``, ``proposals``, ``promote`` and ``compact``: what changes layers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn, cast

import typer

from graphctx.cli.console import counted, errors_console, output_console, print_json, print_table, warn
from graphctx.cli.guard import EXIT_ERROR
from graphctx.cli.layers.shared import (
    DirOption,
    ScopeOption,
    YesOption,
    chunk_json,
    conflict_json,
    conflict_text,
    folder_of,
    moment,
    remarks,
    retractions_json,
    show_chunk,
    stack_in,
    title_of,
    warn_of_signature,
)
from graphctx.cli.options import JsonOption, require_choice
from graphctx.cli.places import shown_path
from graphctx.errors import GraphctxError, InvalidArgument
from graphctx.text.printable import one_line

if TYPE_CHECKING:
    from graphctx.layers import Chunk, Conflict, LayerName, LayerStack, Promoted, Proposal

_STATUSES = ("pending", "accepted", "rejected", "all")
_APPROVAL_LINES = 120
"""Lines that are printed of a content that is to be approved; inspect shows all."""


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
    ] = [],
    confidence: Annotated[
        float, typer.Option("--confidence", metavar="0..1", help="How sure you are that it is right.")
    ] = 1.0,
    edit: Annotated[
        int | None, typer.Option("--edit", metavar="ID", help="Write a revision of this chunk of the layer.")
    ] = None,
    layer: ScopeOption = "user",
    dir_: DirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a chunk with the author human, and show which chunks contradict it.

    A contradiction changes nothing. The JSON object has layer, path, chunk, revised, conflicts and notes.
    """
    from graphctx.layers import LayerStack, write_context

    if edit is not None and edit < 1:
        raise InvalidArgument(f"--edit is {edit}; give a chunk's id, 1 or more.", field="edit", value=edit)
    stack = LayerStack(folder_of(dir_))
    done = write_context(
        stack,
        content=_stdin_text() if text is None else text,
        kind=kind,
        confidence=confidence,
        scope=layer,
        sources=[int(source) if source.isascii() and source.isdigit() else source for source in sources],
        author="human",
        edit=edit or 0,
    )
    path = stack.path(done.layer)
    conflicts: Sequence[Conflict] = ()
    try:
        conflicts, notes = stack.conflicts_of(done.layer, done.chunk.id)
    except GraphctxError as error:  # the chunk is written already
        notes = (f"Could not check for conflicts: {error.message}",)
    if as_json:
        print_json(
            {
                "layer": done.layer,
                "path": str(path),
                "chunk": chunk_json(done.chunk),
                "revised": done.revised,
                "conflicts": [conflict_json(conflict) for conflict in conflicts],
                "notes": list(notes),
            }
        )
        return
    console = output_console()
    console.print(f"{'revised' if done.revised else 'written'} in {shown_path(path)}:", style="bold")
    show_chunk(done.layer, done.chunk)
    for conflict in conflicts:
        console.print(f"conflict: {conflict_text(conflict)}", style="yellow")
        for member in conflict.members:
            console.print(f"  {member.layer} {member.id}: {title_of(member.claim or member.content)}")
    for note in notes:
        errors_console().print(note, style="dim")


def _stdin_text() -> str:
    if sys.stdin.isatty():
        raise InvalidArgument("There is no text. Give --text, or the text on standard input.", field="text")
    try:
        return sys.stdin.buffer.read().decode("utf-8").rstrip("\n")
    except UnicodeDecodeError as error:
        raise InvalidArgument(
            f"Standard input is not UTF-8 at byte {error.start:,}; convert the text first.", field="text"
        ) from error


def tombstone(
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Chunks to retract, as list shows them.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; kept as the tombstone's text.")],
    layer: ScopeOption = "user",
    dir_: DirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take chunks back by a tombstone: chunks of the layer or, where it has no such id, of the layers after it.

    The chunks stay in their files; searches with --live leave them out. The JSON object has layer, path, chunk (the
    tombstone) and retracted.
    """
    from graphctx.layers import LayerStack, retract

    stack = LayerStack(folder_of(dir_))
    done = retract(stack, _chunk_ids(ids), reason=reason, layer=layer)
    path = stack.path(done.layer)
    if as_json:
        fields = {"layer": done.layer, "path": str(path), "chunk": chunk_json(done.chunk)}
        print_json({**fields, "retracted": retractions_json(done.chunks)})
        return
    taken = ", ".join(f"{name} {number}" for name, number in done.chunks)
    output_console().print(f"{shown_path(path)}: tombstone {done.chunk.id} retracts {taken}")


def _chunk_ids(texts: Sequence[str]) -> list[int]:
    """Return the ids of arguments, which may hold several with commas between them."""
    words = [word for text in texts for word in text.replace(",", " ").split()]
    for word in words:
        if not (word.isascii() and word.isdigit()):
            raise InvalidArgument(
                f"{word!r} is not a chunk's id. Ids are numbers, as graphctx layers list shows them.",
                field="ids",
                value=word,
            )
    if not words:
        raise InvalidArgument("No id was given. graphctx layers list delta shows them.", field="ids")
    return list(dict.fromkeys(map(int, words)))


def proposals(
    status: Annotated[
        str, typer.Option("--status", metavar="pending|accepted|rejected|all", help="Which to list.")
    ] = "pending",
    accept: Annotated[
        list[int], typer.Option("--accept", metavar="ID", help="Accept this proposal; may be repeated.")
    ] = [],
    reject: Annotated[
        list[int], typer.Option("--reject", metavar="ID", help="Reject this proposal; may be repeated.")
    ] = [],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Kept with the decisions.")] = "",
    yes: YesOption = False,
    dir_: DirOption = None,
    as_json: JsonOption = False,
) -> None:
    """List proposals of the delta layer, or decide about them.

    Accepting one promotes its chunk into the user layer: it is shown first, and a person or CI (--yes) approves it.
    The JSON object has proposals; after decisions, also promoted.
    """
    from graphctx import layers

    require_choice("--status", status, _STATUSES)
    stack = stack_in(folder_of(dir_))
    if accept or reject:
        _decide(stack, accept, reject, reason, yes=yes, as_json=as_json)
        return
    listed = layers.proposals(stack, None if status == "all" else cast(Any, status))
    if as_json:
        print_json({"proposals": [asdict(proposal) for proposal in listed]})
        return
    if not listed:
        output_console().print(f"No {'' if status == 'all' else f'{status} '}proposals.")
        return
    view = stack.view("delta")
    contents = {
        p.context_id: view.file.content(view.records[p.context_id]) for p in listed if view is not None and p.exists
    }
    print_table(
        ("proposal", "status", "chunk", "by", "at", "decided by", "reason", "content"),
        [
            (
                str(p.id),
                p.status,
                str(p.context_id),
                one_line(p.actor),
                moment(p.created_at_unix_ms),
                one_line(p.decided_by),
                one_line(p.reason),
                title_of(contents.get(p.context_id, "(the chunk is not there)")),
            )
            for p in listed
        ],
    )


def _decide(stack: LayerStack, accept: list[int], reject: list[int], reason: str, *, yes: bool, as_json: bool) -> None:
    from graphctx import layers

    known = _pending(stack, [*accept, *reject])
    chunks = _show_chunks(stack, "delta", [known[number].context_id for number in (*accept, *reject)])
    actions: dict[Literal["accept", "reject"], list[int]] = {"accept": accept, "reject": reject}
    question = " and ".join(f"{action} {', '.join(map(str, ids))}" for action, ids in actions.items() if ids)
    options = " ".join(f"--{action} {number}" for action, ids in actions.items() for number in ids)
    approver = _approver(f"{question.capitalize()}?", yes=yes, command=f"graphctx layers proposals {options}")
    if approver is None:
        _refused({"promoted": [], "accepted": []}, as_json=as_json)
    _require_unchanged(stack, "delta", chunks)
    decided: list[Proposal] = []
    promoted: list[Promoted] = []
    for action, ids in actions.items():
        for number in dict.fromkeys(ids):
            proposal, done = layers.decide(stack, number, action, approved_by=approver, reason=reason)
            decided.append(proposal)
            promoted += done
    if as_json:
        print_json({"proposals": [asdict(p) for p in decided], "promoted": [asdict(item) for item in promoted]})
        return
    for proposal in decided:
        output_console().print(f"proposal {proposal.id}: {proposal.status}")
    _show_promoted(promoted)


def _pending(stack: LayerStack, ids: list[int]) -> dict[int, Proposal]:
    """Return all proposals by id, after checking that those of ``ids`` can be decided."""
    from graphctx import layers

    known = {proposal.id: proposal for proposal in layers.proposals(stack)}
    if twice := {number for number in ids if ids.count(number) > 1}:
        raise InvalidArgument(f"Proposal {min(twice)} is named twice. Accept it or reject it.", field="reject")
    for number in ids:
        proposal = known.get(number)
        if proposal is None:
            of_chunk = next((p for p in known.values() if p.context_id == number and p.status == "pending"), None)
            hint = f" The proposal of chunk {number} is {of_chunk.id}." if of_chunk else ""
            raise InvalidArgument(
                f"There is no proposal {number}; graphctx layers proposals lists them.{hint}", id=number
            )
        if proposal.status != "pending":
            raise InvalidArgument(f"Proposal {number} was {proposal.status} before.", id=number, status=proposal.status)
        if not proposal.exists:
            raise InvalidArgument(
                f"Proposal {number} is about chunk {proposal.context_id}, which the delta layer does not have.",
                id=number,
                context_id=proposal.context_id,
            )
    return known


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
    """Copy chunks into the user layer. They are shown first, and a person or CI (--yes) approves them.

    The origin stays as it is. A pending proposal of a chunk is recorded as accepted. The JSON object has promoted (id,
    user_id, already) and accepted, the proposals.
    """
    from graphctx import layers

    stack = stack_in(folder_of(dir_))
    numbers = _chunk_ids(ids)
    layer = layers.layer_named(origin)
    if layer not in ("delta", "local"):
        raise InvalidArgument(f"Chunks are promoted from delta or local, not from {layer}.", field="from", value=layer)
    chunks = _show_chunks(stack, layer, numbers)
    these = "this chunk" if len(chunks) == 1 else f"these {len(chunks)} chunks"
    command = f"graphctx layers promote {' '.join(map(str, numbers))}"
    approver = _approver(f"Promote {these} from {layer} to user?", yes=yes, command=command)
    if approver is None:
        _refused({"promoted": [], "accepted": []}, as_json=as_json)
    _require_unchanged(stack, layer, chunks)
    done = layers.promote(stack, numbers, approved_by=approver, origin=layer, revise=revise)
    pending = [p.id for p in layers.proposals(stack, "pending") if layer == "delta" and p.context_id in set(numbers)]
    for proposal_id in pending:
        layers.decide(stack, proposal_id, "accept", approved_by=approver, reason=reason)
    if as_json:
        print_json({"promoted": [asdict(item) for item in done], "accepted": pending})
    else:
        _show_promoted(done)


def _show_promoted(promoted: Sequence[Promoted]) -> None:
    for item in promoted:
        if item.already:
            text = f"the user layer has it already, as {item.user_id}"
        else:
            renamed = "" if item.id == item.user_id else ", since its own id is another chunk's there"
            text = f"in the user layer now, as {item.user_id}{renamed}"
        output_console().print(f"{item.id}: {text}")


def _show_chunks(stack: LayerStack, layer: LayerName, ids: Sequence[int]) -> dict[int, Chunk]:
    """Show chunks that are to be approved, and the conflicts of each, on standard error.

    Raises:
        InvalidArgument: the layer does not have such a chunk, or it is one that tools keep for themselves.
    """
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
        if is_bookkeeping(kind := entries[chunk_id].chunk.kind):
            raise InvalidArgument(
                f"Chunk {chunk_id} is of the kind {kind}, which tools keep for themselves; it cannot be promoted.",
                field="ids",
                value=chunk_id,
            )
    for chunk_id in ids:
        entry = entries[chunk_id]
        note = remarks(entry.revisions, entry.retracted_by)
        show_chunk(layer, entry.chunk, note=note, lines=_APPROVAL_LINES, console=errors_console())
        for conflict in stack.conflicts_of(layer, chunk_id)[0]:
            warn(f"    conflict: {conflict_text(conflict)}")
    return {chunk_id: entries[chunk_id].chunk for chunk_id in ids}


def _require_unchanged(stack: LayerStack, layer: LayerName, shown: dict[int, Chunk]) -> None:
    """Raise InvalidArgument if a chunk was edited after it was shown: the edit was not approved."""
    view = stack.view(layer)
    for chunk_id, chunk in shown.items():
        if view is None or view.file.chunk(view.file.record_of(chunk_id)) != chunk:
            raise InvalidArgument(
                f"Chunk {chunk_id} was changed while it was shown; nothing was promoted. Look at it again.",
                field="ids",
                value=chunk_id,
            )


def _approver(question: str, *, yes: bool, command: str) -> Literal["human", "ci"] | None:
    """Ask a person for approval unless ``yes`` is set, and return who approved; None if the answer is no.

    Raises:
        InvalidArgument: nobody can be asked; the message names ``command``.
    """
    if yes:
        return "human" if sys.stdin.isatty() else "ci"
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InvalidArgument(
            f"This needs a person's approval, and there is no terminal to ask at. Run it on one, or approve it "
            f"beforehand: {command} --yes",
            field="yes",
        )
    try:
        with redirect_stdout(sys.stderr):  # standard output may be JSON
            return "human" if typer.confirm(question, err=True) else None
    except typer.Abort:  # end of input
        return None


def _refused(fields: dict[str, Any], *, as_json: bool) -> NoReturn:
    """Report that a person said no, and exit with 1."""
    if as_json:
        print_json({**fields, "refused": True})
    else:
        output_console().print("Nothing was done.", style="yellow")
    raise typer.Exit(EXIT_ERROR)


def compact(
    layers: Annotated[
        list[str], typer.Argument(metavar="LAYER", help="Layers to fold into the base layer; user by default.")
    ] = [],
    yes: YesOption = False,
    dir_: DirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Fold the user layer into a new base layer, and archive the files that went into it.

    The new file replaces AGENTS.db; the old one and the folded layers go to agents-archive. A person or CI (--yes)
    approves it. The JSON object has chunks, folded, dropped_revisions, renumbered and archived.
    """
    from graphctx.layers import compact as fold

    folder = folder_of(dir_)
    stack = stack_in(folder)
    folded = _layers_to_fold(stack, layers)
    _preview(stack, folded)
    command = f"graphctx layers compact {' '.join(layers)}".rstrip()
    if _approver(f"Fold {' and '.join(folded)} into a new base layer?", yes=yes, command=command) is None:
        _refused({}, as_json=as_json)
    done = fold(stack, folded)
    if as_json:
        renumbered = [{"layer": layer, "id": before, "new_id": after} for layer, before, after in done.renumbered]
        print_json({**asdict(done), "renumbered": renumbered})
        return
    console = output_console()
    counts = ", ".join(f"{count:,} from {name}" for name, count in done.folded.items())
    console.print(f"{shown_path(folder / 'AGENTS.db')}: {counted(done.chunks, 'chunks')}, {counts}", style="bold")
    for layer, before, after in done.renumbered:
        console.print(f"  {layer} {before} is {after} now, since its id was another chunk's")
    if done.dropped_revisions:
        console.print(f"  in the archive only: {counted(done.dropped_revisions, 'older records')}")
    console.print(f"archived: {', '.join(done.archived)}")
    warn_of_signature(folder / "AGENTS.db")


def _layers_to_fold(stack: LayerStack, names: list[str]) -> list[LayerName]:
    from graphctx.layers import FILES, layer_named

    layers: list[LayerName] = [name for name in dict.fromkeys(map(layer_named, names or ["user"])) if name != "base"]
    if not layers:
        raise InvalidArgument("The base layer alone is compact already. Name user, or leave the names out.")
    present: list[LayerName] = [name for name in layers if stack.view(name) is not None]
    if missing := [FILES[name] for name in layers if name not in present]:
        raise InvalidArgument(
            f"There is no {' and no '.join(missing)} to fold into the base layer. graphctx layers promote fills the "
            "user layer.",
            missing=missing,
        )
    return present


def _preview(stack: LayerStack, folded: list[LayerName]) -> None:
    """Show on standard error what a compaction would fold."""
    from graphctx import layers

    base = stack.view("base")
    counts = {"base": len(base.records) if base is not None else 0}
    counts |= {name: len(view.records) for name, view in stack.views(folded).items()}
    errors_console().print(", ".join(f"{name}: {counted(count, 'chunks')}" for name, count in counts.items()))
    if unapproved := [name for name in folded if name in ("delta", "local")]:
        warn(f"{' and '.join(unapproved)}: nobody has approved these chunks yet, and the base layer is canonical.")
    if "delta" in folded and (pending := layers.proposals(stack, "pending")):
        warn(f"Pending: {counted(len(pending), 'proposals')}.")
