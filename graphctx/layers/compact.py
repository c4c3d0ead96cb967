"""Merging layers into a new base layer, and archiving what was folded into it (RFC section 15.6)."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from graphctx.errors import InvalidArgument
from graphctx.layers.effective import LayerView
from graphctx.layers.files import locked, replace_file
from graphctx.layers.merge import Merged
from graphctx.layers.names import FILES, LayerName, layer_named, rank
from graphctx.layers.reader import LayerFile
from graphctx.layers.stack import LayerStack
from graphctx.layers.tables import Tables
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
    what they are about go along, and what was live or taken back stays so.

    Args:
        stack: the layers.
        layers: to merge; the base layer is always one of them.

    Raises:
        InvalidArgument: a file breaks a rule of the format, there is nothing to merge, or a tombstone of a layer that
            is not merged would mean another chunk then.
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
    """Copy a file into the archive, synced; gives its path below the folder."""
    digest = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    place = folder / ARCHIVE / digest
    place.mkdir(parents=True, exist_ok=True)
    copy = place / file.name
    shutil.copy2(file, copy)
    for path in (copy, place, place.parent, folder):
        fsync_path(path)
    return copy.relative_to(folder).as_posix()
