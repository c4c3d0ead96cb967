"""What the two tools that write share: who may, and an answer that is known to fit before anything is written."""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from graphctx.errors import BudgetExceeded, ScopeViolation
from graphctx.model.answers import Answer
from graphctx.model.budgets import Weight, weigh
from graphctx.server.call_context import CallContext
from graphctx.server.tool import Reply

if TYPE_CHECKING:
    from graphctx.layers import Chunk, Conflict, LayerName

Out = TypeVar("Out", bound=Answer)

Build = Callable[[dict[str, Any]], Out]
"""Makes the answer of what all such answers say."""

_UNKNOWN = Weight(60, 60)
"""What ids, a time and the number of conflicts may weigh beyond those that stand for them: a token a digit."""

_MAX_TOLD = 5

LONGEST_TIME = "9999-12-31T23:59:59.999+00:00"

FILES: dict[Literal["local", "delta"], str] = {"local": "AGENTS.local.db", "delta": "AGENTS.delta.db"}
"""Of the layers that a tool may append to; as `graphctx.layers.FILES`, which a list of tools does not load."""


def require_writer(context: CallContext) -> None:
    """Let nobody write where the settings forbid it, and nobody whom nobody knows.

    A process over pipes belongs to whoever started it. Over HTTP it takes the owner of a bearer token, or an operator
    who says that something in front authenticates.

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
    if config.transport == "http" and not context.principal and not config.anonymous_writes:
        raise ScopeViolation(
            "Writing into layers over HTTP needs a bearer token, and this call has none. Searching needs none; ask the "
            "operator for a token ([server] tokens, --token-file), or to start the server with --allow-anonymous where "
            "a proxy authenticates.",
            field="authorization",
            value="nothing",
            allowed="the bearer token of a known owner",
        )


def require_room(context: CallContext, build: Build[Out], render: Callable[[Out], str]) -> None:
    """See that the answer to a write will fit, before it is made: a caller must not be told of a failure after it.

    Args:
        context: where the call is served.
        build: makes the answer, with the longest values that it may have.
        render: makes its text.

    Raises:
        BudgetExceeded: the server's limits are too small for it.
    """
    made, weight = _weighed(context, build, render, _said(context, (), (), 0), _UNKNOWN)
    if made is None:
        limits = context.config.limits
        raise BudgetExceeded(
            f"The answer to this needs {weight.tokens} tokens and {weight.bytes} bytes, and the server allows "
            f"{limits.max_tokens} and {limits.max_bytes}; nothing was written. Raise [server] max_tokens and "
            "max_bytes.",
            needed_tokens=weight.tokens,
            needed_bytes=weight.bytes,
            max_tokens=limits.max_tokens,
            max_bytes=limits.max_bytes,
        )


def recorded(
    context: CallContext, build: Build[Out], render: Callable[[Out], str], layer: LayerName, chunk: Chunk
) -> Reply[Out]:
    """The answer to a write that is safely on the disk, with as many of the chunk's conflicts as fit.

    Nobody gives up on this any more: who wrote is to learn that it is written.
    """
    conflicts, notes = contextvars.Context().run(context.layer_source().conflicts_of, layer, chunk)
    for kept in range(min(len(conflicts), _MAX_TOLD), -1, -1):
        reply, _ = _weighed(context, build, render, _said(context, conflicts, notes, kept))
        if reply is not None:
            return reply
    reply, _ = _weighed(context, build, render, _said(context, conflicts, (), 0), fits=True)
    assert reply is not None
    return reply


def _said(context: CallContext, conflicts: Sequence[Conflict], notes: Sequence[str], kept: int) -> dict[str, Any]:
    from graphctx.layer_source.chunks import conflict_of, more

    return {
        "conflicts": [conflict_of(conflict) for conflict in conflicts[:kept]],
        "more_conflicts": more(len(conflicts), kept),
        "notes": list(notes),
        "session_id": context.session_id,
    }


def _weighed(
    context: CallContext,
    build: Build[Out],
    render: Callable[[Out], str],
    said: dict[str, Any],
    beside: Weight | None = None,
    *,
    fits: bool = False,
) -> tuple[Reply[Out] | None, Weight]:
    """The answer, or ``None`` where it is too heavy, unless it is known to fit; and what it weighs."""
    limits = context.config.limits
    draft = build(said | {"budget": limits.placeholder()})
    weight = (
        weigh(context.sent(render(draft), draft.model_dump_json()), context.count)
        + limits.reserve
        + (beside or Weight(0, 0))
    )
    if not fits and limits.exceeded_by(weight) is not None:
        return None, weight
    answer = build(said | {"budget": limits.report(weight)})
    return Reply(answer, render(answer)), weight
