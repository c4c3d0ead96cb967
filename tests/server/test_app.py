from __future__ import annotations

import re

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from graphctx.server.config import ServerConfig
from graphctx.server.tools import TOOLSETS

from .conftest import Connect

pytestmark = pytest.mark.anyio
QUESTION = "Who is the duty officer for the ledger?"


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
            ("kb.retrieve_evidence", {"question": QUESTION}),
            ("kb.retrieve_evidence", {"question": QUESTION, "max_tokens": 700}),
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


async def test_without_kb_v2_only_the_older_names_are_there(connect: Connect) -> None:
    async with connect(ServerConfig(kb_v2=False, toolsets=("kb", "graph", "connector"))) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        assert listed == [tool.name for tool in TOOLSETS["compat"]]
        assert not (await client.call_tool("search_sections", {"query": "ledger"})).is_error
        for name in ("kb.search", "kb_search", "graph.describe"):
            with pytest.raises(MCPError) as caught:
                await client.call_tool(name, {"query": "ledger"})
            assert caught.value.error.code == INVALID_PARAMS
        assert (await client.list_prompts()).prompts == []
        assert "kb." not in (client.instructions or "")
