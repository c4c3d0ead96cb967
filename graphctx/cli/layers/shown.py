"""Chunks as a person reads them, and as JSON."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from graphctx.text.printable import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

    from graphctx.layers import Chunk, Conflict, LayerName, Source

_TITLE_CHARS = 72
_LINES = 120  # of a content that is shown for approval; inspect shows all


def title_of(content: str) -> str:
    """What a chunk is called in a list."""
    from graphctx.layers.chunk import first_line

    return one_line(first_line(content, _TITLE_CHARS))


def counted(number: int, noun: str) -> str:
    """A number of things in words."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def moment(unix_ms: int) -> str:
    """A time as ISO 8601, to the second; empty for 0, and the number itself where no calendar has it."""
    if not unix_ms:
        return ""
    try:
        return datetime.fromtimestamp(unix_ms / 1000, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return str(unix_ms)


def source_text(source: Source) -> str:
    """A source in words."""
    return f"chunk {source}" if isinstance(source, int) else one_line(source)


def chunk_json(chunk: Chunk, *, content: bool = True) -> dict[str, Any]:
    """A chunk with its fields as the format names them; with its first line in place of its content where asked."""
    told = {
        "id": chunk.id,
        "kind": chunk.kind,
        "author": chunk.author,
        "confidence": round(chunk.confidence, 6),
        "created_at_unix_ms": chunk.created_at_unix_ms,
        "sources": list(chunk.sources),
    }
    return told | ({"content": chunk.content} if content else {"title": title_of(chunk.content)})


def conflict_json(conflict: Conflict) -> dict[str, Any]:
    """A conflict: what about, which layer goes first, which is authoritative, and the sides."""
    return {
        "reason": conflict.reason,
        "about": conflict.about,
        "first": conflict.first,
        "canonical": conflict.canonical,
        "members": [
            {"layer": m.layer, "id": m.id, "excerpt": title_of(m.claim or m.content)} for m in conflict.members
        ],
    }


def conflict_text(conflict: Conflict) -> str:
    """A conflict in a line."""
    sides = ", ".join(f"{member.layer} {member.id}" for member in conflict.members)
    canonical = f"; {conflict.canonical} is canonical" if conflict.first != conflict.canonical else ""
    return f"{sides} disagree ({conflict.reason}: {one_line(conflict.about)}){canonical}"


def retractions_json(retracted_by: Iterable[tuple[LayerName, int]]) -> list[dict[str, Any]]:
    """Tombstones that take a chunk back."""
    return [{"layer": layer, "id": chunk_id} for layer, chunk_id in retracted_by]


def remarks(revisions: int, retracted_by: Sequence[tuple[LayerName, int]]) -> str:
    """What happened to a chunk, in a few words."""
    said = [f"edited {revisions - 1}×"] if revisions > 1 else []
    said += [f"taken back by {layer} {chunk_id}" for layer, chunk_id in retracted_by]
    return ", ".join(said)


def show_chunk(console: Console, layer: str, chunk: Chunk, *, note: str = "", lines: int | None = None) -> None:
    """Print a chunk in a block.

    Args:
        console: where.
        layer: its layer, or its file.
        chunk: it.
        note: said after its provenance.
        lines: at most so many lines of its content; all by default.
    """
    from rich.text import Text

    from graphctx.cli.show import span_lines

    console.print(
        Text(f"{layer} {chunk.id} ", style="bold cyan").append(one_line(chunk.kind), style="bold"), soft_wrap=True
    )
    shown = span_lines(console, chunk.content)
    for line in shown[:lines]:
        console.print(Text("    ").append("│ ", style="cyan").append(line), soft_wrap=True)
    if lines is not None and len(shown) > lines:
        rest = counted(len(shown) - lines, "more line")
        console.print(f"    and {rest} (graphctx layers inspect --id {chunk.id})", style="dim", soft_wrap=True)
    parts = [one_line(chunk.author), f"confidence {chunk.confidence:.2f}", moment(chunk.created_at_unix_ms)]
    parts += [", ".join(map(source_text, chunk.sources)) or "no sources", note]
    console.print(Text("    ").append(" · ".join(part for part in parts if part), style="dim"), soft_wrap=True)
    console.print()


def show_for_approval(console: Console, layer: str, chunk: Chunk, note: str = "") -> None:
    """Print a chunk that somebody is asked to approve."""
    show_chunk(console, layer, chunk, note=note, lines=_LINES)
