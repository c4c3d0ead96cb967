"""Faults inside the server, and the words of the caller in errors."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, PromptReference

from graphctx.knowledge_base import KnowledgeBase
from graphctx.server.app import build_server
from graphctx.server.config import ServerConfig
from graphctx.server.warmup import Engine, Warmup

from .conftest import Connect
from .results import error_of, text_of

pytestmark = pytest.mark.anyio


def failing() -> Any:
    """Fail with a message that nobody outside may see."""
    raise OSError(13, "Permission denied", "/srv/ana/secret/kb/walk.npz")


@pytest.mark.parametrize("structured", [True, False])
async def test_a_fault_inside_is_reported_without_its_insides(
    connect: Connect, kb: KnowledgeBase, structured: bool
) -> None:
    engine = Engine(failing, kb.warm, kb.tokens.count)
    config = ServerConfig(structured_output=structured)
    shown = []
    async with connect(server=build_server(Warmup(lambda: engine), config)) as client:
        for tool, arguments in (("kb.search", {"query": "ledger"}), ("graph.describe", {"node_ids": ["ledger"]})):
            result = await client.call_tool(tool, arguments)
            assert result.is_error
            assert json.loads(text_of(result))["error"]["code"] == "INTERNAL_ERROR"
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
    assert not any(word in text for text in shown for word in ("secret", "Permission", "OSError", "Traceback"))


async def test_the_callers_own_words_come_back_as_they_were(connect: Connect) -> None:
    async with connect(ServerConfig(toolsets=("kb", "compat"))) as client:
        for tool, name in (("kb_read_excerpt", "passage_id"), ("get_section_text", "section_ids")):
            value: Any = "see kb.search or kb.notes.md"
            asked = {name: [value] if name.endswith("s") else value}
            error = error_of(await client.call_tool(tool, asked))
            assert repr(value) in error["message"]
            assert error["details"]["value"] == value
            assert "kb.search" not in error["message"].replace(value, "")
