"""Servers that the command line starts, asked by a real MCP client."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from .house import COMMAND, environment, graphctx, succeeded
from .listening import free_port, wait_until_listening

pytestmark = pytest.mark.anyio


async def test_an_ingest_beside_a_running_server_is_seen_by_the_next_call(own_kb: Path, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "boat.md").write_text("# The boat\n\nThe boat of Gull Point is called Kittiwake.\n")
    question = {"question": "What is the boat of Gull Point called?"}
    arguments = [*COMMAND[1:], "serve", "--kb", str(own_kb), "--tool-names", "dotted"]
    parameters = StdioServerParameters(command=sys.executable, args=arguments, env=environment())
    async with Client(stdio_client(parameters), mode="auto", read_timeout_seconds=120) as client:
        assert "kb.retrieve_evidence" in {tool.name for tool in (await client.list_tools()).tools}
        before = await client.call_tool("kb.retrieve_evidence", question)
        assert "Kittiwake" not in before.content[0].text
        succeeded(graphctx("ingest", tmp_path / "more", "--kb", own_kb))
        after = await client.call_tool("kb.retrieve_evidence", question)
        assert "Kittiwake" in after.content[0].text


async def test_questions_are_answered_over_http(lighthouse_kb: Path) -> None:
    port = free_port()
    serve = [*COMMAND, "serve", "--kb", str(lighthouse_kb), "--transport", "http", "--port", str(port)]
    with subprocess.Popen(serve, env=environment(), stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_until_listening(process)
            async with Client(f"http://127.0.0.1:{port}/mcp", read_timeout_seconds=120) as client:
                question = {"question": "Where was Ada Merriweather born?"}
                result = await client.call_tool("kb.retrieve_evidence", question)
                assert any("Thornby" in quote["quote"] for quote in result.structured_content["quotes"])
        finally:
            process.terminate()
