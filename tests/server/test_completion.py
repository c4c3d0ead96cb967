from __future__ import annotations

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, Completion, PromptReference, ResourceTemplateReference

from graphctx.errors import BackendUnavailable
from graphctx.server import completion
from graphctx.server.app import build_server
from graphctx.server.warmup import OpenKnowledgeBase, Warmup

from .conftest import Connect

pytestmark = pytest.mark.anyio

DOCUMENT = ResourceTemplateReference(uri="graphctx://document/{doc_id}")
ENTITY = ResourceTemplateReference(uri="graphctx://entity/{entity_id}")
COMMUNITY = ResourceTemplateReference(uri="graphctx://community/{community_id}")
LEVEL = ResourceTemplateReference(uri="graphctx://hierarchy/{level}")
SCRATCH = ResourceTemplateReference(uri="graphctx://scratch/{session_id}/{passage_id}")


async def complete(
    client: Client, ref: ResourceTemplateReference | PromptReference, argument: str, value: str
) -> Completion:
    return (await client.complete(ref, {"name": argument, "value": value})).completion


async def test_documents_are_completed_to_uris_that_can_be_read(connect: Connect) -> None:
    async with connect() as client:
        found = await complete(client, DOCUMENT, "doc_id", "duty")
        assert (found.values, found.total, found.has_more) == (["people/duty.md"], 1, False)
        for value in (await complete(client, DOCUMENT, "doc_id", "")).values:
            assert (await client.read_resource(f"graphctx://document/{value}")).contents


async def test_entities_are_completed_to_names_in_templates_and_prompts(connect: Connect) -> None:
    async with connect() as client:
        for ref, argument in (
            (ENTITY, "entity_id"),
            (PromptReference(name="explore_entity"), "entity"),
            (PromptReference(name="compare"), "first"),
            (PromptReference(name="compare"), "second"),
        ):
            assert (await complete(client, ref, argument, "WATCH")).values == ["night watch"]
        assert (await client.read_resource("graphctx://entity/night%20watch")).contents


async def test_a_question_and_a_passage_are_completed_to_nothing(connect: Connect) -> None:
    async with connect() as client:
        await client.call_tool("kb.search", {"query": "ledger"})
        assert (await complete(client, PromptReference(name="answer_with_evidence"), "question", "w")).values == []
        for argument, value in (("session_id", "x_"), ("passage_id", "p_")):
            assert (await complete(client, SCRATCH, argument, value)).values == []


async def test_at_most_so_many_values_are_given_and_the_rest_is_counted(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(completion, "MAX_VALUES", 2)
    async with connect() as client:
        found = await complete(client, DOCUMENT, "doc_id", ".md")
    assert len(found.values) == 2
    assert (found.total, found.has_more) == (5, True)


async def test_communities_are_completed_to_titles_and_levels_to_names(connect: Connect) -> None:
    async with connect() as client:
        title = (await complete(client, COMMUNITY, "community_id", "")).values[0]
        assert title in (await complete(client, COMMUNITY, "community_id", title[:4])).values
        assert (await complete(client, COMMUNITY, "community_id", "Nowhere")).values == []
        assert (await client.read_resource(f"graphctx://community/{title.replace(',', '%2C')}")).contents
        every = await complete(client, LEVEL, "level", "")
        assert every.values == ["concept", "section", "unit", "1", "2", "3"]
        assert (await complete(client, LEVEL, "level", "Sec")).values == ["section"]


@pytest.mark.parametrize(
    ("ref", "argument"),
    [
        (ResourceTemplateReference(uri="graphctx://secrets/{name}"), "name"),
        (DOCUMENT, "entity_id"),
        (PromptReference(name="nothing"), "entity"),
        (PromptReference(name="compare"), "third"),
    ],
)
@pytest.mark.parametrize("published", [True, False])
async def test_what_is_not_there_cannot_be_completed(
    connect: Connect, ref: ResourceTemplateReference | PromptReference, argument: str, published: bool
) -> None:
    def none() -> OpenKnowledgeBase:
        raise BackendUnavailable("Nothing has been published here yet. Run graphctx ingest.")

    async with connect(server=None if published else build_server(Warmup(none))) as client:
        with pytest.raises(MCPError) as caught:
            await complete(client, ref, argument, "x")
    assert caught.value.error.code == INVALID_PARAMS
    assert caught.value.error.data["error"]["code"] == "INVALID_ARGUMENT"
