from __future__ import annotations

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, Completion, PromptReference, ResourceTemplateReference

from graphctx.errors import BackendUnavailable
from graphctx.server.app import build_server
from graphctx.server.config import ServerConfig
from graphctx.server.warmup import Engine, Warmup

from .conftest import Connect
from .library import Library, count_tokens

pytestmark = pytest.mark.anyio

DOCUMENT = ResourceTemplateReference(uri="graphctx://document/{doc_id}")
ENTITY = ResourceTemplateReference(uri="graphctx://entity/{entity_id}")
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


async def test_nothing_from_outside_the_boundary_is_completed(connect: Connect) -> None:
    async with connect(ServerConfig(doc_tags=("people",))) as client:
        assert (await complete(client, DOCUMENT, "doc_id", "")).values == ["people/duty.md"]
        assert "vault key" not in (await complete(client, ENTITY, "entity_id", "")).values


async def test_at_most_a_hundred_values_are_given_and_the_rest_is_counted(era: str) -> None:
    library = Library({f"{number:03}.txt": ("T", "", "Text.\n") for number in range(130)})
    async with Client(build_server(Warmup(lambda: Engine(library, count_tokens))), mode=era) as client:
        found = await complete(client, DOCUMENT, "doc_id", ".txt")
    assert len(found.values) == 100
    assert (found.total, found.has_more) == (130, True)


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
    def none() -> Engine:
        raise BackendUnavailable("Nothing has been published here yet. Run graphctx ingest.")

    async with connect(server=None if published else build_server(Warmup(none))) as client:
        with pytest.raises(MCPError) as caught:
            await complete(client, ref, argument, "x")
    assert caught.value.error.code == INVALID_PARAMS
    assert caught.value.error.data["error"]["code"] == "INVALID_ARGUMENT"
