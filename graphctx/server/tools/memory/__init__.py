"""The tools of memory: store, retrieve, query facts, compress, forget, look and wipe (memory design, section 4.1).

Whatever is remembered is data: it is shown as entries of a block or as fields, never among the server's own words.
"""

from graphctx.server.tool import AnyTool
from graphctx.server.tools.memory.graph_query import GRAPH_QUERY
from graphctx.server.tools.memory.retrieve import MEMORY_RETRIEVE
from graphctx.server.tools.memory.store import MEMORY_STORE
from graphctx.server.tools.memory.upkeep import MEMORY_COMPRESS, MEMORY_FORGET, MEMORY_STATUS, MEMORY_WIPE

MEMORY_TOOLS: tuple[AnyTool, ...] = (
    MEMORY_RETRIEVE,
    MEMORY_STORE,
    GRAPH_QUERY,
    MEMORY_FORGET,
    MEMORY_COMPRESS,
    MEMORY_STATUS,
    MEMORY_WIPE,
)
