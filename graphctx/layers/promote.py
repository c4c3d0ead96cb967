"""Proposals and promotion: how chunks come from the delta into the user layer (RFC section 11.2).

What was proposed and decided is state of the layers: ``meta.proposal_event`` chunks of the delta layer, each a small
JSON object with the fields that other implementations write. The last decision about a proposal counts.
Ours also have ``content_sha256`` of the proposed content, to detect edits made after the proposal.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from graphctx.errors import InvalidArgument
from graphctx.layers.chunk import PROPOSAL, Chunk
from graphctx.layers.effective import LayerView
from graphctx.layers.files import append
from graphctx.layers.names import FILES, LayerName
from graphctx.layers.reader import LayerFile
from graphctx.layers.stack import LayerStack
from graphctx.layers.tables import LayerContent
from graphctx.layers.write import free_id, free_ids, now_ms, used_ids, vectors_for, without_vectors

Status = Literal["pending", "accepted", "rejected"]
Approver = Literal["human", "ci"]

_DECISIONS: dict[str, Status] = {"accept": "accepted", "reject": "rejected"}


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposal and what became of it.

    Attributes:
        id: of the chunk that records it.
        context_id: the proposed chunk of the delta layer.
        status: of the last decision.
        actor: who proposed.
        created_at_unix_ms: when.
        decided_by: who decided; empty while pending.
        decided_at_unix_ms: when; 0 while pending.
        reason: given with the decision or the proposal.
        exists: whether the delta layer holds the proposed chunk.
        changed: whether the chunk was edited since it was proposed, so that it cannot be accepted; another
            implementation's events do not say.
    """

    id: int
    context_id: int
    status: Status
    actor: str
    created_at_unix_ms: int
    decided_by: str = ""
    decided_at_unix_ms: int = 0
    reason: str = ""
    exists: bool = True
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Promoted:
    """A chunk that the user layer holds now.

    Attributes:
        id: in the delta layer.
        user_id: in the user layer; another where that layer had this id for another chunk.
        already: whether it was there before.
    """

    id: int
    user_id: int
    already: bool


def propose(
    stack: LayerStack,
    context_id: int,
    target: str = "user",
    *,
    actor: str = "mcp",
    reason: str = "",
    at_unix_ms: int | None = None,
) -> Proposal:
    """Record that a chunk of the delta layer should go into the user layer. A person or CI decides.

    Returns:
        The proposal, when it is on the disk; the pending one where there is one for this chunk as it is already.

    Raises:
        InvalidArgument: the target is not ``user``, or the delta layer has no such chunk.
    """
    if target != "user":
        raise InvalidArgument(
            f"target is {target!r}; promotion goes to the user layer alone.", field="target", value=target
        )
    at = now_ms(at_unix_ms)
    made: list[Proposal] = []

    def make(old: LayerFile | None) -> LayerContent | None:
        view = _delta(old)
        if context_id not in view.records or view.bookkeeping[view.records[context_id]]:
            raise InvalidArgument(
                f"The delta layer has no chunk {context_id} to propose; write it there with scope delta first.",
                field="context_id",
                value=context_id,
            )
        for proposal in _proposals(view):
            if proposal.context_id == context_id and proposal.status == "pending" and not proposal.changed:
                made.append(proposal)
                return None
        digest = _digest(view.file.content(view.records[context_id]))
        event = _event("propose", context_id, at, actor, reason, content_sha256=digest)
        chunk_id = free_id(stack, "delta", view.file)
        author: Literal["human", "mcp"] = "mcp" if actor == "mcp" else "human"
        made.append(Proposal(chunk_id, context_id, "pending", actor, at, reason=reason))
        chunk = Chunk(chunk_id, event, PROPOSAL, author, 1.0, at, (context_id,))
        return without_vectors(stack, view.file, [chunk])

    append(stack.written_path("delta"), make)
    return made[0]


def proposals(stack: LayerStack, status: Status | None = None) -> list[Proposal]:
    """Proposals of the delta layer by id, those of one status or all."""
    view = stack.view("delta")
    found = _proposals(view) if view is not None else []
    return [proposal for proposal in found if status in (None, proposal.status)]


def decide(
    stack: LayerStack,
    proposal_id: int,
    action: Literal["accept", "reject"],
    *,
    approved_by: Approver,
    reason: str = "",
    at_unix_ms: int | None = None,
) -> tuple[Proposal, tuple[Promoted, ...]]:
    """Accept or reject a pending proposal. Accepting promotes its chunk first and records the decision then.

    Nobody else writes to the delta layer meanwhile, so that what was proposed is what is promoted.

    Raises:
        InvalidArgument: there is no such proposal, it was decided before, nobody approved, or the chunk was edited
            since it was proposed, unless the user layer already holds this version.
    """
    _approved(approved_by)
    if action not in _DECISIONS:
        raise InvalidArgument(f"action is {action!r}; give accept or reject.", field="action", value=action)
    at = now_ms(at_unix_ms)
    decided: list[Proposal] = []
    done: list[Promoted] = []

    def make(old: LayerFile | None) -> LayerContent:
        view = _delta(old)
        proposal = _pending(_proposals(view), proposal_id)
        decided.append(proposal)
        if action == "accept":
            _require_unchanged(stack, view, proposal)
            done.extend(promote(stack, [proposal.context_id], approved_by=approved_by))
        event = _event(action, proposal.context_id, at, approved_by, reason, proposal_id=proposal.id)
        chunk_id = free_id(stack, "delta", view.file)
        chunk = Chunk(chunk_id, event, PROPOSAL, "human", 1.0, at, (proposal.context_id, proposal.id))
        return without_vectors(stack, view.file, [chunk])

    append(stack.written_path("delta"), make)
    (proposal,) = decided
    proposal = replace(
        proposal, status=_DECISIONS[action], decided_by=approved_by, decided_at_unix_ms=at, reason=reason
    )
    return proposal, tuple(done)


def promote(
    stack: LayerStack, ids: Sequence[int], *, approved_by: Approver, origin: LayerName = "delta", revise: bool = False
) -> list[Promoted]:
    """Copy chunks into the user layer, which a person or CI must have approved. The origin stays as it is.

    Author, confidence, time and sources go along, and the vector, bit for bit, where both layers have one profile. A
    chunk that the user layer holds already is left alone. An id that it uses for another chunk is not taken: the
    copy gets a free one, unless it is to be a revision.

    Args:
        stack: the layers.
        ids: of the chunks.
        approved_by: ``human`` or ``ci``.
        origin: ``delta`` or ``local``.
        revise: append under the same id, as a revision of the user layer's chunk.

    Raises:
        InvalidArgument: nobody approved, the origin is not ``delta`` or ``local``, or has no such chunk.
    """
    _approved(approved_by)
    if origin not in ("delta", "local"):
        raise InvalidArgument(
            f"Chunks are promoted from delta or local, not from {origin}.", field="from", value=origin
        )
    source = stack.view(origin)
    if source is None:
        raise InvalidArgument(f"There is no {origin} layer to promote from.", field="from", value=origin)
    records = [source.file.record_of(chunk_id) for chunk_id in dict.fromkeys(ids)]
    made: list[Promoted] = []

    def make(old: LayerFile | None) -> LayerContent | None:
        made.clear()
        view = LayerView("user", old) if old is not None else None
        chunks, taken = [], []
        used = set(view.records) if view is not None else set()
        held = _held(view) if view is not None else {}
        free = free_ids(used_ids(stack, "user", old))
        for record in records:
            chunk = source.file.chunk(record)
            if (chunk.kind, chunk.content) in held:
                made.append(Promoted(chunk.id, held[chunk.kind, chunk.content], True))
                continue
            user_id = chunk.id
            if chunk.id in used and not revise:
                user_id = next(free)
            made.append(Promoted(chunk.id, user_id, False))
            chunks.append(replace(chunk, id=user_id))
            taken.append(record)
            used.add(user_id)
            held[chunk.kind, chunk.content] = user_id
        if not chunks:
            return None
        matrix = vectors_for(stack, view, source, taken)
        if old is None:
            layout = source.file.layout
            return LayerContent(tuple(chunks), matrix, layout.scale, layout.metadata_blob)
        return LayerContent(tuple(chunks), matrix)

    append(stack.written_path("user"), make)
    return made


def _proposals(view: LayerView) -> list[Proposal]:
    made: dict[int, Proposal] = {}
    marks = view.newest & view.file.records_of_kinds({PROPOSAL})
    for record in np.flatnonzero(marks).tolist():
        chunk = view.file.chunk(record)
        event = _parsed(chunk.content)
        action, context = str(event.get("action", "propose")), event.get("context_id")
        if action == "propose" and isinstance(context, int) and not isinstance(context, bool):
            at, actor = chunk.created_at_unix_ms, str(event.get("actor", chunk.author))
            reason = str(event.get("reason") or event.get("why") or "")
            there, changed = context in view.records, _changed(view, record, event, context)
            made[chunk.id] = Proposal(
                chunk.id, context, "pending", actor, at, reason=reason, exists=there, changed=changed
            )
        elif action in _DECISIONS:
            for number in _decided(event, made):
                by, reason = str(event.get("actor", chunk.author)), str(event.get("reason") or "")
                made[number] = replace(
                    made[number],
                    status=_DECISIONS[action],
                    decided_by=by,
                    decided_at_unix_ms=chunk.created_at_unix_ms,
                    reason=reason,
                )
    return [made[number] for number in sorted(made)]


def _held(view: LayerView) -> dict[tuple[str, str], int]:
    """Chunk ids by kind and content, without retracted chunks, so that promoting one again takes effect."""
    chunks = map(view.file.chunk, view.records.values())
    return {(chunk.kind, chunk.content): chunk.id for chunk in chunks if chunk.id not in view.retractions}


def _pending(found: Sequence[Proposal], proposal_id: int) -> Proposal:
    proposal = next((p for p in found if p.id == proposal_id), None)
    if proposal is None or proposal.status != "pending":
        state = "does not exist" if proposal is None else f"was already {proposal.status}"
        raise InvalidArgument(f"Proposal {proposal_id} {state}; list the pending ones.", id=proposal_id)
    return proposal


def _decided(event: dict[str, Any], made: dict[int, Proposal]) -> list[int]:
    """The proposals that a decision is about: the one that it names, else the pending ones for its chunk."""
    number = event.get("proposal_id")
    if isinstance(number, int):
        return [number] if number in made else []
    context = event.get("context_id")
    return [p.id for p in made.values() if p.context_id == context and p.status == "pending"]


def _changed(view: LayerView, record: int, event: dict[str, Any], context_id: int) -> bool:
    """Whether a chunk is another than when the event of a record proposed it."""
    digest = event.get("content_sha256")
    if not isinstance(digest, str) or context_id not in view.records:
        return False
    now = view.file.chunk(view.records[context_id])
    if _digest(now.content) != digest:
        return True
    before = np.flatnonzero(view.file.ids[:record] == context_id)  # for what the content does not say, as its kind
    proposed = view.file.chunk(int(before[-1])) if len(before) else now
    return replace(now, created_at_unix_ms=0) != replace(proposed, created_at_unix_ms=0)


def _require_unchanged(stack: LayerStack, view: LayerView, proposal: Proposal) -> None:
    if proposal.changed and not _is_promoted(stack, view.file.chunk(view.records[proposal.context_id])):
        raise InvalidArgument(
            f"Chunk {proposal.context_id} was edited after proposal {proposal.id} was made, so it is not what was "
            "proposed; reject the proposal, and have the chunk proposed anew.",
            id=proposal.id,
            context_id=proposal.context_id,
        )


def _is_promoted(stack: LayerStack, chunk: Chunk) -> bool:
    """Whether the user layer holds a chunk as it is, so that accepting it brings nothing there that nobody saw."""
    user = stack.view("user")
    return user is not None and (chunk.kind, chunk.content) in _held(user)


def _digest(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()


def _event(action: str, context_id: int, at: int, actor: str, reason: str, **more: int | str) -> str:
    fields: dict[str, Any] = {"action": action, **more, "context_id": context_id, "from_path": FILES["delta"]}
    fields |= {"to_path": FILES["user"], "created_at_unix_ms": at, "actor": actor}
    if reason:
        fields["reason"] = reason
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def _parsed(content: str) -> dict[str, Any]:
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _delta(old: LayerFile | None) -> LayerView:
    if old is None:
        raise InvalidArgument("There is no delta layer yet; write a chunk with scope delta first.", field="context_id")
    return LayerView("delta", old)


def _approved(approved_by: str) -> None:
    if approved_by not in ("human", "ci"):
        raise InvalidArgument(
            f"Promotion needs the approval of a person or of CI; approved_by is {approved_by!r}.",
            field="approved_by",
            value=approved_by,
        )
