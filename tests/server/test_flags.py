from __future__ import annotations

import json

import jsonschema
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from graphctx.server.config import ServerConfig
from graphctx.server.tools import TOOLSETS

from .calls import LISTED
from .conftest import Connect
from .library import Library
from .results import error_of, text_of

pytestmark = pytest.mark.anyio
QUESTION = "Who is the duty officer for the ledger?"


async def test_structured_answers_fit_the_schema_that_is_listed(connect: Connect, library: Library) -> None:
    section = next(iter(library.units))
    async with connect(ServerConfig(toolsets=tuple(TOOLSETS))) as client:
        schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        for tool, arguments in (
            ("kb.search", {"query": "ledger", "options": {"include_scores": True}}),
            ("kb.retrieve_evidence", {"question": QUESTION, "options": {"include_diagnostics": True}}),
            ("kb.extract_evidence", {"question": QUESTION, "passage_ids": [section]}),
            ("kb.read_excerpt", {"passage_id": section}),
            ("kb.expand_excerpt", {"passage_id": section}),
            ("graph.describe", {"node_ids": ["ledger", "nobody"]}),
            ("graph.expand", {"node_ids": ["ledger"]}),
            ("search_sections", {"query": "ledger"}),
        ):
            result = await client.call_tool(tool, arguments)
            assert not result.is_error, text_of(result)
            jsonschema.validate(result.structured_content, schemas[LISTED.name(tool)])


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


async def test_servers_that_share_a_key_understand_each_others_cursors(connect: Connect) -> None:
    asked = {"query": "ledger backups duty officer", "page_size": 1}
    async with connect(ServerConfig(cursor_key="between us")) as client:
        cursor = (await client.call_tool("kb.search", asked)).structured_content["next_cursor"]
    for key, understood in (("between us", True), ("another key", False), ("", False)):
        async with connect(ServerConfig(cursor_key=key)) as client:
            result = await client.call_tool("kb.search", asked | {"cursor": cursor})
        if understood:
            assert result.structured_content["results"][0]["rank"] == 2
        else:
            assert error_of(result)["details"]["field"] == "cursor"
