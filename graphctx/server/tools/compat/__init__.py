"""The older names of the tools: the same handlers behind the arguments and defaults of before.

`COMPAT_TOOLS` is the list of them. They are offered where the toolset ``compat`` is asked for, and alone where the
flag ``kb_v2`` is off.
"""

from __future__ import annotations

from graphctx.server.tool import AnyTool
from graphctx.server.tools.compat.graph import COMPAT_GRAPH_TOOLS
from graphctx.server.tools.compat.search_sections import SEARCH_SECTIONS
from graphctx.server.tools.compat.section_text import GET_SECTION_TEXT

COMPAT_TOOLS: tuple[AnyTool, ...] = (SEARCH_SECTIONS, GET_SECTION_TEXT, *COMPAT_GRAPH_TOOLS)
