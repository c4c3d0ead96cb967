"""The resources of the memory, and who wants to know when it changes (memory design, section 4.2).

Each principal has a bus of its own: nobody learns of what others write.
"""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated

from graphctx.server.resources import JSON, TEXT, text_contents
from graphctx.server.sessions import Caller
from graphctx.server.tools.memory import status_fields

if TYPE_CHECKING:
    from graphctx.memory import Memory, MemoryItem, MemoryScope, Moment

log = logging.getLogger(__name__)

STATS_URI = "memory://stats"


@dataclass(frozen=True, slots=True)
class MemoryResource:
    """A resource of the memory as clients list it."""

    uri: str
    name: str
    title: str
    description: str
    mime_type: str


MEMORY_RESOURCES = (
    MemoryResource("memory://core", "core", "Core memory", "What is part of every block; data for a prompt.", TEXT),
    MemoryResource(
        "memory://session/current", "session", "Working memory", "The turns of this session, the oldest first.", TEXT
    ),
    MemoryResource(
        "memory://graph/schema", "schema", "Relations of facts", "The relations of facts and how many there are.", JSON
    ),
    MemoryResource(STATS_URI, "stats", "Memory statistics", "Counts; can be subscribed to.", JSON),
)


def listed_resources() -> list[types.Resource]:
    """Return the resources as clients list them."""
    return [
        types.Resource(
            uri=each.uri, name=each.name, title=each.title, description=each.description, mime_type=each.mime_type
        )
        for each in MEMORY_RESOURCES
    ]


def memory_contents(uri: str, memory: Memory, scope: MemoryScope, now: Moment) -> types.TextResourceContents | None:
    """Return the contents of a resource, ``None`` if it is not one of the memory."""
    from graphctx.memory import CORE_TIER, MemoryFilter

    if uri == "memory://core":
        found = memory.select(scope, now, MemoryFilter(tiers=(CORE_TIER,)), newest_first=False)
        return text_contents(uri, entries_text(found), TEXT)
    if uri == "memory://session/current":
        return text_contents(uri, entries_text(memory.working(scope, now)), TEXT)
    if uri == "memory://graph/schema":
        schema: dict[str, Any] = {"relation_types": memory.facts.schema(scope)}
        schema["n_entities"] = memory.stats(scope)["n_entities"]
        return text_contents(uri, json.dumps(schema, ensure_ascii=False, indent=2), JSON)
    if uri == STATS_URI:
        return text_contents(uri, json.dumps(status_fields(memory, scope), ensure_ascii=False, indent=2), JSON)
    return None


def entries_text(items: list[MemoryItem], ids: bool = False) -> str:
    """Return items as the entries of a block, with their ids if asked for."""
    from graphctx.memory.assembler import entry_text

    return "\n".join(f"{item.id} {entry_text(item)}" if ids else entry_text(item) for item in items)


class MemorySubscriptions:
    """Tells those who subscribed that the statistics changed, in both eras of the protocol."""

    def __init__(self) -> None:
        self._buses: dict[str, InMemorySubscriptionBus] = defaultdict(InMemorySubscriptionBus)
        self._listeners: dict[str, ListenHandler] = {}
        self._sessions: dict[Caller, ServerSession] = {}

    async def listen(
        self, ctx: ServerRequestContext[Any, Any], params: types.SubscriptionsListenRequestParams, principal: str
    ) -> types.SubscriptionsListenResult:
        """Answer ``subscriptions/listen`` with a stream of changes."""
        if principal not in self._listeners:
            self._listeners[principal] = ListenHandler(self._buses[principal])
        return await self._listeners[principal](ctx, params)

    def subscribe(self, session: ServerSession, uri: str, caller: Caller) -> None:
        """Answer ``resources/subscribe``; resources whose changes are not told are accepted, and stay silent."""
        if uri == STATS_URI:
            self._sessions[caller] = session

    def unsubscribe(self, uri: str, caller: Caller) -> None:
        """Answer ``resources/unsubscribe``."""
        if uri == STATS_URI:
            self._sessions.pop(caller, None)

    async def publish(self, principal: str) -> None:
        """Announce a change to the subscribers of a principal."""
        if principal in self._buses:
            await self._buses[principal].publish(ResourceUpdated(STATS_URI))
        for caller, session in list(self._sessions.items()):
            if caller.principal != principal:
                continue
            try:
                await session.send_resource_updated(STATS_URI)
            except Exception as error:  # the connection has ended
                log.debug("a subscriber is gone: %s", type(error).__name__)
                self._sessions.pop(caller, None)
