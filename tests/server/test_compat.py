"""The older tools: their arguments and defaults as they were, the newer tools' answers behind them."""

from __future__ import annotations

import re

import pytest

from graphctx.errors import InvalidArgument
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.budgets import Limits

from .calls import call, context_over, unit_with


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


def test_answers_name_the_tools_that_the_caller_knows(kb: KnowledgeBase) -> None:
    for name, arguments in (
        ("describe_nodes", {"node_ids": ["ledger"]}),
        ("expand_neighbors", {"node_ids": ["ledger"], "page_size": 1}),
        ("list_children", {"parent_id": "ops/backup.md"}),
        ("get_sections_for_entities", {"entity_ids": ["ledger"]}),
    ):
        assert not re.search(r"\b(kb|graph)\.[a-z]", call(context_over(kb), name, **arguments)[1])


def test_errors_name_the_tools_that_the_caller_knows(kb: KnowledgeBase) -> None:
    for name, arguments in (
        ("get_section_text", {"section_ids": ["p_" + "a" * 16]}),
        ("describe_nodes", {"node_ids": ["p_" + "a" * 16]}),
    ):
        with pytest.raises(InvalidArgument) as caught:
            call(context_over(kb), name, **arguments)
        assert "epeat the search_sections call" in caught.value.message
        assert not re.search(r"\b(kb|graph)\.[a-z]", caught.value.message)
