"""What an input model allows at a place inside it, said in words from its JSON Schema."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pydantic import BaseModel

Path = tuple[int | str, ...]
Schema = dict[str, Any]


def allowed_at(model: type[BaseModel], path: Path) -> str:
    """What a value may be there: ``must be a whole number from 1 to 50``."""
    root = _schema_of(model)
    node = _resolved(root, root)
    for part in path:
        inner = node.get("items") if isinstance(part, int) else node.get("properties", {}).get(part)
        if inner is None:
            break
        node = _resolved(inner, root)
    return f"must be {_rule(node, root)}"


def fields_at(model: type[BaseModel], path: Path) -> list[str]:
    """The names of the fields of the model that stands at a path inside another."""
    for part in path:
        inner = model_of(model, str(part))
        if inner is None:
            return []
        model = inner
    return list(model.model_fields)


def model_of(model: type[BaseModel], name: str) -> type[BaseModel] | None:
    """The model that a field holds, if it holds one."""
    field = model.model_fields.get(name)
    inner = field.annotation if field else None
    return inner if isinstance(inner, type) and issubclass(inner, BaseModel) else None


@lru_cache(maxsize=64)
def _schema_of(model: type[BaseModel]) -> Schema:
    return model.model_json_schema(mode="validation")


def _resolved(node: Schema, root: Schema) -> Schema:
    """The schema itself: behind its reference, and without the null of what may be left out."""
    while "$ref" in node or "anyOf" in node:
        if "$ref" in node:
            node = root["$defs"][node["$ref"].rsplit("/", 1)[-1]]
        else:
            node = next(branch for branch in node["anyOf"] if branch.get("type") != "null")
    return node


def _rule(node: Schema, root: Schema) -> str:
    if "const" in node:
        return repr(node["const"])
    if "enum" in node:
        return f"one of {', '.join(map(repr, node['enum']))}"
    match node.get("type"):
        case "integer":
            return f"a whole number{_range(node, 'minimum', 'maximum')}"
        case "number":
            return f"a number{_range(node, 'minimum', 'maximum')}"
        case "boolean":
            return "true or false"
        case "string":
            return f"text{_range(node, 'minLength', 'maxLength', ' characters', ' of')}{_form(node)}"
        case "array":
            each = _rule(_resolved(node["items"], root), root) if node.get("items") else "anything"
            return f"a list{_range(node, 'minItems', 'maxItems', ' items', ' of')}, each {each}"
        case "object":
            return f"an object with the fields {', '.join(node.get('properties', {}))}"
    return "another kind of value"


def _form(node: Schema) -> str:
    """``, not only spaces``; where there is another pattern what it stands for, which the description says."""
    pattern = node.get("pattern")
    if pattern is None:
        return ""
    return (
        ", not only spaces"
        if pattern == r"\S"
        else f": {node.get('description', f'of the form {pattern}').rstrip('.')}"
    )


def _range(node: Schema, low: str, high: str, unit: str = "", before: str = "") -> str:
    """`` from 1 to 50``, `` of 1 to 4000 characters``, `` of at most 50 items``; nothing where there is no bound."""
    least, most = node.get(low), node.get(high)
    if least is None and most is None:
        return ""
    if least is None:
        return f"{before} at most {most}{unit}"
    if most is None:
        return f"{before} at least {least}{unit}"
    return f"{before or ' from'} {least} to {most}{unit}"
