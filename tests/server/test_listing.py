"""What a client is told of the tools before it calls any, and what that weighs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from graphctx.model.budgets import Limits
from graphctx.server.config import ServerConfig, Toolset
from graphctx.server.tools import TOOLSETS

from .conftest import FULL, Connect

pytestmark = pytest.mark.anyio
EVERY = ("kb", "graph", "connector", "layers")


async def descriptions(connect: Connect, config: ServerConfig) -> dict[str, str]:
    async with connect(config) as client:
        return {tool.name: tool.description or "" for tool in (await client.list_tools()).tools}


async def test_descriptions_tell_the_limits_that_are_configured(connect: Connect) -> None:
    usual = await descriptions(connect, ServerConfig(toolsets=EVERY))
    small = await descriptions(connect, ServerConfig(toolsets=EVERY, limits=Limits(1_200, 5_000)))
    older = await descriptions(connect, ServerConfig(kb_v2=False, limits=Limits(1_200, 5_000)))
    assert len(older) == len(TOOLSETS["compat"])
    bounded = [name for name, said in usual.items() if "8,000 tokens and 30,000 bytes" in said]
    assert len(bounded) >= 14
    for name in bounded:
        assert small[name] == usual[name].replace("8,000 tokens and 30,000 bytes", "1,200 tokens and 5,000 bytes")
    for said in [*small.values(), *older.values()]:
        assert "8,000" not in said
        assert "30,000" not in said
        assert "{" not in said
    assert all("1,200 tokens and 5,000 bytes" in said for said in older.values())


async def test_layers_are_offered_only_where_they_are_served(connect: Connect, tmp_path: Path) -> None:
    async def listed(config: ServerConfig) -> str:
        async with connect(config) as client:
            return "".join(tool.model_dump_json() for tool in (await client.list_tools()).tools)

    toolsets: tuple[Toolset, ...] = ("kb", "graph", "compat", "connector")
    assert not re.search(r'"layers?"|"layer_notes"|AGENTS', await listed(ServerConfig(toolsets=toolsets)))
    served = await listed(ServerConfig(toolsets=toolsets, layers=tmp_path))
    assert all(name in served for name in ('"layers"', '"layer"', '"layer_notes"'))


async def test_the_themes_are_described_by_what_they_are_for(connect: Connect) -> None:
    said = (await descriptions(connect, FULL))["graph_communities"]
    assert "top 1 to 3 candidates" not in said
    assert "three passages" not in said
    assert said.startswith("Use when you want an overview")


def test_what_lists_tools_loads_no_arrays_no_models_and_no_layers(python: Callable[..., str]) -> None:
    loaded = python(
        "import sys, graphctx.server.app, graphctx.server.tools, graphctx.server.listing\n"
        "heavy = ('numpy', 'pyarrow', 'graphctx.layers', 'graphctx.retrieve', 'graphctx.store', 'graphctx.settings')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    assert loaded.strip() == "[]"
