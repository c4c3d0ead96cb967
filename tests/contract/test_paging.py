"""Pages: every item once, in order, as in the whole list; and cursors that belong to nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from graphctx.knowledge_base import KnowledgeBase

from .examples import ITEMS, LISTS, Examples
from .protocol import Caller, in_memory
from .test_contract_errors import INPUTS, refused
from .truth import Truth

SEARCHES = ("kb.search", "search_sections")
each_list = pytest.mark.parametrize("tool", LISTS)


def identity(item: dict[str, Any]) -> Any:
    """What tells an item of a list from the others."""
    if "relations" in item:
        return tuple(node["id"] for node in item["nodes"]), tuple(r["type"] for r in item["relations"])
    if "quote" in item:
        return item["doc_uri"], item["start_char"], item["end_char"]
    return tuple(item.get(name) for name in ("section_id", "entity_id", "doc_id", "id"))


def wide(examples: Examples, tool: str) -> dict[str, Any]:
    """The example's call, made to have many items."""
    more: dict[str, dict[str, Any]] = {
        "kb.search": {"top_k": 12},
        "kb.retrieve_evidence": {"top_k": 12, "max_quotes": 12},
        "kb.extract_evidence": {"max_quotes": 12, "passage_ids": list(examples.passages)},
        "search_sections": {"top_k": 12},
        "graph.children": {"parent_id": "open/tide-gate.md"},
    }
    return {**examples.plain[tool], **more.get(tool, {})}


def pages(caller: Caller, tool: str, arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every page of a call, each found by the cursor of the one before."""
    cursor = None
    while True:
        page = caller.call(tool, {**arguments, **({"cursor": cursor} if cursor else {})}).answer
        yield page
        cursor = page["next_cursor"]
        assert page["partial"] is (cursor is not None)
        if cursor is None:
            return


def paged_by(caller: Caller, tool: str, whole: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """The argument that cuts this tool's list into small pages."""
    if "page_size" in INPUTS[tool].model_fields:
        return {"page_size": 2}
    least = caller.call(tool, {**arguments, "max_tokens": 1}).error["details"]["needed_tokens"]
    return {"max_tokens": max(least + 40, (least + whole["budget"]["tokens"]) // 2)}


@each_list
def test_pages_join_to_the_whole_list(caller: Caller, examples: Examples, truth: Truth, tool: str) -> None:
    arguments = wide(examples, tool)
    once = {"page_size": 100 if tool not in SEARCHES else 50} if "page_size" in INPUTS[tool].model_fields else {}
    wholes = list(pages(caller, tool, {**arguments, **once}))
    whole = [item for page in wholes for item in page[ITEMS[tool]]]
    small = paged_by(caller, tool, wholes[0], arguments)
    read = list(pages(caller, tool, {**arguments, **small}))
    joined = [item for page in read for item in page[ITEMS[tool]]]
    assert [identity(item) for item in joined] == [identity(item) for item in whole]
    assert len({identity(item) for item in joined}) == len(joined)
    assert len(read) > 1 or len(whole) <= 2
    for page in read:
        truth.check_spans(page)
        if "page_size" in small:
            assert len(page[ITEMS[tool]]) <= small["page_size"]
        if page["partial"]:
            assert page["limit_reason"] in ("page_size", "token_cap", "byte_cap")


def test_ranks_go_on_over_pages(caller: Caller, examples: Examples) -> None:
    ranks = [
        result["rank"]
        for page in pages(caller, "kb.search", {**wide(examples, "kb.search"), "page_size": 3})
        for result in page["results"]
    ]
    assert ranks == list(range(1, len(ranks) + 1))
    assert len(ranks) > 6


def first_cursor(caller: Caller, tool: str, arguments: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
    """A cursor, and the arguments that it continues; none if there is a single item."""
    small = {"page_size": 1}
    if "page_size" not in INPUTS[tool].model_fields:
        small = paged_by(caller, tool, caller.call(tool, arguments).answer, arguments)
    return caller.call(tool, {**arguments, **small}).answer["next_cursor"], {**arguments, **small}


@pytest.fixture(scope="module")
def cursors(caller: Caller, examples: Examples) -> dict[str, tuple[str, dict[str, Any]]]:
    """A cursor of every list that has one, and the arguments that it continues."""
    first = {tool: first_cursor(caller, tool, wide(examples, tool)) for tool in LISTS}
    some = {tool: (cursor, arguments) for tool, (cursor, arguments) in first.items() if cursor}
    assert len(some) > 15
    return some


def test_a_cursor_of_other_arguments_is_refused(caller: Caller, cursors: dict[str, tuple[str, dict[str, Any]]]) -> None:
    for tool, (cursor, arguments) in cursors.items():
        other = {"scope": {"repositories": ["open"]}, "cursor": cursor}
        if tool == "kb.extract_evidence":
            other = {"question": "What does the Harbour Office do?", "cursor": cursor}
        if tool == "get_section_text":
            other = {"max_bytes_per": 99, "cursor": cursor}
        assert "arguments" in refused(caller, tool, {**arguments, **other}, "cursor")["message"]


def test_a_cursor_goes_on_with_another_page_size_and_budget(
    caller: Caller, cursors: dict[str, tuple[str, dict[str, Any]]]
) -> None:
    for tool, (cursor, arguments) in cursors.items():
        free = {name: value for name, value in arguments.items() if name not in ("page_size", "max_tokens")}
        rest = caller.call(tool, {**free, "cursor": cursor}).answer[ITEMS[tool]]
        assert identity(rest[0]) not in [identity(item) for item in caller.call(tool, arguments).answer[ITEMS[tool]]]


def test_a_cursor_of_another_server_is_refused_unless_they_share_a_key(nasty: KnowledgeBase) -> None:
    with in_memory(nasty) as first, in_memory(nasty) as second:
        cursor, arguments = first_cursor(first, "kb.search", {"query": "tide gate", "top_k": 5})
        assert "another server" in refused(second, "kb.search", {**arguments, "cursor": cursor}, "cursor")["message"]
    key = "a key for both of them, long enough"
    with in_memory(nasty, cursor_key=key) as first, in_memory(nasty, cursor_key=key) as second:
        cursor, arguments = first_cursor(first, "kb.search", {"query": "tide gate", "top_k": 5})
        assert second.call("kb.search", {**arguments, "cursor": cursor}).answer["results"]
