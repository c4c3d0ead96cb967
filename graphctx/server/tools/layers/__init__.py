"""The tools of the layers of AGENTS.db, one file each (RFC sections 10 and 11).

Offered where a folder of layers is given. Their names have underscores, as the RFC writes them; the dotted ones are
aliases. No tool touches the base or the user layer.
"""

from __future__ import annotations

from graphctx.server.tool import AnyTool
from graphctx.server.tools.layers.propose import AGENTS_CONTEXT_PROPOSE
from graphctx.server.tools.layers.search import AGENTS_SEARCH
from graphctx.server.tools.layers.write import AGENTS_CONTEXT_WRITE

__all__ = ["AGENTS_CONTEXT_PROPOSE", "AGENTS_CONTEXT_WRITE", "AGENTS_SEARCH", "LAYER_TOOLS"]

LAYER_TOOLS: tuple[AnyTool, ...] = (AGENTS_SEARCH, AGENTS_CONTEXT_WRITE, AGENTS_CONTEXT_PROPOSE)
"""To find, to keep, to ask that it be kept for good."""
