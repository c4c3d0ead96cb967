"""What ``tools/list`` says of every tool, held against the tool contract's own table."""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema
import pytest

from graphctx.knowledge_base import KnowledgeBase
from graphctx.server.config import ServerConfig
from graphctx.settings import ServerSettings

from .examples import COMPAT, CONTEXT, EVERY_TOOL, GRAPH, ITERATION, KB, LAYERS, MEMORY, Examples
from .protocol import ERAS, EVERY_TOOLSET, Caller, in_memory
from .spec_table import ALSO, ANNOTATIONS, DESCRIPTION_STARTS, MODES, NUMBERS, REQUIRED

APPENDING = ("store_context", "mark_useful", "store_iteration_result")
"""The tools of iterations that leave one more record with each call."""

each_tool = pytest.mark.parametrize("tool", [*EVERY_TOOL, *LAYERS, *MEMORY, *ITERATION, *CONTEXT])


@pytest.fixture(scope="module")
def listed(nasty: KnowledgeBase) -> dict[str, Any]:
    """Every tool of every toolset, alike in both eras of the protocol."""
    eras = []
    for era in ERAS:
        with in_memory(nasty, era, (*EVERY_TOOLSET, "layers", "memory", "iteration", "context")) as caller:
            eras.append(caller.tools())
            assert caller.tools() == eras[0], "the list is the same every time"
    return eras[1]


def argument(schema: dict[str, Any], path: str) -> dict[str, Any]:
    """The schema of an argument by its dotted path."""
    for name in path.split("."):
        schema = schema["properties"][name]
    return schema


def test_every_tool_of_the_contract_is_listed(listed: dict[str, Any]) -> None:
    assert list(listed) == [*EVERY_TOOL, *LAYERS, *MEMORY, *ITERATION, *CONTEXT]
    assert REQUIRED.keys() <= listed.keys()


def test_older_names_and_the_connector_form_are_off_by_default(nasty: KnowledgeBase) -> None:
    with in_memory(nasty, toolsets=("kb", "graph")) as caller:
        assert set(caller.tools()) == {*KB, *GRAPH}


def test_passages_are_kept_as_long_and_in_as_much_memory_as_the_contract_says() -> None:
    config = ServerConfig.from_settings(ServerSettings())
    assert config.scratch_ttl == 30 * 60
    assert config.scratch_bytes == 256 * 2**20


@pytest.mark.parametrize("tool", REQUIRED)
def test_arguments_have_the_defaults_and_caps_of_the_contract(listed: dict[str, Any], tool: str) -> None:
    schema = listed[tool]["inputSchema"]
    assert set(schema.get("required", [])) == REQUIRED[tool]
    assert ALSO[tool] <= set(schema["properties"])
    for path, (default, least, most) in NUMBERS[tool].items():
        given = argument(schema, path)
        for name, wanted in (("default", default), ("minimum", least), ("maximum", most)):
            if wanted is not None:
                assert given.get(name) == wanted, (path, name)
        if given["type"] == "integer":
            assert {"minimum", "maximum"} <= given.keys(), path


@pytest.mark.parametrize("tool", ["kb.search", "kb.retrieve_evidence"])
def test_modes_are_those_of_the_contract(listed: dict[str, Any], tool: str) -> None:
    assert argument(listed[tool]["inputSchema"], "options.mode")["enum"] == MODES


@pytest.mark.parametrize("tool", [*KB, *GRAPH, *COMPAT])
def test_every_tool_of_ours_takes_a_scope_and_limits(listed: dict[str, Any], tool: str) -> None:
    schema = listed[tool]["inputSchema"]
    assert set(argument(schema, "scope")["properties"]) == {"project_id", "environment", "doc_tags", "repositories"}
    assert argument(schema, "scope.environment")["enum"] == ["dev", "prod", "scratch"]
    assert {"max_tokens", "max_bytes"} <= set(schema["properties"])
    if "filters" in schema["properties"]:
        assert set(argument(schema, "filters")["properties"]) == {"doc_tag", "path_prefix", "updated_after"}


@each_tool
def test_descriptions_have_the_five_parts(listed: dict[str, Any], tool: str) -> None:
    description = listed[tool]["description"]
    lines = description.split("\n")
    assert len(lines) == 5
    assert all(line.startswith(start) for line, start in zip(lines, DESCRIPTION_STARTS, strict=True))
    assert "Max: " in lines[4]
    assert len(description.encode()) < 2048


@pytest.mark.parametrize("tool", [tool for tool in GRAPH if tool in REQUIRED])
def test_graph_tools_say_when_they_are_for_use(listed: dict[str, Any], tool: str) -> None:
    said = " ".join(listed[tool]["description"].split()).lower()
    assert re.search(r"after kb_search.*top 1 ?(–|-|to) ?3 candidates.*related|relationships", said)
    assert re.search(r"(no graph|disabled).*kb_search.*kb_retrieve_evidence", said)
    assert re.search(r"no text until.*(three|3) passages", said)


@each_tool
def test_names_titles_and_hints_keep_the_rules(listed: dict[str, Any], tool: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_./-]{1,64}", tool)
    assert len(f"mcp__graphctx__{tool}") <= 64
    assert listed[tool]["title"]
    hints = listed[tool]["annotations"]
    reads = {"memory_retrieve", "graph_query", "memory_status", "get_relevant_context", "get_iteration_history"}
    reads |= {"get_skills", "get_context_stats", "health_check"}
    changed = {}
    if tool in {*LAYERS[1:], *MEMORY, *ITERATION, "index_directory"} - reads:
        appends = tool in ("agents_context_write", "memory_store", *APPENDING)
        changed = {"readOnlyHint": False, "idempotentHint": not appends}
        changed["destructiveHint"] = tool in ("memory_forget", "memory_wipe", "prune_low_value_context")
    assert {name: hints[name] for name in ANNOTATIONS} == ANNOTATIONS | changed


@each_tool
def test_the_listed_schema_accepts_the_calls_that_are_answered(
    listed: dict[str, Any], examples: Examples, tool: str
) -> None:
    jsonschema.validate(examples.plain[tool], listed[tool]["inputSchema"])


@pytest.mark.parametrize(("style", "dot"), [("underscore", "_"), ("dotted", ".")])
def test_tools_are_listed_and_spoken_of_in_one_form(nasty: KnowledgeBase, style: Any, dot: str) -> None:
    with in_memory(nasty, tool_names=style) as caller:
        tools = caller.tools()
    assert [tool["name"] for tool in tools.values()] == [tool.replace(".", dot) for tool in EVERY_TOOL]
    other = "." if dot == "_" else "_"
    for tool in tools.values():
        assert not [
            name for name in (*KB, *GRAPH) if re.search(rf"\b{re.escape(name.replace('.', other))}\b", json.dumps(tool))
        ]


@pytest.mark.parametrize("tool", EVERY_TOOL)
def test_both_forms_of_a_name_are_called(caller: Caller, examples: Examples, tool: str) -> None:
    dotted = examples.reply(tool)
    underscore = caller.call(tool.replace(".", "_"), examples.plain[tool])
    assert dotted == underscore
    assert not dotted.is_error, dotted.text
