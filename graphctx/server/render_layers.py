"""The text of answers from layers: each chunk with its author and confidence, and the conflicts between chunks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphctx.model.layers import AgentsSearchAnswer, ChunkConflict, FoundChunk, ProposeAnswer, WriteAnswer
from graphctx.server.quoting import one_line, quoted
from graphctx.server.render import more, note_lines, sources_of

if TYPE_CHECKING:
    from graphctx.server.call_context import CallContext

_EMPTY = "They hold no chunk yet; agents_context_write adds one."
_FILTERED = "filters.kind leaves no chunk. Widen or drop it."


def chunks_text(context: CallContext, answer: AgentsSearchAnswer) -> str:
    """Return the text of a search: the chunks and the conflicts between layers."""
    n = len(answer.chunks)
    where = ", ".join(answer.layers_searched) or "no layer"
    start = f"{n or 'No'} {'chunk' if n == 1 else 'chunks'} from {where} of project {answer.scope.project_id}."
    if answer.layers_absent:
        start += f" Without a file: {', '.join(answer.layers_absent)}."
    if answer.empty_reason:
        return f"{start} {_FILTERED if answer.filtered_by else _EMPTY}"
    blocks = [start, *(_chunk(chunk) for chunk in answer.chunks)]
    blocks += [*_conflicts(answer.conflicts, answer.more_conflicts), *note_lines(answer.notes)]
    blocks += more(context, answer, "agents_search")
    if any(chunk.truncated for chunk in answer.chunks):
        reading = "kb" in context.config.toolsets and context.config.kb_v2
        whole = "kb.read_excerpt with a chunk's section_id as passage_id" if reading else "a larger max_content_chars"
        blocks.append(context.say(f"Whole chunks: {whole}."))
    return "\n\n".join(blocks)


def written_text(context: CallContext, answer: WriteAnswer) -> str:
    """Return the text of a write: the chunk, its conflicts and the next call."""
    blocks = [
        f"Written to the {answer.layer} layer as chunk {answer.id} ({one_line(answer.kind)}, by mcp, confidence "
        f"{answer.confidence:.2f}, {answer.created_at}); {answer.doc_uri}, section_id {answer.section_id}."
    ]
    blocks += [*_conflicts(answer.conflicts, answer.more_conflicts), *note_lines(answer.notes)]
    if answer.layer == "delta":
        blocks.append(f"To ask that it be kept for good: agents_context_propose with context_id={answer.id}")
    return "\n\n".join(blocks)


def proposed_text(context: CallContext, answer: ProposeAnswer) -> str:
    """Return the text of a proposal, which a person or CI decides."""
    blocks = [
        f"Chunk {answer.context_id} of the delta layer is proposed for the {answer.target} layer: proposal "
        f"{answer.proposal_id}, {answer.status} since {answer.created_at}. A person or CI decides."
    ]
    return "\n\n".join([*blocks, *_conflicts(answer.conflicts, answer.more_conflicts), *note_lines(answer.notes)])


def _chunk(chunk: FoundChunk) -> str:
    said = f"[{chunk.rank}] {one_line(chunk.kind)} — {chunk.doc_uri}\n"
    said += f"section_id {chunk.section_id}, by {chunk.author}, confidence {chunk.confidence:.2f}"
    said += f", {chunk.created_at}" if chunk.created_at else ""
    said += f", revised {chunk.revisions - 1} times" if chunk.revisions else ""
    said += sources_of(chunk.sources, chunk.more_sources)
    if chunk.retracted_by:
        said += f"; taken back by {', '.join(f'{other.layer} {other.id}' for other in chunk.retracted_by)}"
    if chunk.truncated:
        said += f"; characters {chunk.start_char} to {chunk.end_char} of {chunk.content_chars}"
    return f"{said}\n{quoted(chunk.content)}"


def _conflicts(conflicts: Sequence[ChunkConflict], more_conflicts: int | None) -> list[str]:
    if not conflicts:
        return (
            [f"Chunks disagree with it in {more_conflicts} places that do not fit here; see agents_search."]
            if more_conflicts
            else []
        )
    lines = ["Chunks disagree. Nothing settles it but a person; the base layer is authoritative."]
    for conflict in conflicts:
        lines.append(f"- {conflict.reason}: {one_line(conflict.about)}")
        lines += [f"  {side.layer} {side.id}: {one_line(side.excerpt)}" for side in conflict.members]
        lines += [f"  and {conflict.more_members} more"] if conflict.more_members else []
    return ["\n".join([*lines, f"And {more_conflicts} more conflicts."] if more_conflicts else lines)]
