"""What holds for a call whatever its tool; the tools themselves are held to their contract in tests/contract."""

from __future__ import annotations

import logging
import shutil
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, PromptReference

from graphctx.knowledge_base import KnowledgeBase
from graphctx.server.app import build_server
from graphctx.server.config import ServerConfig
from graphctx.server.warmup import OpenKnowledgeBase, Warmup, open_kb

from .calls import engine_over
from .conftest import Connect, each_era
from .results import error_of, text_of
from .waiting import HANG

pytestmark = pytest.mark.anyio
QUESTION = "Who is the duty officer for the ledger?"


async def test_budgets_do_not_depend_on_random_ids(connect: Connect) -> None:
    budgets = []
    for _ in range(3):
        async with connect() as client:
            result = await client.call_tool("kb.retrieve_evidence", {"question": QUESTION})
            budgets.append(result.structured_content["budget"])
    assert budgets[0] == budgets[1] == budgets[2]


async def test_an_index_that_comes_later_is_found_by_the_next_call(
    connect: Connect, kb_path: Path, tmp_path: Path
) -> None:
    later = tmp_path / "kb"
    async with connect(server=build_server(Warmup(lambda: open_kb(str(later))))) as client:
        error = error_of(await client.call_tool("kb.search", {"query": "ledger"}))
        assert error["code"] == "BACKEND_UNAVAILABLE"
        assert "graphctx ingest" in error["message"]
        shutil.copytree(kb_path, later)
        assert not (await client.call_tool("kb.search", {"query": "ledger"})).is_error


async def test_a_call_sees_one_snapshot_while_another_is_published(
    connect: Connect, kb_path: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(kb_path, tmp_path / "kb"))
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "rota.md").write_text("# Rota\n\nThe duty officer for the ledger is Odd Aker since April.\n")
    pinned, published = threading.Event(), threading.Event()
    with KnowledgeBase.open(folder) as kb:

        def pinned_first() -> Any:
            searcher = kb.searcher()
            pinned.set()
            assert published.wait(HANG)
            return searcher

        async def publish() -> None:
            assert await anyio.to_thread.run_sync(pinned.wait, HANG)
            await anyio.to_thread.run_sync(lambda: kb.ingest(tmp_path / "more", processes=1))
            published.set()

        engine = replace(engine_over(kb), searcher=pinned_first)
        async with connect(server=build_server(Warmup(lambda: engine))) as client, anyio.create_task_group() as group:
            group.start_soon(publish)
            during = await client.call_tool("kb.retrieve_evidence", {"question": QUESTION})
            after = await client.call_tool("kb.retrieve_evidence", {"question": QUESTION})
    assert ("Odd Aker" in text_of(during), "Odd Aker" in text_of(after)) == (False, True)


async def test_a_session_that_is_not_the_connections_own_is_ignored_with_a_note(connect: Connect) -> None:
    async with connect() as client:
        own = (await client.call_tool("kb.search", {"query": "ledger"})).structured_content["session_id"]
        foreign = {"session_id": "x_" + "a" * 16}
        searched = await client.call_tool("kb.search", {"query": "ledger", **foreign})
        passage = searched.structured_content["results"][0]
        read = await client.call_tool("kb.read_excerpt", {"passage_id": passage["passage_id"], **foreign})
        graph = await client.call_tool("graph.parents", {"section_ids": [passage["section_id"]], **foreign})
    for result in (searched, read, graph):
        assert not result.is_error
        assert result.structured_content["session_id"] == own
        assert foreign["session_id"] in result.structured_content["session_note"]
        assert text_of(result).startswith(result.structured_content["session_note"])
        assert len(text_of(result)) < result.structured_content["budget"]["bytes"]


def failing() -> Any:
    """Fail with a message that no client may see."""
    raise OSError(13, "Permission denied", "/srv/ana/secret/kb/walk.npz")


@each_era
async def test_a_fault_inside_is_reported_and_logged_without_its_message(
    connect: Connect, kb: KnowledgeBase, caplog: pytest.LogCaptureFixture
) -> None:
    engine = OpenKnowledgeBase(failing, kb.warm, kb.tokens.count)
    shown = []
    with caplog.at_level(logging.INFO, "graphctx"):
        async with connect(server=build_server(Warmup(lambda: engine))) as client:
            for tool, arguments in (("kb.search", {"query": "ledger"}), ("graph.describe", {"node_ids": ["ledger"]})):
                result = await client.call_tool(tool, arguments)
                name = tool.replace(".", "_")
                assert error_of(result)["code"] == "INTERNAL_ERROR"
                assert error_of(result)["message"] == f"Internal error in {name}; see the server log."
                shown.append(result.model_dump_json())
            for uri in ("graphctx://document/ops%2Fbackup.md", "graphctx://entity/ledger"):
                with pytest.raises(MCPError) as caught:
                    await client.read_resource(uri)
                assert caught.value.error.code == INTERNAL_ERROR
                assert caught.value.error.data["error"]["code"] == "INTERNAL_ERROR"
                shown.append(caught.value.error.model_dump_json())
            with pytest.raises(MCPError) as caught:
                await client.complete(PromptReference(name="explore_entity"), {"name": "entity", "value": "led"})
            shown.append(caught.value.error.model_dump_json())
    assert not any(word in text for text in shown for word in ("secret", "Permission", "PermissionError", "Traceback"))
    assert "internal error in kb_search: PermissionError at test_dispatch.py" in caplog.text
    assert "secret" not in caplog.text


async def test_the_callers_own_words_come_back_as_they_were(connect: Connect) -> None:
    async with connect(ServerConfig(toolsets=("kb", "compat"))) as client:
        for tool, name in (("kb_read_excerpt", "passage_id"), ("get_section_text", "section_ids")):
            value: Any = "see kb.search or kb.notes.md"
            asked = {name: [value] if name.endswith("s") else value}
            error = error_of(await client.call_tool(tool, asked))
            assert repr(value) in error["message"]
            assert error["details"]["value"] == value
            assert "kb.search" not in error["message"].replace(value, "")


async def test_of_two_arguments_that_are_wrong_an_error_names_the_first(connect: Connect) -> None:
    ends = {"start_ids": ["p_" + "a" * 16], "end_ids": ["p_" + "b" * 16]}
    async with connect() as client:
        assert error_of(await client.call_tool("graph.paths", ends))["details"]["field"] == "start_ids"


async def test_an_error_suggests_layers_only_where_they_are_served(connect: Connect, tmp_path: Path) -> None:
    asked = {"query": "x", "options": {"colour": "red"}}
    for config, suggested in ((ServerConfig(), False), (ServerConfig(layers=tmp_path), True)):
        async with connect(config) as client:
            error = error_of(await client.call_tool("kb.search", asked))
            assert "known here: max_snippet_chars" in error["message"]
            assert ("layers" in error["message"]) == suggested
