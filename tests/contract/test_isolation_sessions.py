"""The passages of a session cannot be reached from another one: by no tool, by no resource and in no list."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from pydantic import SecretStr

from graphctx.knowledge_base import KnowledgeBase
from graphctx.server.config import ServerConfig
from graphctx.server.http import http_app
from tests.server.listening import as_bearer, listening

from .corpus import OPEN_QUESTION
from .naming import naming
from .protocol import EVERY_TOOLSET, Reply, engine, reply_of
from .test_contract_stdio import over_pipes

TOKENS = {name: SecretStr(f"{name}-0123456789-abcdefgh") for name in ("ana", "ben")}


async def ask(client: Client, tool: str, **arguments: Any) -> Reply:
    return reply_of(await client.call_tool(tool, arguments))


async def check_strangers(owner: Client, other: Client, *, exclusive: bool = True) -> None:
    """What one client holds, the other reaches by no tool, by no resource and in no list.

    Args:
        owner: searches.
        other: tries to get at what was found, with the session id too.
        exclusive: whether the owner's connection has a session of its own.
    """
    answer = (await ask(owner, "kb.search", query=OPEN_QUESTION)).answer
    found = answer["results"][0]
    handle = {} if exclusive else {"session_id": answer["session_id"]}
    own = await ask(owner, "kb.read_excerpt", passage_id=found["passage_id"], **handle)
    assert found["preview"] in own.answer["excerpt"]
    assert (await owner.read_resource(found["scratch_uri"])).contents
    others = (await ask(other, "kb.search", query=OPEN_QUESTION)).answer
    assert others["session_id"] != answer["session_id"]
    assert {r["passage_id"] for r in others["results"]}.isdisjoint(r["passage_id"] for r in answer["results"])
    unknown = "p_aaaaaaaaaaaaaaaa"
    for tool, arguments in naming(found["passage_id"]):
        for session in ({}, {"session_id": answer["session_id"]}, {"session_id": others["session_id"]}):
            if session and tool == "fetch":
                continue
            refused = await ask(other, tool, **arguments, **session)
            assert refused.error["code"] in ("INVALID_ARGUMENT", "SCOPE_VIOLATION")
            assert found["preview"] not in refused.text
            assert found["doc_uri"] not in refused.text
            like = json.loads(json.dumps(arguments).replace(found["passage_id"], unknown))
            never = await ask(other, tool, **like, **session)
            assert refused.text == never.text.replace(unknown, found["passage_id"]), "held or not must look the same"
    for uri in (found["scratch_uri"], found["scratch_uri"].replace(answer["session_id"], others["session_id"])):
        with pytest.raises(MCPError) as caught:
            await other.read_resource(uri)
        assert found["preview"] not in str(caught.value.error)
    listed = {resource.uri for resource in (await other.list_resources()).resources}
    assert not any(result["scratch_uri"] in listed for result in answer["results"])


@pytest.mark.anyio
@pytest.mark.slow
async def test_two_processes_do_not_read_each_others_passages(nasty_path: Path) -> None:
    async with over_pipes(nasty_path, "legacy") as first, over_pipes(nasty_path, "auto") as second:
        await check_strangers(first, second)


@asynccontextmanager
async def serving(kb: KnowledgeBase, **config: Any) -> AsyncIterator[str]:
    """A real HTTP server on a free port."""
    app = http_app(engine(kb), ServerConfig(toolsets=EVERY_TOOLSET, transport="http", **config))
    async with listening(app) as url:
        yield url


def as_owner(url: str, name: str, mode: str) -> AbstractAsyncContextManager[Client]:
    """A client with the token of one owner."""
    return as_bearer(url, TOKENS[name].get_secret_value(), mode)


@pytest.mark.anyio
async def test_two_protocol_sessions_do_not_read_each_others_passages(nasty: KnowledgeBase) -> None:
    async with serving(nasty) as url, Client(url, mode="legacy") as first, Client(url, mode="legacy") as second:
        await check_strangers(first, second)


@pytest.mark.anyio
@pytest.mark.parametrize("mode", [pytest.param("legacy", marks=pytest.mark.slow), "auto"])
async def test_two_principals_do_not_read_each_others_passages(nasty: KnowledgeBase, mode: str) -> None:
    async with (
        serving(nasty, tokens=TOKENS) as url,
        as_owner(url, "ana", mode) as ana,
        as_owner(url, "ben", mode) as ben,
    ):
        await check_strangers(ana, ben, exclusive=mode == "legacy")


@pytest.mark.anyio
async def test_without_sessions_a_passage_needs_the_handle_that_it_came_with(nasty: KnowledgeBase) -> None:
    async with serving(nasty) as url, Client(url, mode="auto") as first, Client(url, mode="auto") as second:
        answer = (await ask(first, "kb.search", query=OPEN_QUESTION)).answer
        passage, preview = answer["results"][0]["passage_id"], answer["results"][0]["preview"]
        others = (await ask(second, "kb.search", query=OPEN_QUESTION)).answer["session_id"]
        for tool, arguments in naming(passage):
            for session in ({}, {"session_id": others}, {"session_id": "x_aaaaaaaaaaaaaaaa"}):
                if session and tool == "fetch":
                    continue
                refused = await ask(second, tool, **arguments, **session)
                assert refused.error["code"] == "INVALID_ARGUMENT"
                assert preview not in refused.text
        assert (await first.list_resources()).resources == []
        own = await ask(first, "kb.read_excerpt", passage_id=passage, session_id=answer["session_id"])
        assert preview in own.answer["excerpt"]
