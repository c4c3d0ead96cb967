from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest
import uvicorn
from mcp import Client
from mcp.shared.exceptions import MCPError

from graphctx.errors import InvalidArgument
from graphctx.server.http import http_app
from graphctx.server.warmup import Engine, Warmup

from .library import Library, count_tokens

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def serving() -> AsyncIterator[str]:
    """A real HTTP server over the library, on a free port."""
    app = http_app(Warmup(lambda: Engine(Library(), count_tokens)))
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()  # connections queue until the server takes them
        server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
            await task


async def test_a_question_is_answered_over_http(era: str) -> None:
    async with serving() as url, Client(url, mode=era, read_timeout_seconds=30) as client:
        result = await client.call_tool("kb.retrieve_evidence", {"question": "Who is the duty officer?"})
    assert any("Ines Halvorsen" in quote["quote"] for quote in result.structured_content["quotes"])


async def test_handshake_sessions_do_not_see_each_others_passages() -> None:
    async with serving() as url, Client(url, mode="legacy") as first, Client(url, mode="legacy") as second:
        found = (await first.call_tool("kb.search", {"query": "ledger"})).structured_content["results"][0]
        assert not (await first.call_tool("kb.read_excerpt", {"passage_id": found["passage_id"]})).is_error
        assert (await second.call_tool("kb.read_excerpt", {"passage_id": found["passage_id"]})).is_error
        assert (await second.list_resources()).resources == []
        with pytest.raises(MCPError):
            await second.read_resource(found["scratch_uri"])


async def test_without_sessions_a_passage_is_reached_by_its_id_and_never_listed() -> None:
    async with serving() as url, Client(url, mode="auto") as first, Client(url, mode="auto") as second:
        found = (await first.call_tool("kb.search", {"query": "ledger"})).structured_content["results"][0]
        assert not (await second.call_tool("kb.read_excerpt", {"passage_id": found["passage_id"]})).is_error
        assert (await second.list_resources()).resources == []


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}])
async def test_a_foreign_host_or_origin_is_turned_away(headers: dict[str, str]) -> None:
    async with serving() as url, httpx2.AsyncClient() as client:
        answer = await client.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers=headers)
    assert answer.status_code in (403, 421)


async def test_a_public_address_needs_the_names_it_answers_to() -> None:
    warmup = Warmup(lambda: Engine(Library(), count_tokens))
    with pytest.raises(InvalidArgument, match="allowed_hosts"):
        http_app(warmup, host="0.0.0.0")
    http_app(warmup, host="0.0.0.0", allowed_hosts=["kb.example:*"])
