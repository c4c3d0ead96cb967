"""The documents seen from above as resources: communities, and levels as trees."""

from __future__ import annotations

import re
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import TextResourceContents

from graphctx.knowledge_base import KnowledgeBase
from graphctx.server import hierarchy
from graphctx.server.app import build_server

from .calls import call, context_over, warmup_over
from .conftest import Connect

pytestmark = pytest.mark.anyio


async def read(client: Client, uri: str) -> tuple[str, dict[str, Any]]:
    [contents] = (await client.read_resource(uri)).contents
    assert isinstance(contents, TextResourceContents)
    assert contents.mime_type == "text/markdown"
    return contents.text, (contents.meta or {})["graphctx/resource"]


async def test_a_community_is_read_by_its_id_or_its_title_and_leads_to_its_parent_and_children(
    connect: Connect, handbook_kb: KnowledgeBase
) -> None:
    roots, _ = call(context_over(handbook_kb), "graph.communities")
    parent = next(community for community in roots["communities"] if community["n_children"])
    below, _ = call(context_over(handbook_kb), "graph.communities", parent_id=parent["id"])
    child = below["communities"][0]
    async with connect(server=build_server(warmup_over(handbook_kb))) as client:
        text, about = await read(client, f"graphctx://community/{parent['id']}")
        by_title, _ = await read(client, f"graphctx://community/{parent['title'].replace(',', '%2C')}")
        child_text, _ = await read(client, f"graphctx://community/{child['id']}")
    assert text == by_title
    assert text.startswith(f"# {parent['title']}\n")
    assert (about["community_id"], about["n_entities"]) == (parent["id"], parent["n_entities"])
    assert f"graphctx://community/{child['id']})" in text
    assert f"(graphctx://community/{parent['id']})" in child_text


@pytest.mark.parametrize(
    ("names", "line"),
    [
        (("1", "concept"), r"- \w[\w ,]+ \(`c_\w+`\), \d+ entities"),
        (("2", "section"), r"- Backups — ops/backup.md \(`d_\w+`\), 2 units\n  - Backups \(`s_\w+`\)\n  - Restore \("),
        (("3", "unit"), r"- Backups — ops/backup.md \(`d_\w+`\), 2 units\n  - Backups \(`u_\w+`\)\n  - Restore \("),
    ],
)
async def test_every_level_is_a_tree(connect: Connect, names: tuple[str, str], line: str) -> None:
    async with connect() as client:
        text, about = await read(client, f"graphctx://hierarchy/{names[0]}")
        assert (text, about) == await read(client, f"graphctx://hierarchy/{names[1]}")
    assert not about["truncated"]
    assert about["shown"] == len(re.findall(r"^ *- ", text, re.MULTILINE))
    assert re.search(line, text)


async def test_a_level_that_is_not_there_is_refused_with_those_that_are(connect: Connect) -> None:
    async with connect() as client:
        for wrong in ("4", "0", "token", "%20"):
            with pytest.raises(MCPError, match="1 or concept, 2 or section, 3 or unit"):
                await read(client, f"graphctx://hierarchy/{wrong}")


@pytest.mark.parametrize("level", ["section", "unit"])
async def test_a_level_that_is_too_large_is_cut_and_says_so(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    async with connect() as client:
        whole, about = await read(client, f"graphctx://hierarchy/{level}")
        monkeypatch.setattr(hierarchy, "MAX_HIERARCHY_BYTES", 500)
        cut, said = await read(client, f"graphctx://hierarchy/{level}")
    assert said["truncated"]
    assert len(cut.encode()) < 500 + 300  # the head, and how to go on
    left = re.search(r"Cut: (\d+) or more", cut)
    assert left is not None
    assert int(left[1]) + said["shown"] == about["shown"]
    documents = re.findall(r"^- .*", whole, re.MULTILINE)
    assert all(document in cut for document in documents), "documents stand there before any of their parts"
