"""agents_context_write and agents_context_propose: keep a chunk, and ask that it be kept for good (RFC section 11).

No tool writes into the base or the user layer, and none changes or deletes a record.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import BeforeValidator, Field

from graphctx.errors import BudgetExceeded, ScopeViolation
from graphctx.model.answers import LOCAL_SESSION, Answer, Budget
from graphctx.model.budgets import Weight
from graphctx.model.layers import ChunkConflict, ChunkKind
from graphctx.model.requests import Label, Strict
from graphctx.server.call_context import CallContext
from graphctx.server.fitting import answer_weight, first_fitting
from graphctx.server.render import note_lines, one_line
from graphctx.server.tool import Description, Reply, Tool
from graphctx.server.tools.layers_search import conflict_lines

if TYPE_CHECKING:
    from graphctx.layers import Chunk, LayerName

MAX_CONTENT_CHARS = 100_000
"""A chunk is a piece of context, not a document: what is longer than 25,000 tokens belongs into a file."""
MAX_CHUNK_ID = 2**32 - 1
_LONGEST_TIME = "9999-12-31T23:59:59.999+00:00"
_UNKNOWN = Weight(60, 60)
"""What ids, a time and the number of conflicts may weigh beyond their placeholders: a token a digit."""
_MAX_CONFLICTS = 5


def _as_text(value: Any) -> Any:
    """Return the number of a chunk as text: JSON may have it as a number."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


ChunkSource = Annotated[
    str,
    Field(
        min_length=1,
        max_length=500,
        pattern=r"^([0-9]+|.*\S.*:[0-9]+(-[0-9]+)?)$",
        description="The id of a chunk, such as 12, or a place as file:line, such as docs/a.md:12 or docs/a.md:12-20.",
    ),
    BeforeValidator(_as_text),
]


class AgentsContextWriteInput(Strict):
    """Arguments of agents_context_write."""

    content: str = Field(
        min_length=1, max_length=MAX_CONTENT_CHARS, pattern=r"\S", description="What to keep, in words."
    )
    kind: ChunkKind = Field(description="What sort of context it is, such as derived-summary or invariant.")
    confidence: float = Field(ge=0, le=1, description="How sure you are that it is right.")
    scope: Literal["local", "delta"] = Field(
        description="local for notes of your own, delta for what a person should review."
    )
    sources: list[ChunkSource] = Field(
        [], max_length=50, description="Where it comes from: places such as docs/a.md:12, and ids of chunks."
    )
    session_id: Label | None = Field(
        None, description="Of an earlier answer, for its passage ids; a section_id needs none."
    )


class AgentsContextProposeInput(Strict):
    """Arguments of agents_context_propose."""

    context_id: int = Field(ge=1, le=MAX_CHUNK_ID, description="The id of a chunk of the delta layer.")
    target: Literal["user"] = Field("user", description="Where it should go: to the user layer.")
    reason: str = Field("", max_length=500, description="Why it is worth keeping, for whoever decides.")
    session_id: Label | None = Field(
        None, description="Of an earlier answer, for its passage ids; a section_id needs none."
    )


class RecordAnswer(Answer):
    """What the answers about a record that is on the disk have in common."""

    SILENT: ClassVar[frozenset[str]] = frozenset({"conflicts", "more_conflicts", "notes"})

    conflicts: list[ChunkConflict] = Field([], description="Where the chunk and others, of any layer, disagree.")
    more_conflicts: int | None = Field(None, ge=1, description="Further ones that are not listed.")
    notes: list[str] = Field([], description="What else to know.")
    session_id: str = LOCAL_SESSION
    budget: Budget


class WriteAnswer(RecordAnswer):
    """Output of agents_context_write."""

    layer: Literal["local", "delta"]
    id: int = Field(ge=1, description="Of the chunk, for agents_context_propose where the layer is delta.")
    kind: str
    author: Literal["mcp"]
    confidence: float = Field(ge=0, le=1, description="As 32 bits hold it.")
    created_at: str
    content_chars: int = Field(ge=1)
    doc_uri: str = Field(description="The layer's file and the chunk in it.")
    section_id: str = Field(description="Handle for kb.read_excerpt.")


class ProposeAnswer(RecordAnswer):
    """Output of agents_context_propose."""

    proposal_id: int = Field(ge=1, description="The chunk of the delta layer that records it.")
    context_id: int = Field(ge=1)
    target: Literal["user"]
    status: Literal["pending"] = Field(description="A person or CI decides.")
    created_at: str


Out = TypeVar("Out", bound=RecordAnswer)
Build = Callable[[dict[str, Any]], Out]
"""Makes an answer from the fields of `RecordAnswer`."""


def _write(context: CallContext, asked: AgentsContextWriteInput) -> Reply[WriteAnswer]:
    from graphctx.layer_source.chunks import section_id, uri, when
    from graphctx.layers import write_context

    _require_writer(context)
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
            doc_uri=uri(asked.scope, number),
            section_id=section_id(asked.scope, number),
            **said,
        )

    _require_room(context, lambda said: answer(MAX_CHUNK_ID, asked.confidence, _LONGEST_TIME, said), _written)
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
    build = lambda said: answer(chunk.id, confidence, created_at, said)  # noqa: E731
    return _recorded(context, build, _written, written.layer, chunk)


def _propose(context: CallContext, asked: AgentsContextProposeInput) -> Reply[ProposeAnswer]:
    from graphctx.layer_source.chunks import section_id, when
    from graphctx.layers import propose

    _require_writer(context)
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

    _require_room(context, lambda said: answer(MAX_CHUNK_ID, _LONGEST_TIME, said), _proposed)
    proposal = propose(source.stack, asked.context_id, asked.target, actor="mcp", reason=asked.reason)
    layer, chunk = source.chunk(section_id("delta", asked.context_id))
    created_at = when(proposal.created_at_unix_ms)
    return _recorded(context, lambda said: answer(proposal.id, created_at, said), _proposed, layer, chunk)


def _require_writer(context: CallContext) -> None:
    """Let callers write only if the settings allow it and `CallContext.require_writer` does.

    Raises:
        ScopeViolation: this caller may not write.
    """
    config = context.config
    if not config.layers_writable:
        raise ScopeViolation(
            "These layers are for reading here ([layers] writable is off). Search them with agents_search.",
            field="scope",
            value="a write",
            allowed="reading",
            setting="layers.writable",
        )
    context.require_writer("layers")


def _require_room(context: CallContext, build: Build[Out], render: Callable[[Out], str]) -> None:
    """Check that the answer to a write will fit before anything is written: a failure after it would mislead.

    Raises:
        BudgetExceeded: the server's limits are too small for it.
    """
    limits = context.config.limits
    weight = answer_weight(context, build(_said(context) | {"budget": limits.placeholder()}), render) + _UNKNOWN
    if limits.exceeded_by(weight) is not None:
        raise BudgetExceeded(
            f"The answer to this needs {weight.tokens} tokens and {weight.bytes} bytes, and the server allows "
            f"{limits.max_tokens} and {limits.max_bytes}; nothing was written. Raise [server] max_tokens and "
            "max_bytes.",
            needed_tokens=weight.tokens,
            needed_bytes=weight.bytes,
            max_tokens=limits.max_tokens,
            max_bytes=limits.max_bytes,
        )


def _recorded(
    context: CallContext, build: Build[Out], render: Callable[[Out], str], layer: LayerName, chunk: Chunk
) -> Reply[Out]:
    """Answer a write that is on the disk, with as many of the chunk's conflicts as fit.

    It runs outside the call's context, so that a cancellation cannot stop it: the caller must learn of the write.
    """
    from graphctx.layer_source.chunks import conflict_of, more

    conflicts, notes = contextvars.Context().run(context.layer_source().conflicts_of, layer, chunk)
    # Last, without notes too: `_require_room` has found that this fits.
    tries = [(kept, list(notes)) for kept in range(min(len(conflicts), _MAX_CONFLICTS), -1, -1)] + [(0, [])]

    def listing(kept: int, shown: list[str], budget: Budget) -> Out:
        said = {
            "conflicts": [conflict_of(conflict) for conflict in conflicts[:kept]],
            "more_conflicts": more(len(conflicts), kept),
            "notes": shown,
        }
        return build(_said(context) | said | {"budget": budget})

    return first_fitting(context, [partial(listing, kept, shown) for kept, shown in tries], render)


def _said(context: CallContext) -> dict[str, Any]:
    return {"session_id": context.session_id}


def _written(answer: WriteAnswer) -> str:
    blocks = [
        f"Written to the {answer.layer} layer as chunk {answer.id} ({one_line(answer.kind)}, by mcp, confidence "
        f"{answer.confidence:.2f}, {answer.created_at}); {answer.doc_uri}, section_id {answer.section_id}."
    ]
    blocks += [*conflict_lines(answer.conflicts, answer.more_conflicts), *note_lines(answer.notes)]
    if answer.layer == "delta":
        blocks.append(f"To ask that it be kept for good: agents_context_propose with context_id={answer.id}")
    return "\n\n".join(blocks)


def _proposed(answer: ProposeAnswer) -> str:
    start = (
        f"Chunk {answer.context_id} of the delta layer is proposed for the {answer.target} layer: proposal "
        f"{answer.proposal_id}, {answer.status} since {answer.created_at}. A person or CI decides."
    )
    conflicts = conflict_lines(answer.conflicts, answer.more_conflicts)
    return "\n\n".join([start, *conflicts, *note_lines(answer.notes)])


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
    ),
    input=AgentsContextWriteInput,
    output=WriteAnswer,
    run=_write,
    effect="append",
    aliases=("agents.context.write",),
)

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
    ),
    input=AgentsContextProposeInput,
    output=ProposeAnswer,
    run=_propose,
    effect="append_once",
    aliases=("agents.context.propose",),
)
