"""The tools, and the toolsets in which they are offered.

A file holds what one tool or a few of one kind consist of: the models that no other package uses, handler, text and
declaration. A line in `TOOLSETS` offers a tool.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

from graphctx.errors import InvalidArgument
from graphctx.server.config import CONTRACT, Toolset
from graphctx.server.tool import AnyTool
from graphctx.server.tools import graph
from graphctx.server.tools.communities import COMMUNITIES
from graphctx.server.tools.compat import COMPAT_TOOLS
from graphctx.server.tools.connector import FETCH_FOR_CONNECTORS, SEARCH_FOR_CONNECTORS
from graphctx.server.tools.context import CONTEXT_TOOLS
from graphctx.server.tools.evidence import EXTRACT_EVIDENCE, RETRIEVE_EVIDENCE
from graphctx.server.tools.excerpts import EXPAND_EXCERPT, READ_EXCERPT
from graphctx.server.tools.global_search import GLOBAL_SEARCH
from graphctx.server.tools.iteration import ITERATION_TOOLS
from graphctx.server.tools.layers_search import AGENTS_SEARCH
from graphctx.server.tools.layers_write import AGENTS_CONTEXT_PROPOSE, AGENTS_CONTEXT_WRITE
from graphctx.server.tools.memory import MEMORY_TOOLS
from graphctx.server.tools.search import SEARCH

TOOLSETS: dict[Toolset, tuple[AnyTool, ...]] = {
    "kb": (RETRIEVE_EVIDENCE, SEARCH, GLOBAL_SEARCH, EXTRACT_EVIDENCE, READ_EXCERPT, EXPAND_EXCERPT),
    "graph": (
        graph.DESCRIBE,
        graph.EXPAND,
        graph.PATHS,
        graph.PARENTS,
        graph.CHILDREN,
        graph.ENTITIES_FOR_SECTIONS,
        graph.SECTIONS_FOR_ENTITIES,
        COMMUNITIES,
    ),
    "compat": COMPAT_TOOLS,
    "connector": (SEARCH_FOR_CONNECTORS, FETCH_FOR_CONNECTORS),
    "layers": (AGENTS_SEARCH, AGENTS_CONTEXT_WRITE, AGENTS_CONTEXT_PROPOSE),
    "memory": MEMORY_TOOLS,
    "iteration": ITERATION_TOOLS,
    "context": CONTEXT_TOOLS,
}
"""The tools of each toolset; the tool to reach for first comes first."""

TOOLS: tuple[AnyTool, ...] = tuple(tool for tools in TOOLSETS.values() for tool in tools)
"""Every tool, in the order in which they are listed."""

CORE: tuple[AnyTool, ...] = (RETRIEVE_EVIDENCE, SEARCH, GLOBAL_SEARCH, READ_EXCERPT, graph.EXPAND, COMMUNITIES)
"""The tools of ``core``: with them a model reaches whatever the others show."""

DEFAULT_TOOLSETS: tuple[Toolset, ...] = ("core",)


def offered_tools(toolsets: Iterable[str] = DEFAULT_TOOLSETS, kb_v2: bool = True) -> tuple[AnyTool, ...]:
    """Return the tools that a server lists, in the order of `TOOLSETS` whatever the order of ``toolsets``.

    Args:
        toolsets: their names; duplicates are ignored.
        kb_v2: if false, only the older names of ``compat`` are offered, whatever ``toolsets`` says (tool contract,
            section 10).

    Raises:
        InvalidArgument: a toolset is not known, or there is none.
    """
    wanted = list(toolsets)
    known = get_args(Toolset)
    for name in wanted or [""]:
        if name not in known:
            raise InvalidArgument(
                f"toolsets = {name!r}: there is no such toolset; known: {', '.join(known)}.",
                field="toolsets",
                value=name,
                allowed=list(known),
            )
    if not kb_v2:
        return TOOLSETS["compat"]
    core = CORE if "core" in wanted else ()
    return tuple(tool for toolset, tools in TOOLSETS.items() for tool in tools if toolset in wanted or tool in core)


def accepted(toolsets: Iterable[str] = DEFAULT_TOOLSETS, kb_v2: bool = True) -> tuple[AnyTool, ...]:
    """Return the tools that can be called: those that are listed, and with ``core`` all of the tool contract.

    Prompts and clients that know a tool by name keep working (tool contract, section 3.1), and no model pays for it.
    """
    wanted = set(toolsets)
    return offered_tools(wanted | set(CONTRACT) if "core" in wanted else wanted, kb_v2)
