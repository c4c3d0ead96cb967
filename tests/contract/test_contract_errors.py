"""Arguments that are refused: which one, what it was and what is allowed, in the structure and in the text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from graphctx.knowledge_base import KnowledgeBase

from .conftest import fenced_kb
from .examples import COMPAT, EVERY_TOOL, GRAPH, KB, LISTS, NODE_TOOLS, PASSAGE_TOOLS, Examples
from .protocol import Caller, in_memory
from .spec_table import ERROR_CODES

each_tool = pytest.mark.parametrize("tool", EVERY_TOOL)
OURS = (*KB, *GRAPH, *COMPAT)
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
    error = reply.error
    assert error["code"] == "INVALID_ARGUMENT"
    details = error["details"]
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
def test_an_unknown_argument_is_refused_by_name(caller: Caller, examples: Examples, tool: str) -> None:
    error = refused(caller, tool, {**examples.plain[tool], "nonsense": 1}, "nonsense")
    for name in caller.tools()[tool]["inputSchema"]["properties"]:
        assert name in error["message"], "it says what is known instead"


@pytest.mark.parametrize("inside", ["scope", "filters", "options"])
@each_tool
def test_an_unknown_argument_inside_another_is_refused(
    caller: Caller, examples: Examples, tool: str, inside: str
) -> None:
    if inside not in caller.tools()[tool]["inputSchema"]["properties"]:
        pytest.skip(f"it takes no {inside}")
    refused(caller, tool, {**examples.plain[tool], inside: {"nonsense": 1}}, f"{inside}.nonsense")


@each_tool
def test_an_error_has_no_structured_content_that_its_schema_would_refuse(
    caller: Caller, examples: Examples, tool: str
) -> None:
    result = caller.result(tool, {**examples.plain[tool], "nonsense": 1})
    assert result.is_error
    # Clients hold structured content against the listed schema, that of an error too.
    if result.structured_content is not None:
        jsonschema.validate(result.structured_content, caller.tools()[tool]["outputSchema"])
    error = json.loads(result.content[0].text)["error"]
    assert error["code"] == "INVALID_ARGUMENT"
    for fact in ("nonsense", "1", "there is no such argument", "known here"):
        assert fact in error["message"]
    assert {"field", "value", "allowed"} <= error["details"].keys()


@each_tool
def test_what_is_required_is_asked_for(caller: Caller, examples: Examples, tool: str) -> None:
    for name in caller.tools()[tool]["inputSchema"].get("required", []):
        without = {key: value for key, value in examples.plain[tool].items() if key != name}
        assert "required" in refused(caller, tool, without, name)["message"]
        assert "required" in refused(caller, tool, {**without, name: None}, name)["message"]


@each_tool
def test_a_value_of_another_type_is_refused(caller: Caller, examples: Examples, tool: str) -> None:
    for path, given in arguments_of(caller.tools()[tool]["inputSchema"]):
        for value in WRONG[given["type"]]:
            refused(caller, tool, with_value(examples.plain[tool], path, value), ".".join(path))


@each_tool
def test_a_number_out_of_range_is_refused_with_the_range(caller: Caller, examples: Examples, tool: str) -> None:
    for path, given in arguments_of(caller.tools()[tool]["inputSchema"]):
        for limit, step in (("minimum", -1), ("maximum", 1)):
            if limit in given:
                value = given[limit] + step
                error = refused(caller, tool, with_value(examples.plain[tool], path, value), ".".join(path))
                assert str(given[limit]) in error["message"]
                assert str(value) in error["message"]


@each_tool
def test_a_value_that_is_none_of_those_allowed_is_refused_with_them(
    caller: Caller, examples: Examples, tool: str
) -> None:
    for path, given in arguments_of(caller.tools()[tool]["inputSchema"]):
        choices = given.get("enum") or given.get("items", {}).get("enum")
        if choices:
            value = "sideways" if "enum" in given else ["sideways"]
            error = refused(caller, tool, with_value(examples.plain[tool], path, value), ".".join(path))
            assert all(choice in error["message"] for choice in choices)


@each_tool
def test_a_list_or_text_that_is_too_long_or_empty_is_refused(caller: Caller, examples: Examples, tool: str) -> None:
    schema = caller.tools()[tool]["inputSchema"]
    required = schema.get("required", [])
    for path, given in arguments_of(schema):
        element = given.get("items", {}).get("enum", ["Oda Brenn"])[0]
        wrong: list[tuple[Any, int]] = []
        if "maxItems" in given:
            wrong.append(([element] * (given["maxItems"] + 1), given["maxItems"]))
        if "minItems" in given:
            wrong.append(([], given["minItems"]))
        if "maxLength" in given:
            wrong.append(("a" * (given["maxLength"] + 1), given["maxLength"]))
        if "minLength" in given and path[-1] in required:
            wrong.append(("", given["minLength"]))
        for value, limit in wrong:
            error = refused(caller, tool, with_value(examples.plain[tool], path, value), ".".join(path))
            assert str(limit) in error["message"]


@each_tool
def test_every_argument_has_its_limits(caller: Caller, tool: str) -> None:
    for path, given in arguments_of(caller.tools()[tool]["inputSchema"]):
        if given["type"] == "integer":
            assert {"minimum", "maximum"} <= given.keys(), path
        if given["type"] == "string" and "enum" not in given:
            assert "maxLength" in given, path
        if given["type"] == "array":
            assert "maxItems" in given, path
            assert {"enum", "maxLength"} & given["items"].keys(), path


@each_tool
def test_a_null_or_an_empty_string_stands_for_an_argument_that_was_left_out(
    caller: Caller, examples: Examples, tool: str
) -> None:
    schema = caller.tools()[tool]["inputSchema"]
    optional = [name for name in schema["properties"] if name not in schema.get("required", [])]
    plain = caller.call(tool, examples.plain[tool])
    for nothing in (None, ""):
        assert caller.call(tool, {**dict.fromkeys(optional, nothing), **examples.plain[tool]}) == plain


@each_tool
def test_arguments_are_taken_as_models_write_them(caller: Caller, examples: Examples, tool: str) -> None:
    schema, plain = caller.tools()[tool]["inputSchema"]["properties"], examples.plain[tool]
    whole = {name: given["default"] for name, given in schema.items() if "default" in given} | plain
    written = {name: json.dumps(value) if isinstance(value, bool | int) else value for name, value in whole.items()}
    written = {
        name: value[0] if isinstance(value, list) and len(value) == 1 else value for name, value in written.items()
    }
    assert caller.call(tool, written) == caller.call(tool, whole)


@each_tool
def test_blank_text_is_refused(caller: Caller, examples: Examples, tool: str) -> None:
    for name in ("query", "question", "parent_id"):
        if name in examples.plain[tool]:
            refused(caller, tool, {**examples.plain[tool], name: " \n\t"}, name)


@pytest.mark.parametrize("tool", ["kb.search", "graph.expand"])
@pytest.mark.parametrize("when", ["yesterday", "2025-13-01", "2025-02-30T10:00"])
def test_a_time_that_is_none_is_refused(caller: Caller, examples: Examples, tool: str, when: str) -> None:
    arguments = {**examples.plain[tool], "filters": {"updated_after": when}}
    assert "ISO 8601" in refused(caller, tool, arguments, "filters.updated_after")["message"]


@pytest.mark.parametrize("tool", OURS)
def test_another_project_is_a_scope_violation(caller: Caller, examples: Examples, tool: str) -> None:
    error = caller.call(tool, {**examples.plain[tool], "scope": {"project_id": "somebody-elses"}}).error
    assert error["code"] == "SCOPE_VIOLATION"
    assert error["details"]["field"] == "scope.project_id"
    assert error["details"]["value"] == "somebody-elses"
    assert "'somebody-elses'" in error["message"]


@pytest.mark.parametrize("tool", OURS)
def test_another_environment_is_a_scope_violation(caller: Caller, examples: Examples, tool: str) -> None:
    error = caller.call(tool, {**examples.plain[tool], "scope": {"environment": "prod"}}).error
    assert error["code"] == "SCOPE_VIOLATION"
    assert error["details"]["field"] == "scope.environment"


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
def test_an_id_that_is_unknown_is_told_with_what_to_do(caller: Caller, examples: Examples, tool: str) -> None:
    for name in ("passage_id", "passage_ids", "node_ids", "start_ids", "section_ids", "entity_ids", "parent_id", "id"):
        if name in examples.plain[tool]:
            for unknown in ("u_aaaaaaaaaaaaaaaa", "p_aaaaaaaaaaaaaaaa", "nobody knows this", "../../etc/passwd"):
                value: Any = [unknown] if isinstance(examples.plain[tool][name], list) else unknown
                error = caller.call(tool, {**examples.plain[tool], name: value}).error
                assert error["code"] == "INVALID_ARGUMENT"
                assert unknown in error["message"]


@pytest.mark.parametrize("tool", LISTS)
def test_a_cursor_that_nobody_made_is_refused(caller: Caller, examples: Examples, tool: str) -> None:
    for cursor in ("aaaa", "a" * 42, "!!!", "é" * 10, "0"):
        error = refused(caller, tool, {**examples.plain[tool], "cursor": cursor}, "cursor")
        assert "without cursor" in error["message"]


def test_an_unknown_tool_is_a_protocol_error(caller: Caller) -> None:
    for name in ("kb.delete", "", "search_documentation", "kb.search ", "x" * 10_000):
        with pytest.raises(MCPError) as caught:
            caller.call(name)
        assert caught.value.error.code == INVALID_PARAMS
        assert len(caught.value.error.message) < 2_000


def test_a_tool_of_another_toolset_is_unknown(nasty: KnowledgeBase) -> None:
    with in_memory(nasty, toolsets=("kb",)) as caller, pytest.raises(MCPError):
        caller.call("graph.describe", {"node_ids": ["Oda Brenn"]})


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
