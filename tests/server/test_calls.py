"""What holds for a call whatever its tool; the tools themselves are held to their contract in tests/contract."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from graphctx.server.app import build_server
from graphctx.server.warmup import Warmup, open_engine

from .conftest import Connect
from .results import error_of, text_of

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
    async with connect(server=build_server(Warmup(lambda: open_engine(str(later))))) as client:
        assert error_of(await client.call_tool("kb.search", {"query": "ledger"}))["code"] == "BACKEND_UNAVAILABLE"
        shutil.copytree(kb_path, later)
        assert not (await client.call_tool("kb.search", {"query": "ledger"})).is_error


async def test_a_session_that_is_not_the_connections_own_is_ignored_with_a_note(connect: Connect) -> None:
    async with connect() as client:
        own = (await client.call_tool("kb.search", {"query": "ledger"})).structured_content["session_id"]
        assert not (await client.call_tool("kb.search", {"query": "ledger", "session_id": own})).is_error
        foreign = {"session_id": "x_" + "a" * 16}
        searched = await client.call_tool("kb.search", {"query": "ledger", **foreign})
        passage = searched.structured_content["results"][0]
        read = [
            await client.call_tool("kb.read_excerpt", {"passage_id": passage[name], **foreign})
            for name in ("passage_id", "section_id")
        ]
        graph = await client.call_tool("graph.parents", {"section_ids": [passage["section_id"]], **foreign})
    for result in (searched, *read, graph):
        assert not result.is_error
        assert result.structured_content["session_id"] == own
        assert foreign["session_id"] in result.structured_content["session_note"]
        assert text_of(result).startswith(result.structured_content["session_note"])
        assert len(text_of(result)) < result.structured_content["budget"]["bytes"]
