"""The older tools: their arguments and defaults as they were, the newer tools' answers behind them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from graphctx.errors import InvalidArgument, ScopeViolation
from graphctx.model.budgets import Limits
from graphctx.server.schemas import tool_schema
from graphctx.server.tools.compat import COMPAT_TOOLS

from .calls import BY_NAME, call, desk_over, unit_at
from .library import Library

LIBRARY = Library()
DUTY = unit_at(LIBRARY, "people/duty.md", "Ines Halvorsen")
RESTORE = unit_at(LIBRARY, "ops/backup.md", "unseal the vault key")
ADDED = {"scope", "cursor", "max_tokens", "max_bytes"}

SIGNATURES: dict[str, dict[str, Any]] = {
    "search_sections": {"query": ..., "top_k": 20, "filters": None, "page_size": None},
    "get_section_text": {"section_ids": ..., "max_bytes_per": 8192},
    "expand_neighbors": {
        "node_ids": ...,
        "rel_types": None,
        "direction": "both",
        "max_hops": 1,
        "include_snippet": False,
        "page_size": 25,
    },
    "get_paths_between": {"start_ids": ..., "end_ids": ..., "rel_types": None, "max_hops": 3, "max_paths": 10},
    "describe_nodes": {"node_ids": ..., "fields": None},
    "list_children": {"parent_id": ..., "page_size": 50},
    "list_parents": {"section_ids": ...},
    "get_entities_for_sections": {"section_ids": ..., "labels": None, "max_per_section": 20},
    "get_sections_for_entities": {"entity_ids": ..., "max_per": 20},
}
"""Each tool's own arguments: ``...`` is required, ``None`` is optional without a default of its own."""

PAIRS: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    ("expand_neighbors", {"node_ids": ["ledger"]}, "graph.expand", {"node_ids": ["ledger"]}),
    (
        "get_paths_between",
        {"start_ids": ["Ines Halvorsen"], "end_ids": ["vault key"]},
        "graph.paths",
        {"start_ids": ["Ines Halvorsen"], "end_ids": ["vault key"]},
    ),
    ("describe_nodes", {"node_ids": [DUTY, "ledger"]}, "graph.describe", {"node_ids": [DUTY, "ledger"]}),
    ("list_children", {"parent_id": "ops/backup.md"}, "graph.children", {"parent_id": "ops/backup.md"}),
    ("list_parents", {"section_ids": [DUTY]}, "graph.parents", {"section_ids": [DUTY]}),
    (
        "get_entities_for_sections",
        {"section_ids": [DUTY], "labels": ["person"]},
        "graph.entities_for_sections",
        {"section_ids": [DUTY], "labels": ["person"]},
    ),
    (
        "get_sections_for_entities",
        {"entity_ids": ["ledger"], "max_per": 2},
        "graph.sections_for_entities",
        {"entity_ids": ["ledger"], "max_per_entity": 2},
    ),
]


@pytest.mark.parametrize("name", SIGNATURES)
def test_arguments_and_defaults_are_those_of_before(name: str) -> None:
    schema = tool_schema(BY_NAME[name].input, "input")
    own = {key: field for key, field in schema["properties"].items() if key not in ADDED | {"session_id"}}
    required = schema["required"]
    assert {key: ... if key in required else field.get("default") for key, field in own.items()} == SIGNATURES[name]
    assert schema["properties"].keys() >= ADDED | {"session_id"}


def test_all_the_older_tools_are_there() -> None:
    assert [tool.name for tool in COMPAT_TOOLS] == list(SIGNATURES)


def unsaid(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without what its own size tells: names of tools differ in length."""
    return {name: value for name, value in answer.items() if name != "budget"}


@pytest.mark.parametrize(("name", "arguments", "newer", "same"), PAIRS, ids=[pair[0] for pair in PAIRS])
def test_an_older_graph_tool_answers_as_the_newer_one(
    name: str, arguments: dict[str, Any], newer: str, same: dict[str, Any]
) -> None:
    desk = desk_over(LIBRARY)
    answer, text = call(desk, name, **arguments)
    expected, _ = call(desk, newer, **same)
    assert unsaid(answer) == unsaid(expected)
    assert not re.search(r"\b(kb|graph)\.[a-z]", text), "it speaks of the tools that its client knows"


@pytest.mark.parametrize(("name", "arguments", "newer", "same"), PAIRS, ids=[pair[0] for pair in PAIRS])
def test_an_older_tool_keeps_within_scope(
    name: str, arguments: dict[str, Any], newer: str, same: dict[str, Any]
) -> None:
    with pytest.raises(ScopeViolation):
        call(desk_over(LIBRARY), name, **arguments, scope={"project_id": "another"})


MANY = Library({"notes.md": ("Notes", "", "\n\n".join(f"The lamp number {n} burns at night." for n in range(30)))})


def test_search_sections_gives_twenty_results_of_one_document_with_all_that_is_known_of_them() -> None:
    desk = desk_over(MANY, Limits(100_000, 500_000))
    answer, text = call(desk, "search_sections", query="lamp at night")
    assert len(answer["results"]) == 20
    assert {result["doc_uri"] for result in answer["results"]} == {"notes.md"}
    for result in answer["results"]:
        assert result["scores"]
        assert {"section_id", "doc_tag", "title", "anchor", "rank", "score", "source", "preview"} <= result.keys()
        span = MANY.text_of(result["doc_uri"])[result["start_char"] : result["end_char"]]
        assert span == result["preview"]
    newer, _ = call(desk, "kb.search", query="lamp at night", top_k=20, page_size=20)
    assert len(newer["results"]) == 1
    assert "kb." not in text


def test_search_sections_pages_and_stays_within_the_response_limit() -> None:
    desk = desk_over(MANY, Limits(2000, 9000))
    cursor, ids = None, []
    while True:
        page, text = call(desk, "search_sections", query="lamp at night", cursor=cursor)
        ids += [result["section_id"] for result in page["results"]]
        assert page["budget"]["tokens"] <= 2000
        cursor = page["next_cursor"]
        if cursor is None:
            break
        assert f"repeat search_sections with cursor={cursor}" in text
    assert len(ids) == len(set(ids)) == 20


def test_get_section_text_gives_exact_text_and_where_it_goes_on() -> None:
    answer, text = call(desk_over(LIBRARY), "get_section_text", section_ids=[DUTY, RESTORE], max_bytes_per=60)
    assert [section["section_id"] for section in answer["sections"]] == [DUTY, RESTORE]
    for section in answer["sections"]:
        document = LIBRARY.text_of(section["doc_uri"])
        assert document[section["start_char"] : section["end_char"]] == section["text"]
        assert len(section["text"].encode()) <= 60
        assert section["truncated"]
        assert section["next_start_char"] == len(section["text"])
        assert f"> {section['text']}" in text
    assert answer["truncated"]
    rest, _ = call(
        desk_over(LIBRARY),
        "kb.read_excerpt",
        passage_id=DUTY,
        start_char=answer["sections"][0]["next_start_char"],
    )
    whole, _ = call(desk_over(LIBRARY), "get_section_text", section_ids=[DUTY])
    assert answer["sections"][0]["text"] + rest["excerpt"] == whole["sections"][0]["text"]
    assert not whole["truncated"]


def test_get_section_text_goes_on_with_a_cursor_where_the_response_is_full() -> None:
    desk = desk_over(MANY, Limits(700, 3000))
    wanted, cursor, got = sorted(MANY.units)[:20], None, []
    while True:
        page, text = call(desk, "get_section_text", section_ids=wanted, cursor=cursor)
        got += [section["section_id"] for section in page["sections"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
        assert cursor in text
    assert got == wanted


def test_a_text_that_is_longer_than_a_response_is_shortened_and_stays_exact() -> None:
    library = Library({"a.md": ("A", "", "The ledger " + "is long and heavy " * 60 + "indeed.\n")})
    unit = next(iter(library.units))
    answer, _ = call(desk_over(library, Limits(600, 3000)), "get_section_text", section_ids=[unit])
    section = answer["sections"][0]
    assert library.text_of("a.md")[section["start_char"] : section["end_char"]] == section["text"]
    assert section["truncated"]
    assert answer["limit_reason"] in ("token_cap", "byte_cap")


def test_get_section_text_takes_passage_ids_and_refuses_what_is_out_of_scope() -> None:
    desk = desk_over(LIBRARY)
    passage = desk.shelve(DUTY)
    answer, _ = call(desk, "get_section_text", section_ids=[passage.passage_id, DUTY])
    assert [section["section_id"] for section in answer["sections"]] == [DUTY]
    held = desk.shelve(RESTORE).passage_id
    with pytest.raises(ScopeViolation):
        call(desk, "get_section_text", section_ids=[held], scope={"doc_tags": ["people"]})
    with pytest.raises(InvalidArgument, match=f"no passage within this scope is known as '{RESTORE}'"):
        call(desk, "get_section_text", section_ids=[RESTORE], scope={"doc_tags": ["people"]})
    with pytest.raises(InvalidArgument, match="u_nowhere"):
        call(desk, "get_section_text", section_ids=["u_nowhere"])


def test_errors_name_the_tools_that_the_caller_knows() -> None:
    for name, arguments in (
        ("get_section_text", {"section_ids": ["p_" + "a" * 16]}),
        ("describe_nodes", {"node_ids": ["p_" + "a" * 16]}),
    ):
        with pytest.raises(InvalidArgument) as caught:
            call(desk_over(LIBRARY), name, **arguments)
        assert "epeat the search_sections call" in caught.value.message
        assert not re.search(r"\b(kb|graph)\.[a-z]", caught.value.message)
