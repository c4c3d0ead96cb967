"""Merging layers into a new base layer, and archiving what was folded into it (RFC section 15.6)."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from graphctx.errors import InvalidArgument
from graphctx.layers.chunk import Chunk
from graphctx.layers.effective import LayerView
from graphctx.layers.files import locked, replace_file
from graphctx.layers.format import MAX_U32
from graphctx.layers.names import FILES, LayerName, layer_named, rank
from graphctx.layers.reader import LayerFile
from graphctx.layers.stack import LayerStack
from graphctx.layers.tables import LayerContent, Tables, quantised
from graphctx.layers.vectors import vectors_for
from graphctx.store.files import fsync_path

ARCHIVE = "agents-archive"


@dataclass(frozen=True, slots=True)
class Compacted:
    """What a compaction did.

    Attributes:
        chunks: in the new base layer.
        folded: chunks that came from each layer above the base, those that the base had already not counted.
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
    layer alike, which the next compaction folds into one. Nothing that was taken back is left out: tombstones and
    what they are about go along.

    Args:
        stack: the layers.
        layers: to merge; the base layer is always one of them.

    Raises:
        InvalidArgument: a file breaks a rule of the format, or there is nothing to merge.
        BackendUnavailable: the disk refuses, or another writer does not end.
    """
    named: set[LayerName] = {layer_named(name) for name in (*layers, "base")}
    wanted = sorted(named, key=rank, reverse=True)
    with ExitStack() as held:
        targets = {name: held.enter_context(locked(stack.written_path(name))) for name in wanted}
        views = {name: LayerView(name, LayerFile.open(t)) for name, t in targets.items() if t.exists()}
        if not views:
            raise InvalidArgument(f"There is no {' and no '.join(FILES[name] for name in wanted)} to compact.")
        merged = _Merged(stack, next(iter(views.values())))
        for view in views.values():
            merged.add(view)
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


class _Merged:
    """Chunks of several layers under ids that do not collide, in the first layer's storage."""

    def __init__(self, stack: LayerStack, first: LayerView) -> None:
        self._stack, self._first = stack, first
        self._chunks: dict[int, Chunk] = {}
        self._used = {chunk_id for view in stack.views(stack.paths).values() for chunk_id in view.records}
        self._held: dict[tuple[str, str], int] = {}
        self._matrices: list[npt.NDArray[Any]] = []
        self.folded: dict[LayerName, int] = {}
        self.renumbered: list[tuple[LayerName, int, int]] = []

    def add(self, view: LayerView) -> None:
        """Add a layer's newest records that are not there yet, by kind and content."""
        new_ids: dict[int, int] = {}
        fresh: list[int] = []
        for record in sorted(view.records.values()):
            chunk_id, kind, content = int(view.file.ids[record]), view.file.kind(record), view.file.content(record)
            known = self._held.get((kind, content)) if view is not self._first else None
            if known is not None:
                new_ids[chunk_id] = known
                continue
            new_ids[chunk_id] = chunk_id if chunk_id not in self._chunks else self._free()
            self._chunks[new_ids[chunk_id]] = view.file.chunk(record)
            if chunk_id not in view.retractions:  # a live copy must not fold into one that was taken back
                self._held.setdefault((kind, content), new_ids[chunk_id])
            fresh.append(record)
        for record in fresh:
            chunk = view.file.chunk(record)
            sources = tuple(new_ids.get(s, s) if isinstance(s, int) else s for s in chunk.sources)
            self._chunks[new_ids[chunk.id]] = replace(chunk, id=new_ids[chunk.id], sources=sources)
            if new_ids[chunk.id] != chunk.id:
                self.renumbered.append((view.name, chunk.id, new_ids[chunk.id]))
        if fresh:
            target = None if view is self._first else self._first
            self._matrices.append(vectors_for(self._stack, target, view, fresh))
        self.folded[view.name] = len(fresh)

    def content(self) -> LayerContent:
        """The new base layer."""
        layout = self._first.file.layout
        rows = [m if m.dtype == layout.matrix.dtype else quantised(m, layout.scale) for m in self._matrices]
        matrix = np.concatenate([np.empty((0, layout.dim), layout.matrix.dtype), *rows])
        return LayerContent(tuple(self._chunks.values()), matrix, layout.scale, layout.metadata_blob, layout.minor)

    def _free(self) -> int:
        """An id that no chunk has, of whichever layer: another layer's would look like a conflict."""
        used = self._used | self._chunks.keys()
        largest = max(used)
        if largest < MAX_U32:
            return largest + 1
        return next(number for number in range(1, MAX_U32) if number not in used)


def _archive(folder: Path, file: Path) -> str:
    """Copy a file into the archive, synced; gives its path below the folder."""
    digest = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    place = folder / ARCHIVE / digest
    place.mkdir(parents=True, exist_ok=True)
    copy = place / file.name
    shutil.copy2(file, copy)
    for path in (copy, place, place.parent, folder):
        fsync_path(path)
    return copy.relative_to(folder).as_posix()
