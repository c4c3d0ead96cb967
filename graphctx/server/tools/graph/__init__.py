"""The graph tools, one file each. `GRAPH_TOOLS` is the list of them, in the order in which clients are told."""

from __future__ import annotations

from graphctx.server.tool import AnyTool
from graphctx.server.tools.graph.children import CHILDREN
from graphctx.server.tools.graph.communities import COMMUNITIES
from graphctx.server.tools.graph.describe import DESCRIBE
from graphctx.server.tools.graph.entities_for_sections import ENTITIES_FOR_SECTIONS
from graphctx.server.tools.graph.expand import EXPAND
from graphctx.server.tools.graph.parents import PARENTS
from graphctx.server.tools.graph.paths import PATHS
from graphctx.server.tools.graph.sections_for_entities import SECTIONS_FOR_ENTITIES

__all__ = [
    "CHILDREN",
    "COMMUNITIES",
    "DESCRIBE",
    "ENTITIES_FOR_SECTIONS",
    "EXPAND",
    "GRAPH_TOOLS",
    "PARENTS",
    "PATHS",
    "SECTIONS_FOR_ENTITIES",
]

GRAPH_TOOLS: tuple[AnyTool, ...] = (
    DESCRIBE,
    EXPAND,
    PATHS,
    PARENTS,
    CHILDREN,
    ENTITIES_FOR_SECTIONS,
    SECTIONS_FOR_ENTITIES,
    COMMUNITIES,
)
"""From one node to its surroundings, then up and down the outline, between text and entities, and all from above."""
