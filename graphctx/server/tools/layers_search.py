"""agents_search: chunks of the layers of AGENTS.db that bear on a query (RFC section 10.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from graphctx.errors import InvalidArgument
from graphctx.model.answers import ListAnswer
from graphctx.model.assemble import start_of
from graphctx.model.layers import ChunkConflict, ChunkKind, FoundChunk
from graphctx.model.pages import Part, Shorten
from graphctx.model.requests import MAX_TOP_K, LayerName, PagedInput, Question, Strict
from graphctx.model.results import Results
from graphctx.server.call_context import CallContext
from graphctx.server.render import counted, more, note_lines, one_line, quoted, sources_of
from graphctx.server.tool import Description, Reply, Tool

if TYPE_CHECKING:
    from graphctx.layer_source.source import LayerSource
    from graphctx.layers import LayerAnswer


class ChunkFilters(Strict):
    """Which chunks a search may return."""

    kind: list[ChunkKind] = Field([], max_length=20, description="Only chunks of these kinds, such as invariant.")


class AgentsSearchInput(PagedInput):
    """Arguments of agents_search."""

    query: Question = Field(description="What to look for: a question, key words, or a sentence of a chunk.")
    k: int = Field(10, ge=1, le=MAX_TOP_K, description="How many chunks in all.")
    filters: ChunkFilters = Field(default_factory=ChunkFilters, description="Which chunks, before ranking.")
    layers: list[LayerName] = Field(
        ["base", "user", "delta", "local"], max_length=4, description="Which layers to search; all by default."
    )
    max_content_chars: int = Field(
        1000, ge=40, le=20_000, description="Longest piece of a chunk's content, in characters."
    )


class AgentsSearchAnswer(ListAnswer):
    """Output of agents_search."""

    SILENT: ClassVar[frozenset[str]] = ListAnswer.SILENT | {"layers_absent", "conflicts", "more_conflicts", "notes"}

    chunks: list[FoundChunk]
    layers_searched: list[LayerName] = Field(description="By precedence.")
    layers_absent: list[LayerName] = Field([], description="Asked for, and without a file.")
    conflicts: list[ChunkConflict] = Field([], description="Where these chunks and others, of any layer, disagree.")
    more_conflicts: int | None = Field(None, ge=1, description="Further ones that are not listed.")
    notes: list[str] = Field([], description="What else to know of the layers.")


def _run(context: CallContext, asked: AgentsSearchInput) -> Reply[AgentsSearchAnswer]:
    for name in ("doc_tags", "repositories"):
        if value := getattr(asked.scope, name):
            raise InvalidArgument(
                f"scope.{name} = {value[0]!r}: it narrows documents, and chunks of layers have nothing like it. Leave "
                "it out; filters.kind and layers narrow chunks.",
                field=f"scope.{name}",
                value=value,
                allowed="left out",
            )
    request = asked.model_copy(update={"scope": context.scope(asked.scope)})
    source = context.layer_source()
    answer = source.search(request.query, request.k, request.filters.kind, request.layers)

    def build(part: Part[FoundChunk]) -> AgentsSearchAnswer:
        from graphctx.layer_source.chunks import MAX_CONFLICTS, conflict_of, conflicts_among, more

        conflicts = conflicts_among(answer.conflicts, part.items)
        return AgentsSearchAnswer(
            chunks=part.items,
            layers_searched=list(answer.searched),
            layers_absent=list(answer.absent),
            conflicts=[conflict_of(conflict) for conflict in conflicts[:MAX_CONFLICTS]],
            more_conflicts=more(len(conflicts), MAX_CONFLICTS),
            notes=list(answer.notes),
            **part.fields,
        )

    found = _found(source, request, answer)
    return Reply(*context.pager.page(request, found, build, lambda made: _text(context, made), _SHORTER))


def _found(source: LayerSource, request: AgentsSearchInput, answer: LayerAnswer) -> Results[FoundChunk]:
    from graphctx.layer_source.chunks import found_chunk

    items = [
        found_chunk(hit, rank, request.query, request.max_content_chars)
        for rank, hit in enumerate(answer.hits, start=1)
    ]
    stamp = source.stamp(request.layers)
    if items:
        return Results(items=items, snapshot_id="", layers=stamp)
    if request.filters.kind and source.search(request.query, 1, (), request.layers).hits:
        named = ["filters.kind"]
        return Results(items=(), snapshot_id="", layers=stamp, empty_reason="filtered_out", filtered_by=named)
    return Results(items=(), snapshot_id="", layers=stamp, empty_reason="no_layers")


def _shorter(chunk: FoundChunk, max_chars: int) -> FoundChunk:
    text = start_of(chunk.content, max_chars)
    cut = chunk.truncated or len(text) < len(chunk.content)
    return chunk.model_copy(update={"content": text, "end_char": chunk.start_char + len(text), "truncated": cut})


_SHORTER: Shorten[FoundChunk] = Shorten(lambda chunk: len(chunk.content), _shorter)


def _text(context: CallContext, answer: AgentsSearchAnswer) -> str:
    """Return the chunks with their authors and confidence, and the conflicts between layers."""
    n = len(answer.chunks)
    where = ", ".join(answer.layers_searched) or "no layer"
    start = f"{counted(n, 'chunk') if n else 'No chunks'} from {where} of project {answer.scope.project_id}."
    if answer.layers_absent:
        start += f" Without a file: {', '.join(answer.layers_absent)}."
    if answer.empty_reason:
        if answer.filtered_by:
            return f"{start} filters.kind leaves no chunk. Widen or drop it."
        return f"{start} They hold no chunk yet; agents_context_write adds one."
    blocks = [start, *map(_chunk, answer.chunks)]
    blocks += [*conflict_lines(answer.conflicts, answer.more_conflicts), *note_lines(answer.notes)]
    blocks += more(context, answer, "agents_search")
    if any(chunk.truncated for chunk in answer.chunks):
        reading = not {"core", "kb"}.isdisjoint(context.config.toolsets) and context.config.kb_v2
        whole = "kb.read_excerpt with a chunk's section_id as passage_id" if reading else "a larger max_content_chars"
        blocks.append(context.say(f"Whole chunks: {whole}."))
    return "\n\n".join(blocks)


def _chunk(chunk: FoundChunk) -> str:
    said = f"[{chunk.rank}] {one_line(chunk.kind)} — {chunk.doc_uri}\n"
    said += f"section_id {chunk.section_id}, by {chunk.author}, confidence {chunk.confidence:.2f}"
    said += f", {chunk.created_at}" if chunk.created_at else ""
    said += f", revised {chunk.revisions - 1} times" if chunk.revisions else ""
    said += sources_of(chunk.sources, chunk.more_sources)
    if chunk.retracted_by:
        said += f"; retracted by {', '.join(f'{other.layer} {other.id}' for other in chunk.retracted_by)}"
    if chunk.truncated:
        said += f"; characters {chunk.start_char} to {chunk.end_char} of {chunk.content_chars}"
    return f"{said}\n{quoted(chunk.content)}"


def conflict_lines(conflicts: Sequence[ChunkConflict], more_conflicts: int | None) -> list[str]:
    """Return the conflicts between chunks as at most one block."""
    if not conflicts and not more_conflicts:
        return []
    if not conflicts:
        return [f"Chunks disagree with it in {more_conflicts} places that do not fit here; see agents_search."]
    lines = ["Chunks disagree. Nothing settles it but a person; the base layer is authoritative."]
    for conflict in conflicts:
        lines.append(f"- {conflict.reason}: {one_line(conflict.about)}")
        lines += [f"  {side.layer} {side.id}: {one_line(side.excerpt)}" for side in conflict.members]
        lines += [f"  and {conflict.more_members} more"] if conflict.more_members else []
    return ["\n".join([*lines, f"And {more_conflicts} more conflicts."] if more_conflicts else lines)]


AGENTS_SEARCH = Tool(
    name="agents_search",
    toolset="layers",
    title="Search the layers of AGENTS.db",
    description=Description(
        use_when="you want what people and agents have written down about this repository: decisions, invariants, "
        "notes. Layers go local before user before delta before base, and base is authoritative.",
        not_when="the documents themselves hold the answer: kb.retrieve_evidence quotes them, and with options.layers "
        "the layers too.",
        returns="k chunks ({k}), each with layer, author, confidence and sources, and max_content_chars characters "
        "({max_content_chars}) of its content; conflicts says which chunks contradict which, and in what. The "
        "response keeps to {response}, or to less by max_tokens and max_bytes.",
        follow_up="call kb.read_excerpt with a chunk's section_id, again with next_cursor if there is one, or with a "
        "larger k.",
    ),
    input=AgentsSearchInput,
    output=AgentsSearchAnswer,
    run=_run,
    aliases=("agents.search",),
)
