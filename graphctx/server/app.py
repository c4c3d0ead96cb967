"""The MCP server: protocol methods on one side, tools and scratch on the other.

The SDK's low-level server validates nothing and shows uncaught exceptions to old clients, so every request is
validated here, every failure becomes the error envelope, and every answer is validated before it leaves.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server import Server
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from graphctx.errors import GraphctxError, InternalError, TimedOut
from graphctx.model.arguments import parse_arguments
from graphctx.model.cursors import Cursors
from graphctx.server import resources
from graphctx.server.config import ServerConfig
from graphctx.server.desk import Desk
from graphctx.server.names import NameStyle, name_style, restyle, styled
from graphctx.server.schemas import tool_schema
from graphctx.server.scratch import ScratchStore
from graphctx.server.sessions import Sessions, client_name
from graphctx.server.tool import AnyTool
from graphctx.server.tools import TOOLS
from graphctx.server.warmup import Warmup

log = logging.getLogger(__name__)

Context = ServerRequestContext[Any, Any]
Done = TypeVar("Done")

LIST_TTL_MS = 3_600_000
"""Lists of tools and templates change only with the installed version."""

INSTRUCTIONS = (
    "Answers from a knowledge base of documents, as exact quotes with citations. Start with "
    "kb.retrieve_evidence: it returns the sentences that bear on a question. kb.search lists passages with "
    "previews; kb.extract_evidence quotes from passages that you choose; kb.read_excerpt and "
    "kb.expand_excerpt read on. Quotes are word for word; cite them by title and URI. An empty answer says "
    "why in empty_reason. Every answer is bounded: when partial is true, repeat the call with next_cursor."
)


class GraphctxServer:
    """The handlers of one server and what they share."""

    def __init__(self, warmup: Warmup, config: ServerConfig) -> None:
        self.config = config
        self.scratch = ScratchStore(config.scratch_bytes, config.scratch_ttl)
        self.sessions = Sessions()
        self._warmup = warmup
        self._tools = {styled(tool.name, style): tool for tool in TOOLS for style in ("dotted", "underscore")}
        self._cursors = Cursors()
        self._workers = anyio.CapacityLimiter(config.workers)
        self._lists: dict[NameStyle, list[types.Tool]] = {}

    async def list_tools(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """Answer ``tools/list``: always the same list in the same order."""
        style = name_style(self.config, client_name(ctx))
        if style not in self._lists:
            self._lists[style] = [_listed(tool, style) for tool in TOOLS]
        return types.ListToolsResult(tools=self._lists[style])

    async def call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Answer ``tools/call``. A failure of the tool is a result; an unknown tool is a protocol error."""
        tool = self._tools.get(params.name)
        if tool is None:
            known = ", ".join(tool.name for tool in TOOLS)
            raise MCPError(code=INVALID_PARAMS, message=f"Unknown tool: {params.name[:100]}. Known: {known}")
        style = name_style(self.config, client_name(ctx))
        session_id = self.sessions.of(ctx)
        try:
            return await self._in_time(lambda: self._run(tool, params.arguments or {}, session_id, style))
        except GraphctxError as error:
            return _failed(error, style)
        except Exception:
            log.exception("%s failed", tool.name)
            return _failed(InternalError(f"{tool.name} failed inside; the server's log says how."), style)

    async def list_resources(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """Answer ``resources/list`` with the passages that the caller's own session holds."""
        own = self.scratch.passages(self.sessions.of(ctx)) if self.sessions.is_exclusive(ctx) else []
        return types.ListResourcesResult(resources=[resources.listed(passage) for passage in own])

    async def list_templates(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """Answer ``resources/templates/list``."""
        return types.ListResourceTemplatesResult(resource_templates=[resources.template()])

    async def read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """Answer ``resources/read``. What cannot be read is a protocol error that carries the envelope."""
        try:
            contents = resources.read(self.scratch, self.sessions.of(ctx), params.uri)
        except GraphctxError as error:
            style = name_style(self.config, client_name(ctx))
            message = restyle(error.message, style)
            raise MCPError(code=INVALID_PARAMS, message=message, data=error.envelope()) from error
        return types.ReadResourceResult(contents=[contents])

    def _run(self, tool: AnyTool, arguments: dict[str, Any], session_id: str, style: NameStyle) -> types.CallToolResult:
        """Serve one call; runs in a worker thread."""
        request = parse_arguments(tool.input, arguments)
        engine = self._warmup.get()
        desk = Desk(engine.source.pinned(), engine.count, self.scratch, session_id, self.config, style, self._cursors)
        reply = tool.run(desk, request)
        structure = reply.answer.model_dump(mode="json")
        tool.output.model_validate(structure)
        return types.CallToolResult(
            content=[types.TextContent(text=reply.text)], structured_content=structure, is_error=False
        )

    async def _in_time(self, work: Callable[[], Done]) -> Done:
        """Run blocking work in a thread, and give up on it after the configured time."""
        with anyio.move_on_after(self.config.call_timeout):
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._workers)
        raise TimedOut(
            f"The call took longer than {self.config.call_timeout:g} seconds and was given up. Ask for less "
            "(a smaller top_k, mode vector_only), or raise the server's call timeout.",
            timeout_seconds=self.config.call_timeout,
        )


def _listed(tool: AnyTool, style: NameStyle) -> types.Tool:
    return types.Tool(
        name=styled(tool.name, style),
        title=tool.title,
        description=restyle(tool.description.text(), style),
        input_schema=tool_schema(tool.input, "input"),
        output_schema=tool_schema(tool.output, "output"),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.hints["readOnlyHint"],
            destructive_hint=tool.hints["destructiveHint"],
            idempotent_hint=tool.hints["idempotentHint"],
            open_world_hint=tool.hints["openWorldHint"],
        ),
    )


def _failed(error: GraphctxError, style: NameStyle) -> types.CallToolResult:
    """The error envelope, whole in both places: many clients show the model only the text of a failure."""
    envelope = error.envelope()
    envelope["error"]["message"] = restyle(error.message, style)
    text = json.dumps(envelope, ensure_ascii=False, separators=(",", ":"), default=str)
    return types.CallToolResult(
        content=[types.TextContent(text=text)], structured_content=json.loads(text), is_error=True
    )


def _version() -> str:
    try:
        return version("graphctx")
    except PackageNotFoundError:  # run from a source tree that is not installed
        return "0"


def build_server(warmup: Warmup, config: ServerConfig | None = None) -> Server[Any]:
    """Make the MCP server over a knowledge base.

    Args:
        warmup: opens the knowledge base; the caller starts it.
        config: the server's settings.
    """
    config = config or ServerConfig()
    handlers = GraphctxServer(warmup, config)
    style: NameStyle = "underscore" if config.tool_names == "underscore" else "dotted"
    lists = CacheHint(ttl_ms=LIST_TTL_MS, scope="public" if config.transport == "http" else "private")
    return Server(
        "graphctx",
        version=_version(),
        title="graphctx",
        instructions=restyle(INSTRUCTIONS, style),
        cache_hints={"tools/list": lists, "resources/templates/list": lists},
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
    )
