"""A client of the server for tests that are not asynchronous: one event loop in a thread, thousands of calls."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, get_args

import anyio.from_thread
from anyio.from_thread import BlockingPortal
from mcp import Client
from mcp_types import CallToolResult, Implementation

from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.budgets import weigh
from graphctx.nlp.tokens import AnswerCounter
from graphctx.server.app import build_server
from graphctx.server.config import ServerConfig, Toolset
from graphctx.server.tools import TOOLS
from graphctx.server.warmup import OpenKnowledgeBase, Warmup

COUNTER = AnswerCounter()
EVERY_TOOLSET: tuple[Toolset, ...] = tuple(
    name for name in get_args(Toolset) if name not in ("core", "layers", "memory", "iteration", "context")
)
"""Those of the tool contract, in its own form."""
OWN_NAME = {form: tool.name for tool in TOOLS for form in tool.names}
"""The name that a tool is declared by, for each form that can be called."""
ERAS = ("legacy", "auto")


@dataclass(frozen=True)
class Reply:
    """What a client gets of a call."""

    structure: dict[str, Any]
    text: str
    is_error: bool

    @property
    def error(self) -> dict[str, Any]:
        """The error envelope's inside; the envelope is the text, and there is no structured content."""
        assert self.is_error, self.text[:500]
        assert not self.structure
        envelope = json.loads(self.text)
        assert envelope.keys() == {"error"}
        assert envelope["error"].keys() == {"code", "message", "details"}
        return envelope["error"]

    @property
    def answer(self) -> dict[str, Any]:
        """The structure of a call that must have gone well."""
        assert not self.is_error, self.text[:500]
        return self.structure


def reply_of(result: CallToolResult) -> Reply:
    """What both kinds of client look at; there is exactly one text."""
    assert [block.type for block in result.content] == ["text"]
    assert (result.structured_content is None) == bool(result.is_error)
    return Reply(result.structured_content or {}, result.content[0].text, bool(result.is_error))


class Caller:
    """A connected client, called from outside its event loop."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self.portal = portal
        self.client = client

    def result(self, tool: str, arguments: dict[str, Any] | None = None) -> CallToolResult:
        return self.portal.call(self.client.call_tool, tool, arguments or {})

    def call(self, tool: str, arguments: dict[str, Any] | None = None) -> Reply:
        return reply_of(self.result(tool, arguments))

    def tools(self) -> dict[str, Any]:
        """The listed tools as on the wire, by the names that they are declared by."""
        listed = self.portal.call(self.client.list_tools).tools
        return {OWN_NAME[tool.name]: tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed}

    def read(self, uri: str) -> Any:
        return self.portal.call(self.client.read_resource, uri)

    def resources(self) -> list[Any]:
        return self.portal.call(self.client.list_resources).resources

    def run(self, function: Any, *arguments: Any) -> Any:
        """Call any other method of the client."""
        return self.portal.call(function, *arguments)


def engine(kb: KnowledgeBase) -> Warmup:
    """Return what a server over a knowledge base runs on; the layers are those that it was opened with."""
    return Warmup(lambda: OpenKnowledgeBase(kb.searcher, kb.warm, COUNTER.count, kb.layers))


@contextmanager
def in_memory(
    kb: KnowledgeBase,
    era: str = "auto",
    toolsets: Sequence[Toolset] = EVERY_TOOLSET,
    name: str = "tester",
    **config: Any,
) -> Iterator[Caller]:
    """A client and a server of its own over a knowledge base, in this process."""
    with serving(build_server(engine(kb), ServerConfig(toolsets=tuple(toolsets), **config)), era, name) as caller:
        yield caller


@contextmanager
def serving(server: Any, era: str = "auto", name: str = "tester") -> Iterator[Caller]:
    """A client of a server, in this process."""
    with anyio.from_thread.start_blocking_portal() as portal:
        client = Client(server, mode=era, client_info=Implementation(name=name, version="1"), cache=None)
        with portal.wrap_async_context_manager(client):
            yield Caller(portal, client)


def weight(reply: Reply) -> tuple[int, int]:
    """Tokens and bytes of a response, text and structure together, weighed anew as budgets are."""
    parts = [reply.text, json.dumps(reply.structure, ensure_ascii=False, separators=(",", ":"))]
    return weigh(parts, COUNTER.count).tokens, sum(len(part.encode("utf-8", "surrogatepass")) for part in parts)
