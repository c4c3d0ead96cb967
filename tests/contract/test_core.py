"""The default toolset: six tools in a slim form, which is the contract's form without what models do not use."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from eval.tool_cost import list_costs
from graphctx.knowledge_base import KnowledgeBase
from graphctx.server.config import ServerConfig
from graphctx.server.tools import CORE, TOOLS

from .examples import GRAPH, KB, Examples
from .protocol import Caller, in_memory
from .spec_table import DESCRIPTION_STARTS
from .truth import SPANS, Truth, nodes

NAMES = tuple(tool.name for tool in CORE)
each_of_core = pytest.mark.parametrize("tool", NAMES)
each_tool = pytest.mark.parametrize("tool", [*KB, *GRAPH])


@pytest.fixture(scope="module")
def core(nasty: KnowledgeBase) -> Iterator[Caller]:
    """A client of a server with the default settings."""
    with in_memory(nasty, toolsets=ServerConfig().toolsets) as caller:
        yield caller


@pytest.fixture(scope="module")
def listed(core: Caller) -> dict[str, Any]:
    return core.tools()


@pytest.fixture(scope="module")
def plain(examples: Examples) -> dict[str, dict[str, Any]]:
    """A call of every tool that has an answer in any session."""
    section = examples.plain["graph.parents"]["section_ids"][0]
    own = {"passage_id": section, "passage_ids": [section]}
    calls = {
        tool: {name: own.get(name, value) for name, value in examples.plain[tool].items()} for tool in (*KB, *GRAPH)
    }
    calls["kb.global_search"]["max_points"] = 5  # fewer than the budget of either form has room for
    return calls


@pytest.mark.anyio
async def test_the_default_list_costs_little(nasty: KnowledgeBase) -> None:
    shown, whole = (sum(costs) for costs in zip(*(await list_costs(nasty, ServerConfig())).values(), strict=True))
    assert shown <= 3_000
    assert whole <= 5_000


def test_six_tools_are_listed_without_output_schemas(listed: dict[str, Any]) -> None:
    assert tuple(listed) == NAMES
    assert len(NAMES) == 6
    assert not any("outputSchema" in tool for tool in listed.values())


@each_of_core
def test_a_slim_tool_says_all_that_the_contract_asks_of_a_description(listed: dict[str, Any], tool: str) -> None:
    lines = listed[tool]["description"].split("\n")
    assert all(line.startswith(start) for line, start in zip(lines, DESCRIPTION_STARTS, strict=True))
    schema = listed[tool]["inputSchema"]
    required = schema.get("required", [])
    assert list(schema["properties"])[: len(required)] == required
    assert all(argument.get("description") for argument in schema["properties"].values())
    assert not schema["properties"].keys() & {"scope", "session_id", "options", "max_bytes"}


@each_of_core
def test_the_slim_schema_accepts_what_the_tool_answers(
    core: Caller, listed: dict[str, Any], plain: dict[str, dict[str, Any]], tool: str
) -> None:
    jsonschema.validate(plain[tool], listed[tool]["inputSchema"])
    assert core.call(tool, plain[tool]).answer


@each_tool
def test_a_tool_that_is_not_listed_can_be_called_and_arguments_that_are_not_listed_are_taken(
    core: Caller, plain: dict[str, dict[str, Any]], tool: str
) -> None:
    seldom: dict[str, Any] = {"scope": {"repositories": ["open"]}, "max_bytes": 20_000}
    answer = core.call(tool.replace(".", "_"), {**plain[tool], **seldom}).answer
    assert answer["scope"] == {"repositories": ["open"]}
    assert "empty_reason" not in answer


def missing_from(slim: Any, full: Any) -> Iterator[Any]:
    """What a slim value says and the full one does not."""
    if isinstance(slim, dict) and isinstance(full, dict):
        for name in slim.keys() - {"next_cursor"}:  # each server signs its own
            yield from missing_from(slim[name], full.get(name))
    elif isinstance(slim, list) and isinstance(full, list) and len(slim) == len(full):
        for one, other in zip(slim, full, strict=True):
            yield from missing_from(one, other)
    elif slim != full:
        yield slim


@each_tool
def test_a_slim_answer_says_what_the_full_one_says_with_every_span_and_less_around_it(
    core: Caller, caller: Caller, truth: Truth, plain: dict[str, dict[str, Any]], tool: str
) -> None:
    slim, full = core.call(tool, plain[tool]), caller.call(tool, plain[tool])
    assert list(missing_from(slim.answer, full.answer)) == []
    assert truth.check_spans(slim.answer) == truth.check_spans(full.answer)
    assert len(json.dumps(slim.answer)) < len(json.dumps(full.answer))
    for node in nodes(slim.answer):
        if any(name in node for name in SPANS) and "start_char" in node:
            assert node.keys() >= {"doc_uri", "end_char"}


def test_the_text_around_a_quote_and_diagnostics_come_when_they_are_asked_for(core: Caller) -> None:
    asked = {"question": "Where does the endless line begin?", "max_quotes": 1, "max_quote_tokens": 20}
    detail = {"include_context_tokens": 20, "options": {"include_diagnostics": True}}
    for more, around in (({}, False), (detail, True)):
        answer = core.call("kb.retrieve_evidence", {**asked, **more}).answer
        assert bool(answer["quotes"][0].keys() & {"context_before", "context_after"}) is around
        assert ("diagnostics" in answer) is around


def test_texts_name_no_tool_that_is_not_listed(core: Caller, plain: dict[str, dict[str, Any]]) -> None:
    unlisted = {tool.name.replace(".", "_") for tool in TOOLS if "." in tool.name} - {
        name.replace(".", "_") for name in NAMES
    }
    said = [core.client.instructions or "", json.dumps(core.tools())]
    said += [core.call(tool, plain[tool]).text for tool in NAMES]
    for text in said:
        assert not [name for name in unlisted if re.search(rf"\b{name}\b", text)]


def test_reading_around_a_passage_is_what_expanding_it_is(caller: Caller, plain: dict[str, dict[str, Any]]) -> None:
    around = {**plain["kb.read_excerpt"], "before_tokens": 40, "after_tokens": 60}
    assert caller.call("kb.read_excerpt", around) == caller.call("kb.expand_excerpt", around)
    refused = caller.call("kb.read_excerpt", {**around, "start_char": 5}).error
    assert refused["code"] == "INVALID_ARGUMENT"
    assert "start_char" in refused["message"]


def test_a_scope_is_listed_where_the_settings_draw_a_boundary(nasty: KnowledgeBase) -> None:
    with in_memory(nasty, toolsets=("core",), has_boundary=True) as caller:
        assert all("scope" in tool["inputSchema"]["properties"] for tool in caller.tools().values())


def test_one_setting_brings_the_form_of_the_contract(nasty: KnowledgeBase, schemas: dict[str, Any]) -> None:
    with in_memory(nasty, toolsets=("core",), full_form=True) as caller:
        assert caller.tools() == {name: schemas[name] for name in NAMES}
        answer = caller.call("kb.search", {"question": "tide gate"}).answer
    assert answer.keys() >= {"budget", "scope", "session_id", "snapshot_id"}
