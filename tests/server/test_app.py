from __future__ import annotations

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from graphctx.server.config import ServerConfig
from graphctx.server.tools import serve

from .conftest import Connect
from .results import text_of

pytestmark = pytest.mark.anyio
QUESTION = "Who is the duty officer for the ledger?"


async def test_every_tool_is_listed_once_by_its_dotted_name(connect: Connect) -> None:
    async with connect() as client:
        listed = (await client.list_tools()).tools
    assert [tool.name for tool in listed] == [tool.name for tool in serve()]


@pytest.mark.parametrize(
    "name", ["claude-ai", "claude-ai (via mcp-remote 0.1.37)", "cursor-vscode", "GitHub Copilot CLI"]
)
async def test_a_client_that_refuses_dots_is_listed_underscores_on_stdio(connect: Connect, name: str) -> None:
    async with connect(client=name) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == [tool.name.replace(".", "_") for tool in serve()]
        assert not any("kb." in (tool.description or "") for tool in tools)
        result = await client.call_tool("kb_search", {"query": "ledger"})
    assert "kb_extract_evidence" in text_of(result)


@pytest.mark.parametrize("name", ["claude-ai", "cursor-vscode"])
async def test_over_http_the_list_does_not_depend_on_the_client(connect: Connect, name: str) -> None:
    async with connect(ServerConfig(transport="http"), client=name) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == [tool.name for tool in serve()]


async def test_both_forms_of_a_name_can_be_called_whatever_is_listed(connect: Connect) -> None:
    for names in ("dotted", "underscore"):
        async with connect(ServerConfig(tool_names=names)) as client:
            for called in ("kb.search", "kb_search"):
                assert not (await client.call_tool(called, {"query": "ledger"})).is_error


async def test_an_unknown_tool_is_a_protocol_error(connect: Connect) -> None:
    async with connect() as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("kb.serach", {"query": "ledger"})
    assert caught.value.error.code == INVALID_PARAMS
    assert "kb.search" in caught.value.error.message
