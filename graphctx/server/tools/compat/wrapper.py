"""How an older tool is made of a newer one: its request is translated, and the newer one's handler answers it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from graphctx.errors import GraphctxError
from graphctx.model.compat import CompatInput
from graphctx.model.requests import Strict
from graphctx.server.desk import Desk
from graphctx.server.names import restyle_message
from graphctx.server.tool import Description, Out, Reply, Tool
from graphctx.server.tools.limits import limits_of

Older = TypeVar("Older", bound=CompatInput)
Newer = TypeVar("Newer", bound=Strict)

_SHARED = frozenset({"scope", "session_id", "max_tokens", "max_bytes", "cursor"})


def shared(request: CompatInput) -> dict[str, Any]:
    """The arguments that older and newer tools have in common, for the newer one's input model."""
    return {name: getattr(request, name) for name in _SHARED}


def older(
    name: str,
    newer: Tool[Newer, Out],
    model: type[Older],
    translate: Callable[[Older], Newer],
    returns: str,
) -> Tool[Older, Out]:
    """Declare an older tool.

    Args:
        name: its name.
        newer: the tool that answers.
        model: its arguments.
        translate: makes the newer tool's request of them.
        returns: what it returns at most; the rest of its description follows from the others.
    """

    def run(desk: Desk, request: Older) -> Reply[Out]:
        return newer.run(desk, translate(request))

    return Tool(
        name=name,
        toolset="compat",
        title=f"{newer.title} (older name)",
        description=older_description(name, newer.name, model, returns),
        input=model,
        output=newer.output,
        run=in_older_names(run),
    )


def in_older_names(run: Callable[[Desk, Older], Reply[Out]]) -> Callable[[Desk, Older], Reply[Out]]:
    """The same handler, whose texts and errors name the tools that its callers know."""

    def said(desk: Desk, request: Older) -> Reply[Out]:
        try:
            return run(replace(desk, style="older"), request)
        except GraphctxError as error:
            error.message = restyle_message(error.message, "older")
            raise

    return said


def older_description(name: str, newer: str, model: type[CompatInput], returns: str) -> Description:
    """The five parts, for a tool that is there for those who know it already."""
    return Description(
        use_when=f"a prompt or a client was written for {name}, the older name of {newer}.",
        not_when=f"{newer} is offered: prefer it.",
        returns=f"{returns}. A response stays below {{response}}.",
        follow_up="repeat the call with next_cursor.",
        defaults=limits_of(model),
    )
