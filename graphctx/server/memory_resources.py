"""The resources of the memory, and who wants to know when they change (memory design, section 4.2).

Nobody learns of what other principals write.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated

from graphctx.errors import GraphctxError
from graphctx.server.resources import JSON, TEXT, text_contents
from graphctx.server.sessions import Caller
from graphctx.server.tools.memory.upkeep import status_fields

if TYPE_CHECKING:
    from graphctx.memory import Memory, MemoryItem, MemoryScope, Moment

log = logging.getLogger(__name__)

STATS_URI = "memory://stats"

POLL_SECONDS = 1.0
"""Seconds until a subscriber learns of what another process has written."""

MAX_SUBSCRIBERS = 1024
"""Subscriptions of one principal; with one more, its oldest ends."""


MEMORY_RESOURCES = tuple(
    types.Resource(uri=uri, name=name, title=title, description=description, mime_type=mime_type)
    for uri, name, title, description, mime_type in (
        ("memory://core", "core", "Core memory", "What is part of every block; data for a prompt.", TEXT),
        ("memory://session/current", "session", "Working memory", "The turns of this session, the oldest first.", TEXT),
        ("memory://graph/schema", "schema", "Types of facts", "Types of entities and relations, and how many.", JSON),
        (STATS_URI, "stats", "Memory statistics", "Counts of memories and facts.", JSON),
    )
)
"""The resources as clients list them."""


def memory_contents(uri: str, memory: Memory, scope: MemoryScope, now: Moment) -> types.TextResourceContents | None:
    """Return the contents of a resource, ``None`` if it is not one of the memory."""
    from graphctx.memory import CORE_TIER, MemoryFilter

    if uri == "memory://core":
        found = memory.select(scope, now, MemoryFilter(tiers=(CORE_TIER,)), newest_first=False)
        return text_contents(uri, entries_text(found), TEXT)
    if uri == "memory://session/current":
        return text_contents(uri, entries_text(memory.lifecycle.working(scope, now)), TEXT)
    if uri == "memory://graph/schema":
        schema = memory.facts.schema(scope)
        shown = {**schema, "n_entities": sum(schema["entity_types"].values())}
        return text_contents(uri, json.dumps(shown, ensure_ascii=False, indent=2), JSON)
    if uri == STATS_URI:
        return text_contents(uri, json.dumps(status_fields(memory, scope), ensure_ascii=False, indent=2), JSON)
    return None


def entries_text(items: list[MemoryItem], ids: bool = False) -> str:
    """Return items as the entries of a block, with their ids if asked for."""
    from graphctx.memory.assembler import entry_text

    return "\n".join(f"{item.id} {entry_text(item)}" if ids else entry_text(item) for item in items)


@dataclass(slots=True)
class _Subscriber:
    """Who subscribed, how changes are sent, how the stream ends, the writes seen and the text of resources."""

    caller: Caller
    send: Callable[[str], Awaitable[None]]
    end: Callable[[], None] = lambda: None
    n_writes: int = -1
    known: dict[str, str] = field(default_factory=dict)


class MemorySubscriptions:
    """Announces changes of the memory's resources to those who subscribed, in both eras of the protocol.

    Other processes write too, so while somebody is subscribed the file is looked at every `POLL_SECONDS`.

    Args:
        seen_by: returns the memory, and what a caller sees of it now; it may block.
    """

    def __init__(self, seen_by: Callable[[Caller], tuple[Memory, MemoryScope, Moment]]) -> None:
        self._seen_by = seen_by
        self._subscribers: dict[object, _Subscriber] = {}
        self._version: tuple[int, int] | None = None
        self._wake: anyio.Event | None = None
        self._looking = anyio.Lock()

    async def listen(
        self, ctx: ServerRequestContext[Any, Any], params: types.SubscriptionsListenRequestParams, caller: Caller
    ) -> types.SubscriptionsListenResult:
        """Answer ``subscriptions/listen`` with a stream of changes."""
        bus = InMemorySubscriptionBus()

        async def send(uri: str) -> None:
            await bus.publish(ResourceUpdated(uri))

        key, uris = object(), params.notifications.resource_subscriptions or []
        handler = ListenHandler(bus)
        await self._add(key, _Subscriber(caller, send, handler.close), map(str, uris))
        try:
            return await handler(ctx, params)
        finally:
            self._subscribers.pop(key, None)

    async def subscribe(self, session: ServerSession, uri: str, caller: Caller) -> None:
        """Answer ``resources/subscribe``; a resource that never changes is accepted, and stays silent."""
        await self._add(
            caller, self._subscribers.get(caller) or _Subscriber(caller, session.send_resource_updated), [uri]
        )

    def unsubscribe(self, uri: str, caller: Caller) -> None:
        """Answer ``resources/unsubscribe``."""
        if (subscriber := self._subscribers.get(caller)) is not None:
            subscriber.known.pop(uri, None)
            if not subscriber.known:
                del self._subscribers[caller]

    def wake(self) -> None:
        """Look for changes now: this process has written."""
        if self._wake is not None:
            self._wake.set()

    async def watch(self) -> None:
        """Announce changes for as long as the server runs; it sleeps while nobody is subscribed."""
        while True:
            self._wake = anyio.Event()
            with anyio.move_on_after(POLL_SECONDS if self._subscribers else None):
                await self._wake.wait()
            if not (subscribers := list(self._subscribers.values())):
                continue
            if await anyio.to_thread.run_sync(self._has_changed, subscribers[0].caller):  # it may be gone by then
                for key, subscriber in list(self._subscribers.items()):
                    await self._announce(key, subscriber)

    async def _add(self, key: object, subscriber: _Subscriber, uris: Iterable[str]) -> None:
        watched = {each.uri for each in MEMORY_RESOURCES} & set(uris)
        if not watched:
            return
        async with self._looking:
            subscriber.known |= dict.fromkeys(watched, "")
            changed = await anyio.to_thread.run_sync(self._changes, subscriber)
        principal = subscriber.caller.principal
        own = [one for one, each in self._subscribers.items() if each.caller.principal == principal and one != key]
        if len(own) >= MAX_SUBSCRIBERS:
            self._subscribers.pop(own[0]).end()
        self._subscribers[key] = subscriber  # nothing is awaited from here to the bus of `listen`
        self._version = None  # something may have been written meanwhile
        self.wake()
        for uri in changed:
            if uri not in watched:  # it was watched before
                await subscriber.send(uri)

    async def _announce(self, key: object, subscriber: _Subscriber) -> None:
        async with self._looking:
            changed = await anyio.to_thread.run_sync(self._changes, subscriber)
        for uri in changed:
            try:
                with anyio.fail_after(POLL_SECONDS):
                    await subscriber.send(uri)
            except Exception as error:  # the connection has ended, or nobody reads
                log.debug("a subscriber is gone: %s", type(error).__name__)
                self._subscribers.pop(key, None)
                return

    def _has_changed(self, caller: Caller) -> bool:
        with suppress(GraphctxError):  # a memory that cannot be read is looked at again
            version = self._seen_by(caller)[0].database.data_version()
            changed, self._version = version != self._version, version
            return changed
        return False

    def _changes(self, subscriber: _Subscriber) -> list[str]:
        """Return the resources of a subscriber that have changed since the last look."""
        changed: list[str] = []
        with suppress(GraphctxError):
            memory, scope, now = self._seen_by(subscriber.caller)
            n_writes = memory.statistics.n_writes(scope.principal)
            if n_writes == subscriber.n_writes and all(subscriber.known.values()):
                return []
            subscriber.n_writes = n_writes
            for uri, known in list(subscriber.known.items()):
                contents = memory_contents(uri, memory, scope, now)
                state = str(n_writes) if uri == STATS_URI else f"text: {contents.text if contents else ''}"
                if state != known and uri in subscriber.known:
                    subscriber.known[uri] = state
                    changed.append(uri)
        return changed
