from __future__ import annotations

import re
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from graphctx.server.config import ServerConfig
from graphctx.server.names import ToolNames
from graphctx.server.tools import serve

from .conftest import Connect
from .results import text_of

pytestmark = pytest.mark.anyio
QUESTION = "Who is the duty officer for the ledger?"


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_every_tool_is_listed_once_by_a_name_that_model_apis_take(connect: Connect, transport: Any) -> None:
    async with connect(ServerConfig(transport=transport)) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
    assert names == [tool.name.replace(".", "_") for tool in serve()]
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names)


async def test_dotted_names_are_listed_on_request(connect: Connect) -> None:
    async with connect(ServerConfig(tool_names="dotted")) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == [tool.name for tool in serve()]
        assert "kb.extract_evidence" in text_of(await client.call_tool("kb_search", {"query": "ledger"}))


async def test_everything_that_a_client_reads_names_tools_as_they_are_listed(connect: Connect) -> None:
    async with connect(ServerConfig(toolsets=("kb", "graph", "compat", "connector"))) as client:
        read = [client.instructions or "", (await client.list_tools()).model_dump_json()]
        read.append((await client.list_prompts()).model_dump_json())
        read.append((await client.list_resource_templates()).model_dump_json())
        read.append((await client.get_prompt("explore_entity", {"entity": "ledger"})).model_dump_json())
        for uri in ("graphctx://status", "graphctx://hierarchy/concept", "graphctx://hierarchy/section"):
            read.append((await client.read_resource(uri)).model_dump_json())
        for name, arguments in (
            ("kb.search", {"query": "ledger"}),
            ("kb.search", {"query": "ledger", "session_id": "x_gone"}),
            ("kb.retrieve_evidence", {"question": "Who is the duty officer for the ledger?"}),
            ("kb.retrieve_evidence", {"question": "Who is the duty officer for the ledger?", "max_tokens": 700}),
            ("kb.read_excerpt", {"passage_id": "p_aaaaaaaaaaaaaaaa"}),
            ("kb.global_search", {"question": "What is it about?"}),
            ("graph.communities", {}),
            ("graph.expand", {"node_ids": ["duty officer"], "page_size": 1}),
            ("get_section_text", {"section_ids": ["p_aaaaaaaaaaaaaaaa"]}),
        ):
            read.append((await client.call_tool(name, arguments)).model_dump_json())
        with pytest.raises(MCPError) as caught:
            await client.call_tool("kb_serach", {})
        read.append(caught.value.error.model_dump_json())
    for text in read:
        assert not re.search(r"\b(kb|graph)\.(?!toml)[a-z]", text), text[:500]


async def test_both_forms_of_a_name_can_be_called_whatever_is_listed(connect: Connect) -> None:
    styles: tuple[ToolNames, ...] = ("dotted", "underscore")
    for style in styles:
        async with connect(ServerConfig(tool_names=style)) as client:
            for called in ("kb.search", "kb_search"):
                assert not (await client.call_tool(called, {"query": "ledger"})).is_error


async def test_an_unknown_tool_is_a_protocol_error(connect: Connect) -> None:
    async with connect() as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("kb.serach", {"query": "ledger"})
    assert caught.value.error.code == INVALID_PARAMS
    assert "kb_search" in caught.value.error.message
