"""JSON Schemas of the tools, in the plain form that every client can read.

Definitions are inlined (no ``$ref``), the root has no combinator, and every array says what its items are. An optional
argument is left out of ``required`` and typed without null, which is accepted all the same; a nullable output is typed
``["…", "null"]``. The schema of arguments does not say ``additionalProperties``, at which converters to other dialects
fail; the server refuses unknown arguments all the same. Empty defaults and, in answers, lengths are left out: every
client pays for them. Required arguments come first, then a tool's own, then those of all tools.
"""

from __future__ import annotations

import copy
from functools import cache
from inspect import get_annotations
from typing import Any, Literal

from pydantic import BaseModel

Direction = Literal["input", "output"]
Schema = dict[str, Any]


def tool_schema(model: type[BaseModel], direction: Direction) -> Schema:
    """Return the schema of a tool's arguments or of its structured content; the caller may change it."""
    return copy.deepcopy(_made(model, direction))


@cache  # descriptions, lists and checks need the same ones, and these take most of the time to the first list
def _made(model: type[BaseModel], direction: Direction) -> Schema:
    raw = model.model_json_schema(mode="validation")
    schema = _plain(raw, raw.get("$defs", {}), direction)
    if direction == "input":
        declared = [name for cls in model.__mro__ for name in get_annotations(cls)]
        order = dict.fromkeys([*schema.get("required", ()), *declared])
        schema["properties"] = {name: schema["properties"][name] for name in order if name in schema["properties"]}
    schema.pop("description", None)  # the tool's own description says it
    return schema


def without(schema: Schema, names: frozenset[str]) -> Schema:
    """Return a schema without the properties of these names, at any depth."""
    schema = dict(schema)
    if "properties" in schema:
        schema["properties"] = {
            name: without(inner, names) for name, inner in schema["properties"].items() if name not in names
        }
    if "items" in schema:
        schema["items"] = without(schema["items"], names)
    return schema


def slim(schema: Schema) -> Schema:
    """Return the schema of arguments without what a server checks and a model does not need to know.

    Lengths, least numbers of 0 and 1, and numbers that no caller reaches are left out, and so is an object without
    properties.
    """
    kept = {key: value for key, value in schema.items() if key not in _LENGTHS}
    if kept.get("minimum", 2) <= 1:
        del kept["minimum"]
    if kept.get("maximum", 0) >= 2**15:
        del kept["maximum"]
    if "items" in kept:
        kept["items"] = {key: value for key, value in kept["items"].items() if key in ("type", "enum")}
    if "properties" in kept:
        inner = {name: slim(value) for name, value in kept["properties"].items()}
        kept["properties"] = {name: value for name, value in inner.items() if value.get("properties", True)}
    return kept


_LENGTHS = ("minLength", "maxLength", "minItems", "maxItems", "pattern")


def _plain(node: Schema, definitions: dict[str, Schema], direction: Direction) -> Schema:
    """Return a schema without references.

    Raises:
        ValueError: a model contains itself; inlining it would not end.
    """
    node = {key: value for key, value in node.items() if key not in ("title", "$defs")}
    if direction == "input":
        if node.get("additionalProperties") is False:
            del node["additionalProperties"]
        if "const" in node:
            node["enum"] = [node.pop("const")]
    if direction == "output":
        node = {key: value for key, value in node.items() if key not in _LENGTHS}
    elif node.get("pattern") == r"\S":
        node.pop("minLength", None)  # the pattern says it
    if node.get("default", ...) in ([], ""):
        del node["default"]
    if reference := node.pop("$ref", None):
        name = reference.rsplit("/", 1)[-1]
        if name not in definitions:
            raise ValueError(f"{name} holds itself: inlining it would not end")
        others = {key: value for key, value in definitions.items() if key != name}
        target = _plain(definitions[name], others, direction)
        target.pop("description", None)
        return target | node
    if branches := node.pop("anyOf", None):
        if node.get("default", "") is None:
            del node["default"]
        return _merged([_plain(branch, definitions, direction) for branch in branches], direction) | node
    if "properties" in node:
        node["properties"] = {name: _plain(inner, definitions, direction) for name, inner in node["properties"].items()}
        if direction == "output":
            silent = node.pop("silent", ())
            node["required"] = [name for name in node["properties"] if name not in silent]
            for inner in node["properties"].values():
                inner.pop("default", None)
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            node[key] = _plain(node[key], definitions, direction)
    return node


def _merged(branches: list[Schema], direction: Direction) -> Schema:
    """Return alternatives as one schema with a list of types; null only in answers."""
    real = [branch for branch in branches if branch.get("type") != "null"]
    merged: Schema = {}
    for branch in real:
        merged |= branch
    types = [branch["type"] for branch in real]
    if direction == "output" and len(real) < len(branches):
        types.append("null")
        if "enum" in merged:
            merged["enum"] = [*merged["enum"], None]
    merged["type"] = types[0] if len(types) == 1 else types
    return merged
