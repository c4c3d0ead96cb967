"""The tools, one file each, and the toolsets in which they are offered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

from graphctx.errors import InvalidArgument
from graphctx.server.config import Toolset
from graphctx.server.tool import AnyTool
from graphctx.server.tools.compat import COMPAT_TOOLS
from graphctx.server.tools.connector import CONNECTOR_TOOLS
from graphctx.server.tools.expand_excerpt import EXPAND_EXCERPT
from graphctx.server.tools.extract_evidence import EXTRACT_EVIDENCE
from graphctx.server.tools.global_search import GLOBAL_SEARCH
from graphctx.server.tools.graph import GRAPH_TOOLS
from graphctx.server.tools.layers import LAYER_TOOLS
from graphctx.server.tools.read_excerpt import READ_EXCERPT
from graphctx.server.tools.retrieve_evidence import RETRIEVE_EVIDENCE
from graphctx.server.tools.search import SEARCH

TOOLSETS: dict[Toolset, tuple[AnyTool, ...]] = {
    "kb": (RETRIEVE_EVIDENCE, SEARCH, GLOBAL_SEARCH, EXTRACT_EVIDENCE, READ_EXCERPT, EXPAND_EXCERPT),
    "graph": GRAPH_TOOLS,
    "compat": COMPAT_TOOLS,
    "connector": CONNECTOR_TOOLS,
    "layers": LAYER_TOOLS,
}
"""The tools of each toolset; the tool to reach for first comes first."""

TOOLS: tuple[AnyTool, ...] = tuple(tool for tools in TOOLSETS.values() for tool in tools)
"""Every tool, in the order in which clients are told."""

DEFAULT_TOOLSETS: tuple[Toolset, ...] = ("kb", "graph")


def serve(toolsets: Iterable[str] = DEFAULT_TOOLSETS, kb_v2: bool = True) -> tuple[AnyTool, ...]:
    """The tools that a server offers, in the order of `TOOLS` whatever the order of ``toolsets``.

    Args:
        toolsets: their names; a name may stand twice.
        kb_v2: without it, only the older names of ``compat`` are offered, whatever ``toolsets`` says (tool
            contract, section 10).

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
    return tuple(tool for tool in TOOLS if tool.toolset in wanted)
