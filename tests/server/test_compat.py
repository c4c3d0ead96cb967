"""The older tools: their arguments and defaults as they were, the newer tools' answers behind them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from graphctx.errors import InvalidArgument
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.budgets import Limits
from graphctx.server.schemas import tool_schema
from graphctx.server.tools.compat import COMPAT_TOOLS

from .calls import BY_NAME, call, context_over, unit_with

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


@pytest.mark.parametrize("name", SIGNATURES)
def test_arguments_and_defaults_are_those_of_before(name: str) -> None:
    schema = tool_schema(BY_NAME[name].input, "input")
    own = {key: field for key, field in schema["properties"].items() if key not in ADDED | {"session_id"}}
    required = schema["required"]
    assert {key: ... if key in required else field.get("default") for key, field in own.items()} == SIGNATURES[name]
    assert schema["properties"].keys() >= ADDED | {"session_id"}


def test_all_the_older_tools_are_there() -> None:
    assert [tool.name for tool in COMPAT_TOOLS] == list(SIGNATURES)


def test_search_sections_shows_scores_and_may_give_many_of_one_document(kb: KnowledgeBase) -> None:
    asked = {"query": "lorem ipsum", "filters": {"path_prefix": "odd/line.txt"}}
    context = context_over(kb, Limits(100_000, 500_000))
    answer, text = call(context, "search_sections", **asked)
    assert len(answer["results"]) == 20
    for result in answer["results"]:
        assert result["scores"]
        assert {"section_id", "doc_tag", "title", "anchor", "rank", "score", "source", "preview"} <= result.keys()
    newer, _ = call(context, "kb.search", **asked, top_k=20, page_size=20)
    assert len(newer["results"]) == 1
    assert "kb." not in text


def test_get_section_text_gives_exact_text_and_where_it_goes_on(kb: KnowledgeBase) -> None:
    duty, restore = (
        unit_with(kb, "people/duty.md", "Ines").section_id,
        unit_with(kb, "ops/backup.md", "unseal").section_id,
    )
    answer, text = call(context_over(kb), "get_section_text", section_ids=[duty, restore], max_bytes_per=60)
    assert [section["section_id"] for section in answer["sections"]] == [duty, restore]
    for section in answer["sections"]:
        document = kb.document(section["doc_uri"]).text
        assert document[section["start_char"] : section["end_char"]] == section["text"]
        assert len(section["text"].encode()) <= 60
        assert section["truncated"]
        assert section["next_start_char"] == len(section["text"])
        assert f"> {section['text']}" in text
    assert answer["truncated"]
    start = answer["sections"][0]["next_start_char"]
    rest, _ = call(context_over(kb), "kb.read_excerpt", passage_id=duty, start_char=start)
    whole, _ = call(context_over(kb), "get_section_text", section_ids=[duty])
    assert answer["sections"][0]["text"] + rest["excerpt"] == whole["sections"][0]["text"]
    assert not whole["truncated"]


def test_errors_name_the_tools_that_the_caller_knows(kb: KnowledgeBase) -> None:
    for name, arguments in (
        ("get_section_text", {"section_ids": ["p_" + "a" * 16]}),
        ("describe_nodes", {"node_ids": ["p_" + "a" * 16]}),
    ):
        with pytest.raises(InvalidArgument) as caught:
            call(context_over(kb), name, **arguments)
        assert "epeat the search_sections call" in caught.value.message
        assert not re.search(r"\b(kb|graph)\.[a-z]", caught.value.message)


def test_answers_name_the_tools_that_the_caller_knows(kb: KnowledgeBase) -> None:
    for name, arguments in (
        ("describe_nodes", {"node_ids": ["ledger"]}),
        ("expand_neighbors", {"node_ids": ["ledger"], "page_size": 1}),
        ("list_children", {"parent_id": "ops/backup.md"}),
        ("get_sections_for_entities", {"entity_ids": ["ledger"]}),
    ):
        assert not re.search(r"\b(kb|graph)\.[a-z]", call(context_over(kb), name, **arguments)[1])
