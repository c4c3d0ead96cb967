"""The HTTP application in this process: sessions, principals, whom it lets in, and clients that leave."""

from __future__ import annotations

import socket
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.to_thread
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from pydantic import SecretStr

from graphctx.errors import InvalidArgument
from graphctx.knowledge_base import KnowledgeBase
from graphctx.server.config import ServerConfig
from graphctx.server.http import HttpConfig, bound_sockets, http_app
from graphctx.server.warmup import OpenKnowledgeBase, Warmup

from .calls import engine_over, warmup_over
from .conftest import FULL, each_era
from .listening import listening
from .waiting import HANG, NAME, Waiting

pytestmark = pytest.mark.anyio

TOKENS = {name: SecretStr(f"{name}-0123456789-abcdefgh") for name in ("ana", "ben")}


@asynccontextmanager
async def serving(kb: KnowledgeBase, config: ServerConfig | None = None) -> AsyncIterator[str]:
    """Serve the knowledge base over HTTP on a free port."""
    async with listening(http_app(warmup_over(kb), config)) as url:
        yield url


@each_era
async def test_a_question_is_answered_over_http(kb: KnowledgeBase, era: str) -> None:
    async with serving(kb) as url, Client(url, mode=era, read_timeout_seconds=HANG) as client:
        result = await client.call_tool("kb.retrieve_evidence", {"question": "Who is the duty officer?"})
    assert any("Ines Halvorsen" in quote["quote"] for quote in result.structured_content["quotes"])


async def test_a_header_gives_no_session_to_a_client_of_the_era_without_them(kb: KnowledgeBase) -> None:
    async with serving(kb, FULL) as url, Client(url, mode="legacy") as victim:
        await victim.call_tool("kb.search", {"query": "ledger"})
        held = (await victim.list_resources()).resources
        assert held
        async with (
            httpx2.AsyncClient(headers={"mcp-session-id": "guessed"}) as http,
            Client(streamable_http_client(url, http_client=http), mode="auto") as client,
        ):
            assert (await client.list_resources()).resources == []
            first = await client.call_tool("kb.search", {"query": "ledger"})
            second = await client.call_tool("kb.search", {"query": "ledger"})
            assert first.structured_content["session_id"] != second.structured_content["session_id"]


@pytest.mark.parametrize(
    "headers",
    [{}, {"Authorization": "Bearer wrong-0123456789-abcdefgh"}, {"Authorization": "Basic YW5hOng="}],
    ids=["no token", "another token", "no bearer"],
)
async def test_without_a_known_token_nothing_is_answered(kb: KnowledgeBase, headers: dict[str, str]) -> None:
    async with serving(kb, ServerConfig(tokens=TOKENS)) as url, httpx2.AsyncClient() as http:
        for method in ("POST", "GET", "DELETE"):
            answer = await http.request(
                method, url, headers=headers, json={"jsonrpc": "2.0", "id": 1, "method": "ping"}
            )
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"].startswith("Bearer ")
            assert "resource_metadata" not in answer.headers["www-authenticate"]
            assert "ledger" not in answer.text


async def test_a_protocol_session_belongs_to_whoever_began_it(kb: KnowledgeBase) -> None:
    async with serving(kb, ServerConfig(tokens=TOKENS)) as url, httpx2.AsyncClient() as http:
        headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        anas, bens = ({"Authorization": f"Bearer {TOKENS[name].get_secret_value()}"} for name in ("ana", "ben"))
        begun = await http.post(url, json=body, headers=headers | anas)
        session = {"mcp-session-id": begun.headers["mcp-session-id"]}
        listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        assert (await http.post(url, json=listing, headers=headers | bens | session)).status_code == 404
        assert (await http.post(url, json=listing, headers=headers | anas | session)).status_code == 200


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}])
async def test_a_foreign_host_or_origin_is_turned_away(kb: KnowledgeBase, headers: dict[str, str]) -> None:
    async with serving(kb) as url, httpx2.AsyncClient() as client:
        answer = await client.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers=headers)
    assert answer.status_code in (403, 421)


async def test_a_public_address_needs_the_names_it_answers_to_and_tokens_or_a_proxy(kb: KnowledgeBase) -> None:
    warmup, names = warmup_over(kb), ["kb.example:*"]
    with pytest.raises(InvalidArgument, match="allowed_hosts"):
        http_app(warmup, http=HttpConfig("0.0.0.0", allow_anonymous=True))
    with pytest.raises(InvalidArgument, match="allow_anonymous"):
        http_app(warmup, http=HttpConfig("0.0.0.0", allowed_hosts=names))
    http_app(warmup, http=HttpConfig("0.0.0.0", allowed_hosts=names, allow_anonymous=True))
    http_app(warmup, ServerConfig(tokens=TOKENS), HttpConfig("0.0.0.0", allowed_hosts=names))


async def test_health_says_whether_the_knowledge_base_is_open(kb: KnowledgeBase) -> None:
    gate = threading.Event()

    def open_slowly() -> OpenKnowledgeBase:
        assert gate.wait(HANG)
        return engine_over(kb)

    warmup = Warmup(open_slowly)
    async with listening(http_app(warmup)) as url, httpx2.AsyncClient() as client:
        health = url.replace("/mcp", "/healthz")
        assert (await client.get(health)).json() == {"status": "opening", "published": False}
        gate.set()
        await anyio.to_thread.run_sync(warmup.get)
        assert (await client.get(health)).json() == {"status": "ok", "published": True}


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_connections_do_not_wait_for_acknowledgements(host: str) -> None:
    for listener in bound_sockets(HttpConfig(host, port=0)):
        with listener, socket.create_connection(listener.getsockname()[:2]):
            accepted, _ = listener.accept()
            with accepted:
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@each_era
async def test_a_call_whose_client_has_gone_is_stopped(kb: KnowledgeBase, waiting: Waiting, era: str) -> None:
    async def cancel_when_begun(scope: anyio.CancelScope) -> None:
        assert await anyio.to_thread.run_sync(waiting.began.wait, HANG)
        scope.cancel()

    async with serving(kb) as url, Client(url, mode=era) as client, anyio.create_task_group() as group:
        with anyio.CancelScope() as scope:
            group.start_soon(cancel_when_begun, scope)
            await client.call_tool(NAME)
        assert await anyio.to_thread.run_sync(waiting.stopped.wait, HANG)


@each_era
async def test_progress_reaches_a_client_over_http(
    kb: KnowledgeBase, waiting: Waiting, era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphctx.server.workers.FIRST_PROGRESS_SECONDS", 0.05)

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        waiting.released.set()

    async with serving(kb) as url, Client(url, mode=era, read_timeout_seconds=HANG) as client:
        result = await client.call_tool(NAME, progress_callback=hear)
    assert not result.is_error
    assert waiting.released.is_set()
