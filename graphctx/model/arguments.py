"""Arguments from outside, checked against an input model and refused with an error that helps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from graphctx.errors import InvalidArgument

Model = TypeVar("Model", bound=BaseModel)

_SHOWN_CHARS = 80


def parse_arguments(model: type[Model], arguments: Mapping[str, Any]) -> Model:
    """Check arguments and make the input model of them. A null stands for an argument that was left out.

    Raises:
        InvalidArgument: naming every offending field with its value and what is allowed. ``details`` holds
            the first one as ``field``, ``value``, ``allowed`` and all of them as ``problems``.
    """
    try:
        return model.model_validate(_given(model, arguments))
    except ValidationError as error:
        problems = [_problem(model, item) for item in error.errors(include_url=False, include_context=True)]
    first = problems[0]
    message = "; ".join(f"{p['field']} = {p['value']}: {p['allowed']}" for p in problems)
    raise InvalidArgument(f"{message}.", **first, problems=problems)


def _given(model: type[BaseModel], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments without the nulls of fields that the model knows, at any depth; an unknown name stays."""
    given = {}
    for name, value in arguments.items():
        inner = _model_of(model, name)
        if inner is not None and isinstance(value, Mapping):
            given[name] = _given(inner, value)
        elif value is not None or name not in model.model_fields:
            given[name] = value
    return given


def _problem(model: type[BaseModel], item: Any) -> dict[str, str]:
    """One pydantic error as field, value and what is allowed there."""
    where = ".".join(str(part) for part in item["loc"])
    if item["type"] == "missing":
        return {"field": where, "value": "nothing", "allowed": "this argument is required"}
    value = repr(item["input"])
    if len(value) > _SHOWN_CHARS:
        value = value[:_SHOWN_CHARS] + "…"
    if item["type"] == "extra_forbidden":
        known = ", ".join(_fields_at(model, item["loc"][:-1]))
        return {"field": where, "value": value, "allowed": f"there is no such argument; known here: {known}"}
    return {"field": where, "value": value, "allowed": _allowed(item)}


def _allowed(item: Any) -> str:
    context = item.get("ctx") or {}
    match item["type"]:
        case "greater_than_equal":
            return f"must be at least {context['ge']}"
        case "less_than_equal":
            return f"must be at most {context['le']}"
        case "literal_error":
            return f"must be one of {context['expected']}"
        case "string_pattern_mismatch":
            return "must hold at least one character that is not a space"
        case _:
            return str(item["msg"]).removeprefix("Value error, ")


def _fields_at(model: type[BaseModel], path: tuple[int | str, ...]) -> list[str]:
    """The field names of the model that stands at a path inside another."""
    for part in path:
        inner = _model_of(model, str(part))
        if inner is None:
            return []
        model = inner
    return list(model.model_fields)


def _model_of(model: type[BaseModel], name: str) -> type[BaseModel] | None:
    """The model that a field holds, if it holds one."""
    field = model.model_fields.get(name)
    inner = field.annotation if field else None
    return inner if isinstance(inner, type) and issubclass(inner, BaseModel) else None
