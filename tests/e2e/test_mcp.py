"""A real MCP client, in both protocol eras, that starts the server as an editor would."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from graphctx import KnowledgeBase

from .house import COMMAND, environment
from .listening import free_port, wait_until_listening

ERAS = pytest.mark.parametrize("mode", ["legacy", "auto"], ids=["handshake-era", "2026-era"])
QUESTIONS = (
    "How often does the mooring of Old Margaret have to be inspected under today's rules?",
    "Under which names has the system that collects satellite messages been known over the years?",
    "What do I type to put Choirboy back on its previous firmware?",
)


@asynccontextmanager
async def client(kb: Path, mode: str, *options: str) -> AsyncIterator[Client]:
    arguments = ["-m", "graphctx.cli", "serve", "--kb", str(kb), *options]
    parameters = StdioServerParameters(command=sys.executable, args=arguments, env=environment())
    async with Client(stdio_client(parameters), mode=mode, read_timeout_seconds=60) as session:
        yield session


@pytest.mark.anyio
@ERAS
async def test_quotes_over_stdio_slice_back_to_their_documents(
    handbook_kb: Path, handbook: KnowledgeBase, mode: str
) -> None:
    async with client(handbook_kb, mode) as session:
        for question in QUESTIONS:
            result = await session.call_tool("kb.retrieve_evidence", {"question": question})
            assert not result.is_error
            quotes = result.structured_content["quotes"]
            assert quotes
            for quote in quotes:
                text = handbook.document(quote["doc_uri"]).text
                assert text[quote["start_char"] : quote["end_char"]] == quote["quote"]
                assert quote["quote"].split("\n")[0] in result.content[0].text
            found = await session.call_tool("kb.search", {"query": question})
            for item in found.structured_content["results"]:
                text = handbook.document(item["doc_uri"]).text
                assert text[item["start_char"] : item["end_char"]] == item["preview"]
            passage = {"passage_id": quotes[0]["passage_id"]}
            for tool, limit in (("kb.read_excerpt", {"max_tokens": 50}), ("kb.expand_excerpt", {"after_tokens": 60})):
                excerpt = (await session.call_tool(tool, {**passage, **limit})).structured_content
                text = handbook.document(excerpt["citation"]["doc_uri"]).text
                assert text[excerpt["start_char"] : excerpt["end_char"]] == excerpt["excerpt"]


@pytest.mark.anyio
@ERAS
@pytest.mark.parametrize(("asked", "dot"), [((), "_"), (("--tool-names", "dotted"), ".")], ids=["default", "dotted"])
async def test_names_are_listed_as_asked_and_both_forms_are_called(
    lighthouse_kb: Path, mode: str, asked: tuple[str, ...], dot: str
) -> None:
    async with client(lighthouse_kb, mode, *asked) as session:
        names = {tool.name for tool in (await session.list_tools()).tools}
        assert {f"kb{dot}search", f"kb{dot}retrieve_evidence", f"kb{dot}read_excerpt", f"graph{dot}expand"} <= names
        for name in ("kb.search", "kb_search"):
            assert not (await session.call_tool(name, {"query": "lamp"})).is_error


@pytest.mark.anyio
@ERAS
async def test_a_server_without_a_knowledge_base_says_so_in_each_call(tmp_path: Path, mode: str) -> None:
    async with client(tmp_path / "nowhere", mode) as session:
        assert (await session.list_tools()).tools
        result = await session.call_tool("kb.search", {"query": "lamp"})
        assert result.is_error
        assert "BACKEND_UNAVAILABLE" in result.content[0].text
        assert "graphctx ingest" in result.content[0].text


@pytest.mark.anyio
async def test_an_ingest_beside_a_running_server_is_seen_by_the_next_call(own_kb: Path, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "boat.md").write_text("# The boat\n\nThe boat of Gull Point is called Kittiwake.\n")
    question = {"question": "What is the boat of Gull Point called?"}
    async with client(own_kb, "auto") as session:
        before = await session.call_tool("kb.retrieve_evidence", question)
        assert "Kittiwake" not in before.content[0].text
        ingest = [*COMMAND, "ingest", str(tmp_path / "more"), "--kb", str(own_kb)]
        subprocess.run(ingest, check=True, env=environment(), capture_output=True, timeout=120)
        after = await session.call_tool("kb.retrieve_evidence", question)
        assert "Kittiwake" in after.content[0].text


@pytest.fixture
def http_url(lighthouse_kb: Path) -> Iterator[str]:
    port = free_port()
    serve = [*COMMAND, "serve", "--kb", str(lighthouse_kb), "--transport", "http", "--port", str(port)]
    with subprocess.Popen(serve, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until_listening(process, port)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()


@pytest.mark.anyio
@ERAS
async def test_questions_are_answered_over_http(http_url: str, mode: str) -> None:
    async with Client(http_url, mode=mode, read_timeout_seconds=60) as session:
        result = await session.call_tool("kb.retrieve_evidence", {"question": "Where was Ada Merriweather born?"})
        assert any("Thornby" in quote["quote"] for quote in result.structured_content["quotes"])
