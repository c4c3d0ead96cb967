"""Arguments from outside, checked against an input model and refused with an error that helps.

Language models write arguments nearly right, and what has one meaning is taken so: a null, or an empty string for an
optional argument, is an argument that was left out; an object, a list, a number or a boolean may come as a string of
JSON; one string stands for a list of it; 5.0 is a whole number, as in JSON Schema; half of a surrogate pair becomes
U+FFFD. What would have to be guessed is refused: "yes", or a true where a number belongs.
"""

from __future__ import annotations

import difflib
import json
import re
import reprlib
from collections.abc import Container, Iterator, Mapping
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from graphctx.errors import InvalidArgument
from graphctx.model.rules import Path, allowed_at, fields_at, model_of

Model = TypeVar("Model", bound=BaseModel)

MAX_PROBLEMS = 10
"""More are counted, not named: an error is an answer, and answers are bounded."""
_SHOWN_CHARS = 80
_MEANT = {"section_id": "passage_id"}
"""What answers call a thing by which a later call asks for it under another name."""
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
    message = "; ".join(f"{p['field']} = {p['value']}: {p['allowed']}" for p in problems)
    more = f"; and {len(found) - MAX_PROBLEMS} more" if len(found) > MAX_PROBLEMS else ""
    raise InvalidArgument(f"{message}{more}.", **problems[0], problems=problems)


def _given(model: type[BaseModel], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as they are meant, at any depth that the model has; an unknown name stays."""
    given = {}
    for name, value in arguments.items():
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
    """Which of numbers and booleans an annotation names."""
    return {int, float, bool}.intersection((annotation, *get_args(annotation)))


class _OfAnotherType:
    """A value where a number or a boolean belongs, and is not: pydantic would make one of some that are bare."""

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
    """What a string of JSON says, if it is one and says a thing of these kinds."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return said if isinstance(said, kinds) else text


def _written(value: Any) -> Any:
    """A string, or the strings of a list, in characters that can be written."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    return [_written(item) if isinstance(item, str) else item for item in value] if isinstance(value, list) else value


def _problem(model: type[BaseModel], item: Any, hidden: Container[str]) -> dict[str, str]:
    """One pydantic error as field, value and what is allowed there."""
    path: Path = item["loc"]
    where = ".".join(_short(str(part)) for part in path)
    if item["type"] == "missing":
        return {
            "field": where,
            "value": "nothing",
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


def _known(model: type[BaseModel], path: Path, hidden: Container[str]) -> str:
    """What an unknown argument may have been meant for, and what there is."""
    *above, name = (_short(str(part)) for part in path)
    here = {field: ".".join([*above, field]) for field in fields_at(model, path[:-1]) if field not in hidden}
    name = _MEANT[name] if _MEANT.get(name) in here else name
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
    """A value as it is told: shortened, and without a character that acts."""
    try:
        return _short(_REPR.repr(value))
    except (ValueError, RecursionError):  # an integer of more digits than Python writes
        return f"a value of type {type(value).__name__}"


def _short(text: str) -> str:
    printable = "".join(char if char.isprintable() else "\ufffd" for char in text[: _SHOWN_CHARS + 1])
    return printable if len(printable) <= _SHOWN_CHARS else printable[:_SHOWN_CHARS] + "…"
