from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, TextResourceContents

from graphctx.model.budgets import Limits
from graphctx.server.app import build_server
from graphctx.server.config import ServerConfig
from graphctx.server.held import MAX_LISTED
from graphctx.server.reading import MAX_DOCUMENT_BYTES
from graphctx.server.warmup import Engine, Warmup

from .conftest import Connect
from .library import HANDBOOK, Library, count_tokens
from .library_graph import entity_id

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
    async with connect(ServerConfig(doc_tags=("nobody",))) as bound:
        await refusal(bound, f"graphctx://section/{found['section_id']}")


async def test_scratch_passages_are_resources(connect: Connect, library: Library) -> None:
    async with connect() as client:
        found = (await client.call_tool("kb.search", {"query": "ledger"})).structured_content["results"]
        listed = {resource.uri: resource for resource in (await client.list_resources()).resources}
        for result in found:
            resource = listed[result["scratch_uri"]]
            assert resource.size == result["size_bytes"]
            assert resource.mime_type == "text/plain"
            assert resource.annotations is not None
            assert resource.annotations.audience == ["assistant"]
            assert resource.annotations.priority == 0.1
            assert resource.annotations.last_modified
            contents, place = await read(client, result["scratch_uri"])
            assert contents.text == library.units[result["section_id"]].text
            assert library.text_of(place["doc_uri"])[place["start_char"] : place["end_char"]] == contents.text


@pytest.mark.parametrize(
    ("stated", "told"),
    [
        ("2024-11-01", "2024-11-01T00:00:00Z"),
        ("2024-11-01T10:30:00", "2024-11-01T10:30:00Z"),
        ("2024-11-01T10:30:00Z", "2024-11-01T10:30:00Z"),
        ("2024-11-01T10:30:00.123+02:00", "2024-11-01T08:30:00Z"),
    ],
)
async def test_a_listed_passage_was_modified_at_a_whole_date_and_time(
    connect: Connect, library: Library, stated: str, told: str
) -> None:
    library.units = {name: replace(unit, updated_at=stated) for name, unit in library.units.items()}
    async with connect() as client:
        await client.call_tool("kb.search", {"query": "ledger"})
        listed = (await client.list_resources()).resources
    assert {resource.annotations.last_modified for resource in listed if resource.annotations} == {told}


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
    connect: Connect, library: Library, name: str
) -> None:
    doc_id = next(unit.doc_id for unit in library.units.values() if unit.doc_uri == "ops/backup.md")
    async with connect() as client:
        contents, said = await read(client, f"graphctx://document/{doc_id if name == 'id' else name}")
    text = HANDBOOK["ops/backup.md"][2]
    assert contents.text == text
    assert contents.mime_type == "text/plain"
    assert (said["doc_id"], said["doc_uri"], said["title"]) == (doc_id, "ops/backup.md", "Backups")
    assert (said["truncated"], said["end_char"], said["n_chars"]) == (False, len(text), len(text))
    assert [section["title"] for section in said["sections"]] == ["Backups", "Restore"]
    for section in said["sections"]:
        assert text[section["start_char"] :].startswith(f"# {section['title']}")


@pytest.mark.parametrize("word", ["lamp ", "é́ ", "👩‍👩‍👧 ", "x"], ids=["ascii", "marks", "family", "one line"])
async def test_a_document_beyond_the_limit_is_cut_and_says_exactly_where(era: str, word: str) -> None:
    text = word * (2 * MAX_DOCUMENT_BYTES // len(word.encode()))
    library = Library({"long.txt": ("Long", "", text)})
    async with Client(build_server(Warmup(lambda: Engine(library, count_tokens))), mode=era) as client:
        contents, said = await read(client, "graphctx://document/long.txt")
    assert MAX_DOCUMENT_BYTES * 0.99 < len(contents.text.encode()) <= MAX_DOCUMENT_BYTES
    assert contents.text == text[: said["end_char"]]
    assert said["end_char"] % len(word) == 0
    assert said["truncated"]
    assert (said["n_chars"], said["max_bytes"]) == (len(text), MAX_DOCUMENT_BYTES)


@pytest.mark.parametrize("name", ["ledger", "id"])
async def test_an_entity_is_read_as_json_by_its_id_or_its_name(connect: Connect, name: str) -> None:
    async with connect() as client:
        contents, said = await read(client, f"graphctx://entity/{entity_id('ledger') if name == 'id' else name}")
    entity = json.loads(contents.text)
    assert contents.mime_type == "application/json"
    assert (entity["entity"]["id"], entity["entity"]["name"]) == (entity_id("ledger"), "ledger")
    assert said["uri"] == f"graphctx://entity/{entity_id('ledger')}"
    assert {section["doc_uri"] for section in entity["sections"]} == {"ops/backup.md", "people/duty.md", "glossary.txt"}
    assert "duty officer" in [node["name"] for node in entity["related"]]
    assert entity["snapshot_id"] == "snap-1"


async def test_what_the_boundary_leaves_out_is_as_unknown_as_what_is_not_there(
    connect: Connect, library: Library
) -> None:
    hidden = next(unit.doc_id for unit in library.units.values() if unit.doc_uri == "glossary.txt")
    async with connect(ServerConfig(doc_tags=("people",))) as client:
        for outside, nowhere in (
            ("graphctx://document/glossary.txt", "graphctx://document/nothing.txt"),
            (f"graphctx://document/{hidden}", "graphctx://document/d_aaaaaaaaaaaaaaaa"),
            ("graphctx://entity/vault%20key", "graphctx://entity/zeppelin"),
            (f"graphctx://entity/{entity_id('vault key')}", "graphctx://entity/e_aaaaaaaaaaaaaaaa"),
        ):
            told = [await refusal(client, uri) for uri in (outside, nowhere)]
            for error in told:
                error["message"] = error["message"].replace(repr(error["details"].pop("value")), "…")
            assert told[0] == told[1]
        contents, _ = await read(client, "graphctx://entity/ledger")
        entity = json.loads(contents.text)
        assert {section["doc_uri"] for section in entity["sections"]} == {"people/duty.md"}
        assert "vault key" not in contents.text
        assert (await read(client, "graphctx://document/people%2Fduty.md"))[0].text


async def test_a_node_that_is_no_entity_is_no_entity(connect: Connect, library: Library) -> None:
    unit = next(iter(library.units.values()))
    async with connect() as client:
        for name in (unit.section_id, unit.doc_id, "%20", "a" * 400):
            assert (await refusal(client, f"graphctx://entity/{name}"))["code"] == "INVALID_ARGUMENT"


async def test_the_status_counts_what_is_held_and_done(connect: Connect) -> None:
    async with connect(ServerConfig(scratch_bytes=2000, limits=Limits())) as client:
        await client.call_tool("kb.search", {"query": "ledger vault key duty officer"})
        await client.call_tool("kb.search", {"query": ""})
        contents, _ = await read(client, "graphctx://status")
    status = json.loads(contents.text)
    assert status["calls"] == {"finished": 1, "failed": 1, "timed_out": 0, "cancelled": 0, "running": 1}
    assert status["scratch"]["max_bytes"] == 2000
    assert status["scratch"]["passages"] + status["scratch"]["evicted_by_memory"] == 3
    assert status["scratch"]["evicted_by_memory"] > 0
    assert (status["project_id"], status["snapshot_id"], status["transport"]) == ("handbook", "snap-1", "stdio")


LAMPS = Library({"lamps.md": ("Lamps", "", "\n\n".join(f"The lamp number {n} burns at night." for n in range(130)))})


async def test_the_list_of_passages_has_pages_with_the_newest_first(era: str) -> None:
    server = build_server(Warmup(lambda: Engine(LAMPS, count_tokens)))
    async with Client(server, mode=era, cache=None) as client:
        read: list[str] = []
        for section in LAMPS.units:
            answer = (await client.call_tool("kb.read_excerpt", {"passage_id": section})).structured_content
            read.append(answer["passage_id"])
        newest_first = read[::-1]
        first = await client.list_resources()
        assert [resource.name for resource in first.resources] == newest_first[:MAX_LISTED]
        await client.call_tool("kb.read_excerpt", {"passage_id": read[0]})  # to be used again is not to be new
        later = (await client.call_tool("kb.search", {"query": "lamp number", "top_k": 1})).structured_content
        assert later["results"][0]["passage_id"] in read
        listed, cursor = [resource.name for resource in first.resources], first.next_cursor
        while cursor is not None:
            page = await client.list_resources(cursor=cursor)
            assert len(page.resources) <= MAX_LISTED
            listed += [resource.name for resource in page.resources]
            cursor = page.next_cursor
        assert listed == newest_first
        for wrong in ("p_aaaaaaaaaaaaaaaa", "", "1"):
            with pytest.raises(MCPError, match="without cursor") as caught:
                await client.list_resources(cursor=wrong)
            assert caught.value.error.code == INVALID_PARAMS
