"""Operations of the view Layers: files, chunks, and proposals to accept or to reject. Search is ``agents_search``."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from graphctx.errors import BackendUnavailable, GraphctxError, InvalidArgument, ScopeViolation
from graphctx.model.layers import NO_LAYERS, ChunkKind
from graphctx.model.requests import LayerName, Strict
from graphctx.ui.operation import AnyOperation, NoInput, Operation, PageCall

if TYPE_CHECKING:
    from graphctx.layers import Chunk, LayerEntry, LayerStack, Proposal

MAX_CONTENT_CHARS = 2_000
"""Characters of a chunk in a list; `_chunk` returns all."""

MAX_BESIDE = 3
"""Chunks that a proposed one is compared with."""


class LayersChunksInput(Strict):
    """Input of ``layers_chunks``."""

    layers: list[LayerName] = Field([], max_length=4, description="All by default.")
    kind: ChunkKind | None = None
    offset: int = Field(0, ge=0)
    limit: int = Field(50, ge=1, le=200)


class LayersChunkInput(Strict):
    """Input of ``layers_chunk``."""

    layer: LayerName
    id: int = Field(ge=1)


class LayersProposalsInput(Strict):
    """Input of ``layers_proposals``."""

    status: Literal["pending", "accepted", "rejected"] = "pending"
    limit: int = Field(50, ge=1, le=200)


class LayersDecideInput(Strict):
    """Input of ``layers_decide``."""

    id: int = Field(ge=1, description="Of the proposal.")
    action: Literal["accept", "reject"]
    reason: str = Field("", max_length=500, description="Kept with the decision.")
    digest: str = Field(max_length=64, description="Of the chunk that was shown, from ``layers_proposals``.")


def _stack(call: PageCall) -> LayerStack:
    layers = call.kb().layers
    if layers is None:
        raise BackendUnavailable(NO_LAYERS, setting="layers.folder")
    return layers.stack


def _overview(call: PageCall, asked: NoInput) -> dict[str, Any]:
    """Return the layers by precedence, with their kinds and the state of their signatures."""
    from graphctx.layers import PRECEDENCE, proposals

    stack = _stack(call)
    layers = [_layer(stack, name) for name in PRECEDENCE]
    kinds = sorted({kind for layer in layers for kind in layer.get("kinds", ())})
    try:
        n_pending = len(proposals(stack, "pending"))
    except GraphctxError:  # said of its layer
        n_pending = 0
    may_decide = call.may_write and call.server.dispatcher.config.layers_writable
    return {"layers": layers, "kinds": kinds, "n_pending": n_pending, "may_decide": may_decide}


def _layer(stack: LayerStack, name: LayerName) -> dict[str, Any]:
    path = stack.path(name)
    about: dict[str, Any] = {"layer": name, "file": path.name, "exists": path.is_file()}
    try:
        view = stack.view(name)
    except GraphctxError as error:
        return {**about, "fault": error.message}
    if view is None:
        return about
    kinds = [view.file.kind(record) for record in view.records.values() if not view.bookkeeping[record]]
    return {
        **about,
        "n_chunks": len(kinds),
        "kinds": sorted(set(kinds)),
        "n_records": len(view.file),
        "n_bytes": path.stat().st_size,
        "model": view.file.profile.model if view.file.profile else "",
        "signature": _signature(path),
    }


def _signature(path: Path) -> Literal["none", "older", "present"]:
    """Return whether a layer has a signature, and whether that was made before the file's last change."""
    try:
        signed = Path(f"{path}.sig").stat().st_mtime_ns
    except OSError:
        return "none"
    return "older" if signed < path.stat().st_mtime_ns else "present"


def _chunks(call: PageCall, asked: LayersChunksInput) -> dict[str, Any]:
    """Return chunks by precedence of their layers and by id, without records that tools keep for themselves."""
    entries = _entries(_stack(call), asked)
    found = list(islice(entries, asked.offset, asked.offset + asked.limit + 1))
    return {"chunks": [_shown(entry) for entry in found[: asked.limit]], "more": len(found) > asked.limit}


def _entries(stack: LayerStack, asked: LayersChunksInput) -> Iterator[LayerEntry]:
    from graphctx.layers import PRECEDENCE
    from graphctx.layers.chunk import is_bookkeeping

    for name in asked.layers or PRECEDENCE:
        try:
            for entry in stack.entries([name], [asked.kind] if asked.kind else ()):
                if not is_bookkeeping(entry.chunk.kind):
                    yield entry
        except GraphctxError:  # a damaged layer does not hide the others; the overview says so
            if asked.layers:
                raise


def _chunk(call: PageCall, asked: LayersChunkInput) -> dict[str, Any]:
    """Return a chunk whole, with the conflicts between it and others.

    Raises:
        InvalidArgument: there is no such chunk.
    """
    from graphctx.layer_source.chunks import conflict_of

    stack = _stack(call)
    entry = next((one for one in stack.entries([asked.layer]) if one.chunk.id == asked.id), None)
    if entry is None:
        raise InvalidArgument(f"The {asked.layer} layer has no chunk {asked.id}.", field="id", value=asked.id)
    conflicts, notes = stack.conflicts_of(asked.layer, asked.id)
    return {
        "chunk": {**_shown(entry), "content": entry.chunk.content},
        "conflicts": [conflict_of(conflict).model_dump(mode="json") for conflict in conflicts[:20]],
        "notes": list(notes),
    }


def _proposals(call: PageCall, asked: LayersProposalsInput) -> dict[str, Any]:
    """Return proposals, the newest first, each with its chunk and those that it disagrees with."""
    from graphctx.layers import proposals

    stack = _stack(call)
    found = proposals(stack, asked.status)[::-1]
    user = {entry.chunk.id: entry.chunk for entry in stack.entries(["user"])} if found else {}
    return {
        "proposals": [_proposal(stack, one, user) for one in found[: asked.limit]],
        "more": len(found) > asked.limit,
    }


def _proposal(stack: LayerStack, proposal: Proposal, user: dict[int, Chunk]) -> dict[str, Any]:
    from graphctx.layer_source.chunks import conflict_of, when

    shown: dict[str, Any] = {
        "id": proposal.id,
        "context_id": proposal.context_id,
        "status": proposal.status,
        "by": proposal.actor,
        "at": when(proposal.created_at_unix_ms),
        "reason": proposal.reason,
        "decided_by": proposal.decided_by,
        "decided_at": when(proposal.decided_at_unix_ms),
        "exists": proposal.exists,
        "changed": proposal.changed,
    }
    if not proposal.exists:
        return shown
    chunk = _proposed(stack, proposal)
    held = next((one.id for one in user.values() if (one.kind, one.content) == (chunk.kind, chunk.content)), None)
    conflicts, notes = stack.conflicts_of("delta", chunk.id)
    others = {
        (member.layer, member.id): member.content
        for conflict in conflicts
        for member in conflict.members
        if (member.layer, member.id) != ("delta", chunk.id) and member.content != chunk.content
    }
    return {
        **shown,
        "chunk": _fields("delta", chunk) | {"content": chunk.content},
        "digest": _digest(chunk),
        "held_as": held,
        "id_is_taken": held is None and chunk.id in user,
        "conflicts": [conflict_of(conflict).model_dump(mode="json") for conflict in conflicts[:MAX_BESIDE]],
        "beside": [
            {"layer": layer, "id": number, "content": content}
            for (layer, number), content in list(others.items())[:MAX_BESIDE]
        ],
        "notes": list(notes),
    }


def _decide(call: PageCall, asked: LayersDecideInput) -> dict[str, Any]:
    """Accept a proposal, which copies its chunk into the user layer, or reject it.

    Raises:
        InvalidArgument: there is no such pending proposal, or its chunk is not the one that was shown.
        ScopeViolation: the settings forbid writing into layers.
    """
    from graphctx.layers import decide, proposals

    if not call.server.dispatcher.config.layers_writable:
        raise ScopeViolation("These layers are for reading here ([layers] writable is off).", setting="layers.writable")
    stack = _stack(call)
    proposal = next((one for one in proposals(stack) if one.id == asked.id), None)
    if proposal is not None and proposal.exists and _digest(_proposed(stack, proposal)) != asked.digest:
        raise InvalidArgument(
            f"Chunk {proposal.context_id} was changed after it was shown, so nothing was decided. Look at it again.",
            field="digest",
        )
    decided, promoted = decide(stack, asked.id, asked.action, approved_by="human", reason=asked.reason)
    return {
        "status": decided.status,
        "promoted": [{"id": one.id, "user_id": one.user_id, "already": one.already} for one in promoted],
    }


def _proposed(stack: LayerStack, proposal: Proposal) -> Chunk:
    view = stack.view("delta")
    if view is None or proposal.context_id not in view.records:
        raise InvalidArgument(f"The delta layer has no chunk {proposal.context_id} any more.", field="id")
    return view.file.chunk(view.records[proposal.context_id])


def _digest(chunk: Chunk) -> str:
    return hashlib.sha256(repr(chunk).encode()).hexdigest()


def _shown(entry: LayerEntry) -> dict[str, Any]:
    return _fields(entry.layer, entry.chunk) | {
        "revisions": entry.revisions,
        "retracted_by": [f"{layer} {number}" for layer, number in entry.retracted_by],
    }


def _fields(layer: LayerName, chunk: Chunk) -> dict[str, Any]:
    from graphctx.layer_source.chunks import when

    return {
        "layer": layer,
        "id": chunk.id,
        "kind": chunk.kind,
        "author": chunk.author,
        "confidence": round(chunk.confidence, 4),
        "created_at": when(chunk.created_at_unix_ms),
        "sources": [str(source) for source in chunk.sources[:20]],
        "content": chunk.content[:MAX_CONTENT_CHARS],
        "n_chars": len(chunk.content),
    }


OPERATIONS: tuple[AnyOperation, ...] = (
    Operation("layers_overview", NoInput, _overview),
    Operation("layers_chunks", LayersChunksInput, _chunks),
    Operation("layers_chunk", LayersChunkInput, _chunk),
    Operation("layers_proposals", LayersProposalsInput, _proposals),
    Operation("layers_decide", LayersDecideInput, _decide, right="write"),
)
