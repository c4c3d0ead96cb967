"""The MCP server: protocol methods on one side, tools, resources and prompts on the other.

The SDK's low-level server validates nothing and shows uncaught exceptions to old clients, so every request is
validated here, every failure becomes the error envelope, and every answer is validated before it leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, TypeVar

import mcp_types as types
from mcp.server import Server
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext

from graphctx.errors import InvalidArgument
from graphctx.model.requests import Scope
from graphctx.server import held, prompts, resources
from graphctx.server.calls import Calls
from graphctx.server.completion import complete
from graphctx.server.config import ServerConfig
from graphctx.server.failures import protocol_error, told
from graphctx.server.hierarchy import community_contents, hierarchy_contents
from graphctx.server.listing import instructions, listed
from graphctx.server.reading import (
    chunk_contents,
    document_contents,
    entity_contents,
    status_contents,
    unit_contents,
)
from graphctx.server.scratch import ScratchStore
from graphctx.server.sessions import Caller, Sessions
from graphctx.server.units import LAYER_ID, Units
from graphctx.server.warmup import Warmup
from graphctx.server.workers import Job, Workers, telling

if TYPE_CHECKING:
    from graphctx.retrieve.searcher import Searcher

Context = ServerRequestContext[Any, Any]
Done = TypeVar("Done")

LIST_TTL_MS = 3_600_000
"""Lists of tools, prompts and templates change only with the installed version and the settings."""


class GraphctxServer:
    """The handlers of one server and what they share."""

    def __init__(self, warmup: Warmup, config: ServerConfig) -> None:
        self.config = config
        self.sessions = Sessions(config.scratch_ttl)
        self.scratch = ScratchStore(config.scratch_bytes, config.scratch_ttl, owner=self.sessions.owner)
        self.workers = Workers(config.workers, config.call_timeout)
        self.calls = Calls(warmup, config, self.scratch, self.sessions, self.workers)
        self._warmup = warmup
        self._prompts = prompts.offered({tool.toolset for tool in self.calls.tools})
        self._tools: list[types.Tool] | None = None

    async def list_tools(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """Answer ``tools/list``: always the same list in the same order."""
        if self._tools is None:
            self._tools = [listed(tool, self.calls.spelling, self.config) for tool in self.calls.tools]
        return types.ListToolsResult(tools=self._tools)

    async def call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Answer ``tools/call``. A failure of the tool is a result; an unknown tool is a protocol error."""
        return await self.calls.answer(ctx, params)

    async def list_resources(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """Answer ``resources/list`` with a page of the passages that the connection's own session holds."""
        own = self.sessions.caller(ctx).session_id
        cursor = params.cursor if params else None
        return await self._guarded(ctx, "Listing the resources", partial(self._list, own, cursor))

    async def list_templates(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """Answer ``resources/templates/list``."""
        return types.ListResourceTemplatesResult(resource_templates=resources.templates())

    async def read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """Answer ``resources/read``. What cannot be read is a protocol error that carries the envelope."""
        caller = self.sessions.caller(ctx)
        contents = await self._guarded(ctx, "Reading the resource", partial(self._read, params.uri, caller))
        return types.ReadResourceResult(contents=[contents])

    async def list_prompts(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        """Answer ``prompts/list``."""
        return types.ListPromptsResult(prompts=[prompts.listed(playbook) for playbook in self._prompts])

    async def get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """Answer ``prompts/get``: a prompt with its blanks filled in, in the tool names that are listed."""

        def fill() -> types.GetPromptResult:
            return prompts.filled(prompts.find(self._prompts, params.name), params.arguments or {}, self.calls.spelling)

        return await self._guarded(ctx, "Making the prompt", fill)

    async def complete(self, ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Answer ``completion/complete``."""
        return await self._guarded(ctx, "Completing", lambda: complete(params, self._prompts, self._searcher_and_scope))

    def status(self) -> dict[str, Any]:
        """What the server holds and has done since its start."""
        searcher = self._warmup.get().searcher()
        return {
            "project_id": searcher.boundary.project_id,
            "environment": searcher.boundary.environment,
            "snapshot_id": searcher.snapshot_id,
            "transport": self.config.transport,
            "tools": [self.calls.spelling.name(tool.name) for tool in self.calls.tools],
            "calls": self.workers.counts(),
            "scratch": asdict(self.scratch.stats()),
            "handles": len(self.sessions),
        }

    def _list(self, session_id: str, cursor: str | None) -> types.ListResourcesResult:
        """List a session's passages; runs in a worker thread."""
        passages = self.scratch.passages(session_id) if session_id else []
        if not passages and cursor is None:
            return types.ListResourcesResult(resources=[])  # and opens nothing for that
        return held.page(passages, cursor, *self._units_and_scope())

    def _read(self, uri: str, caller: Caller) -> types.TextResourceContents:
        """Read a resource; runs in a worker thread."""
        named = resources.address(uri)
        if named.kind == "scratch":
            session_id, passage_id = named.parts
            self.sessions.require(caller, session_id, uri)
            passage = self.scratch.get(session_id, passage_id, "uri")
            return unit_contents(uri, held.current(passage, *self._units_and_scope()).unit)
        if named.kind == "section":
            units, scope = self._units_and_scope()
            return unit_contents(uri, units.within(named.parts[0], scope, "uri"))
        if named.kind == "status":
            return status_contents(uri, self.status())
        if named.kind == "document" and named.parts[0].startswith(LAYER_ID):
            try:
                return chunk_contents(uri, self._units_and_scope()[0].unit(named.parts[0]))
            except InvalidArgument:
                raise resources.unknown("document", named.parts[0]) from None
        searcher, scope = self._searcher_and_scope()
        if named.kind == "document":
            return document_contents(uri, named.parts[0], searcher, scope)
        if named.kind == "community":
            return community_contents(uri, named.parts[0], searcher, scope, self.calls.spelling)
        if named.kind == "hierarchy":
            return hierarchy_contents(uri, named.parts[0], searcher, scope, self.calls.spelling)
        return entity_contents(uri, named.parts[0], searcher, scope)

    def _searcher_and_scope(self) -> tuple[Searcher, Scope]:
        """The published snapshot, and all of it that the settings let anybody see."""
        searcher = self._warmup.get().searcher()
        return searcher, searcher.boundary.narrow(Scope())

    def _units_and_scope(self) -> tuple[Units, Scope]:
        """The units of the published snapshot and of the layers, and what of them the settings let anybody see."""
        searcher, scope = self._searcher_and_scope()
        return Units(searcher, self._warmup.get().layers), scope

    async def _guarded(self, ctx: Context, what: str, work: Callable[[], Done]) -> Done:
        """Do blocking work in a thread, tell of its progress, and of a failure as a protocol error without its insides.

        Args:
            ctx: of the request.
            what: what is being done, in our words.
            work: does it.
        """
        job = Job()

        def watched(job: Job) -> Done:
            job.doing = what
            return work()

        async with telling(ctx, job):  # raises nothing itself: it would wrap it in a group
            try:
                return await self.workers.run(watched, job)
            except Exception as error:
                failure = protocol_error(told(error, what), self.calls.spelling)
        raise failure


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

    Raises:
        InvalidArgument: the settings name a toolset that there is not.
    """
    config = config or ServerConfig()
    handlers = GraphctxServer(warmup, config)
    shared = config.transport == "http" and not config.tokens
    lists = CacheHint(ttl_ms=LIST_TTL_MS, scope="public" if shared else "private")
    return Server(
        "graphctx",
        version=_version(),
        title="graphctx",
        instructions=instructions(handlers.calls.tools, config, handlers.calls.spelling),
        cache_hints={"tools/list": lists, "resources/templates/list": lists, "prompts/list": lists},
        get_tool_input_schema=handlers.calls.input_schema,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
        on_completion=handlers.complete,
    )
