from __future__ import annotations

import json

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from graphctx.server.config import ServerConfig
from graphctx.server.tools import TOOLSETS

from .conftest import Connect
from .results import text_of

pytestmark = pytest.mark.anyio
QUESTION = "Who is the duty officer for the ledger?"


async def test_without_structured_output_the_text_is_the_whole_answer_as_minified_json(connect: Connect) -> None:
    asked = {"question": QUESTION}
    async with connect() as client:
        whole = (await client.call_tool("kb.retrieve_evidence", asked)).structured_content
    async with connect(ServerConfig(structured_output=False)) as client:
        assert not any(tool.output_schema for tool in (await client.list_tools()).tools)
        result = await client.call_tool("kb.retrieve_evidence", asked)
        assert result.structured_content is None
        answer = json.loads(text_of(result))
        assert answer.keys() == whole.keys()
        assert [quote["quote"] for quote in answer["quotes"]] == [quote["quote"] for quote in whole["quotes"]]
        assert text_of(result) == json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
        failure = await client.call_tool("kb.search", {"query": ""})
        assert failure.is_error
        assert failure.structured_content is None
        assert json.loads(text_of(failure))["error"]["code"] == "INVALID_ARGUMENT"


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
