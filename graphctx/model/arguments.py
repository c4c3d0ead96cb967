"""Parse arguments from outside with an input model; an error says which value is wrong and what is allowed.

Language models write arguments nearly right, and what has one meaning is accepted: a null, or an empty string for an
optional argument, is left out; an object, a list, a number or a boolean may be a string of JSON; one string stands for
a list of it; 5.0 is a whole number, as in JSON Schema; half of a surrogate pair becomes U+FFFD; another name of an
argument (``query`` for ``question``, ``section_id`` for ``passage_id``) stands for it. What would need a guess is
refused: "yes", or true for a number.
"""

from __future__ import annotations

import difflib
import json
import re
import reprlib
from collections.abc import Container, Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from graphctx.errors import InvalidArgument

Model = TypeVar("Model", bound=BaseModel)
ArgumentPath = tuple[int | str, ...]
Schema = dict[str, Any]

_MISSING = "nothing"
"""The value of an argument that is required and missing, in the details of the error."""
MAX_PROBLEMS = 10
"""The most problems that an error names; it counts the others."""
_SHOWN_CHARS = 80
_SYNONYMS = {
    "query": "question",
    "question": "query",
    "section_id": "passage_id",
    "section_ids": "passage_ids",
}
"""Other names of arguments, in a model that has the argument; further ones are a model's ``ALIASES``."""
_SURROGATE = re.compile("[\ud800-\udfff]")

_REPR = reprlib.Repr()
_REPR.maxlevel, _REPR.maxdict, _REPR.maxlist = 2, 4, 4
_REPR.maxstring = _REPR.maxother = _SHOWN_CHARS


def parse_arguments(model: type[Model], arguments: Mapping[str, Any], hidden: Container[str] = ()) -> Model:
    """Check arguments and make the input model of them.

    Args:
        model: The input model.
        arguments: The arguments by name.
        hidden: Names of fields that no error suggests.

    Raises:
        InvalidArgument: naming every offending field (the first `MAX_PROBLEMS`) with its value and what is allowed.
            ``details`` holds the first one as ``field``, ``value``, ``allowed`` and all of them as ``problems``.
    """
    try:
        return model.model_validate(_given(model, arguments))
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False)
    problems = [_problem(model, item, hidden) for item in found[:MAX_PROBLEMS]]
    message = "; ".join(
        f"{p['field']} {p['allowed'].removeprefix('this argument ')}"
        if p["value"] == _MISSING
        else f"{p['field']} = {p['value']}: {p['allowed']}"
        for p in problems
    )
    more = f"; and {len(found) - MAX_PROBLEMS} more" if len(found) > MAX_PROBLEMS else ""
    raise InvalidArgument(f"{message}{more}.", **problems[0], problems=problems)


def _given(model: type[BaseModel], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as they are meant, at any depth that the model has; an unknown name stays."""
    given = {}
    aliases = {
        alias: name
        for alias, name in {**_SYNONYMS, **getattr(model, "ALIASES", {})}.items()
        if name in model.model_fields and name not in arguments and alias not in model.model_fields
    }
    for key, value in arguments.items():
        name = aliases.get(key, key)
        field = model.model_fields.get(name)
        if field is None:
            given[name] = value
        elif value is not None and (field.is_required() or value != ""):
            inner = model_of(model, name)
            value = _meant(value, field.annotation, inner)
            given[name] = _given(inner, value) if inner and isinstance(value, Mapping) else _written(value)
            if _is_of_another_type(value, field.annotation):
                given[name] = _OfAnotherType(value)
    return given


def _meant(value: Any, annotation: Any, inner: type[BaseModel] | None) -> Any:
    """The value that a string stands for where no string belongs; any other value as it is."""
    if not isinstance(value, str):
        return value
    if inner is not None:
        return _read(value, dict)
    if get_origin(annotation) is list:
        said = _read(value, list)
        return [said] if isinstance(said, str) and said else said
    wanted = _plain(annotation)
    if bool in wanted:
        return _read(value.lower(), bool)
    return _read(value, int, float) if wanted else value


def _plain(annotation: Any) -> set[type]:
    """Which of numbers and booleans an annotation names; a list of them is neither."""
    members = () if get_origin(annotation) is list else get_args(annotation)
    return {int, float, bool}.intersection((annotation, *members))


class _OfAnotherType:
    """Wraps a value of the wrong type where a number or a boolean belongs, so that pydantic refuses to coerce it."""

    def __init__(self, value: object) -> None:
        self._value = value

    def __repr__(self) -> str:
        return repr(self._value)


def _is_of_another_type(value: object, annotation: Any) -> bool:
    """Whether a number or a boolean belongs here, and the value is none."""
    wanted = _plain(annotation)
    if bool in wanted:
        return not isinstance(value, bool)
    return bool(wanted) and (isinstance(value, bool) or not isinstance(value, int | float))


def _read(text: str, *kinds: type) -> Any:
    """Return the JSON value of a string if it has one of these types, else the string."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return said if isinstance(said, kinds) else text


def _written(value: Any) -> Any:
    """Replace lone surrogates in a string, or in the strings of a list."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    return [_written(item) if isinstance(item, str) else item for item in value] if isinstance(value, list) else value


def _problem(model: type[BaseModel], item: Any, hidden: Container[str]) -> dict[str, str]:
    """One pydantic error as field, value and what is allowed there."""
    path: ArgumentPath = item["loc"]
    where = ".".join(_short(str(part)) for part in path)
    if item["type"] == "missing":
        return {
            "field": where,
            "value": _MISSING,
            "allowed": f"this argument is required and {allowed_at(model, path)}",
        }
    value = _shown(item["input"])
    if item["type"] == "extra_forbidden":
        return {"field": where, "value": value, "allowed": _known(model, path, hidden)}
    if item["type"] == "value_error":
        return {"field": where, "value": value, "allowed": item["msg"].removeprefix("Value error, ")}
    allowed = allowed_at(model, path)
    if item["type"] == "string_too_long":
        allowed = f"{allowed.partition(', not only')[0]}, and this has {len(item['input'])}"
    return {"field": where, "value": value, "allowed": allowed}


def _known(model: type[BaseModel], path: ArgumentPath, hidden: Container[str]) -> str:
    """What an unknown argument may have been meant for, and what there is."""
    *above, name = (_short(str(part)) for part in path)
    here = {field: ".".join([*above, field]) for field in fields_at(model, path[:-1]) if field not in hidden}
    for places in (here, {field: place for field, place in _places(model) if field not in hidden}):
        if near := difflib.get_close_matches(name, places, n=1, cutoff=0.7):
            meant = f" (did you mean {places[near[0]]}?)"
            break
    else:
        meant = ""
    return f"there is no such argument{meant}; known here: {', '.join(here) or 'none'}"


def _places(model: type[BaseModel], above: str = "") -> Iterator[tuple[str, str]]:
    """Every field at any depth, with its dotted path; a field of several places stands for the last of them."""
    for name in model.model_fields:
        if (inner := model_of(model, name)) is not None:
            yield from _places(inner, f"{above}{name}.")
        yield name, f"{above}{name}"


def _shown(value: Any) -> str:
    """A value as an error shows it: shortened, without control characters."""
    try:
        return _short(_REPR.repr(value))
    except (ValueError, RecursionError):  # an integer of more digits than Python writes
        return f"a value of type {type(value).__name__}"


def _short(text: str) -> str:
    printable = "".join(char if char.isprintable() else "\ufffd" for char in text[: _SHOWN_CHARS + 1])
    return printable if len(printable) <= _SHOWN_CHARS else printable[:_SHOWN_CHARS] + "…"


def allowed_at(model: type[BaseModel], path: ArgumentPath) -> str:
    """Return what a value at a path may be: ``must be a whole number from 1 to 50``."""
    root = _schema_of(model)
    node = _resolved(root, root)
    for part in path:
        inner = node.get("items") if isinstance(part, int) else node.get("properties", {}).get(part)
        if inner is None:
            break
        node = _resolved(inner, root)
    return f"must be {_rule(node, root)}"


def fields_at(model: type[BaseModel], path: ArgumentPath) -> list[str]:
    """Return the names of the fields of the model at a path inside another."""
    for part in path:
        inner = model_of(model, str(part))
        if inner is None:
            return []
        model = inner
    return list(model.model_fields)


def model_of(model: type[BaseModel], name: str) -> type[BaseModel] | None:
    """Return the model of a field whose value is an object, else ``None``."""
    field = model.model_fields.get(name)
    inner = field.annotation if field else None
    return inner if isinstance(inner, type) and issubclass(inner, BaseModel) else None


@lru_cache(maxsize=64)
def _schema_of(model: type[BaseModel]) -> Schema:
    return model.model_json_schema(mode="validation")


def _resolved(node: Schema, root: Schema) -> Schema:
    """Return a schema without its reference and without null."""
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
    """Return ``, not only spaces``, or for another pattern the form that the description names."""
    pattern = node.get("pattern")
    if pattern is None:
        return ""
    return (
        ", not only spaces"
        if pattern == r"\S"
        else f": {node.get('description', f'of the form {pattern}').rstrip('.')}"
    )


def _range(node: Schema, low: str, high: str, unit: str = "", before: str = "") -> str:
    """Return `` from 1 to 50``, `` of 1 to 4000 characters`` or `` of at most 50 items``; nothing without bounds."""
    least, most = node.get(low), node.get(high)
    if least is None and most is None:
        return ""
    if least is None:
        return f"{before} at most {most}{unit}"
    if most is None:
        return f"{before} at least {least}{unit}"
    return f"{before or ' from'} {least} to {most}{unit}"
