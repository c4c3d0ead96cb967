"""A snapshot as keys and vector sets of Redis 8, for programs that read contexts there.

Hashes ``concept:ID``, ``section:ID`` and ``chunk:ID`` have ``content``, ``embedding`` (little-endian float32),
``parent``, ``children`` and ``metadata`` (both JSON). The vector sets ``concept_index``, ``section_index`` and
``chunk_index`` hold the ids. The hash ``graphctx:mirror`` is written first, and its field ``complete`` is 1 once all is
there.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from graphctx.errors import InvalidArgument
from graphctx.export.options import OnProgress
from graphctx.model.ids import IdPrefix
from graphctx.model.interrupt import checkpoint
from graphctx.retrieve.global_search.points import units_of
from graphctx.retrieve.global_search.selection import themes_of_units
from graphctx.retrieve.graph.communities import CommunityIndex
from graphctx.retrieve.graph.view import GraphView
from graphctx.store.redis_client import answered, connect, place_of, vector_blob

Level = Literal["concept", "section", "chunk"]

MIRROR = "graphctx:mirror"

LINKS: dict[Level, tuple[int, int]] = {"concept": (16, 200), "section": (24, 300), "chunk": (16, 200)}
"""Links of a node (``M``) and candidates when one is added (``EF``). ``VSIM … TRUTH`` compares with every chunk."""

_PREFIXES: dict[Level, IdPrefix] = {"concept": "c", "section": "s", "chunk": "u"}

TIMEOUT_SECONDS = 30.0
_BATCH = 200

_USE = "a mirror of the snapshot"
_REMEDY = "Check the address and the server."


@dataclass(frozen=True, slots=True)
class MirroredItem:
    """A concept, a section or a chunk: what its key holds."""

    level: Level
    id: str
    content: str
    embedding: npt.NDArray[np.float32]
    parent: str
    children: list[str] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)


def write_mirror(
    view: GraphView, project_id: str, url: str, *, replace: bool, on_progress: OnProgress
) -> tuple[str, dict[str, int]]:
    """Write what a view shows into a database of Redis; ``replace`` allows to replace a mirror that is there.

    Returns:
        The address without a password, and the number of concepts, sections and chunks.

    Raises:
        InvalidArgument: there is a mirror already, or there are keys of its names that no mirror accounts for.
        BackendUnavailable: Redis cannot be used, or is older than version 8.
    """
    client: Any = connect(url, TIMEOUT_SECONDS, _USE, _REMEDY)
    try:
        return place_of(url), answered(
            url, _USE, _REMEDY, lambda: _written(client, view, project_id, place_of(url), replace, on_progress)
        )
    finally:
        client.close()


def _written(
    client: Any, view: GraphView, project_id: str, place: str, replace: bool, on_progress: OnProgress
) -> dict[str, int]:
    held = client.hgetall(MIRROR)
    if not replace and held.get(b"complete") != b"0":  # one that was interrupted is written anew
        if held:
            found = f"a mirror of {held.get(b'project_id', b'').decode()!r} already"
        elif keys := [*_indexes(client), *islice(_items(client), 1)]:
            found = f"{keys[0].decode()}, and no mirror that tells whose it is"
        else:
            found = ""
        if found:
            raise InvalidArgument(
                f"{place} holds {found}. Replace it with --force, or name another database, such as "
                "redis://localhost:6379/1.",
                field="to",
                value=place,
            )
    noted = {"project_id": project_id, "snapshot_id": view.index.snapshot.id, "embedder": view.index.embedder.name}
    client.delete(MIRROR)
    client.hset(MIRROR, mapping={**noted, "complete": 0})
    stale = chain(_indexes(client), _items(client))
    while batch := list(islice(stale, _BATCH)):
        client.unlink(*batch)
    counts = {f"{level}s": 0 for level in LINKS}
    total = len(view.index.visible_rows)
    pipe = client.pipeline(transaction=False)
    for item in mirrored(view):
        key = f"{item.level}:{item.id}"
        embedding = vector_blob(item.embedding)
        metadata = json.dumps(item.metadata, ensure_ascii=False)
        fields = {"content": item.content, "embedding": embedding, "parent": item.parent, "metadata": metadata}
        pipe.hset(key, mapping=fields | {"children": json.dumps(item.children)})
        if item.embedding.any():
            links, candidates = LINKS[item.level]
            parts = ("FP32", embedding, item.id, "NOQUANT", "EF", candidates, "SETATTR", metadata, "M", links)
            pipe.execute_command("VADD", f"{item.level}_index", *parts)
        counts[f"{item.level}s"] += 1
        if len(pipe) >= _BATCH:
            pipe.execute()
            checkpoint()
            on_progress("mirror", counts["chunks"], total, "chunks")
    pipe.execute()
    client.hset(MIRROR, mapping={**counts, "complete": 1})
    return counts


def _indexes(client: Any) -> list[bytes]:
    names = [f"{level}_index".encode() for level in LINKS]
    return [name for name in names if client.exists(name)]


def _items(client: Any) -> Iterator[bytes]:
    """Yield the keys of a mirror's items: hashes with whole ids."""
    for level, prefix in _PREFIXES.items():
        yield from client.scan_iter(f"{level}:{prefix}_{'[a-z2-7]' * 16}", count=1000, _type="hash")


def mirrored(view: GraphView) -> Iterator[MirroredItem]:
    """Yield the visible concepts, sections and chunks; an embedding is the mean of those of the units it stands for."""
    index, sections = view.index, view.tables.sections
    communities = CommunityIndex(view)
    units = index.visible_rows
    section = view.tables.units.section[units]
    themes = themes_of_units(communities, units)
    # A section is of the concept that most of its units treat of, of two the one with the lower row.
    known = themes >= 0
    (pair_section, pair_theme), counts = np.unique(
        np.stack([section[known], themes[known]]), axis=1, return_counts=True
    )
    order = np.lexsort((-pair_theme, counts, pair_section))
    concept_of = dict(zip(pair_section[order].tolist(), pair_theme[order].tolist(), strict=True))
    children: dict[int, list[str]] = defaultdict(list)
    for row, concept in sorted(concept_of.items()):
        children[concept].append(sections.id(row))
    hierarchy = communities.hierarchy
    for row in np.flatnonzero(communities.visible).tolist():
        checkpoint()
        points = communities.summary(row)
        said = [_sentence(view, point) for point in points.tolist()]
        treating = units_of(index, points) if len(points) else units[:0]
        parent = int(hierarchy.parent[row])
        yield MirroredItem(
            "concept",
            hierarchy.id(row),
            "\n".join(text for _, text in said),
            _mean(index.vectors_of(treating)),
            hierarchy.id(parent) if parent >= 0 else "",
            children[row],
            {
                "title": communities.title(row),
                "depth": int(hierarchy.level[row]),
                "entities": int(communities.n_entities[row]),
                "spans": [place for place, _ in said],
            },
        )
    first = np.searchsorted(section, np.arange(len(sections)), side="left")
    last = np.searchsorted(section, np.arange(len(sections)), side="right")
    visible = index.visible_documents
    for row in range(len(sections)):
        document = int(sections.doc[row])
        if visible is not None and not visible[document]:
            continue
        own = units[first[row] : last[row]]
        text = index.text_of(document)
        start, end = sections.value("start_char", row), sections.value("end_char", row)
        if row + 1 < len(sections) and int(sections.doc[row + 1]) == document:
            end = min(end, sections.value("start_char", row + 1))  # what is below a heading of its own is another's
        yield MirroredItem(
            "section",
            sections.id(row),
            text.text[start:end],
            _mean(index.vectors_of(own)),
            hierarchy.id(concept_of[row]) if row in concept_of else "",
            [index.unit(unit).id for unit in own.tolist()],
            {
                "doc_uri": text.uri,
                "title": text.title,
                "heading": sections.value("title", row) or "",
                "start_char": start,
                "end_char": end,
            },
        )
    for unit_row, own_section in zip(units.tolist(), section.tolist(), strict=True):
        unit = index.unit(unit_row)
        text = index.text_of(unit.doc_row)
        yield MirroredItem(
            "chunk",
            unit.id,
            text.text[unit.start_char : unit.end_char],
            index.vectors_of(np.array([unit_row]))[0],
            sections.id(own_section),
            [],
            {
                "doc_uri": text.uri,
                "title": text.title,
                "heading": unit.heading,
                "start_char": unit.start_char,
                "end_char": unit.end_char,
            },
        )


def _sentence(view: GraphView, row: int) -> tuple[dict[str, Any], str]:
    walk = view.walk
    document = view.index.text_of(view.index.unit(view.unit_of_sentence(row)).doc_row)
    start, end = int(walk.sentence_start[row]), int(walk.sentence_end[row])
    return {"doc_uri": document.uri, "start_char": start, "end_char": end}, document.text[start:end]


def _mean(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return the mean of vectors, of length 1; zeros where there are none."""
    total = np.asarray(vectors, dtype=np.float32).sum(axis=0)
    mean: npt.NDArray[np.float32] = (total / max(float(np.linalg.norm(total)), 1e-9)).astype(np.float32)
    return mean
