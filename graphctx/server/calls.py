"""One tool call, from its arguments to its result: checked on the way in, bounded in time, validated on the way out."""

from __future__ import annotations

import json
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from graphctx.model.arguments import parse_arguments
from graphctx.model.cursors import Cursors
from graphctx.server.call_context import CallContext
from graphctx.server.config import ServerConfig
from graphctx.server.failures import failed_call, told
from graphctx.server.names import Spelling
from graphctx.server.record import recorded
from graphctx.server.schemas import Schema, tool_schema
from graphctx.server.scratch import ScratchStore
from graphctx.server.sessions import Caller, Sessions, client_name, ignored_session
from graphctx.server.tool import AnyTool
from graphctx.server.tools import TOOLS, serve
from graphctx.server.warmup import Warmup
from graphctx.server.workers import Job, Workers, telling


class Calls:
    """The tools that a server offers, and what their calls share."""

    def __init__(
        self, warmup: Warmup, config: ServerConfig, scratch: ScratchStore, sessions: Sessions, workers: Workers
    ) -> None:
        self.tools = serve(config.toolsets, config.kb_v2)
        self.spelling = Spelling.of((tool.name for tool in TOOLS), config.tool_names)
        self._warmup = warmup
        self._config = config
        self._scratch = scratch
        self._sessions = sessions
        self._workers = workers
        self._by_name = {name: tool for tool in self.tools for name in tool.names}
        self._input_schemas: dict[str, Schema] = {}

    def input_schema(self, name: str) -> Schema | None:
        """The schema of a tool's arguments; ``None`` for an unknown name."""
        tool = self._by_name.get(name)
        if tool is not None and name not in self._input_schemas:
            self._input_schemas[name] = tool_schema(tool.input, "input")
        return self._input_schemas.get(name)

    async def answer(
        self, ctx: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Answer a call. A failure of the tool is a result.

        Raises:
            MCPError: there is no such tool here.
        """
        tool = self._by_name.get(params.name)
        if tool is None:
            with recorded(params.name, self._sessions.caller(ctx).principal, client_name(ctx)) as record:
                record.outcome = "UNKNOWN_TOOL"
            known = ", ".join(self.spelling.name(tool.name) for tool in self.tools)
            raise MCPError(code=INVALID_PARAMS, message=f"Unknown tool: {params.name[:100]}. Known: {known}")
        caller, arguments, job = self._sessions.caller(ctx), params.arguments or {}, Job()
        with recorded(tool.name, caller.principal, client_name(ctx)) as record:
            async with telling(ctx, job):
                try:
                    result = await self._workers.run(lambda job: self._run(tool, arguments, caller, job), job)
                    record.outcome, record.tokens = "ok", job.tokens
                except Exception as error:
                    failure = told(error, self.spelling.name(tool.name))
                    record.outcome = failure.code
                    result = failed_call(failure, self.spelling)
        return result

    def _run(self, tool: AnyTool, arguments: dict[str, Any], caller: Caller, job: Job) -> types.CallToolResult:
        """Serve one call; runs in a worker thread."""
        request = parse_arguments(tool.input, arguments)
        session_id = self._sessions.of(caller, request)
        job.doing = "opening the knowledge base"
        engine = self._warmup.get()
        searcher = engine.searcher()
        job.doing = f"working on {self.spelling.name(tool.name)}"
        context = CallContext(
            searcher,
            engine.count,
            self._scratch,
            session_id,
            self._config,
            self.spelling,
            Cursors(self._config.cursor_key.encode("utf-8") or engine.cursor_key),
            layers=engine.layers,
            principal=caller.principal,
            session_note=ignored_session(request, session_id),
        )
        reply = tool.run(context, request)
        budget = getattr(reply.answer, "budget", None)  # the form of connectors has no place for one
        job.tokens = budget.tokens if budget else None
        structure = reply.answer.model_dump(mode="json")
        tool.output.model_validate(structure)
        if self._config.structured_output:
            return _result(reply.text, structure)
        return _result(json.dumps(structure, ensure_ascii=False, separators=(",", ":")), None)


def _result(text: str, structure: dict[str, Any] | None) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=structure, is_error=False)
