from __future__ import annotations

import re

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, GetPromptResult, TextContent

from graphctx.server.config import ServerConfig

from .conftest import Connect

pytestmark = pytest.mark.anyio

ARGUMENTS = {
    "answer_with_evidence": {"question": "Who is on duty?"},
    "explore_entity": {"entity": "duty officer"},
    "compare": {"first": "night watch", "second": "duty officer"},
    "survey": {"question": "What keeps people awake?"},
}


def text_of(result: GetPromptResult) -> str:
    (message,) = result.messages
    assert message.role == "user"
    assert isinstance(message.content, TextContent)
    return message.content.text


async def test_four_prompts_are_listed_with_what_they_need(connect: Connect) -> None:
    async with connect() as client:
        prompts = (await client.list_prompts()).prompts
    assert {prompt.name: [argument.name for argument in prompt.arguments or []] for prompt in prompts} == {
        name: list(arguments) for name, arguments in ARGUMENTS.items()
    }
    for prompt in prompts:
        assert prompt.title
        assert prompt.description
        assert all(argument.title and argument.description and argument.required for argument in prompt.arguments or [])


@pytest.mark.parametrize("name", ARGUMENTS)
async def test_a_prompt_holds_its_arguments_and_speaks_of_tools_that_there_are(connect: Connect, name: str) -> None:
    async with connect(ServerConfig()) as client:
        known = {tool.name for tool in (await client.list_tools()).tools}
        text = text_of(await client.get_prompt(name, ARGUMENTS[name]))
    assert all(value in text for value in ARGUMENTS[name].values())
    named = set(re.findall(r"\b(?:kb|graph)_[a-z_]+", text))
    assert named
    assert named <= known
    assert "{" not in text


async def test_what_a_person_wrote_into_a_prompt_stays_as_it_is(connect: Connect) -> None:
    async with connect() as client:
        text = text_of(await client.get_prompt("explore_entity", {"entity": "{entity} about kb.search in {0}"}))
    assert "graph_expand" in text
    assert "{entity} about kb.search in {0}" in text
    assert not re.search(r"\bgraph\.", text)


@pytest.mark.parametrize(
    ("name", "arguments", "field"),
    [
        ("answer", {"question": "x"}, "name"),
        ("answer_with_evidence", {}, "question"),
        ("answer_with_evidence", {"question": " "}, "question"),
        ("answer_with_evidence", {"question": "x" * 4001}, "question"),
        ("compare", {"first": "a", "second": "b", "third": "c"}, "third"),
    ],
)
async def test_a_wrong_argument_is_refused_by_name(
    connect: Connect, name: str, arguments: dict[str, str], field: str
) -> None:
    async with connect() as client:
        with pytest.raises(MCPError) as caught:
            await client.get_prompt(name, arguments)
    assert caught.value.error.code == INVALID_PARAMS
    assert caught.value.error.data["error"]["details"]["field"] == field


async def test_a_prompt_without_its_tools_is_not_offered(connect: Connect) -> None:
    async def names(client: Client) -> list[str]:
        return [prompt.name for prompt in (await client.list_prompts()).prompts]

    async with connect(ServerConfig(toolsets=("kb",))) as client:
        assert await names(client) == ["answer_with_evidence", "compare"]
        with pytest.raises(MCPError):
            await client.get_prompt("explore_entity", {"entity": "x"})
    async with connect(ServerConfig(toolsets=("connector",))) as client:
        assert await names(client) == []
