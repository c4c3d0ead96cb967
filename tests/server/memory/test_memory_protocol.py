"""The memory's resources, prompts and subscriptions, and who sees what: in memory, over HTTP and over pipes."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import ResourceUpdatedNotification
from pydantic import SecretStr

from graphctx.server.app import build_server
from graphctx.server.config import ServerConfig
from graphctx.server.http import HttpConfig, http_app
from graphctx.server.warmup import Warmup, open_kb
from tests.nlp.llm_stub import Stub, sends, stub
from tests.processes import over_pipes

from ..conftest import each_era
from ..listening import as_bearer, listening
from ..results import error_of, text_of
from .conftest import Remembering, warmup_with

__all__ = ["stub"]

pytestmark = pytest.mark.anyio

ANA, BEN = "ana-token-0123456789", "ben-token-0123456789"
FACT = {"content": "Ann lives in Oslo.", "memory_type": "fact"}


async def read(client: Client, uri: str) -> str:
    return (await client.read_resource(uri)).contents[0].text


@each_era
async def test_the_resources_show_what_is_remembered(remembering: Remembering) -> None:
    async with remembering() as client:
        uris = [str(each.uri) for each in (await client.list_resources()).resources]
        assert uris == ["memory://core", "memory://session/current", "memory://graph/schema", "memory://stats"]
        assert await read(client, "memory://core") == ""
        await client.call_tool("memory_store", FACT)
        await client.call_tool("memory_store", {"content": "Nuts are dangerous.", "memory_type": "core"})
        await client.call_tool("memory_store", {"content": "Good morning.", "memory_type": "turn", "speaker": "Ann"})
        assert await read(client, "memory://core") == "[Core Memory] Nuts are dangerous."
        assert (await read(client, "memory://session/current")).endswith(", Ann] Good morning.")
        assert json.loads(await read(client, "memory://graph/schema")) == {
            "entity_types": {"person": 1, "place": 1},
            "relation_types": {"live in": 1},
            "n_entities": 2,
        }
        assert json.loads(await read(client, "memory://stats"))["n_items"] == 3
        with pytest.raises(MCPError, match="memory://stats"):
            await read(client, "memory://other")


WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from graphctx.memory import Memory, MemoryDraft, MemoryScope, Moment
from graphctx.nlp.embedders import make_embedder
project, principal = sys.argv[2:]
with Memory(Path(sys.argv[1]), embedder=make_embedder(threads=1)) as memory:
    here, now = MemoryScope(principal, project, "elsewhere"), Moment(datetime(2026, 3, 1, 12, tzinfo=UTC))
    memory.add([MemoryDraft("core", "The user is Ana.")], here, now, extract=False)
"""


async def write_elsewhere(folder: Path, principal: str = "") -> None:
    """Store an item from a process of its own."""
    root = str(Path(__file__).parents[3])
    command = [sys.executable, "-c", WRITER, str(folder), folder.name, principal]
    await anyio.run_process(command, env={**os.environ, "PYTHONPATH": root})


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
async def test_subscribers_of_the_handshake_era_learn_of_what_other_processes_write(
    remembering: Remembering, folder: Path
) -> None:
    send, told = anyio.create_memory_object_stream[str](10)

    async def handler(message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            await send.send(str(message.params.uri))

    async with remembering(message_handler=handler, era="legacy") as client, send, told:
        for name in ("stats", "core", "session/current"):
            await client.subscribe_resource(f"memory://{name}")
        await write_elsewhere(folder, "somebody else")
        await write_elsewhere(folder)
        with anyio.fail_after(20):
            assert {await told.receive(), await told.receive()} == {"memory://stats", "memory://core"}
        await client.call_tool("memory_store", {"content": "Good morning.", "memory_type": "turn"})
        with anyio.fail_after(20):
            assert {await told.receive(), await told.receive()} == {"memory://stats", "memory://session/current"}
        await client.call_tool("memory_retrieve", {"query": "nothing"})  # changes nothing that is watched
        await client.unsubscribe_resource("memory://stats")
        await client.call_tool("memory_store", {"content": "Good night.", "memory_type": "turn"})
        with anyio.fail_after(20):
            assert await told.receive() == "memory://session/current"
        for name in ("core", "session/current"):
            await client.unsubscribe_resource(f"memory://{name}")


async def test_subscribers_of_2026_learn_of_what_other_processes_write(remembering: Remembering, folder: Path) -> None:
    watched = ["memory://stats", "memory://core"]
    async with remembering() as client, client.listen(resource_subscriptions=watched) as changes:
        await write_elsewhere(folder, "somebody else")
        await write_elsewhere(folder)
        with anyio.fail_after(20):
            assert {str((await anext(changes)).uri), str((await anext(changes)).uri)} == set(watched)


async def test_the_prompts_hold_what_they_are_about(remembering: Remembering) -> None:
    async with remembering() as client:
        names = [prompt.name for prompt in (await client.list_prompts()).prompts]
        assert names == ["extract_facts", "compress_session", "consolidate_epoch"]
        facts = (await client.get_prompt("extract_facts", {"text": "Ann {moved} to Rome."})).messages[0].content.text
        assert "Ann {moved} to Rome." in facts
        stored = await client.call_tool("memory_store", {"content": "Good\nmorning.", "memory_type": "turn"})
        item = stored.structured_content["id"]
        session = (await client.get_prompt("compress_session", {})).messages[0].content.text
        assert f"{item} [Turn: " in session
        assert "Good\n  morning." in session
        assert (await client.get_prompt("consolidate_epoch", {})).messages[0].content.text.endswith("(none)")


@each_era
async def test_owners_of_tokens_share_a_store_and_see_their_own_alone(folder: Path, era: str) -> None:
    config = ServerConfig(toolsets=("memory",), memory=folder, tokens={"ana": SecretStr(ANA), "ben": SecretStr(BEN)})
    async with (
        listening(http_app(warmup_with(config), config, HttpConfig())) as url,
        as_bearer(url, ANA, era) as ana,
        as_bearer(url, BEN, "auto") as ben,
        as_bearer(url, ANA, "legacy") as also_ana,
    ):
        item = (await ana.call_tool("memory_store", FACT)).structured_content["id"]
        found = (await also_ana.call_tool("memory_retrieve", {"query": "Ann"})).structured_content
        assert [each["id"] for each in found["items"]] == [item]
        other = await also_ana.call_tool("memory_store", {"content": "Ann has a cat.", "memory_type": "fact"})
        found = (await ana.call_tool("memory_retrieve", {"query": "Ann"})).structured_content
        assert {each["id"] for each in found["items"]} == {item, other.structured_content["id"]}
        await ana.call_tool("memory_store", {**FACT, "persistence": "session", "session_id": "secret"})
        for tool, arguments in (("memory_retrieve", {"query": "Ann"}), ("graph_query", {"entity": "Ann"})):
            assert "secret" not in str(await ben.call_tool(tool, arguments))
            assert (await ben.call_tool(tool, arguments)).structured_content["empty_reason"] == "no_match"
        for action in ("deprecate", "delete"):
            refused = await ben.call_tool("memory_forget", {"memory_id": item, "action": action})
            assert error_of(refused)["code"] == "INVALID_ARGUMENT"
        assert (await ben.call_tool("memory_wipe", {"confirm": "wipe"})).structured_content["n_deleted"] == 0
        assert json.loads(await read(ben, "memory://stats"))["n_items"] == 0
        wherever = (await ana.call_tool("memory_retrieve", {"query": "quantum physics"})).structured_content
        assert "secret (1)" in wherever["why_empty"]
        assert json.loads(await read(ana, "memory://stats"))["n_items"] == 2


async def test_over_http_subscribers_learn_of_their_own_changes_alone(folder: Path) -> None:
    config = ServerConfig(toolsets=("memory",), memory=folder, tokens={"ana": SecretStr(ANA), "ben": SecretStr(BEN)})
    async with (
        listening(http_app(warmup_with(config), config, HttpConfig())) as url,
        as_bearer(url, ANA, "auto") as ana,
        as_bearer(url, BEN, "auto") as ben,
        ana.listen(resource_subscriptions=["memory://stats"]) as of_ana,
        ben.listen(resource_subscriptions=["memory://stats"]) as of_ben,
    ):
        told: list[str] = []

        async def follow(name: str, changes: Any) -> None:
            async for _ in changes:
                told.append(name)
                if name == "ana":
                    tasks.cancel_scope.cancel()

        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(follow, "ana", of_ana)
                await ben.call_tool("memory_store", FACT)
                await anext(of_ben)
                told.append("ben")
                await ana.call_tool("memory_store", FACT)
        assert told == ["ben", "ana"]


async def test_one_subscription_too_many_ends_the_oldest_of_the_same_principal(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphctx.server.memory_resources.MAX_SUBSCRIBERS", 1)
    config = ServerConfig(toolsets=("memory",), memory=folder, tokens={"ana": SecretStr(ANA), "ben": SecretStr(BEN)})
    watched = ["memory://stats"]
    async with (
        listening(http_app(warmup_with(config), config, HttpConfig())) as url,
        as_bearer(url, ANA, "auto") as ana,
        as_bearer(url, BEN, "auto") as ben,
        ben.listen(resource_subscriptions=watched) as of_ben,
        ana.listen(resource_subscriptions=watched) as oldest,
        ana.listen(resource_subscriptions=watched) as newest,
    ):
        with anyio.fail_after(20):
            assert [change async for change in oldest] == []
            await ana.call_tool("memory_store", FACT)
            await ben.call_tool("memory_store", FACT)
            assert str((await anext(newest)).uri) == str((await anext(of_ben)).uri) == "memory://stats"


async def test_summaries_that_are_asked_for_are_written_by_the_model_that_is_set(
    folder: Path, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = ServerConfig(toolsets=("memory", "iteration"), memory=folder, llm=stub.settings())
    async with Client(build_server(Warmup(lambda: open_kb("/nonexistent", None, config)), config)) as client:
        for model, degraded in (("stub", ""), ("", "1 of 1 summaries are extractive: The endpoint failed with 500.")):
            await client.call_tool("memory_store", {"content": "The key is under the mat.", "memory_type": "turn"})
            await client.call_tool("store_context", {"content": "The build needs Java 21.", "context_type": "output"})
            for number in (1, 2):
                result = {"iteration": number, "summary": f"Did step {number}.", "success": True}
                await client.call_tool("store_iteration_result", result)
            compressed = (await client.call_tool("memory_compress", {"scope": "working"})).structured_content
            assert len(compressed["summaries"]) == 1
            old = (await client.call_tool("summarize_old_context", {"older_than_iterations": 0})).structured_content
            assert old["summarized"] > 0
            for answer in (compressed, old):
                assert answer.get("model", "") == model
                assert answer.get("degraded", "").startswith(degraded)
            stub.otherwise = sends(500)


async def test_over_http_whoever_is_unknown_reads_and_does_not_write(folder: Path) -> None:
    config = ServerConfig(toolsets=("memory",), memory=folder)
    async with listening(http_app(warmup_with(config), config, HttpConfig())) as url, Client(url) as client:
        for tool, arguments in (
            ("memory_store", FACT),
            ("memory_compress", {"scope": "working"}),
            ("memory_forget", {"memory_id": "m_a", "action": "delete"}),
            ("memory_wipe", {"confirm": "wipe"}),
        ):
            error = error_of(await client.call_tool(tool, arguments))
            assert error["code"] == "SCOPE_VIOLATION"
            assert "bearer token" in error["message"]
        assert (await client.call_tool("memory_status", {})).structured_content["n_items"] == 0


async def test_one_process_stores_and_the_next_one_remembers(tmp_path: Path) -> None:
    async with over_pipes("--memory", "notes", cwd=tmp_path) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"memory_store", "memory_retrieve"} <= names
        assert not any(name.startswith("kb") for name in names)
        stored = await client.call_tool("memory_store", FACT)
        assert not stored.is_error, text_of(stored)
    async with over_pipes("--memory", "notes", cwd=tmp_path) as client:
        found = (await client.call_tool("memory_retrieve", {"query": "Where does Ann live?"})).structured_content
        assert found["scope"]["project_id"] == "notes"
        assert FACT["content"] in found["block"]
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]


async def test_a_memory_that_cannot_be_opened_leaves_the_other_tools_alone(kb_path: Path, folder: Path) -> None:
    folder.mkdir()
    (folder / "memory.db").write_bytes(b"nothing of the kind" * 100)
    config = ServerConfig(toolsets=("kb", "memory"), memory=folder)
    async with Client(build_server(Warmup(lambda: open_kb(str(kb_path), None, config)), config)) as client:
        assert not (await client.call_tool("kb.search", {"query": "duty officer"})).is_error
        error = error_of(await client.call_tool("memory_status", {}))
        assert error["code"] == "BACKEND_UNAVAILABLE"
        assert "repair" in error["message"]


async def test_facts_and_documents_name_the_same_things(kb_path: Path, folder: Path) -> None:
    config = ServerConfig(toolsets=("kb", "graph", "memory"), memory=folder)
    async with Client(build_server(Warmup(lambda: open_kb(str(kb_path), None, config)), config)) as client:
        triple = {"subject": "Duty Officer", "predicate": "works_with", "object": "Bob"}
        await client.call_tool("store_facts", {"triples": [triple]})
        found = (await client.call_tool("graph_query", {"entity": "duty officer"})).structured_content
        assert [fact["object"] for fact in found["facts"]] == ["Bob"]
        described = await client.call_tool("graph.describe", {"node_ids": [found["document_entity"]]})
        assert described.structured_content["nodes"][0]["name"].casefold() == "duty officer"
        assert found["scope"]["project_id"] == "handbook"
