"""agents_context_propose: ask that a chunk of the delta layer go into the user layer (RFC section 11.2)."""

from __future__ import annotations

from typing import Any

from graphctx.model.layers import MAX_CHUNK_ID, AgentsContextProposeInput, ProposeAnswer
from graphctx.server.call_context import CallContext
from graphctx.server.render_layers import proposed_text
from graphctx.server.tool import Description, Reply, Tool
from graphctx.server.tools.layers.recorded import LONGEST_TIME, recorded, require_room, require_writer
from graphctx.server.tools.limits import limits_of
from graphctx.server.units import LAYER_ID


def _run(context: CallContext, asked: AgentsContextProposeInput) -> Reply[ProposeAnswer]:
    from graphctx.layer_source.chunks import when
    from graphctx.layers import propose

    require_writer(context)
    source = context.layer_source()

    def answer(number: int, created_at: str, said: dict[str, Any]) -> ProposeAnswer:
        return ProposeAnswer(
            proposal_id=number,
            context_id=asked.context_id,
            target=asked.target,
            status="pending",
            created_at=created_at,
            **said,
        )

    def text(made: ProposeAnswer) -> str:
        return proposed_text(context, made)

    require_room(context, lambda said: answer(MAX_CHUNK_ID, LONGEST_TIME, said), text)
    proposal = propose(source.stack, asked.context_id, asked.target, actor="mcp", reason=asked.reason)
    layer, chunk = source.chunk(f"{LAYER_ID}delta:{asked.context_id}")
    created_at = when(proposal.created_at_unix_ms)
    return recorded(context, lambda said: answer(proposal.id, created_at, said), text, layer, chunk)


AGENTS_CONTEXT_PROPOSE = Tool(
    name="agents_context_propose",
    toolset="layers",
    title="Propose a chunk for the user layer",
    description=Description(
        use_when="a chunk that you wrote with scope delta is right and worth keeping for good. A person or CI decides; "
        "nothing is promoted by this call.",
        not_when="the chunk is in the local layer (write it with scope delta first), or is a note of the moment.",
        returns="one proposal, recorded in the delta layer: its id and that it is pending, and which chunks "
        "contradict it, and in what. Proposing a chunk again gives the proposal that is pending.",
        follow_up="tell the person to run `graphctx layers proposals`; to see the chunk, call agents_search.",
        defaults=limits_of(AgentsContextProposeInput),
    ),
    input=AgentsContextProposeInput,
    output=ProposeAnswer,
    run=_run,
    effect="append_once",
    aliases=("agents.context.propose",),
)
