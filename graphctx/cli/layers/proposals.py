"""``graphctx layers proposals``: what agents propose for the user layer, and what is decided about it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from graphctx.cli.layers.approval import approved
from graphctx.cli.layers.places import DirOption, YesOption, folder_of, stack_in
from graphctx.cli.options import JsonOption
from graphctx.errors import InvalidArgument
from graphctx.text.printable import one_line

if TYPE_CHECKING:
    from graphctx.layers import LayerStack, Promoted, Proposal

_STATUSES = ("pending", "accepted", "rejected")


def proposals(
    status: Annotated[
        str, typer.Option("--status", metavar="pending|accepted|rejected|all", help="Which to list.")
    ] = "pending",
    accept: Annotated[
        list[int], typer.Option("--accept", metavar="ID", help="Accept this proposal; may be repeated.")
    ] = [],  # noqa: B006
    reject: Annotated[
        list[int], typer.Option("--reject", metavar="ID", help="Reject this proposal; may be repeated.")
    ] = [],  # noqa: B006
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Kept with the decisions.")] = "",
    yes: YesOption = False,
    dir_: DirOption = None,
    as_json: JsonOption = False,
) -> None:
    """List proposals of the delta layer, or decide about them.

    To accept one promotes its chunk into the user layer: it is shown first, and a person or CI (--yes) approves it.
    The JSON object has proposals; after decisions, also promoted.
    """
    from graphctx.cli.console import print_json
    from graphctx.layers import proposals as found

    if status not in (*_STATUSES, "all"):
        raise InvalidArgument(
            f"--status is {status!r}; use {', '.join(_STATUSES)} or all.",
            field="status",
            value=status,
            allowed=[*_STATUSES, "all"],
        )
    stack = stack_in(folder_of(dir_))
    if accept or reject:
        _decide(stack, accept, reject, reason, yes=yes, as_json=as_json)
        return
    listed = found(stack, None if status == "all" else cast(Any, status))
    if as_json:
        print_json({"proposals": [asdict(proposal) for proposal in listed]})
    else:
        _show(stack, listed, status)


def _decide(stack: LayerStack, accept: list[int], reject: list[int], reason: str, *, yes: bool, as_json: bool) -> None:
    from graphctx.cli.console import output_console, print_json
    from graphctx.cli.layers.promote import promoted_text, require_unchanged, show_chunks, told_refused
    from graphctx.layers import decide

    pending = _pending(stack, [*accept, *reject])
    chunks = show_chunks(stack, "delta", [pending[number].context_id for number in (*accept, *reject)])
    told = [f"{verb} {', '.join(map(str, ids))}" for verb, ids in (("accept", accept), ("reject", reject)) if ids]
    options = " ".join([*(f"--accept {number}" for number in accept), *(f"--reject {number}" for number in reject)])
    approver = approved(f"{' and '.join(told).capitalize()}?", yes=yes, command=f"graphctx layers proposals {options}")
    if approver is None:
        told_refused(as_json=as_json)
        return
    require_unchanged(stack, "delta", chunks)
    decided: list[Proposal] = []
    promoted: list[Promoted] = []
    for action, ids in (("accept", accept), ("reject", reject)):
        for number in dict.fromkeys(ids):
            proposal, done = decide(stack, number, cast(Any, action), approved_by=approver, reason=reason)
            decided.append(proposal)
            promoted += done
    if as_json:
        print_json({"proposals": [asdict(p) for p in decided], "promoted": [asdict(item) for item in promoted]})
        return
    for proposal in decided:
        output_console().print(f"proposal {proposal.id}: {proposal.status}", soft_wrap=True)
    for item in promoted:
        output_console().print(promoted_text(item), soft_wrap=True)


def _pending(stack: LayerStack, ids: list[int]) -> dict[int, Proposal]:
    """The pending proposals of these ids; all are looked at before the first is decided."""
    from graphctx.layers import proposals as found

    known = {proposal.id: proposal for proposal in found(stack)}
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


def _show(stack: LayerStack, listed: list[Proposal], status: str) -> None:
    from graphctx.cli.console import output_console, print_table
    from graphctx.cli.layers.shown import moment, title_of

    if not listed:
        which = "" if status == "all" else f"{status} "
        output_console().print(f"No {which}proposals.")
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
