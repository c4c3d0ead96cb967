"""A client that connects anew for each call: pages go on, and what an answer's text names can be read."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from mcp import Client

from graphctx.knowledge_base import KnowledgeBase
from tests.processes import COMMAND, environment, free_port, wait_until_listening

from .corpus import OPEN_QUESTION
from .protocol import reply_of
from .test_contract_stdio import EVERY_TOOLSET, over_pipes

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

Connect = Callable[[str], AbstractAsyncContextManager[Client]]
ERAS = ("legacy", "auto")
ASKED = {"query": OPEN_QUESTION, "top_k": 6, "page_size": 2}


@pytest.fixture(scope="module")
def folder(nasty_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A knowledge base of this module's own: servers make a key in it."""
    return Path(shutil.copytree(nasty_path, tmp_path_factory.mktemp("reconnecting") / "kb"))


@asynccontextmanager
async def http_server(folder: Path) -> AsyncIterator[str]:
    """`graphctx serve` over HTTP, in a process of its own."""
    port = free_port()
    command = [*COMMAND, "serve", "--kb", str(folder), "--transport", "http", "--port", str(port)]
    settings = environment(GRAPHCTX_SERVER__TOOLSETS=EVERY_TOOLSET)
    with subprocess.Popen(command, env=settings, stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_until_listening(process)
            yield f"http://127.0.0.1:{port}/mcp"
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
        finally:
            process.kill()


async def check_each_call_on_its_own_connection(connects: list[Connect], era: str) -> None:
    """Each call through the next of the ways to connect."""
    async with connects[0](era) as client:
        first = reply_of(await client.call_tool("kb.search", ASKED))
    pages = [first]
    session = {"session_id": first.answer["session_id"]}
    for connect in connects[1:]:
        async with connect(era) as client:
            asked = {**ASKED, **session, "cursor": pages[-1].answer["next_cursor"]}
            pages.append(reply_of(await client.call_tool("kb.search", asked)))
    sections = [found["section_id"] for page in pages for found in page.answer["results"]]
    assert len(set(sections)) == 2 * len(pages)
    shown = re.findall(r"^section (\S+)$", first.text, re.MULTILINE)
    assert shown == sections[:2]
    found = first.answer["results"][0]
    async with connects[-1](era) as client:
        for tool, arguments in (
            ("kb.read_excerpt", {"passage_id": shown[0]}),
            ("kb.expand_excerpt", {"passage_id": shown[0]}),
            ("kb.extract_evidence", {"question": OPEN_QUESTION, "passage_ids": shown}),
            ("graph.parents", {"section_ids": shown}),
            ("graph.entities_for_sections", {"section_ids": shown}),
        ):
            reply = reply_of(await client.call_tool(tool, {**arguments, **session}))
            assert not reply.is_error, reply.text
        [read] = (await client.read_resource(f"graphctx://section/{shown[0]}")).contents
        assert found["preview"] in read.text
        private = reply_of(await client.call_tool("kb.read_excerpt", {"passage_id": found["passage_id"], **session}))
        assert "Pass the section_id" in private.error["message"]
        altered = reply_of(
            await client.call_tool("kb.search", {**ASKED, "query": "other", "cursor": first.answer["next_cursor"]})
        )
        assert altered.error["details"]["field"] == "cursor"


async def test_over_stdio_each_call_may_have_a_process_of_its_own(folder: Path, nasty: KnowledgeBase) -> None:
    await check_each_call_on_its_own_connection([lambda era: over_pipes(folder, era)] * 2, "auto")
    assert (folder / "cursor.key").stat().st_size == 32
    with KnowledgeBase.open(folder) as kb:  # the key is no part of what is published
        status = kb.status()
        assert (kb.snapshot_id, status.content_hash) == (nasty.snapshot_id, nasty.status().content_hash)


async def test_over_http_pages_go_on_from_another_connection_and_another_server(folder: Path) -> None:
    async with http_server(folder) as before, http_server(folder) as after:
        async with httpx2.AsyncClient() as http:
            assert (await http.get(before.replace("/mcp", "/healthz"))).status_code == 200
        connects: list[Connect] = [
            lambda era: Client(before, mode=era, read_timeout_seconds=60),
            lambda era: Client(before, mode=era, read_timeout_seconds=60),
            lambda era: Client(after, mode=era, read_timeout_seconds=60),
        ]
        for era in ERAS:
            await check_each_call_on_its_own_connection(connects, era)
