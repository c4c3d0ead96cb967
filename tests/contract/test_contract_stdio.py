"""The same contract over real pipes, with a process of its own and a handful of calls for each tool."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path

import jsonschema
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from tests import processes

from .corpus import OPEN_QUESTION
from .examples import EVERY_TOOL, ITEMS, Examples
from .protocol import Reply, reply_of, weight
from .test_contract_answers import check_text_stands_alone
from .truth import Truth

pytestmark = pytest.mark.anyio
ODD = [
    "a\x00b",
    "\u202egate\u202c",
    "👩‍👩‍👧‍👦",
    "e\u0301" * 500,
    "שער הגאות",
    "\u2028\u2029\x85",
    "\ufeff\uffff",
    "\t x \n",
]
EVERY_TOOLSET = '["kb", "graph", "compat", "connector"]'


def over_pipes(kb: Path, mode: str, **extra: str) -> AbstractAsyncContextManager[Client]:
    """A client of a server of every tool in a process of its own."""
    return processes.over_pipes("--kb", str(kb), mode=mode, GRAPHCTX_SERVER__TOOLSETS=EVERY_TOOLSET, **extra)


@pytest.mark.parametrize("mode", [pytest.param("legacy", marks=pytest.mark.slow), "auto"])
async def test_every_tool_keeps_its_contract_over_pipes(
    nasty_path: Path, examples: Examples, truth: Truth, mode: str
) -> None:
    plain = examples.plain
    async with over_pipes(nasty_path, mode) as client:

        async def call(tool: str, **arguments: object) -> Reply:
            return reply_of(await client.call_tool(tool, arguments))

        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(listed) == [tool.replace(".", "_") for tool in EVERY_TOOL]
        found = (await call("kb.search", query=OPEN_QUESTION, top_k=10, page_size=10)).answer["results"]
        passages = [result["passage_id"] for result in found]
        own = {"passage_id": passages[0], "passage_ids": passages[:3]}
        for tool in EVERY_TOOL:
            arguments = {name: own.get(name, value) for name, value in plain[tool].items()}
            reply = await call(tool, **arguments)
            assert not reply.is_error, (tool, reply.text)
            jsonschema.validate(reply.answer, listed[tool.replace(".", "_")].output_schema)
            assert reply.answer.get(ITEMS.get(tool, ""), True)
            truth.check_spans(reply.answer)
            check_text_stands_alone(reply)
            tokens, size = weight(reply)
            assert tokens <= 8_000
            assert size <= 30_000
            assert await call(tool.replace(".", "_"), **arguments) == reply
            refused = await call(tool, **arguments, nonsense="\U0001f30a")
            assert refused.error["code"] == "INVALID_ARGUMENT"
            assert refused.error["details"]["field"] == "nonsense"
            if required := listed[tool.replace(".", "_")].input_schema.get("required"):
                refused = await call(tool)
                assert refused.error["code"] == "INVALID_ARGUMENT"
                assert refused.error["details"]["field"] in required
        with pytest.raises(MCPError):
            await client.call_tool("kb.nothing", {})
        await check_odd_text(client)


async def check_odd_text(client: Client) -> None:
    """Whatever is written into a pipe is answered or refused."""
    for text in ODD:
        for tool, name in (("kb.search", "query"), ("kb.retrieve_evidence", "question")):
            reply = reply_of(await client.call_tool(tool, {name: text}))
            assert not reply.is_error or reply.error["code"] == "INVALID_ARGUMENT"
    too_long = reply_of(await client.call_tool("kb.search", {"query": "\u00e9" * 1_000_000}))
    assert too_long.error["code"] == "INVALID_ARGUMENT"
    assert not reply_of(await client.call_tool("kb.search", {"query": "still there?"})).is_error


@pytest.mark.slow
async def test_flags_of_the_environment_choose_the_tools_and_the_form(nasty_path: Path) -> None:
    flags = {"GRAPHCTX_SERVER__KB_V2": "false", "GRAPHCTX_SERVER__STRUCTURED_OUTPUT": "false"}
    async with over_pipes(nasty_path, "auto", **flags) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert "search_sections" in names
        assert "kb_search" not in names
        result = await client.call_tool("search_sections", {"query": "tide gate"})
        assert result.structured_content is None
        assert result.content[0].text.startswith('{"')
