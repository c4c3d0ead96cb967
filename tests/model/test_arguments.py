"""Arguments from outside: nulls, unknown names, values out of range."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from graphctx.errors import InvalidArgument
from graphctx.model.arguments import parse_arguments
from graphctx.model.requests import SearchInput
from graphctx.server.tools import TOOLS

REQUIRED = {
    **dict.fromkeys(("query", "question", "id", "passage_id", "parent_id"), "x"),
    **dict.fromkeys(("passage_ids", "node_ids", "start_ids", "end_ids", "section_ids", "entity_ids"), ["x"]),
}


def optional_fields(model: type[BaseModel]) -> Iterator[tuple[str, ...]]:
    """The path of every field that may be left out, at any depth."""
    for name, field in model.model_fields.items():
        if not field.is_required():
            yield (name,)
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from ((name, *rest) for rest in optional_fields(inner))


@pytest.mark.parametrize(
    ("model", "path"),
    [
        pytest.param(tool.input, path, id=f"{tool.name}:{'.'.join(path)}")
        for tool in TOOLS
        for path in optional_fields(tool.input)
    ],
)
def test_a_null_is_an_argument_that_was_left_out(model: type[BaseModel], path: tuple[str, ...]) -> None:
    required = {name: value for name, value in REQUIRED.items() if name in model.model_fields}
    value: Any = None
    for name in reversed(path):
        value = {name: value}
    assert parse_arguments(model, required | value) == parse_arguments(model, required)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"query": None}, "query"),
        ({"query": "x", "topk": None}, "topk"),
        ({"query": "x", "scope": {"project": None}}, "scope.project"),
        ({"query": "x", "scope": {"doc_tags": [None]}}, "scope.doc_tags.0"),
    ],
)
def test_a_null_that_stands_for_nothing_optional_is_refused(arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidArgument, match=field) as caught:
        parse_arguments(SearchInput, arguments)
    assert caught.value.details["field"] == field
