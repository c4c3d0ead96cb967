"""Arguments from outside: nulls, unknown names, values out of range, and whatever else JSON can say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from graphctx.errors import InvalidArgument
from graphctx.model.arguments import MAX_PROBLEMS, model_of, parse_arguments
from graphctx.model.requests import ExpandInput, ExtractEvidenceInput, ReadExcerptInput, RetrieveInput, SearchInput
from graphctx.server.tools import TOOLS
from graphctx.server.tools.layers_write import AgentsContextProposeInput, AgentsContextWriteInput


def required_of(model: type[BaseModel]) -> dict[str, Any]:
    """The least that a model can be made of."""
    told = model.model_json_schema()["properties"]
    least: dict[str, Any] = {"array": ["u_1"], "integer": 1, "number": 0.5, "boolean": True}
    return {
        name: told[name].get("enum", [least.get(told[name].get("type"), "u_1")])[0]
        for name, field in model.model_fields.items()
        if field.is_required()
    }


def optional_fields(model: type[BaseModel]) -> Iterator[tuple[str, ...]]:
    """The path of every field that may be left out, at any depth."""
    for name, field in model.model_fields.items():
        if not field.is_required():
            yield (name,)
        if (inner := model_of(model, name)) is not None:
            yield from ((name, *rest) for rest in optional_fields(inner))


@pytest.mark.parametrize(
    ("model", "path"),
    [
        pytest.param(tool.input, path, id=f"{tool.name}:{'.'.join(path)}")
        for tool in TOOLS
        for path in optional_fields(tool.input)
    ],
)
def test_a_null_or_an_empty_string_is_an_optional_argument_that_was_left_out(
    model: type[BaseModel], path: tuple[str, ...]
) -> None:
    required = required_of(model)
    for value in (None, ""):
        arguments: Any = value
        for name in reversed(path):
            arguments = {name: arguments}
        assert parse_arguments(model, required | arguments) == parse_arguments(model, required)


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


@pytest.mark.parametrize(
    ("model", "arguments", "field", "allowed"),
    [
        (SearchInput, {"query": "x", "top_k": 0}, "top_k", "must be a whole number from 1 to 50"),
        (SearchInput, {"query": "x", "top_k": "many"}, "top_k", "must be a whole number from 1 to 50"),
        (SearchInput, {"query": "x", "top_k": float("nan")}, "top_k", "must be a whole number from 1 to 50"),
        (SearchInput, {"query": "x", "top_k": 10**6000}, "top_k", "must be a whole number from 1 to 50"),
        (SearchInput, {"query": "x" * 4001}, "query", "must be text of 1 to 4000 characters, and this has 4001"),
        (SearchInput, {"query": 5}, "query", "must be text of 1 to 4000 characters, not only spaces"),
        (
            SearchInput,
            {"query": "x", "options": {"mode": "graph"}},
            "options.mode",
            "must be one of 'auto', 'vector_only'",
        ),
        (
            SearchInput,
            {"query": "x", "options": {"include_scores": "maybe"}},
            "options.include_scores",
            "true or false",
        ),
        (
            SearchInput,
            {"query": "x", "scope": {"doc_tags": 5}},
            "scope.doc_tags",
            "a list of at most 50 items, each",
        ),
        (
            SearchInput,
            {"query": "x", "scope": {"doc_tags": ["a", ""]}},
            "scope.doc_tags.1",
            "text of 1 to 200 characters",
        ),
        (
            SearchInput,
            {"query": "x", "scope": [1]},
            "scope",
            "must be an object with the fields project_id, environment",
        ),
        (SearchInput, {"query": "x", "filters": {"updated_after": "spring"}}, "filters.updated_after", "ISO 8601"),
        (ExtractEvidenceInput, {"question": "x", "passage_ids": []}, "passage_ids", "a list of 1 to 20 items"),
        (
            AgentsContextWriteInput,
            {"content": "x", "kind": "note", "confidence": 1, "scope": "local", "sources": ["docs/a.md"]},
            "sources.0",
            "text of 1 to 500 characters: The id of a chunk, such as 12, or a place as file:line, such as docs/a.md:12",
        ),
        (AgentsContextProposeInput, {"context_id": 1, "target": "base"}, "target", "must be 'user'"),
        (ExpandInput, {"node_ids": ["a"], "rel_types": ["X"]}, "rel_types.0", "must be one of 'HAS_SECTION', "),
    ],
)
def test_a_refusal_names_field_value_and_the_range(
    model: type[BaseModel], arguments: dict[str, Any], field: str, allowed: str
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        parse_arguments(model, arguments)
    details = caught.value.details
    assert details["field"] == field
    assert allowed in details["allowed"]
    assert f"{field} = {details['value']}: {details['allowed']}" in caught.value.message


def test_a_missing_argument_is_named_as_required() -> None:
    with pytest.raises(InvalidArgument, match=r"^query is required and must be text of 1 to 4000 characters") as caught:
        parse_arguments(SearchInput, {"top_k": 1})
    assert caught.value.details["field"] == "query"


def plain_fields(model: type[BaseModel]) -> Iterator[tuple[tuple[str, ...], type]]:
    """The path of every number and every boolean, at any depth, with its type."""
    for name, field in model.model_fields.items():
        for kind in {int, float, bool}.intersection((field.annotation, *get_args(field.annotation))):
            yield (name,), kind
        if (inner := model_of(model, name)) is not None:
            yield from (((name, *rest), kind) for rest, kind in plain_fields(inner))


@pytest.mark.parametrize(
    ("model", "path", "kind"),
    [
        pytest.param(tool.input, path, kind, id=f"{tool.name}:{'.'.join(path)}")
        for tool in TOOLS
        for path, kind in plain_fields(tool.input)
    ],
)
def test_what_only_looks_like_a_number_or_a_boolean_is_refused(
    model: type[BaseModel], path: tuple[str, ...], kind: type
) -> None:
    wrong: list[Any] = ["yes", "7 of them", "NaN", "null", " ", b"1"]
    wrong += [1, 0, 1.0, "1"] if kind is bool else [True, False, "true"]
    for value in wrong:
        arguments: Any = value
        for name in reversed(path):
            arguments = {name: arguments}
        with pytest.raises(InvalidArgument) as caught:
            parse_arguments(model, required_of(model) | arguments)
        assert caught.value.details["field"] == ".".join(path)


def test_numbers_booleans_and_lists_of_one_are_taken_as_models_write_them() -> None:
    options = {"max_per_doc": "2", "include_scores": "true", "include_debug": "False", "layers": "user"}
    scope = {"doc_tags": "ops", "repositories": '["a", "b"]'}
    asked = {"query": "x", "top_k": "7", "page_size": "3.0", "scope": scope, "options": options}
    request = parse_arguments(SearchInput, asked)
    assert (request.top_k, request.page_size, request.options.max_per_doc) == (7, 3, 2)
    assert (request.options.include_scores, request.options.include_debug) == (True, False)
    assert (request.scope.doc_tags, request.scope.repositories) == (["ops"], ["a", "b"])
    assert request.options.layers == ["user"]
    assert parse_arguments(ExtractEvidenceInput, {"question": "5", "passage_ids": "p_1"}).passage_ids == ["p_1"]
    assert parse_arguments(ExtractEvidenceInput, {"question": "5", "passage_ids": ["p_1"]}).question == "5"
    with pytest.raises(InvalidArgument, match="top_k = 51: must be a whole number from 1 to 50"):
        parse_arguments(SearchInput, {"query": "x", "top_k": "51"})


def test_a_whole_number_is_one_however_json_writes_it() -> None:
    assert parse_arguments(SearchInput, {"query": "x", "top_k": 5.0}).top_k == 5
    with pytest.raises(InvalidArgument, match="top_k"):
        parse_arguments(SearchInput, {"query": "x", "top_k": 5.5})


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        ({"topk": 5}, "top_k"),
        ({"scope": {"doc_tag": ["a"]}}, "scope.doc_tags"),
        ({"max_snippet_char": 80}, "options.max_snippet_chars"),
        ({"mode": "auto"}, "options.mode"),
        ({"doc_tags": ["a"]}, "scope.doc_tags"),
    ],
)
def test_an_unknown_argument_is_told_what_was_meant(arguments: dict[str, Any], meant: str) -> None:
    with pytest.raises(InvalidArgument, match=f"did you mean {meant}"):
        parse_arguments(SearchInput, {"query": "x"} | arguments)


@pytest.mark.parametrize(
    ("model", "asked", "meant"),
    [
        (ReadExcerptInput, {"section_id": "u_x"}, {"passage_id": "u_x"}),
        (ExtractEvidenceInput, {"query": "x", "section_ids": ["u_x"]}, {"question": "x", "passage_ids": ["u_x"]}),
        (RetrieveInput, {"query": "x"}, {"question": "x"}),
        (SearchInput, {"question": "x"}, {"query": "x"}),
    ],
)
def test_another_name_of_an_argument_stands_for_it(model: Any, asked: dict[str, Any], meant: dict[str, Any]) -> None:
    assert parse_arguments(model, asked) == parse_arguments(model, meant)
    with pytest.raises(InvalidArgument, match="no such argument"):
        parse_arguments(model, asked | meant)


def test_an_unknown_argument_that_is_like_none_is_told_what_there_is() -> None:
    with pytest.raises(InvalidArgument, match=r"there is no such argument; known here: .*top_k") as caught:
        parse_arguments(SearchInput, {"query": "x", "zebra": 1})
    assert "did you mean" not in caught.value.message


def test_all_wrong_arguments_are_named_at_once_and_a_thousand_are_counted() -> None:
    with pytest.raises(InvalidArgument) as caught:
        parse_arguments(SearchInput, {"top_k": 99, "page_size": 0})
    assert {p["field"] for p in caught.value.details["problems"]} == {"query", "top_k", "page_size"}
    with pytest.raises(InvalidArgument, match="and 990 more") as caught:
        parse_arguments(SearchInput, {"query": "x"} | {f"zebra{number}" * 500: "x" * 500 for number in range(1000)})
    assert len(caught.value.details["problems"]) == MAX_PROBLEMS
    assert len(json.dumps(caught.value.envelope())) < 20_000


def test_an_object_or_a_list_in_a_string_of_json_is_read() -> None:
    asked = {"query": "x", "scope": '{"doc_tags": ["ops"]}', "options": '{"mode": "auto"}'}
    assert parse_arguments(SearchInput, asked).scope.doc_tags == ["ops"]
    assert parse_arguments(ExtractEvidenceInput, {"question": "x", "passage_ids": '["p_1"]'}).passage_ids == ["p_1"]
    assert parse_arguments(SearchInput, {"query": '{"a": 1}'}).query == '{"a": 1}'
    for wrong in ("{", "[1]", "5", "[" * 100_000):
        with pytest.raises(InvalidArgument, match="scope = "):
            parse_arguments(SearchInput, {"query": "x", "scope": wrong})


def test_half_a_surrogate_pair_becomes_a_replacement_character() -> None:
    request = parse_arguments(SearchInput, {"query": "x\ud800", "scope": {"doc_tags": ["\udfff"]}})
    assert request.query == "x\ufffd"
    assert request.scope.doc_tags == ["\ufffd"]
    assert "\ufffd" in request.model_dump_json()


def test_a_value_is_shown_shortened_and_without_what_acts() -> None:
    with pytest.raises(InvalidArgument) as caught:
        parse_arguments(SearchInput, {"query": "x", "a\x1b\n\ud800" * 100: "\x1b[2J\u202e\n" * 1000})
    message = caught.value.message
    assert message.isprintable()
    assert len(message) < 600
    message.encode()


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.text(st.characters()),
    st.sampled_from([2**64, -(2**70), 10**4000]),
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
)


@st.composite
def calls(draw: st.DrawFn) -> tuple[type[BaseModel], dict[str, Any]]:
    """Arguments of some tool: right names with any values, and any names."""
    model = draw(st.sampled_from([tool.input for tool in TOOLS]))
    arguments: dict[str, Any] = draw(st.sampled_from([required_of(model), {}]))
    names = st.sampled_from(list(model.model_fields))
    own = draw(st.dictionaries(names, values | st.text('[]{}":,ab1', max_size=12), max_size=5))
    for name in own:
        if (inner := model_of(model, name)) is not None and draw(st.booleans()):
            own[name] = draw(st.dictionaries(st.sampled_from(list(inner.model_fields)), values, max_size=4))
    return model, arguments | own | draw(st.dictionaries(st.text(), values, max_size=2))


@given(calls())
def test_whatever_comes_gives_a_request_or_a_refusal(call: tuple[type[BaseModel], dict[str, Any]]) -> None:
    model, arguments = call
    try:
        request = parse_arguments(model, arguments)
    except InvalidArgument as error:
        refused = error
    else:
        request.model_dump_json().encode()
        return
    assert refused.message.isprintable()
    said = json.dumps(refused.envelope(), ensure_ascii=False).encode()
    assert len(said) < 20_000


def test_what_is_nested_without_end_is_refused() -> None:
    nested: dict[str, Any] = {}
    at = nested
    for _ in range(5_000):
        at["scope"] = {}
        at = at["scope"]
    with pytest.raises(InvalidArgument, match=r"scope\.scope = "):
        parse_arguments(RetrieveInput, {"question": "x", "scope": nested})
