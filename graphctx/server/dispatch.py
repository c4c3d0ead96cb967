"""Dispatch: from a request of the protocol to the code that answers it, and from exceptions to errors of the protocol.

A worker thread parses a tool call, finds its session, pins the published snapshot and runs the handler, within a time
limit. The SDK's low-level server validates nothing and shows uncaught exceptions to clients of the handshake era, so
arguments are checked and every failure becomes a typed error here.
"""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from graphctx.errors import GraphctxError, InternalError
from graphctx.model.arguments import parse_arguments
from graphctx.model.cursors import Cursors
from graphctx.nlp.tokens import encodable
from graphctx.server.call_context import CallContext
from graphctx.server.config import MEMORY_TOOLSETS, ServerConfig
from graphctx.server.listing import hidden_fields
from graphctx.server.names import ToolNaming
from graphctx.server.process import log_call
from graphctx.server.schemas import Schema, tool_schema
from graphctx.server.scratch import ScratchStore
from graphctx.server.sessions import Caller, Sessions, client_name, ignored_session
from graphctx.server.tool import AnyTool
from graphctx.server.tools import TOOLS, accepted, offered_tools
from graphctx.server.warmup import Warmup
from graphctx.server.workers import CallProgress, Report, Workers

log = logging.getLogger(__name__)

Context = ServerRequestContext[Any, Any]
Result = TypeVar("Result")


class Dispatcher:
    """The tools that a server offers, and what its requests share.

    Raises:
        InvalidArgument: the settings name an unknown toolset.
    """

    def __init__(
        self, warmup: Warmup, config: ServerConfig, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self.config = config
        self.clock = clock
        self.warmup = warmup
        self.tools = offered_tools(config.toolsets, config.kb_v2)
        self.naming = ToolNaming.of((tool.name for tool in TOOLS), config.tool_names)
        self.sessions = Sessions(config.scratch_ttl)
        self.scratch = ScratchStore(config.scratch_bytes, config.scratch_ttl)
        self.workers = Workers(config.workers, config.call_timeout)
        self._by_name = {name: tool for tool in accepted(config.toolsets, config.kb_v2) for name in tool.names}

    def input_schema(self, name: str) -> Schema | None:
        """Return the schema of a tool's arguments, or ``None`` for an unknown name."""
        tool = self._by_name.get(name)
        return None if tool is None else tool_schema(tool.input, "input")

    def changes_memory(self, name: str) -> bool:
        """Return whether a tool, by any of its names, changes the memory."""
        tool = self._by_name.get(name)
        return tool is not None and tool.toolset in MEMORY_TOOLSETS and tool.effect != "none"

    def changes_something(self, name: str) -> bool:
        """Return whether a tool, by any of its names, leaves something behind or deletes something."""
        tool = self._by_name.get(name)
        return tool is not None and tool.effect != "none"

    async def call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Answer ``tools/call``. A failure of the tool is a result that holds the error envelope.

        Raises:
            MCPError: there is no such tool.
        """
        caller, arguments, report = self.sessions.caller(ctx), params.arguments or {}, ctx.session.report_progress
        try:
            return await self.call(params.name, arguments, caller, report, client_name(ctx))
        except GraphctxError as failure:
            # Clients hold structured content against the tool's output schema even where the result is an error, so
            # the envelope is text alone.
            return _text_result(_minified(error_envelope(failure, self.naming)), is_error=True)

    async def call(
        self,
        name: str,
        arguments: dict[str, Any],
        caller: Caller,
        report: Report | None = None,
        client: str | None = None,
    ) -> types.CallToolResult:
        """Run a tool in a worker thread, and log the call.

        Raises:
            MCPError: there is no such tool.
            GraphctxError: the tool failed.
        """
        tool = self._by_name.get(name)
        with log_call(tool.name if tool else name, caller.principal, client) as record:
            if tool is None:
                record.outcome = "UNKNOWN_TOOL"
                known = ", ".join(self.naming.name(tool.name) for tool in self.tools)
                raise MCPError(code=INVALID_PARAMS, message=f"Unknown tool: {name[:100]}. Known: {known}")

            def work(progress: CallProgress) -> tuple[types.CallToolResult, int | None]:
                return self._call(tool, arguments, caller, progress)

            try:
                result, record.tokens = await self.workers.run(work, report, tool.timeout_seconds)
            except Exception as error:
                failure = typed_error(error, self.naming.name(tool.name))
                record.outcome = failure.code
                raise failure from None
            record.outcome = "ok"
            return result

    async def run(self, ctx: Context, method: str, work: Callable[[], Result]) -> Result:
        """Run the blocking work of any other request in a worker thread.

        Args:
            ctx: the request's context.
            method: the protocol's name of the request, such as ``resources/read``.
            work: what to run.

        Raises:
            MCPError: the work failed; its data is the error envelope.
        """

        def watched(progress: CallProgress) -> Result:
            progress.message = f"working on {method}"
            return work()

        try:
            return await self.workers.run(watched, ctx.session.report_progress)
        except Exception as error:
            failure = typed_error(error, method)
            envelope = error_envelope(failure, self.naming)
            code = INVALID_PARAMS if failure.code in ("INVALID_ARGUMENT", "SCOPE_VIOLATION") else INTERNAL_ERROR
            raise MCPError(code=code, message=envelope["error"]["message"], data=envelope) from None

    def _call(
        self, tool: AnyTool, arguments: dict[str, Any], caller: Caller, progress: CallProgress
    ) -> tuple[types.CallToolResult, int | None]:
        """Parse, bind and run one tool call in a worker thread; return its result and the tokens of its answer."""
        request = parse_arguments(tool.input, arguments, hidden_fields(tool, self.config))
        session_id = self.sessions.resolve(caller, request)
        if tool.toolset in MEMORY_TOOLSETS:  # a session of memory outlives its connection, and the caller names it
            session_id = getattr(request, "session_id", None) or session_id
        progress.message = "opening the knowledge base"
        kb = self.warmup.get()
        searcher = kb.searcher()
        progress.message = f"working on {self.naming.name(tool.name)}"
        context = CallContext(
            searcher,
            kb.count,
            self.scratch,
            session_id,
            self.config,
            self.naming,
            Cursors(self.config.cursor_key.encode("utf-8") or kb.cursor_key),
            layers=kb.layers,
            principal=caller.principal,
            session_note=ignored_session(request, session_id),
            slim=self.config.slim(tool.toolset),
            memory=kb.memory,
            now=self.clock(),
            ingest=kb.ingest,
            say_progress=partial(setattr, progress, "message"),
        )
        reply = tool.run(context, request)
        budget = getattr(reply.answer, "budget", None)  # the answers of connectors have none
        structure = reply.answer.model_dump(mode="json", context=context.form)
        if self.config.structured_output:
            result = _text_result(reply.text, structure)
        else:
            result = _text_result(_minified(structure))
        return result, budget.tokens if budget else None


def typed_error(error: Exception, what: str) -> GraphctxError:
    """Return graphctx errors unchanged; log others and wrap them as `InternalError`.

    An unknown exception's message may hold paths or text of documents. So the client sees none of it, and the log
    shows its type and where it was raised; its message only at level ``debug``.

    Args:
        error: the exception.
        what: the name of the tool or of the protocol's method that failed.
    """
    if isinstance(error, GraphctxError):
        return error
    frames = reversed(traceback.extract_tb(error.__traceback__))
    places = " < ".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames)
    log.error("internal error in %s: %s at %s", what, type(error).__qualname__, places)
    log.debug("the internal error in %s", what, exc_info=error)
    return InternalError(f"Internal error in {what}; see the server log.")


def error_envelope(error: GraphctxError, naming: ToolNaming) -> dict[str, Any]:
    """Return the envelope of an error as JSON values, with the tools named as the server lists them."""
    # A file's name or its content may hold half of a surrogate pair, which no message can carry.
    text = json.dumps(naming.error(error).envelope(), ensure_ascii=False, default=str)
    plain: dict[str, Any] = json.loads(encodable(text))
    return plain


def _minified(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _text_result(text: str, structure: dict[str, Any] | None = None, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=structure, is_error=is_error)
