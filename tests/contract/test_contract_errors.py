"""Arguments that are refused: which one, what it was and what is allowed, in the structure and in the text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from graphctx.errors import InvalidArgument
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.arguments import parse_arguments
from graphctx.server.tools import TOOLS

from .conftest import fenced_kb
from .examples import COMPAT, EVERY_TOOL, GRAPH, KB, NODE_TOOLS, PASSAGE_TOOLS, Examples
from .protocol import Caller, in_memory
from .spec_table import ERROR_CODES

each_tool = pytest.mark.parametrize("tool", EVERY_TOOL)
OURS = (*KB, *GRAPH, *COMPAT)
INPUTS = {tool.name: tool.input for tool in TOOLS}
WRONG = {
    "integer": ["many", 1.5, [1], {"a": 1}, True],
    "boolean": ["maybe", 2, [], {}],
    "string": [5, 1.5, True, ["a"], {"a": "b"}],
    "array": [5, {"a": "b"}, [5], [None]],
    "object": ["a", 5, [1], True],
}
"""Values that no schema of the type lets through."""


def refused(caller: Caller, tool: str, arguments: dict[str, Any], field: str) -> dict[str, Any]:
    """The error of a call that must be refused because of a field."""
    reply = caller.call(tool, arguments)
    assert reply.is_error, f"{tool} took {field} of {str(arguments)[:300]}"
    return check_refusal(reply.error, field)


def not_parsed(tool: str, arguments: dict[str, Any], field: str) -> dict[str, Any]:
    """The error with which a tool's arguments are refused because of a field, before it is run."""
    with pytest.raises(InvalidArgument) as caught:
        parse_arguments(INPUTS[tool], arguments)
    error = caught.value
    return check_refusal({"code": error.code, "message": error.message, "details": error.details}, field)


def check_refusal(error: dict[str, Any], field: str) -> dict[str, Any]:
    """It names the field, its value and what is allowed."""
    details = error["details"]
    assert error["code"] == "INVALID_ARGUMENT"
    assert details["field"] == field or details["field"].startswith(f"{field}."), details
    assert field in error["message"]
    assert details["value"] is not None
    assert details["allowed"]
    return error


def arguments_of(schema: dict[str, Any], path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
    """Every argument with its path, those inside objects too."""
    found = []
    for name, given in schema["properties"].items():
        found.append(((*path, name), given))
        if "properties" in given:
            found += arguments_of(given, (*path, name))
    return found


def with_value(arguments: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """Arguments with another value at a path."""
    name, *rest = path
    inner = with_value(dict(arguments.get(name) or {}), tuple(rest), value) if rest else value
    return {**arguments, name: inner}


@each_tool
def test_an_unknown_argument_is_refused_by_name(
    caller: Caller, schemas: dict[str, Any], examples: Examples, tool: str
) -> None:
    error = refused(caller, tool, {**examples.plain[tool], "nonsense": 1}, "nonsense")
    properties = schemas[tool]["inputSchema"]["properties"]
    for said in ("nonsense", "1", "there is no such argument", "known here", *properties):
        assert said in error["message"]
    for inside in {"scope", "filters", "options"} & properties.keys():
        not_parsed(tool, {**examples.plain[tool], inside: {"nonsense": 1}}, f"{inside}.nonsense")


@each_tool
def test_what_is_required_is_asked_for(schemas: dict[str, Any], examples: Examples, tool: str) -> None:
    for name in schemas[tool]["inputSchema"].get("required", []):
        without = {key: value for key, value in examples.plain[tool].items() if key != name}
        assert "required" in not_parsed(tool, without, name)["message"]
        assert "required" in not_parsed(tool, {**without, name: None}, name)["message"]


@each_tool
def test_a_value_that_the_listed_schema_does_not_allow_is_refused_with_what_is_allowed(
    schemas: dict[str, Any], examples: Examples, tool: str
) -> None:
    schema = schemas[tool]["inputSchema"]
    for path, given in arguments_of(schema):
        wrong: list[tuple[Any, list[Any]]] = [(value, []) for value in WRONG[given["type"]]]
        wrong += [(given[limit] + step, [given[limit]]) for limit, step in LIMITS if limit in given]
        items = given.get("items", {})
        if choices := given.get("enum") or items.get("enum"):
            wrong.append(("sideways" if "enum" in given else ["sideways"], choices))
        if "maxItems" in given:
            element = items.get("enum", ["Oda Brenn"])[0]
            wrong.append(([element] * (given["maxItems"] + 1), [given["maxItems"]]))
        if "minItems" in given:
            wrong.append(([], [given["minItems"]]))
        if "maxLength" in given:
            wrong.append(("a" * (given["maxLength"] + 1), [given["maxLength"]]))
        if path[-1] in schema.get("required", []):
            wrong += [("", [given["minLength"]]) if "minLength" in given else (" \n\t", [])] * (
                given["type"] == "string"
            )
        for value, allowed in wrong:
            error = not_parsed(tool, with_value(examples.plain[tool], path, value), ".".join(path))
            assert all(str(one) in error["message"] for one in allowed), (path, value)


LIMITS = (("minimum", -1), ("maximum", 1))


@each_tool
def test_every_argument_has_its_limits(schemas: dict[str, Any], tool: str) -> None:
    for path, given in arguments_of(schemas[tool]["inputSchema"]):
        if given["type"] == "integer":
            assert {"minimum", "maximum"} <= given.keys(), path
        if given["type"] == "string" and "enum" not in given:
            assert "maxLength" in given, path
        if given["type"] == "array":
            assert "maxItems" in given, path
            assert {"enum", "maxLength"} & given["items"].keys(), path


@each_tool
def test_arguments_are_taken_as_models_write_them(schemas: dict[str, Any], examples: Examples, tool: str) -> None:
    properties, plain = schemas[tool]["inputSchema"]["properties"], examples.plain[tool]
    parsed = parse_arguments(INPUTS[tool], plain)
    for nothing in (None, ""):  # stand for an argument that is left out
        assert parse_arguments(INPUTS[tool], {**dict.fromkeys(properties, nothing), **plain}) == parsed
    whole = {name: given["default"] for name, given in properties.items() if "default" in given} | plain
    written = {name: json.dumps(value) if isinstance(value, bool | int) else value for name, value in whole.items()}
    written = {
        name: value[0] if isinstance(value, list) and len(value) == 1 else value for name, value in written.items()
    }
    assert parse_arguments(INPUTS[tool], written) == parse_arguments(INPUTS[tool], whole)


def test_former_names_of_arguments_are_taken() -> None:
    ends = {"start_ids": ["Oda Brenn"], "end_ids": ["Halvard Works"]}
    former = {"a_ids": "Oda Brenn", "b_ids": ["Halvard Works"]}
    model = INPUTS["get_paths_between"]
    assert parse_arguments(model, former) == parse_arguments(model, ends)
    not_parsed("get_paths_between", {**ends, "a_ids": ["Mercury"]}, "a_ids")


@pytest.mark.parametrize("tool", OURS)
@pytest.mark.parametrize(("field", "value"), [("project_id", "somebody-elses"), ("environment", "prod")])
def test_another_project_or_environment_is_a_scope_violation(
    caller: Caller, examples: Examples, tool: str, field: str, value: str
) -> None:
    error = caller.call(tool, {**examples.plain[tool], "scope": {field: value}}).error
    assert error["code"] == "SCOPE_VIOLATION"
    assert (error["details"]["field"], error["details"]["value"]) == (f"scope.{field}", value)
    assert repr(value) in error["message"]


@pytest.fixture(scope="module")
def twice_fenced(nasty_path: Path) -> Iterator[Caller]:
    """A server whose settings let it see the documents of the open half that bear one tag."""
    with fenced_kb(nasty_path, doc_tags=["public"], repositories=["open"]) as kb, in_memory(kb) as caller:
        yield caller


@pytest.mark.parametrize("tool", OURS)
def test_more_than_the_settings_allow_is_a_scope_violation(twice_fenced: Caller, examples: Examples, tool: str) -> None:
    for field in ("doc_tags", "repositories"):
        error = twice_fenced.call(tool, {**examples.plain[tool], "scope": {field: ["sealed"]}}).error
        assert error["code"] == "SCOPE_VIOLATION"
        assert error["details"]["field"] == f"scope.{field}"
        assert error["details"]["value"] == "sealed"


@pytest.mark.parametrize("tool", [*PASSAGE_TOOLS, *NODE_TOOLS, *COMPAT[1:], "fetch"])
def test_an_id_that_is_unknown_is_reported_with_what_to_do(caller: Caller, examples: Examples, tool: str) -> None:
    for name in ("passage_id", "passage_ids", "node_ids", "start_ids", "section_ids", "entity_ids", "parent_id", "id"):
        if name in examples.plain[tool]:
            for unknown in ("u_aaaaaaaaaaaaaaaa", "p_aaaaaaaaaaaaaaaa", "../../etc/passwd"):
                value: Any = [unknown] if isinstance(examples.plain[tool][name], list) else unknown
                error = caller.call(tool, {**examples.plain[tool], name: value}).error
                assert error["code"] == "INVALID_ARGUMENT"
                assert unknown in error["message"]


def test_an_unknown_tool_is_a_protocol_error(caller: Caller) -> None:
    for name in ("kb.delete", "", "search_documentation", "kb.search ", "x" * 10_000):
        with pytest.raises(MCPError) as caught:
            caller.call(name)
        assert caught.value.error.code == INVALID_PARAMS
        assert len(caught.value.error.message) < 2_000


@each_tool
def test_an_error_is_short_and_tells_nothing_of_the_inside(
    caller: Caller, examples: Examples, nasty: KnowledgeBase, tool: str
) -> None:
    many = {f"unknown_{number}": number for number in range(500)}
    for arguments in ({"": {}}, {**examples.plain[tool], "x" * 5_000: "y" * 100_000}, {"query": "z" * 1_000_000}, many):
        reply = caller.call(tool, arguments)
        assert reply.error["code"] in ERROR_CODES
        assert len(reply.text) < 8_000, "it does not give back what it was sent"
        for inside in ("Traceback", "pydantic", "ValidationError", "site-packages", str(nasty.path), "errors.pydantic"):
            assert inside not in reply.text
