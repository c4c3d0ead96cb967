"""The tools of iterations: what an orchestrator was told, did and learned before (iteration design, MCP tools)."""

from graphctx.server.tool import AnyTool
from graphctx.server.tools.iteration.recall import GET_ITERATION_HISTORY, GET_RELEVANT_CONTEXT, GET_SKILLS
from graphctx.server.tools.iteration.record import MARK_USEFUL, STORE_CONTEXT, STORE_ITERATION_RESULT
from graphctx.server.tools.iteration.upkeep import (
    GET_CONTEXT_STATS,
    HEALTH_CHECK,
    PRUNE_LOW_VALUE_CONTEXT,
    SUMMARIZE_OLD_CONTEXT,
)

ITERATION_TOOLS: tuple[AnyTool, ...] = (
    GET_RELEVANT_CONTEXT,
    STORE_ITERATION_RESULT,
    STORE_CONTEXT,
    MARK_USEFUL,
    GET_ITERATION_HISTORY,
    GET_SKILLS,
    SUMMARIZE_OLD_CONTEXT,
    PRUNE_LOW_VALUE_CONTEXT,
    GET_CONTEXT_STATS,
    HEALTH_CHECK,
)
