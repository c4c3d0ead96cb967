"""Chunks as answers show them. A layer is somebody else's file, so everything that is shown of one is bounded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from graphctx.layers import FILES, Chunk, Conflict, LayerHit, LayerName
from graphctx.layers.names import rank
from graphctx.model.answers import LayerMark
from graphctx.model.layers import ChunkConflict, ChunkName, ConflictSide, FoundChunk
from graphctx.text.graphemes import cut_end, first_end, floor
from graphctx.text.spans import best_spans, split_spans

PREFIX = "layer:"
"""How the section ids of chunks start: ``layer:delta:12``."""

MAX_CONFLICTS = 10
_MAX_SOURCES, _MAX_WORD, _MAX_MEMBERS, _MAX_EXCERPT, _MAX_NAMED = 20, 200, 6, 120, 5
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SEEN = 1 << 16  # characters of a content that are looked through, as in the ranking of chunks


def section_id(layer: LayerName, chunk_id: int) -> str:
    """The id under which kb.read_excerpt knows a chunk; it leads to its newest revision."""
    return f"{PREFIX}{layer}:{chunk_id}"


def uri(layer: LayerName, chunk_id: int) -> str:
    """The layer's file and the chunk in it."""
    return f"{FILES[layer]}#{chunk_id}"


def when(created_at_unix_ms: int) -> str:
    """A time in ISO 8601; empty where nobody said, the bare number where no calendar has it."""
    if not created_at_unix_ms:
        return ""
    try:
        return (_EPOCH + timedelta(milliseconds=created_at_unix_ms)).isoformat(timespec="milliseconds")
    except OverflowError:
        return str(created_at_unix_ms)


def start_of(text: str, max_chars: int = _MAX_WORD) -> str:
    """A text, or its start and an ellipsis."""
    return text if len(text) <= max_chars else f"{text[: cut_end(text, 0, max_chars - 1)]}…"


def more(whole: int, shown: int) -> int | None:
    """Return how many are not shown, ``None`` if all are."""
    return whole - shown if whole > shown else None


def _provenance(chunk: Chunk) -> dict[str, Any]:
    """What is shown of a chunk beside its content."""
    return {
        "kind": start_of(chunk.kind),
        "author": chunk.author,
        "confidence": round(chunk.confidence, 6),
        "created_at": when(chunk.created_at_unix_ms),
        "sources": [start_of(str(source)) for source in chunk.sources[:_MAX_SOURCES]],
        "more_sources": more(len(chunk.sources), _MAX_SOURCES),
    }


def mark_of(hit: LayerHit) -> LayerMark:
    """Return what a quote says of its chunk."""
    others = {
        (m.layer, m.id): None for c in hit.conflicts for m in c.members if (m.layer, m.id) != (hit.layer, hit.chunk.id)
    }
    return LayerMark(
        name=hit.layer,
        chunk_id=hit.chunk.id,
        **_provenance(hit.chunk),
        conflicts=[uri(layer, number) for layer, number in list(others)[:_MAX_NAMED]],
    )


def found_chunk(hit: LayerHit, place: int, query: str, max_chars: int) -> FoundChunk:
    """A hit of agents_search."""
    chunk, piece = hit.chunk, piece_of(query, hit.chunk.content, max_chars)
    retracted = [ChunkName(layer=layer, id=number) for layer, number in hit.retracted_by]
    return FoundChunk(
        rank=place,
        layer=hit.layer,
        id=chunk.id,
        **_provenance(chunk),
        content=piece.text,
        start_char=piece.start_char,
        end_char=piece.end_char,
        content_chars=len(chunk.content),
        truncated=piece.length < len(chunk.content),
        doc_uri=uri(hit.layer, chunk.id),
        section_id=section_id(hit.layer, chunk.id),
        score=hit.score,
        similarity=hit.similarity,
        revisions=hit.revisions if hit.revisions > 1 else None,
        retracted_by=retracted[:_MAX_NAMED],
        more_retracted_by=more(len(retracted), _MAX_NAMED),
    )


def conflict_of(conflict: Conflict) -> ChunkConflict:
    """Return a conflict with a bounded number of members, at least one of each layer in it."""
    first = {member.layer: member for member in reversed(conflict.members)}
    rest = [member for member in conflict.members if first[member.layer] is not member]
    kept = [*first.values(), *rest[: max(0, _MAX_MEMBERS - len(first))]]
    kept.sort(key=lambda member: (rank(member.layer), member.id))
    return ChunkConflict(
        reason=conflict.reason,
        about=start_of(conflict.about),
        first=conflict.first,
        canonical=conflict.canonical,
        members=[
            ConflictSide(
                layer=m.layer, id=m.id, excerpt=start_of(" ".join((m.claim or m.content)[:1000].split()), _MAX_EXCERPT)
            )
            for m in kept
        ],
        more_members=more(len(conflict.members), len(kept)),
    )


def conflicts_among(conflicts: Iterable[Conflict], chunks: Sequence[FoundChunk]) -> list[Conflict]:
    """The conflicts in which one of some chunks has a part."""
    shown = {(chunk.layer, chunk.id) for chunk in chunks}
    return [c for c in conflicts if any((member.layer, member.id) in shown for member in c.members)]


def disagreement(conflicts: Sequence[Conflict]) -> list[str]:
    """A note that there are conflicts; none where there are none."""
    if not conflicts:
        return []
    sides = dict.fromkeys(uri(member.layer, member.id) for conflict in conflicts for member in conflict.members)
    named = ", ".join(list(sides)[:_MAX_NAMED])
    return [f"Chunks disagree ({named}). Nothing settles it but a person; the base layer is authoritative."]


@dataclass(frozen=True, slots=True)
class ChunkExcerpt:
    """A span of a chunk's content."""

    start_char: int
    end_char: int
    text: str

    @property
    def length(self) -> int:
        """Characters."""
        return self.end_char - self.start_char


def best_span(query: str, content: str) -> tuple[int, int]:
    """The span of a content that bears on a query most: the query itself, else what shares most words, else the first.

    Returns:
        Start and end; both 0 for a content without text.
    """
    at = content.find(query.strip())
    shift = max(0, at - _SEEN // 2)
    seen = content[shift : shift + _SEEN]
    if at >= 0:
        return _whole(seen, shift, at, at + len(query.strip()))
    spans = best_spans(query, [seen], 1)
    if spans:
        return shift + spans[0].start_char, shift + spans[0].end_char
    return next(iter(split_spans(seen)), (0, 0))


def piece_of(query: str, content: str, max_chars: int) -> ChunkExcerpt:
    """As much of a content as this many characters hold: all of it, or from a little before its best span on."""
    if len(content) <= max_chars:
        return ChunkExcerpt(0, len(content), content)
    start, end = best_span(query, content)
    spare = max(0, max_chars - (end - start))
    first = floor(content, max(0, min(start - spare // 3, len(content) - max_chars)))
    last = max(first_end(content, first), cut_end(content, first, first + max_chars))
    return ChunkExcerpt(first, last, content[first:last])


def _whole(seen: str, shift: int, start: int, end: int) -> tuple[int, int]:
    """The spans that a query's place touches, whole."""
    touched = [(s + shift, e + shift) for s, e in split_spans(seen) if s + shift < end and e + shift > start]
    return (touched[0][0], touched[-1][1]) if touched else (start, end)
