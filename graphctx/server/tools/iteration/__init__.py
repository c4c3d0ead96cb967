"""The tools of iterations: what an orchestrator was told, did and learned before (iteration design, MCP tools)."""

from graphctx.server.tool import AnyTool
from graphctx.server.tools.iteration.health import HEALTH_CHECK
from graphctx.server.tools.iteration.history import GET_ITERATION_HISTORY
from graphctx.server.tools.iteration.mark_useful import MARK_USEFUL
from graphctx.server.tools.iteration.prune import PRUNE_LOW_VALUE_CONTEXT
from graphctx.server.tools.iteration.relevant_context import GET_RELEVANT_CONTEXT
from graphctx.server.tools.iteration.skills import GET_SKILLS
from graphctx.server.tools.iteration.stats import GET_CONTEXT_STATS
from graphctx.server.tools.iteration.store_context import STORE_CONTEXT
from graphctx.server.tools.iteration.store_result import STORE_ITERATION_RESULT
from graphctx.server.tools.iteration.summarize import SUMMARIZE_OLD_CONTEXT

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
