"""Merging layers into a new base layer, and archiving what was folded into it (RFC section 15.6).

What is live stays live, and what was retracted stays retracted. So chunks of one kind and content fold into one only
where both are live or both were retracted, and a tombstone names, afterwards, just the chunks that it retracted
before. Chunks that refer to other chunks fold only where they refer to the same ones.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from graphctx.errors import InvalidArgument
from graphctx.layers.chunk import TOMBSTONE, Chunk, Source
from graphctx.layers.effective import LayerView
from graphctx.layers.files import locked, replace_file
from graphctx.layers.names import FILES, LayerName, layer_named, rank
from graphctx.layers.reader import LayerFile
from graphctx.layers.search import retractors
from graphctx.layers.stack import LayerStack
from graphctx.layers.tables import LayerContent, Tables, quantised
from graphctx.layers.write import free_ids, vectors_for
from graphctx.store.files import fsync_path

ARCHIVE = "agents-archive"


@dataclass(frozen=True, slots=True)
class Compacted:
    """What a compaction did.

    Attributes:
        chunks: in the new base layer.
        folded: chunks that came from each layer above the base, excluding those already in the base.
        dropped_revisions: older records of edited chunks, which only the archive has now.
        renumbered: (layer, id there, id in the new base) of chunks whose id was another chunk's.
        archived: the archived files, relative to the base layer's folder.
    """

    chunks: int
    folded: dict[LayerName, int]
    dropped_revisions: int
    renumbered: tuple[tuple[LayerName, int, int], ...]
    archived: tuple[str, ...]


def compact(stack: LayerStack, layers: Sequence[str] = ("base", "user")) -> Compacted:
    """Make a new base layer of the newest records of several layers.

    The old files are copied to ``agents-archive/<start of the sha256>/`` and synced before anything changes; then the
    new base takes the place of the old one, and the folded layers go. A crash in between leaves chunks in base and
    layer alike, which the next compaction folds into one. Nothing that was retracted is left out: tombstones and
    what they are about go along, and what was live or retracted stays so.

    Args:
        stack: the layers.
        layers: to merge; the base layer is always one of them.

    Raises:
        InvalidArgument: a file breaks a rule of the format, there is nothing to merge, or a tombstone of a layer that
            is not merged would then refer to a different chunk, or one of a merged layer no longer reach its own.
        BackendUnavailable: the disk refuses, or another writer does not end.
    """
    named: set[LayerName] = {layer_named(name) for name in (*layers, "base")}
    wanted = sorted(named, key=rank, reverse=True)
    with ExitStack() as held:
        targets = {name: held.enter_context(locked(stack.written_path(name))) for name in wanted}
        views = {name: LayerView(name, LayerFile.open(t)) for name, t in targets.items() if t.exists()}
        if not views:
            raise InvalidArgument(f"There is no {' and no '.join(FILES[name] for name in wanted)} to compact.")
        merged = Merged(stack, views)
        content = merged.content()
        tables = Tables.empty(content)
        tables.add(content.chunks, content.matrix)
        folder = targets["base"].parent
        archived = tuple(_archive(folder, targets[name]) for name in views)
        replace_file(targets["base"], tables.pieces())
        for name in views:
            if name != "base":
                targets[name].unlink()
        fsync_path(folder)
    folded: dict[LayerName, int] = {name: number for name, number in merged.folded.items() if name != "base"}
    dropped = sum(len(view.file) - len(view.records) for view in views.values())
    return Compacted(len(content.chunks), folded, dropped, tuple(merged.renumbered), archived)


def _archive(folder: Path, file: Path) -> str:
    """Copy a file into the archive, synced; return its path below the folder."""
    digest = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    place = folder / ARCHIVE / digest
    place.mkdir(parents=True, exist_ok=True)
    copy = place / file.name
    shutil.copy2(file, copy)
    for path in (copy, place, place.parent, folder):
        fsync_path(path)
    return copy.relative_to(folder).as_posix()


class Merged:
    """The newest records of several layers under ids that do not collide, in the first layer's storage.

    Attributes:
        folded: how many chunks came from each layer, those that a layer before it had already not counted.
        renumbered: (layer, id there, id here) of chunks whose id was another chunk's.

    Args:
        stack: the layers, those that are not merged too: their ids are not given to other chunks.
        views: the layers to merge, from the base layer up.

    Raises:
        InvalidArgument: what a layer that is not merged retracts would change.
    """

    def __init__(self, stack: LayerStack, views: Mapping[LayerName, LayerView]) -> None:
        self._stack, self._views = stack, views
        everything = [*stack.views(stack.paths).values(), *views.values()]
        named = [np.array(list(view.retractions), np.int64) for view in everything]
        used = np.concatenate([*(view.file.ids for view in everything), *named]).astype(np.int64)
        self._free = free_ids(np.unique(used))
        self._owner: dict[int, LayerName] = {}
        for name, view in views.items():
            for chunk_id in view.records:
                self._owner.setdefault(chunk_id, name)
        self._ids: dict[LayerName, dict[int, int]] = {name: {} for name in views}
        self._held: dict[Hashable, int] = {}
        self._fresh: dict[LayerName, list[int]] = {name: [] for name in views}
        for bookkeeping in (False, True):  # what others refer to comes first
            for view in views.values():
                for record in sorted(view.records.values()):
                    if bool(view.bookkeeping[record]) is bookkeeping:
                        self._place(view, record)
        _require_same_outside(stack, views, self._ids)
        self.folded = {name: len(records) for name, records in self._fresh.items()}
        self.renumbered = [
            (name, chunk_id, self._ids[name][chunk_id])
            for name, view in views.items()
            for chunk_id in (int(view.file.ids[record]) for record in sorted(self._fresh[name]))
            if self._ids[name][chunk_id] != chunk_id
        ]

    def content(self) -> LayerContent:
        """The merged layer: the records of each layer in their order."""
        first = next(iter(self._views.values()))
        layout, chunks, rows = first.file.layout, [], []
        for name, view in self._views.items():
            records = sorted(self._fresh[name])
            for record in records:
                chunk = view.file.chunk(record)
                sources, _ = self._sources(view, chunk)
                chunks.append(replace(chunk, id=self._ids[name][chunk.id], sources=sources))
            if records:
                rows.append(vectors_for(self._stack, None if view is first else first, view, records))
        stored = [m if m.dtype == layout.matrix.dtype else quantised(m, layout.scale) for m in rows]
        matrix: npt.NDArray[Any] = np.concatenate([np.empty((0, layout.dim), layout.matrix.dtype), *stored])
        return LayerContent(tuple(chunks), matrix, layout.scale, layout.metadata_blob, layout.minor)

    def _place(self, view: LayerView, record: int) -> None:
        """Fold a record into one that is there, or give it an id."""
        chunk_id, ids = int(view.file.ids[record]), self._ids[view.name]
        key = self._key(view, record)
        if view.name in tuple(self._views)[1:] and key in self._held:
            ids[chunk_id] = self._held[key]
            return
        keeps = self._owner[chunk_id] == view.name and not self._is_named_from_below(view, chunk_id)
        ids[chunk_id] = chunk_id if keeps else next(self._free)
        if key is not None:
            self._held.setdefault(key, ids[chunk_id])
        self._fresh[view.name].append(record)

    def _is_named_from_below(self, view: LayerView, chunk_id: int) -> bool:
        """Whether a tombstone of a lower layer names an id that it does not retract, and would in the base layer.

        It is still there if a compaction stops before the folded layers are removed.
        """
        lower = (other for other in self._views.values() if rank(view.name) < rank(other.name))
        return any(chunk_id in other.retractions_below and chunk_id not in other.records for other in lower)

    def _key(self, view: LayerView, record: int) -> Hashable:
        """What records that may fold into one have in common; ``None`` for one that may not."""
        kind, content = view.file.kind(record), view.file.content(record)
        if not view.bookkeeping[record]:
            return kind, content, bool(retractors(self._views, view, record))
        sources, settled = self._sources(view, view.file.chunk(record))
        return (kind, content, view.file.author(record), sources) if settled else None

    def _sources(self, view: LayerView, chunk: Chunk) -> tuple[tuple[Source, ...], bool]:
        """A chunk's sources by the new ids, and whether these are all known yet."""
        made: list[Source] = []
        settled = True
        for source in chunk.sources:
            places = self._places(view, chunk, source) if isinstance(source, int) else []
            settled = settled and all(number in self._ids[name] for name, number in places)
            made += [self._ids[name].get(number, number) for name, number in places] or [source]
            if chunk.kind == TOMBSTONE and not places and source in self._owner:
                made.pop()  # it did not take that chunk back, and is not to do so now
        return tuple(dict.fromkeys(made) if chunk.kind == TOMBSTONE else made), settled

    def _places(self, view: LayerView, chunk: Chunk, source: int) -> list[tuple[LayerName, int]]:
        """The chunks of merged layers, by their old ids, that a chunk refers to with an id."""
        if source in view.records:
            return [(view.name, source)]
        if chunk.kind != TOMBSTONE or source not in view.retractions_below or chunk.author != "human":
            return []
        lower = (other for other in self._views.values() if rank(view.name) < rank(other.name))
        return [(other.name, source) for other in lower if source in other.records]


def _require_same_outside(
    stack: LayerStack, views: Mapping[LayerName, LayerView], ids: Mapping[LayerName, Mapping[int, int]]
) -> None:
    """Check that tombstones retract the same chunks as before across the border of what is merged.

    Raises:
        InvalidArgument: one would retract another chunk, or a chunk no more.
    """
    for outer in stack.views(name for name in stack.paths if name not in views).values():
        for name, view in views.items():
            lost = (view.retractions_below.keys() - view.records.keys()) & outer.records.keys()
            if lost and rank(name) < rank(outer.name):
                chunk_id = min(lost)
                raise InvalidArgument(
                    f"{FILES[name]} holds a tombstone for id {chunk_id} of {FILES[outer.name]}, which would not be "
                    f"retracted from the base layer. Compact the {outer.name} layer too.",
                    file=FILES[name],
                    layer=outer.name,
                    id=chunk_id,
                )
        named = outer.retractions_below.keys() - outer.records.keys()
        for name, chunk_id in _touched(named, ids):
            acts = chunk_id in named and rank(outer.name) < rank(name)
            if acts != (ids[name][chunk_id] in named):
                raise InvalidArgument(
                    f"{FILES[outer.name]} holds a tombstone for id {chunk_id}, which would mean another chunk than "
                    f"before once {FILES[name]} is part of the base layer. Compact the {outer.name} layer too.",
                    file=FILES[outer.name],
                    layer=outer.name,
                    id=chunk_id,
                )


def _touched(named: set[int], ids: Mapping[LayerName, Mapping[int, int]]) -> Iterable[tuple[LayerName, int]]:
    """The merged chunks, by layer and old id, one of whose ids is among some."""
    if not named:
        return []
    return [(name, old) for name, by_old in ids.items() for old, now in by_old.items() if old in named or now in named]
