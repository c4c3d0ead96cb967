from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, TextResourceContents

from graphctx.knowledge_base import KnowledgeBase
from graphctx.server import reading, resources
from graphctx.server.app import build_server
from graphctx.server.config import ServerConfig
from graphctx.server.resources import listed
from graphctx.server.scratch import ScratchStore
from graphctx.text.graphemes import is_boundary

from .calls import unit_with, units_of, warmup_over
from .conftest import FULL, Connect

pytestmark = pytest.mark.anyio


async def read(client: Client, uri: str) -> tuple[TextResourceContents, dict[str, Any]]:
    """The contents of a resource, and what is said about them."""
    (contents,) = (await client.read_resource(uri)).contents
    assert isinstance(contents, TextResourceContents)
    assert contents.uri == uri
    return contents, (contents.meta or {}).get("graphctx/resource", {})


async def refusal(client: Client, uri: str) -> dict[str, Any]:
    """The envelope with which a resource is refused."""
    with pytest.raises(MCPError) as caught:
        await client.read_resource(uri)
    assert caught.value.error.code == INVALID_PARAMS
    return caught.value.error.data["error"]


async def test_all_templates_are_listed_for_assistants_and_not_for_every_context(connect: Connect) -> None:
    async with connect() as client:
        templates = (await client.list_resource_templates()).resource_templates
    assert [template.uri_template for template in templates] == [
        "graphctx://section/{section_id}",
        "graphctx://scratch/{session_id}/{passage_id}",
        "graphctx://document/{doc_id}",
        "graphctx://entity/{entity_id}",
        "graphctx://community/{community_id}",
        "graphctx://hierarchy/{level}",
    ]
    for template in templates:
        assert template.title
        assert template.description
        assert template.annotations is not None
        assert (template.annotations.audience, template.annotations.priority) == (["assistant"], 0.1)


async def test_a_passage_is_a_resource_by_its_section_id_in_every_session(connect: Connect) -> None:
    async with connect() as client:
        found = (await client.call_tool("kb.search", {"query": "ledger"})).structured_content["results"][0]
        [held] = (await client.read_resource(found["scratch_uri"])).contents
    async with connect() as other:
        [read] = (await other.read_resource(f"graphctx://section/{found['section_id']}")).contents
        assert (read.text, read.meta) == (held.text, held.meta)
        assert "u_aaaaaaaaaaaaaaaa" in (await refusal(other, "graphctx://section/u_aaaaaaaaaaaaaaaa"))["message"]


async def test_scratch_passages_are_resources(connect: Connect, kb: KnowledgeBase) -> None:
    async with connect() as client:
        found = (await client.call_tool("kb.search", {"query": "ledger"})).structured_content["results"]
        shown = {resource.uri: resource for resource in (await client.list_resources()).resources}
        for result in found:
            resource = shown[result["scratch_uri"]]
            assert resource.size == result["size_bytes"]
            assert resource.mime_type == "text/plain"
            assert resource.annotations is not None
            assert resource.annotations.audience == ["assistant"]
            assert resource.annotations.priority == 0.1
            dated = "2024-11-01T00:00:00Z" if result["doc_uri"] == "ops/backup.md" else None
            assert resource.annotations.last_modified == (dated or resource.annotations.last_modified)
            contents, place = await read(client, result["scratch_uri"])
            document = kb.document(place["doc_uri"]).text
            assert contents.text == kb.searcher().unit(result["section_id"]).text
            assert document[place["start_char"] : place["end_char"]] == contents.text


@pytest.mark.parametrize(
    ("stated", "told"),
    [
        ("2024-11-01", "2024-11-01T00:00:00Z"),
        ("2024-11-01T10:30:00", "2024-11-01T10:30:00Z"),
        ("2024-11-01T10:30:00Z", "2024-11-01T10:30:00Z"),
        ("2024-11-01T10:30:00.123+02:00", "2024-11-01T08:30:00Z"),
    ],
)
def test_a_listed_passage_was_modified_at_a_whole_date_and_time(kb: KnowledgeBase, stated: str, told: str) -> None:
    unit = replace(unit_with(kb, "glossary.txt", "Ledger"), updated_at=stated)
    annotations = listed(ScratchStore(1 << 20, 60).put("x_a", "s", unit)).annotations
    assert annotations is not None
    assert annotations.last_modified == told


async def test_a_resource_of_another_session_or_of_no_session_cannot_be_read(connect: Connect) -> None:
    async with connect() as client:
        uri = (await client.call_tool("kb.search", {"query": "ledger"})).structured_content["results"][0]["scratch_uri"]
    async with connect() as client:
        for wrong in (
            uri,
            uri.upper(),
            "graphctx://scratch/x_aaaaaaaaaaaaaaaa/../p",
            "graphctx://scratch/",
            "graphctx://document/",
            "graphctx://secrets/kb.toml",
            "graphctx://document/" + "a" * 3000,
            "file:///etc/passwd",
            "",
        ):
            assert (await refusal(client, wrong))["code"] in ("SCOPE_VIOLATION", "INVALID_ARGUMENT")


@pytest.mark.parametrize("name", ["ops/backup.md", "ops%2Fbackup.md", "id"])
async def test_a_document_is_read_by_its_id_or_its_uri_with_its_outline(
    connect: Connect, kb: KnowledgeBase, name: str
) -> None:
    document = kb.document("ops/backup.md")
    doc_id, text = document.id, document.text
    async with connect() as client:
        contents, said = await read(client, f"graphctx://document/{doc_id if name == 'id' else name}")
    assert contents.text == text
    assert contents.mime_type == "text/plain"
    assert (said["doc_id"], said["doc_uri"], said["title"]) == (doc_id, "ops/backup.md", "Backups")
    assert (said["truncated"], said["end_char"], said["n_chars"]) == (False, len(text), len(text))
    headings = [one for one in said["sections"] if text[one["start_char"] :].startswith(f"# {one['title']}\n")]
    assert [section["title"] for section in headings] == ["Backups", "Restore"]


@pytest.mark.parametrize("uri", ["odd/line.txt", "odd/marks.md"])
async def test_a_document_beyond_the_limit_is_cut_and_says_exactly_where(
    connect: Connect, kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, uri: str
) -> None:
    monkeypatch.setattr(reading, "MAX_DOCUMENT_BYTES", 500)
    text = kb.document(uri).text
    async with connect() as client:
        contents, about = await read(client, f"graphctx://document/{uri.replace('/', '%2F')}")
    assert 450 < len(contents.text.encode()) <= 500
    assert contents.text == text[: about["end_char"]]
    assert is_boundary(text, about["end_char"])
    assert about["truncated"]
    assert (about["n_chars"], about["max_bytes"]) == (len(text), 500)


@pytest.mark.parametrize("name", ["ledger", "id"])
async def test_an_entity_is_read_as_json_by_its_id_or_its_name(connect: Connect, kb: KnowledgeBase, name: str) -> None:
    [[entity_id]] = kb.cypher("MATCH (e:Entity {name: 'ledger'}) RETURN e.id").rows
    async with connect() as client:
        contents, about = await read(client, f"graphctx://entity/{entity_id if name == 'id' else name}")
    entity = json.loads(contents.text)
    assert contents.mime_type == "application/json"
    assert (entity["entity"]["id"], entity["entity"]["name"]) == (entity_id, "ledger")
    assert about["uri"] == f"graphctx://entity/{entity_id}"
    assert {"ops/backup.md", "people/duty.md"} <= {section["doc_uri"] for section in entity["sections"]}
    assert "duty officer" in [node["name"] for node in entity["related"]]
    assert entity["snapshot_id"] == kb.snapshot_id


async def test_a_node_that_is_no_entity_is_no_entity(connect: Connect, kb: KnowledgeBase) -> None:
    unit = unit_with(kb, "glossary.txt", "Ledger")
    async with connect() as client:
        for name in (unit.section_id, unit.doc_id, "%20", "a" * 400):
            assert (await refusal(client, f"graphctx://entity/{name}"))["code"] == "INVALID_ARGUMENT"


async def test_the_status_counts_what_is_held_and_done(connect: Connect, kb: KnowledgeBase) -> None:
    async with connect(ServerConfig(toolsets=("kb",), scratch_bytes=4000)) as client:
        found = await client.call_tool("kb.search", {"query": "ledger vault key duty officer"})
        await client.call_tool("kb.search", {"query": ""})
        contents, _ = await read(client, "graphctx://status")
    status = json.loads(contents.text)
    assert status["calls"] == {"finished": 1, "failed": 1, "timed_out": 0, "cancelled": 0, "running": 1}
    scratch = status["scratch"]
    assert scratch["max_bytes"] == 4000
    assert scratch["passages"] + scratch["evicted_by_memory"] == len(found.structured_content["results"])
    assert scratch["evicted_by_memory"] > 0
    assert (status["project_id"], status["snapshot_id"], status["transport"]) == ("handbook", kb.snapshot_id, "stdio")


async def test_the_list_of_passages_has_pages_with_the_newest_first(
    kb: KnowledgeBase, era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "MAX_LISTED", 4)
    async with Client(build_server(warmup_over(kb), FULL), mode=era, cache=None) as client:

        async def passage_of(section: str) -> str:
            answer = await client.call_tool("kb.read_excerpt", {"passage_id": section})
            return str(answer.structured_content["passage_id"])

        sections = [unit.section_id for unit in units_of(kb, "odd/line.txt")[:10]]
        newest_first = [await passage_of(section) for section in sections][::-1]
        first = await client.list_resources()
        assert [resource.name for resource in first.resources] == newest_first[:4]
        assert await passage_of(sections[0]) == newest_first[-1], "to be used again is not to be new"
        names, cursor = [resource.name for resource in first.resources], first.next_cursor
        while cursor is not None:
            page = await client.list_resources(cursor=cursor)
            assert len(page.resources) <= 4
            names += [resource.name for resource in page.resources]
            cursor = page.next_cursor
        assert names == newest_first
        for wrong in ("p_aaaaaaaaaaaaaaaa", "", "1"):
            with pytest.raises(MCPError, match="without cursor") as caught:
                await client.list_resources(cursor=wrong)
            assert caught.value.error.code == INVALID_PARAMS
