"""How an older tool is made of a newer one: its request is translated, and the newer one's handler answers it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from graphctx.errors import GraphctxError
from graphctx.model.compat import CompatInput
from graphctx.model.requests import Strict
from graphctx.server.call_context import CallContext
from graphctx.server.names import Spelling
from graphctx.server.tool import Description, Out, Reply, Tool
from graphctx.server.tools.limits import limits_of

Older = TypeVar("Older", bound=CompatInput)
Newer = TypeVar("Newer", bound=Strict)

OLDER = Spelling(
    {
        "kb.retrieve_evidence": "search_sections",
        "kb.search": "search_sections",
        "kb.extract_evidence": "get_section_text",
        "kb.read_excerpt": "get_section_text",
        "kb.expand_excerpt": "get_section_text",
        "graph.describe": "describe_nodes",
        "graph.expand": "expand_neighbors",
        "graph.paths": "get_paths_between",
        "graph.parents": "list_parents",
        "graph.children": "list_children",
        "graph.entities_for_sections": "get_entities_for_sections",
        "graph.sections_for_entities": "get_sections_for_entities",
    }
)
"""What to call where only the older tools are known; none of them quotes, so texts are read instead."""

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

    def run(context: CallContext, request: Older) -> Reply[Out]:
        return newer.run(context, translate(request))

    return Tool(
        name=name,
        toolset="compat",
        title=f"{newer.title} (older name)",
        description=older_description(name, newer.name, model, returns),
        input=model,
        output=newer.output,
        run=in_older_names(run),
    )


def in_older_names(run: Callable[[CallContext, Older], Reply[Out]]) -> Callable[[CallContext, Older], Reply[Out]]:
    """The same handler, whose texts and errors name the tools that its callers know."""

    def said(context: CallContext, request: Older) -> Reply[Out]:
        try:
            return run(replace(context, spelling=OLDER), request)
        except GraphctxError as error:
            OLDER.error(error)
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
