"""Adding, editing and retracting chunks (RFC sections 7 and 11.1): agents in the local and delta layer, people in the
user layer too."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from graphctx.errors import InvalidArgument
from graphctx.layers.chunk import TOMBSTONE, Chunk, Source, checked, is_bookkeeping
from graphctx.layers.effective import LayerView
from graphctx.layers.files import append
from graphctx.layers.format import MAX_U32
from graphctx.layers.names import WRITABLE, WRITABLE_BY_PEOPLE, LayerName, rank
from graphctx.layers.reader import LayerFile
from graphctx.layers.search import retractors
from graphctx.layers.stack import LayerStack
from graphctx.layers.tables import LayerContent

_LINES = re.compile(r"\d+(-\d+)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Written:
    """A chunk that is safely in a layer, and whether it is a revision of one that was there."""

    layer: LayerName
    chunk: Chunk
    revised: bool


def write_context(
    stack: LayerStack,
    *,
    content: str,
    kind: str,
    confidence: float,
    scope: str,
    sources: Sequence[Source] = (),
    author: Literal["human", "mcp"] = "mcp",
    edit: int = 0,
    at_unix_ms: int | None = None,
) -> Written:
    """Append a chunk to a layer, which is made if it is not there.

    Args:
        stack: the layers.
        content: not empty.
        kind: not empty; not ``tombstone``, ``options`` or ``meta.`` something, which are kept for tools.
        confidence: 0 to 1.
        scope: ``local`` or ``delta``, and for people also ``user``.
        sources: ids of chunks, and places as ``file:line``.
        author: ``mcp`` for whatever a tool writes.
        edit: the id of a chunk of this layer that the new one revises; 0 for a chunk of its own. What tools keep for
            themselves cannot be revised: proposals and decisions are a record.
        at_unix_ms: when; now by default.

    Returns:
        What was written, when it is on the disk.

    Raises:
        InvalidArgument: a value is not acceptable; the base layer is refused, and the user layer to ``mcp``.
        BackendUnavailable: the disk refuses, or another writer does not end.
    """
    layer = _scope(scope, author)
    _check(content, kind, sources)
    draft = checked(Chunk(edit or 1, content, kind, author, confidence, now_ms(at_unix_ms), tuple(sources)))

    def make(old: LayerFile | None) -> LayerContent:
        if edit and old is None:
            raise InvalidArgument(f"There is no {layer} layer yet, so no chunk {edit} to edit.", id=edit)
        if edit and old is not None:
            _check_edit(old.kind(old.record_of(edit)), edit)
        chunk_id = edit or free_id(stack, layer, old)
        chunk = Chunk(chunk_id, content, kind, author, draft.confidence, draft.created_at_unix_ms, draft.sources)
        return additions(stack, layer, old, [chunk])

    written = append(stack.written_path(layer), make)
    assert written is not None
    return Written(layer, written.chunks[0], bool(edit))


@dataclass(frozen=True, slots=True)
class Retraction:
    """A tombstone that is safely in a layer, and the chunks that it retracts, as (layer, id), by precedence."""

    layer: LayerName
    chunk: Chunk
    chunks: tuple[tuple[LayerName, int], ...]


def retract(
    stack: LayerStack, chunk_ids: Sequence[int], *, reason: str, layer: str = "user", at_unix_ms: int | None = None
) -> Retraction:
    """Append a tombstone by a person, which takes chunks back. The chunks stay where they are.

    Args:
        stack: the layers.
        chunk_ids: chunks of this layer, or where it has no such chunk, of the layers that go after it.
        reason: kept as the tombstone's content; not empty.
        layer: ``user``, ``delta`` or ``local``; made if it is not there.
        at_unix_ms: when; now by default.

    Raises:
        InvalidArgument: no such layer has a chunk, or it is retracted already or kept for tools.
        BackendUnavailable: the disk refuses, or another writer does not end.
    """
    name = _scope(layer, "human")
    if not reason.strip() or not chunk_ids:
        field = "reason" if chunk_ids else "ids"
        raise InvalidArgument(f"{field} is empty; say why, and which chunks.", field=field)
    taken: list[tuple[LayerName, int]] = []

    def make(old: LayerFile | None) -> LayerContent:
        views = {other: view for other, view in stack.views(stack.paths).items() if other != name}
        if old is not None:
            views[name] = LayerView(name, old)
        for chunk_id in dict.fromkeys(chunk_ids):
            taken.extend(_in_effect(views, name, chunk_id))
        new = Chunk(free_id(stack, name, old), reason, TOMBSTONE, "human", 1.0, now_ms(at_unix_ms), tuple(chunk_ids))
        return without_vectors(stack, old, [checked(new)])

    written = append(stack.written_path(name), make)
    assert written is not None
    return Retraction(name, written.chunks[0], tuple(sorted(taken, key=lambda place: (rank(place[0]), place[1]))))


def _in_effect(views: Mapping[LayerName, LayerView], layer: LayerName, chunk_id: int) -> list[tuple[LayerName, int]]:
    """The chunks of an id that a tombstone of a layer would retract.

    Raises:
        InvalidArgument: there is none.
    """
    own = [name for name in views if name == layer and chunk_id in views[name].records]
    below = [name for name, view in views.items() if rank(name) > rank(layer) and chunk_id in view.records]
    found = own or below
    if not found:
        raise InvalidArgument(
            f"Neither the {layer} layer nor one that goes after it has a chunk {chunk_id}; graphctx layers list shows "
            "the ids.",
            field="ids",
            value=chunk_id,
        )
    live = []
    for name in found:
        view = views[name]
        record = view.records[chunk_id]
        if view.bookkeeping[record]:
            kind = view.file.kind(record)
            raise InvalidArgument(
                f"Chunk {chunk_id} of the {name} layer is a {kind}, which is a record that cannot be retracted.",
                field="ids",
                value=chunk_id,
            )
        if not retractors(views, view, record):
            live.append((name, chunk_id))
    if not live:
        raise InvalidArgument(f"Chunk {chunk_id} was retracted before.", field="ids", value=chunk_id)
    return live


def additions(stack: LayerStack, layer: LayerName, old: LayerFile | None, chunks: Sequence[Chunk]) -> LayerContent:
    """Chunks with vectors such as a layer holds."""
    embedder = stack.embedder_of(LayerView(layer, old) if old is not None else None)
    vectors = embedder.embed([chunk.content for chunk in chunks])
    return LayerContent(tuple(chunks), vectors, metadata=embedder.metadata)


def without_vectors(stack: LayerStack, old: LayerFile | None, chunks: Sequence[Chunk]) -> LayerContent:
    """Chunks of bookkeeping, whose vectors are 0 so that no search by meaning comes upon them."""
    if old is not None:
        return LayerContent(tuple(chunks), np.zeros((len(chunks), old.dim), np.float32))
    embedder = stack.embedder_of(None)
    return LayerContent(
        tuple(chunks), np.zeros((len(chunks), embedder.profile.dim), np.float32), metadata=embedder.metadata
    )


def vectors_for(
    stack: LayerStack, target: LayerView | None, source: LayerView, records: Sequence[int]
) -> npt.NDArray[Any]:
    """Vectors of a layer's records as another layer needs them, ``[len(records), dim]``.

    Args:
        stack: whose embedder makes them where they cannot be taken over.
        target: the layer that gets them; ``None`` for one that is made like the source.
        source: the layer that has the records.
        records: which.

    Returns:
        The stored rows, bit for bit, where both layers hold the same numbers of the same profile, or numbers made of
        them where only the storage differs; else vectors made anew from the contents.
    """
    file = source.file
    if target is not None and not _same_space(target.file, file):
        return stack.embedder_of(target).embed([file.content(record) for record in records])
    if target is None or (target.file.element_type, target.file.scale) == (file.element_type, file.scale):
        return file.matrix[file.rows[np.array(records, np.int64)]]
    return np.stack([file.vector(record) for record in records])


def _same_space(one: LayerFile, other: LayerFile) -> bool:
    profile, its = one.profile, other.profile
    return profile is not None and its is not None and profile.space == its.space and one.dim == other.dim


def free_id(stack: LayerStack, layer: LayerName, old: LayerFile | None) -> int:
    """An id that no layer of the stack uses: the one after the largest, else the smallest.

    Args:
        stack: the layers.
        layer: the one that is being written.
        old: its file as the writer sees it.
    """
    return next(free_ids(used_ids(stack, layer, old)))


def used_ids(stack: LayerStack, layer: LayerName, old: LayerFile | None) -> npt.NDArray[np.int64]:
    """The ids that layers of the stack use, ascending, each once; the arguments are those of `free_id`."""
    taken = [view.file.ids for name, view in stack.views(stack.paths).items() if name != layer]
    if old is not None:
        taken.append(old.ids)
    return np.unique(np.concatenate([*taken, np.zeros(0, np.uint32)])).astype(np.int64)


def free_ids(used: npt.NDArray[np.int64]) -> Iterator[int]:
    """Every id that is not in use, each once: those after the largest, then the gaps, ascending.

    Args:
        used: ids, ascending, each once.

    Raises:
        InvalidArgument: there is none left.
    """
    largest = int(used[-1]) if len(used) else 0
    yield from range(largest + 1, MAX_U32 + 1)
    below = np.concatenate([np.zeros(1, np.int64), used])
    for place in np.flatnonzero(np.diff(below) > 1).tolist():
        yield from range(int(below[place]) + 1, int(below[place + 1]))
    raise InvalidArgument("Every id from 1 to 4,294,967,295 is in use; compact the layers.")


def _scope(scope: str, author: str) -> LayerName:
    allowed = WRITABLE_BY_PEOPLE if author == "human" else WRITABLE
    for layer in allowed:
        if scope == layer:
            return layer
    raise InvalidArgument(
        f"scope is {scope!r}; chunks are written to {' or '.join(allowed)}. The base layer is never changed, and the "
        "user layer is for people.",
        field="scope",
        value=scope,
        allowed=list(allowed),
    )


def _check(content: str, kind: str, sources: Sequence[Source]) -> None:
    for field, value in (("content", content), ("kind", kind)):
        if not value.strip():
            raise InvalidArgument(f"{field} is empty; give some text.", field=field, value=value)
    if is_bookkeeping(kind):
        raise InvalidArgument(f"kind {kind!r} is kept for tools; choose another.", field="kind", value=kind)
    for source in sources:
        if isinstance(source, str) and not _is_place(source):
            raise InvalidArgument(
                f"sources holds {source!r}; give a chunk's id as a number, or a place such as docs/a.md:12.",
                field="sources",
                value=source,
            )


def _check_edit(kind: str, chunk_id: int) -> None:
    if is_bookkeeping(kind):
        raise InvalidArgument(
            f"Chunk {chunk_id} is a {kind}, which is kept for tools and is never revised; write a chunk of its own.",
            field="edit",
            value=chunk_id,
            kind=kind,
        )


def _is_place(source: str) -> bool:
    file, _, lines = source.rpartition(":")
    return bool(file.strip()) and _LINES.fullmatch(lines) is not None


def now_ms(at: int | None = None) -> int:
    """Return a time in milliseconds since 1970: the argument, or now."""
    return time.time_ns() // 1_000_000 if at is None else at
