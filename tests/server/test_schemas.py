from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp.shared.tool_name_validation import validate_tool_name

from graphctx.model.answers import Budget, SearchAnswer
from graphctx.model.requests import Scope
from graphctx.server.schemas import check_schemas, tool_document, write_schemas
from graphctx.server.tool import AnyTool
from graphctx.server.tools import TOOLS

SCHEMAS = Path(__file__).parents[2] / "schemas" / "tools"

each_tool = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for name, value in schema.items():
            if name == "properties":
                for inner in value.values():
                    yield from nodes(inner)
            else:
                yield from nodes(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from nodes(value)


@each_tool
def test_schemas_are_plain(tool: AnyTool) -> None:
    document = tool_document(tool)
    for name in ("inputSchema", "outputSchema"):
        schema = document[name]
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        for node in nodes(schema):
            assert not node.keys() & {"$ref", "$defs", "anyOf", "oneOf", "allOf", "title"}
            if node.get("type") == "array":
                assert node["items"]
            if "properties" in node:
                assert node["additionalProperties"] is False
    for node in nodes(document["inputSchema"]):
        assert isinstance(node.get("type", ""), str)


@each_tool
def test_every_argument_is_described(tool: AnyTool) -> None:
    for name, argument in tool_document(tool)["inputSchema"]["properties"].items():
        assert argument.get("description") or argument["type"] == "object", name


@each_tool
def test_names_titles_hints_and_descriptions_keep_the_rules(tool: AnyTool) -> None:
    document = tool_document(tool)
    for name in (document["name"], document["name"].replace(".", "_")):
        assert len(name) <= 48
        assert validate_tool_name(name).is_valid
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", document["name"].replace(".", "_"))
    assert document["title"]
    assert document["annotations"] == {
        "readOnlyHint": True,
        "openWorldHint": False,
        "idempotentHint": True,
        "destructiveHint": False,
    }
    starts = ("Use when ", "Do not use when ", "Returns at most ", "If you need more, ", "Defaults: ")
    lines = document["description"].split("\n")
    assert len(lines) == 5
    assert all(line.startswith(start) for line, start in zip(lines, starts, strict=True))
    assert "Max: " in lines[4]
    assert len(document["description"].encode()) <= 2048


@each_tool
def test_defaults_in_the_description_are_those_of_the_model(tool: AnyTool) -> None:
    schema = tool_document(tool)["inputSchema"]
    flat = dict(schema["properties"]) | schema["properties"].get("options", {}).get("properties", {})
    defaults, maxima = tool.description.defaults.split("Max:")
    for name, number in re.findall(r"([a-z_]+) (\d+)", defaults):
        assert flat[name]["default"] == int(number), name
    for name, number in re.findall(r"([a-z_]+) (\d+)", maxima):
        if name in flat:
            assert flat[name]["maximum"] == int(number), name


def test_the_tools_together_stay_small() -> None:
    listed = sum(len(str(tool_document(tool)["inputSchema"])) + len(tool.description.text()) for tool in TOOLS)
    assert listed < 16_000


def test_an_output_keeps_its_schema_with_and_without_optional_fields() -> None:
    tool = next(tool for tool in TOOLS if tool.name == "kb.search")
    answer = SearchAnswer(
        results=[],
        partial=False,
        limit_reason="none",
        scope=Scope(),
        budget=Budget(tokens=1, bytes=1, max_tokens=1, max_bytes=1),
        truncated=False,
        empty_reason="no_match",
        snapshot_id="s",
    )
    schema = tool_document(tool)["outputSchema"]
    jsonschema.validate(answer.model_dump(mode="json"), schema)
    assert "next_cursor" in schema["required"]
    assert "scores" not in schema["properties"]["results"]["items"]["required"]


def test_the_published_schemas_are_up_to_date() -> None:
    assert check_schemas(SCHEMAS, TOOLS) == []


def test_stale_and_changed_schema_files_are_noticed(tmp_path: Path) -> None:
    write_schemas(tmp_path, TOOLS)
    assert check_schemas(tmp_path, TOOLS) == []
    (tmp_path / "kb.search.json").write_text("{}")
    (tmp_path / "kb.gone.json").write_text("{}")
    (tmp_path / "kb.read_excerpt.json").unlink()
    assert check_schemas(tmp_path, TOOLS) == ["kb.gone.json", "kb.read_excerpt.json", "kb.search.json"]
    write_schemas(tmp_path, TOOLS)
    assert check_schemas(tmp_path, TOOLS) == []
