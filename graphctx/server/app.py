"""The MCP server: the protocol's methods over tools, resources, prompts and completion."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.server import Server
from mcp.server.caching import CacheHint

from graphctx.errors import InvalidArgument
from graphctx.model.requests import Scope
from graphctx.server import prompts, resources
from graphctx.server.completion import complete
from graphctx.server.config import ServerConfig
from graphctx.server.context_resources import CONTEXT_SCHEME, CONTEXT_TEMPLATES, context_contents
from graphctx.server.dispatch import Context, Dispatcher
from graphctx.server.hierarchy import community_contents, hierarchy_contents
from graphctx.server.listing import instructions, listed
from graphctx.server.memory_resources import (
    MEMORY_RESOURCES,
    MemorySubscriptions,
    entries_text,
    memory_contents,
)
from graphctx.server.reading import (
    chunk_contents,
    document_contents,
    entity_contents,
    status_contents,
    unit_contents,
)
from graphctx.server.sessions import Caller
from graphctx.server.units import LAYER_ID, Units
from graphctx.server.warmup import Warmup
from graphctx.version import __version__

if TYPE_CHECKING:
    from graphctx.memory import Memory, MemoryScope, Moment
    from graphctx.model.context_source import ContextSource
    from graphctx.retrieve.searcher import Searcher

LIST_TTL_MS = 3_600_000
"""Milliseconds that clients may cache lists of tools, prompts and templates, which change only with the installed
version and the settings."""


class GraphctxServer:
    """The handlers of one server; tool calls go to its `Dispatcher`."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._naming = dispatcher.naming
        self._prompts = prompts.offered({tool.toolset for tool in dispatcher.tools})
        self._tools: list[types.Tool] = []
        self.subscriptions = MemorySubscriptions(self._memory)
        self.remembers = dispatcher.config.memory is not None
        self.composes = "context" in dispatcher.config.toolsets

    async def list_tools(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """Answer ``tools/list``: always the same list in the same order."""
        tools, config = self._dispatcher.tools, self._dispatcher.config
        self._tools = self._tools or [listed(tool, self._naming, config) for tool in tools]
        return types.ListToolsResult(tools=self._tools)

    async def call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Answer ``tools/call``, and tell subscribers if it changed the memory."""
        result = await self._dispatcher.call_tool(ctx, params)
        if self._dispatcher.changes_memory(params.name):
            self.subscriptions.wake()
        return result

    async def listen(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Answer ``subscriptions/listen``."""
        return await self.subscriptions.listen(ctx, params, self._dispatcher.sessions.caller(ctx))

    async def subscribe(self, ctx: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        """Answer ``resources/subscribe``."""
        await self.subscriptions.subscribe(ctx.session, str(params.uri), self._dispatcher.sessions.caller(ctx))
        return types.EmptyResult()

    async def unsubscribe(self, ctx: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        """Answer ``resources/unsubscribe``."""
        self.subscriptions.unsubscribe(str(params.uri), self._dispatcher.sessions.caller(ctx))
        return types.EmptyResult()

    async def list_resources(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """Answer ``resources/list`` with a page of the passages that the connection's own session holds."""
        session_id = self._dispatcher.sessions.caller(ctx).session_id
        cursor = params.cursor if params else None
        return await self._dispatcher.run(ctx, "resources/list", partial(self._list, session_id, cursor))

    async def list_templates(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """Answer ``resources/templates/list``."""
        own = CONTEXT_TEMPLATES if self.composes else ()
        return types.ListResourceTemplatesResult(resource_templates=resources.templates((*resources.TEMPLATES, *own)))

    async def read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """Answer ``resources/read``. What cannot be read is a protocol error that carries the envelope."""
        caller = self._dispatcher.sessions.caller(ctx)
        contents = await self._dispatcher.run(ctx, "resources/read", partial(self._read, params.uri, caller))
        return types.ReadResourceResult(contents=[contents])

    async def list_prompts(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        """Answer ``prompts/list``."""
        return types.ListPromptsResult(prompts=[prompts.listed(playbook) for playbook in self._prompts])

    async def get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """Answer ``prompts/get`` with a prompt whose blanks are filled in and whose tools have their listed names."""

        def fill() -> types.GetPromptResult:
            playbook = prompts.find(self._prompts, params.name)
            remembered = (
                self._remembered(playbook.remembered, params.arguments or {}, caller) if playbook.remembered else ""
            )
            return prompts.filled(playbook, params.arguments or {}, self._naming, remembered)

        caller = self._dispatcher.sessions.caller(ctx)

        return await self._dispatcher.run(ctx, "prompts/get", fill)

    async def complete(self, ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Answer ``completion/complete``."""
        work = partial(complete, params, self._prompts, self._searcher_and_scope)
        return await self._dispatcher.run(ctx, "completion/complete", work)

    def _status(self) -> dict[str, Any]:
        """Return what the server holds and has done since its start."""
        kb, dispatcher = self._dispatcher.warmup.get(), self._dispatcher
        searcher, cache = kb.searcher(), kb.context_cache
        return {
            "project_id": searcher.boundary.project_id,
            "environment": searcher.boundary.environment,
            "snapshot_id": searcher.snapshot_id,
            "transport": dispatcher.config.transport,
            "tools": [self._naming.name(tool.name) for tool in dispatcher.tools],
            "calls": dispatcher.workers.counts(),
            "scratch": asdict(dispatcher.scratch.stats()),
            "handles": len(dispatcher.sessions),
            **({"context_cache": asdict(cache.counts)} if cache is not None else {}),
        }

    def _list(self, session_id: str, cursor: str | None) -> types.ListResourcesResult:
        passages = self._dispatcher.scratch.passages(session_id) if session_id else []
        first = list(MEMORY_RESOURCES) if self.remembers and cursor is None else []
        if not passages and cursor is None:
            return types.ListResourcesResult(resources=first)  # without opening the knowledge base
        page = resources.page(passages, cursor, *self._units_and_scope())
        return page.model_copy(update={"resources": [*first, *page.resources]})

    def _memory(self, caller: Caller) -> tuple[Memory, MemoryScope, Moment]:
        """Return the memory, and what a caller sees of it now."""
        from graphctx.memory import MemoryScope, Moment

        kb = self._dispatcher.warmup.get()
        assert kb.memory is not None
        project = kb.searcher().boundary.project_id
        scope = MemoryScope(caller.principal, project, caller.session_id)
        return kb.memory(), scope, Moment(self._dispatcher.clock())

    def _memory_source(self, caller: Caller) -> ContextSource:
        from graphctx.memory import MemoryContextSource
        from graphctx.nlp.tokens import AnswerCounter

        return MemoryContextSource(*self._memory(caller), AnswerCounter().count)

    def _remembered(self, what: prompts.Remembered, arguments: Mapping[str, str], caller: Caller) -> str:
        memory, scope, now = self._memory(caller)
        if what == "context":
            from graphctx.memory import IterationClient

            task = arguments.get("task", "")
            client = IterationClient(memory, scope, clock=lambda: now.at)
            return str(client.get_context_block(task)["block"]) if task.strip() else ""
        if what == "working":
            return entries_text(memory.lifecycle.working(scope, now), ids=True)
        return entries_text(memory.lifecycle.summaries(scope, now, tier=1), ids=True)

    def _read(self, uri: str, caller: Caller) -> types.TextResourceContents:
        if self.remembers and uri.startswith("memory://"):
            if (contents := memory_contents(uri, *self._memory(caller))) is not None:
                return contents
            known = ", ".join(each.uri for each in MEMORY_RESOURCES)
            raise InvalidArgument(f"The memory has no resource {uri[:120]!r}; it has {known}.", field="uri")
        if self.composes and uri.startswith(CONTEXT_SCHEME):
            kb = self._dispatcher.warmup.get()
            memory = partial(self._memory_source, caller) if kb.memory is not None else None
            return context_contents(uri, self._searcher_and_scope()[0], kb.context_cache, memory)
        address = resources.parse_uri(uri)
        kind, name = address.kind, address.parts[-1] if address.parts else ""
        if kind == "status":
            return status_contents(uri, self._status())
        if kind == "scratch":
            self._dispatcher.sessions.require(caller, address.parts[0], uri)
            passage = self._dispatcher.scratch.get(address.parts[0], name, "uri")
            return unit_contents(uri, resources.current(passage, *self._units_and_scope()).unit)
        if kind == "section":
            units, scope = self._units_and_scope()
            return unit_contents(uri, units.within(name, scope, "uri"))
        if kind == "document" and name.startswith(LAYER_ID):
            try:
                return chunk_contents(uri, self._units_and_scope()[0].unit(name))
            except InvalidArgument:
                raise resources.unknown("document", name) from None
        searcher, scope = self._searcher_and_scope()
        if kind == "document":
            return document_contents(uri, name, searcher, scope)
        if kind == "community":
            return community_contents(uri, name, searcher, scope, self._naming)
        if kind == "hierarchy":
            return hierarchy_contents(uri, name, searcher, scope, self._naming)
        return entity_contents(uri, name, searcher, scope)

    def _searcher_and_scope(self) -> tuple[Searcher, Scope]:
        """Pin the published snapshot; the scope is the boundary of the settings."""
        searcher = self._dispatcher.warmup.get().searcher()
        return searcher, searcher.boundary.narrow(Scope())

    def _units_and_scope(self) -> tuple[Units, Scope]:
        searcher, scope = self._searcher_and_scope()
        return Units(searcher, self._dispatcher.warmup.get().layers), scope


def build_server(
    warmup: Warmup, config: ServerConfig | None = None, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> Server[Any]:
    """Build the MCP server over a knowledge base, for any transport of the SDK.

    Args:
        warmup: opens the knowledge base; the caller starts it.
        config: the server's settings.
        clock: returns the time of a call, which the memory stores and ranks by.

    Raises:
        InvalidArgument: the settings name an unknown toolset.

    ```python
    from mcp import Client

    warmup = Warmup(lambda: open_kb("handbook/.graphctx"))
    async with Client(build_server(warmup)) as client:
        result = await client.call_tool("kb.search", {"query": "duty officer"})
    ```
    """
    config = config or ServerConfig()
    dispatcher = Dispatcher(warmup, config, clock)
    handlers = GraphctxServer(dispatcher)
    shared = config.transport == "http" and not config.tokens

    @asynccontextmanager
    async def watching(server: Server[Any]) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(handlers.subscriptions.watch)
            yield
            tasks.cancel_scope.cancel()

    of_memory: dict[str, Any] = {}
    if handlers.remembers:
        of_memory = {
            "on_subscriptions_listen": handlers.listen,
            "on_subscribe_resource": handlers.subscribe,
            "on_unsubscribe_resource": handlers.unsubscribe,
            "lifespan": watching,
        }
    lists = CacheHint(ttl_ms=LIST_TTL_MS, scope="public" if shared else "private")
    return Server(
        "graphctx",
        version=__version__,
        title="graphctx",
        instructions=instructions(dispatcher.tools, config, dispatcher.naming),
        cache_hints={"tools/list": lists, "resources/templates/list": lists, "prompts/list": lists},
        get_tool_input_schema=dispatcher.input_schema,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
        on_completion=handlers.complete,
        **of_memory,
    )
