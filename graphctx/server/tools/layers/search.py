"""agents_search: chunks of the layers that bear on a query (RFC section 10.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphctx.errors import InvalidArgument
from graphctx.model.found import Listing
from graphctx.model.layers import AgentsSearchAnswer, AgentsSearchInput, FoundChunk
from graphctx.model.pages import Part, Shorten
from graphctx.server.call_context import CallContext
from graphctx.server.render_layers import chunks_text
from graphctx.server.tool import Description, Reply, Tool
from graphctx.text.graphemes import cut_end, first_end

if TYPE_CHECKING:
    from graphctx.layer_source.source import LayerSource
    from graphctx.layers import LayerAnswer


def _run(context: CallContext, asked: AgentsSearchInput) -> Reply[AgentsSearchAnswer]:
    _check_scope(asked)
    request = asked.model_copy(update={"scope": context.scope(asked.scope)})
    source = context.layer_source()
    answer = source.search(request.query, request.k, request.filters.kind, request.layers)
    listing = _listing(source, request, answer)

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

    return Reply(*context.pager.page(request, listing, build, lambda made: chunks_text(context, made), SHORTER_CONTENT))


def _check_scope(asked: AgentsSearchInput) -> None:
    """Refuse to narrow by what a chunk does not have, rather than ignore it."""
    for name in ("doc_tags", "repositories"):
        if value := getattr(asked.scope, name):
            raise InvalidArgument(
                f"scope.{name} = {value[0]!r}: it narrows documents, and chunks of layers have nothing like it. Leave "
                "it out; filters.kind and layers narrow chunks.",
                field=f"scope.{name}",
                value=value,
                allowed="left out",
            )


def _listing(source: LayerSource, request: AgentsSearchInput, answer: LayerAnswer) -> Listing[FoundChunk]:
    from graphctx.layer_source.chunks import found_chunk

    items = [
        found_chunk(hit, place, request.query, request.max_content_chars)
        for place, hit in enumerate(answer.hits, start=1)
    ]
    stamp = source.stamp(request.layers)
    if items:
        return Listing(items=items, snapshot_id="", layers=stamp)
    if request.filters.kind and source.search(request.query, 1, (), request.layers).hits:
        named = ["filters.kind"]
        return Listing(items=(), snapshot_id="", layers=stamp, empty_reason="filtered_out", filtered_by=named)
    return Listing(items=(), snapshot_id="", layers=stamp, empty_reason="no_layers")


def _shorter(chunk: FoundChunk, max_chars: int) -> FoundChunk:
    text = chunk.content[: max(first_end(chunk.content, 0), cut_end(chunk.content, 0, max_chars))]
    cut = chunk.truncated or len(text) < len(chunk.content)
    return chunk.model_copy(update={"content": text, "end_char": chunk.start_char + len(text), "truncated": cut})


SHORTER_CONTENT: Shorten[FoundChunk] = Shorten(lambda chunk: len(chunk.content), _shorter)

AGENTS_SEARCH = Tool(
    name="agents_search",
    toolset="layers",
    title="Search the layers of AGENTS.db",
    description=Description(
        use_when="you want what people and agents have written down about this repository: decisions, invariants, "
        "notes. Layers go local before user before delta before base, and base is authoritative.",
        not_when="the documents themselves hold the answer: kb.retrieve_evidence quotes them, and with options.layers "
        "the layers too.",
        returns="k chunks (10), each with layer, author, confidence and sources, and max_content_chars characters "
        "(1000) of its content; conflicts says which chunks contradict which, and in what. The response keeps to "
        "{response}, or to less by max_tokens and max_bytes.",
        follow_up="call kb.read_excerpt with a chunk's section_id, again with next_cursor if there is one, or with a "
        "larger k.",
        defaults="k 10, layers all four, max_content_chars 1000. "
        "Max: k 50, 4 layers, 20 kinds, max_content_chars 20000.",
    ),
    input=AgentsSearchInput,
    output=AgentsSearchAnswer,
    run=_run,
    aliases=("agents.search",),
)
