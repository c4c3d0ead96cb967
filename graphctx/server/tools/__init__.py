"""The tools, one file each. `TOOLS` is the list of them, in the order in which clients are told."""

from __future__ import annotations

from graphctx.server.tool import AnyTool
from graphctx.server.tools.expand_excerpt import EXPAND_EXCERPT
from graphctx.server.tools.extract_evidence import EXTRACT_EVIDENCE
from graphctx.server.tools.read_excerpt import READ_EXCERPT
from graphctx.server.tools.retrieve_evidence import RETRIEVE_EVIDENCE
from graphctx.server.tools.search import SEARCH

TOOLS: tuple[AnyTool, ...] = (RETRIEVE_EVIDENCE, SEARCH, EXTRACT_EVIDENCE, READ_EXCERPT, EXPAND_EXCERPT)
"""The tool to reach for first comes first."""
