"""The tools of the layers over the protocol: in memory, over HTTP and over pipes."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from graphctx.errors import InvalidArgument
from graphctx.knowledge_base import KnowledgeBase
from graphctx.layers import FILES, write_layer
from graphctx.server.app import build_server
from graphctx.server.config import ServerConfig
from graphctx.server.http import HttpConfig, http_app
from graphctx.server.warmup import Warmup, open_kb
from tests.layers.world import content, note, stack
from tests.processes import over_pipes

from ..listening import listening
from ..results import error_of, text_of
from .world import OFFICER, QUESTION, digests, warmup_with


@pytest.mark.anyio
async def test_the_tools_are_listed_with_underscores_and_called_with_dots_too(layered: Any) -> None:
    async with layered() as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        own = [name for name in listed if name.startswith("agents")]
        assert own == ["agents_search", "agents_context_write", "agents_context_propose"]
        assert all(re.fullmatch(r"[a-zA-Z0-9_-]+", name) for name in own)
        hints = {name: listed[name].annotations for name in own}
        assert [hints[name].read_only_hint for name in own] == [True, False, False]
        assert [hints[name].idempotent_hint for name in own] == [True, False, True]
        assert not any(hints[name].destructive_hint or hints[name].open_world_hint for name in own)
        found = await client.call_tool("agents.search", {"query": OFFICER})
        assert (
            found.structured_content["chunks"]
            == ((await client.call_tool("agents_search", {"query": OFFICER})).structured_content["chunks"])
        )
        note = {"content": "Dots do.", "kind": "note", "confidence": 1, "scope": "delta"}
        written = (await client.call_tool("agents.context.write", note)).structured_content
        proposed = await client.call_tool("agents.context.propose", {"context_id": written["id"]})
        assert proposed.structured_content["context_id"] == written["id"]
        assert str(written["id"]) in text_of(proposed)


@pytest.mark.anyio
async def test_an_error_about_a_layer_can_be_sent_whatever_characters_its_metadata_hold(
    layered: Any, folder: Path
) -> None:
    odd = replace(content(note(1, "Odd.")), metadata=b'{"embedding_profile":{"backend":"odd\\ud800","dim":16}}')
    write_layer(folder / FILES["base"], odd, replace=True)
    async with layered() as client:
        result = await client.call_tool("agents_search", {"query": "odd"})
    assert error_of(result)["code"] == "INVALID_ARGUMENT"
    assert b"by odd\xef\xbf\xbd" in text_of(result).encode()


@pytest.mark.anyio
async def test_layers_alone_are_served_from_a_folder_whose_name_is_not_utf8(tmp_path: Path) -> None:
    place = tmp_path / os.fsdecode(b"caf\xe9")
    stack(place, base=content(note(1, "Gulls are fed.")))
    config = ServerConfig(toolsets=("layers",), layers=place)
    async with Client(build_server(Warmup(lambda: open_kb(str(tmp_path / "none"), place)), config)) as client:
        found = await client.call_tool("agents_search", {"query": "gulls"})
    assert found.structured_content["scope"]["project_id"] == "caf\ufffd"


@pytest.mark.anyio
async def test_a_chunk_of_a_time_that_no_calendar_has_is_listed_as_a_resource(layered: Any, folder: Path) -> None:
    late = note(1, "Gulls are fed.", created_at_unix_ms=2**63)
    write_layer(folder / FILES["base"], content(late), replace=True)
    async with layered() as client:
        read = await client.call_tool("kb.read_excerpt", {"passage_id": "layer:base:1"})
        (listed,) = (await client.list_resources()).resources
    assert listed.name == read.structured_content["passage_id"]


@pytest.mark.anyio
async def test_a_chunk_is_a_resource(layered: Any) -> None:
    async with layered() as client:
        found = (
            await client.call_tool("kb.search", {"query": QUESTION, "options": {"layers": ["delta"]}})
        ).structured_content["results"][0]
        for uri in (found["scratch_uri"], f"graphctx://document/{found['doc_id']}"):
            assert (await client.read_resource(uri)).contents[0].text == OFFICER


def layered_app(kb: KnowledgeBase, folder: Path, http: HttpConfig, **config: Any) -> Any:
    """The HTTP application of a server with layers."""
    settings = ServerConfig(toolsets=("kb", "layers"), layers=folder, **config)
    return http_app(warmup_with(kb, folder), settings, http)


NOTE = {"content": "Over the wire.", "kind": "note", "confidence": 1, "scope": "local"}


@pytest.mark.anyio
async def test_over_http_whoever_is_unknown_may_search_and_not_write(kb: KnowledgeBase, folder: Path, era: str) -> None:
    before = digests(folder)
    async with (
        listening(layered_app(kb, folder, HttpConfig())) as url,
        Client(url, mode=era, read_timeout_seconds=30) as client,
    ):
        assert not (await client.call_tool("agents_search", {"query": "gulls"})).is_error
        for tool, arguments in (("agents_context_write", NOTE), ("agents_context_propose", {"context_id": 12})):
            error = error_of(await client.call_tool(tool, arguments))
            assert error["code"] == "SCOPE_VIOLATION"
            assert "bearer token" in error["message"]
    assert digests(folder) == before


@pytest.mark.anyio
async def test_over_http_everybody_writes_where_a_proxy_authenticates(kb: KnowledgeBase, folder: Path) -> None:
    async with (
        listening(layered_app(kb, folder, HttpConfig(allow_anonymous=True))) as url,
        Client(url, mode="auto", read_timeout_seconds=30) as client,
    ):
        assert not (await client.call_tool("agents_context_write", NOTE)).is_error
    assert (folder / FILES["local"]).exists()


def test_the_facade_asks_layers_too(kb_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with KnowledgeBase.open(kb_path) as kb, pytest.raises(InvalidArgument, match=r"\[layers\] folder"):
        kb.search("gulls", layers=["base"])
    monkeypatch.setenv("GRAPHCTX_LAYERS__FOLDER", str(folder))
    with KnowledgeBase.open(kb_path) as kb:
        first = kb.search("Gulls are fed", layers=["base", "delta"]).results[0]
        assert first.layer is not None
        question = "Where is the vault key of Zorblin kept?"
        answer = kb.retrieve_evidence(question, layers=["base"])
        assert answer.quotes[0].quote == "The vault key is kept in the red safe."
        assert answer.unknown_words == kb.retrieve_evidence(question).unknown_words == ["Zorblin"]
        assert "Gulls" not in kb.retrieve_evidence("Where are Gulls fed in Zorblin?", layers=["base"]).unknown_words


@pytest.mark.anyio
async def test_layers_are_served_without_a_knowledge_base_and_no_folder_is_made_for_one(tmp_path: Path) -> None:
    async with over_pipes("--layers", ".", cwd=tmp_path) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == ["agents_search", "agents_context_write", "agents_context_propose"]
        written = await client.call_tool("agents_context_write", NOTE)
        assert not written.is_error
        found = await client.call_tool("agents_search", {"query": "wire"})
        assert [chunk["content"] for chunk in found.structured_content["chunks"]] == ["Over the wire."]
        (chunk,) = found.structured_content["chunks"]
        read = await client.read_resource(f"graphctx://document/{chunk['section_id']}")
        assert "Over the wire." in read.contents[0].text
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith(".AGENTS")] == ["AGENTS.local.db"]


@pytest.mark.anyio
async def test_a_tool_of_documents_that_was_asked_for_says_that_there_are_none(tmp_path: Path) -> None:
    config = ServerConfig(toolsets=("kb", "layers"), layers=tmp_path)
    server = build_server(Warmup(lambda: open_kb(str(tmp_path / "none"), tmp_path)), config)
    async with Client(server) as client:
        found = await client.call_tool("kb.search", {"query": "wire"})
        assert found.structured_content["empty_reason"] == "no_snapshot"
        error = error_of(await client.call_tool("kb.read_excerpt", {"passage_id": "u_none"}))
        assert error["code"] in ("INVALID_ARGUMENT", "BACKEND_UNAVAILABLE")
    assert list(tmp_path.iterdir()) == []
