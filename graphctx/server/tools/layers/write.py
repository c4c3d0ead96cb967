"""agents_context_write: keep something in the local or the delta layer (RFC section 11.1)."""

from __future__ import annotations

from typing import Any

from graphctx.model.layers import MAX_CHUNK_ID, AgentsContextWriteInput, WriteAnswer
from graphctx.server.call_context import CallContext
from graphctx.server.render_layers import written_text
from graphctx.server.tool import Description, Reply, Tool
from graphctx.server.tools.layers.recorded import FILES, LONGEST_TIME, recorded, require_room, require_writer
from graphctx.server.tools.limits import limits_of
from graphctx.server.units import LAYER_ID


def _run(context: CallContext, asked: AgentsContextWriteInput) -> Reply[WriteAnswer]:
    from graphctx.layer_source.chunks import when
    from graphctx.layers import write_context

    require_writer(context)
    stack = context.layer_source().stack

    def answer(number: int, confidence: float, created_at: str, said: dict[str, Any]) -> WriteAnswer:
        return WriteAnswer(
            layer=asked.scope,
            id=number,
            kind=asked.kind,
            author="mcp",
            confidence=confidence,
            created_at=created_at,
            content_chars=len(asked.content),
            doc_uri=f"{FILES[asked.scope]}#{number}",
            section_id=f"{LAYER_ID}{asked.scope}:{number}",
            **said,
        )

    def text(made: WriteAnswer) -> str:
        return written_text(context, made)

    require_room(context, lambda said: answer(MAX_CHUNK_ID, asked.confidence, LONGEST_TIME, said), text)
    written = write_context(
        stack,
        content=asked.content,
        kind=asked.kind,
        confidence=asked.confidence,
        scope=asked.scope,
        sources=[int(source) if source.isascii() and source.isdigit() else source for source in asked.sources],
        author="mcp",
    )
    chunk = written.chunk
    confidence, created_at = round(chunk.confidence, 6), when(chunk.created_at_unix_ms)
    return recorded(context, lambda said: answer(chunk.id, confidence, created_at, said), text, written.layer, chunk)


AGENTS_CONTEXT_WRITE = Tool(
    name="agents_context_write",
    toolset="layers",
    title="Keep something in a layer of AGENTS.db",
    description=Description(
        use_when="you have found out something about this repository that a later session should know. scope local is "
        "for notes of your own, delta for what a person should review.",
        not_when="it stands in the documents already (cite them), or belongs into base or user, which no tool writes: "
        "agents_context_propose asks for user. Nothing is ever changed or taken away; each call adds a record.",
        returns="one record: its layer and id, when it is safely on the disk, and which chunks of any layer contradict "
        "it, and in what.",
        follow_up="call agents_context_propose with the id where scope is delta, or agents_search to see what else is "
        "there.",
        defaults=limits_of(AgentsContextWriteInput),
    ),
    input=AgentsContextWriteInput,
    output=WriteAnswer,
    run=_run,
    effect="append",
    aliases=("agents.context.write",),
)
