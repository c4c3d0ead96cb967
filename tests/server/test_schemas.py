from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
from pydantic import BaseModel

from graphctx.errors import InvalidArgument
from graphctx.model.answers import Budget, SearchAnswer
from graphctx.model.requests import Scope
from graphctx.server.config import Toolset
from graphctx.server.listing import check_schemas, tool_document, write_schemas
from graphctx.server.schemas import tool_schema
from graphctx.server.tool import AnyTool
from graphctx.server.tools import CORE, TOOLS, TOOLSETS, accepted, offered_tools

SCHEMAS = Path(__file__).parents[2] / "schemas" / "tools"

each_tool = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)


GENERATED = {
    *("type", "description", "default", "enum", "pattern", "properties", "required", "items"),
    *("minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum"),
}
"""What every converter of arguments knows: each key holds a plain value, a schema, or schemas by name."""


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
    for node in nodes(document["outputSchema"]):
        assert node.get("additionalProperties", False) is False or "properties" not in node
    for node in nodes(document["inputSchema"]):
        assert isinstance(node["type"], str)
        assert node.keys() <= GENERATED, "converters to the dialect of function declarations know no other words"


def arguments(schema: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every argument at any depth, by its path."""
    for name, argument in schema["properties"].items():
        yield prefix + name, argument
        if "properties" in argument:
            yield from arguments(argument, f"{prefix}{name}.")


@each_tool
def test_every_argument_is_described(tool: AnyTool) -> None:
    for path, argument in arguments(tool_document(tool)["inputSchema"]):
        assert argument.get("description"), path


@each_tool
def test_what_an_optional_argument_assumes_is_valid(tool: AnyTool) -> None:
    for path, argument in arguments(tool_document(tool)["inputSchema"]):
        if "default" in argument:
            jsonschema.validate(argument["default"], argument)
            assert argument["default"] not in ([], "", None), path


def test_a_model_that_holds_itself_is_refused() -> None:
    with pytest.raises(ValueError, match="Branch holds itself"):
        tool_schema(Tree, "output")


class Branch(BaseModel):
    branches: list[Branch]


class Tree(BaseModel):
    trunk: Branch


@each_tool
def test_a_description_names_defaults_and_caps_of_the_model(tool: AnyTool) -> None:
    returns, defaults = tool.describe().split("\n")[2::2]
    assert "{" not in returns
    said, caps = defaults.removeprefix("Defaults: ").split(" Max: ")
    schema = tool_document(tool)["inputSchema"]
    limits = {path.split(".")[-1]: argument for path, argument in arguments(schema)}
    for name, number in re.findall(r"([a-z_]+) (\d+(?:\.\d+)?)", said):
        assert limits[name]["default"] == float(number), name
    for name, number in re.findall(r"([a-z_]+) (\d+)", caps):
        assert limits[name]["maximum"] == int(number), name


def test_toolsets_hold_every_tool_once_and_are_served_in_one_order() -> None:
    names = [tool.name for tool in TOOLS]
    assert len(set(names)) == len(names)
    assert {tool.toolset for tool in TOOLS} == set(get_args(Toolset)) - {"core"} == set(TOOLSETS)
    assert offered_tools() == offered_tools(["core"]) == CORE
    assert set(CORE) < set(offered_tools(["core", "graph"])) < set(offered_tools(["kb", "graph"])) == set(accepted())
    assert offered_tools(["connector", "kb", "kb"]) == TOOLSETS["kb"] + TOOLSETS["connector"]
    assert offered_tools(get_args(Toolset)) == TOOLS
    assert offered_tools(["kb", "graph", "connector"], kb_v2=False) == TOOLSETS["compat"]


@pytest.mark.parametrize("asked", [["kb", "grahp"], [""], []])
def test_a_toolset_that_is_not_there_is_refused_and_the_others_are_named(asked: list[str]) -> None:
    with pytest.raises(InvalidArgument, match="known: core, kb, graph, compat, connector"):
        offered_tools(asked)


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
