"""What one layer says that another does not."""

from __future__ import annotations

from dataclasses import dataclass, fields

from graphctx.layers.chunk import Chunk
from graphctx.layers.effective import LayerView


@dataclass(frozen=True, slots=True)
class Change:
    """One id with two chunks, and the fields in which they differ."""

    old: Chunk
    new: Chunk
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LayerDiff:
    """From an old to a new layer, by the newest records, ascending by id.

    Attributes:
        added: ids and contents that only the new one has.
        removed: ids and contents that only the old one has.
        changed: ids that both have, with other fields.
        moved: the same kind and content under two ids, as (old id, new id): what a promotion makes.
        same: how many chunks are alike in every field.
    """

    added: tuple[Chunk, ...]
    removed: tuple[Chunk, ...]
    changed: tuple[Change, ...]
    moved: tuple[tuple[int, int], ...]
    same: int


def diff(old: LayerView, new: LayerView) -> LayerDiff:
    """Compare two layers. Vectors are not compared: they follow from content and profile."""
    one = {chunk_id: old.file.chunk(record) for chunk_id, record in sorted(old.records.items())}
    two = {chunk_id: new.file.chunk(record) for chunk_id, record in sorted(new.records.items())}
    changed, same = [], 0
    for chunk_id in sorted(one.keys() & two.keys()):
        names = tuple(
            field.name
            for field in fields(Chunk)
            if getattr(one[chunk_id], field.name) != getattr(two[chunk_id], field.name)
        )
        same += not names
        if names:
            changed.append(Change(one[chunk_id], two[chunk_id], names))
    gone = [chunk for chunk_id, chunk in one.items() if chunk_id not in two]
    fresh = [chunk for chunk_id, chunk in two.items() if chunk_id not in one]
    where = {(chunk.kind, chunk.content): chunk.id for chunk in reversed(list(one.values()))}
    moved = [(where[chunk.kind, chunk.content], chunk.id) for chunk in fresh if (chunk.kind, chunk.content) in where]
    old_ids, new_ids = {pair[0] for pair in moved}, {pair[1] for pair in moved}
    return LayerDiff(
        tuple(chunk for chunk in fresh if chunk.id not in new_ids),
        tuple(chunk for chunk in gone if chunk.id not in old_ids),
        tuple(changed),
        tuple(moved),
        same,
    )
