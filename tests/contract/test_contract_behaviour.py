"""What arguments do: modes and limits of the kb tools, names, caps and directions of the graph tools."""

from __future__ import annotations

from typing import Any

import pytest

from graphctx.server.tools.compat import SNIPPET_CHARS

from .corpus import OPEN_QUESTION
from .examples import ITEMS, Examples
from .protocol import Caller
from .truth import Truth

OF_NODES = ("graph.describe", "graph.expand", "graph.paths", "graph.sections_for_entities")


@pytest.mark.parametrize(
    ("asked", "mode"), [("auto", "hybrid_local"), ("vector_only", "vector_only"), ("hybrid_local", "hybrid_local")]
)
def test_the_mode_that_ran_is_reported(caller: Caller, asked: str, mode: str) -> None:
    arguments = {"question": OPEN_QUESTION, "options": {"mode": asked}}
    assert caller.call("kb.retrieve_evidence", arguments).answer["diagnostics"]["mode"] == mode
    found = caller.call("kb.search", {"query": OPEN_QUESTION, "options": {"mode": asked}}).answer
    if asked == "vector_only":
        assert {result["source"] for result in found["results"]} <= {"vector", "reranked"}


def test_quotes_come_from_the_best_passages_alone(caller: Caller) -> None:
    for top_k in (1, 2, 5):
        asked = {"question": OPEN_QUESTION, "top_k": top_k, "max_quotes": 20}
        answer = caller.call("kb.retrieve_evidence", asked).answer
        assert len({quote["section_id"] for quote in answer["quotes"]}) <= top_k
        assert answer["diagnostics"]["candidates"] <= top_k


def test_as_many_of_one_document_are_found_as_are_asked_for(caller: Caller) -> None:
    only = {"filters": {"path_prefix": "open/endless.txt"}, "top_k": 50, "page_size": 50}
    for most in (1, 3, 20):
        options = {"max_per_doc": most, "max_snippet_chars": 40}  # so that the budget has room for all of them
        found = caller.call("kb.search", {"query": "endless line", "options": options, **only}).answer
        assert len(found["results"]) == most


def test_a_preview_keeps_to_its_length(caller: Caller, truth: Truth) -> None:
    for chars in (40, 97, 280, 1000):
        asked = {"query": OPEN_QUESTION, "top_k": 20, "page_size": 20, "options": {"max_snippet_chars": chars}}
        answer = caller.call("kb.search", asked).answer
        assert all(0 < len(result["preview"]) <= chars for result in answer["results"])
        truth.check_spans(answer)


def test_only_passages_that_are_given_are_quoted(caller: Caller, examples: Examples) -> None:
    given = list(examples.passages[1:3])
    answer = caller.call("kb.extract_evidence", {"question": OPEN_QUESTION, "passage_ids": given}).answer
    assert answer["quotes"]
    assert {quote["passage_id"] for quote in answer["quotes"]} <= set(given)


def test_a_document_that_was_updated_later_is_found_and_an_older_one_is_not(caller: Caller) -> None:
    asked = {"query": "tide gate", "top_k": 50, "page_size": 50, "filters": {"updated_after": "2025-01-01"}}
    uris = {result["doc_uri"] for result in caller.call("kb.search", asked).answer["results"]}
    assert "open/tide-gate.md" in uris
    assert uris.isdisjoint({"open/gate-log.md", "open/people/mercury.md", "open/science/mercury.md"})


@pytest.mark.parametrize("tool", OF_NODES)
def test_an_ambiguous_name_gives_its_candidates_and_no_guess(caller: Caller, tool: str) -> None:
    asked: dict[str, Any] = {"node_ids": ["RTB"]}
    if tool == "graph.paths":
        asked = {"start_ids": ["RTB"], "end_ids": ["Oda Brenn"]}
    if tool == "graph.sections_for_entities":
        asked = {"entity_ids": ["RTB"]}
    reply = caller.call(tool, asked)
    assert reply.answer[ITEMS[tool]] == []
    assert reply.answer["empty_reason"] == "ambiguous"
    (unresolved,) = reply.answer["unresolved"]
    assert (unresolved["asked"], unresolved["reason"]) == ("RTB", "ambiguous")
    names = {candidate["name"] for candidate in unresolved["candidates"]}
    assert names == {"Regional Tide Board", "Ropewalk Trade Bureau"}
    for candidate in unresolved["candidates"]:
        assert candidate["id"] in reply.text
        assert candidate["name"] in reply.text
        by_id = {name: [candidate["id"]] if value == ["RTB"] else value for name, value in asked.items()}
        assert not caller.call(tool, by_id).answer.get("unresolved")


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("expand_neighbors", "graph.expand"),
        ("get_paths_between", "graph.paths"),
        ("describe_nodes", "graph.describe"),
        ("list_children", "graph.children"),
        ("list_parents", "graph.parents"),
        ("get_entities_for_sections", "graph.entities_for_sections"),
        ("get_sections_for_entities", "graph.sections_for_entities"),
        ("search_sections", "kb.search"),
    ],
)
def test_an_older_name_gives_what_the_newer_one_gives(
    caller: Caller, examples: Examples, older: str, newer: str
) -> None:
    wide: dict[str, Any] = {"page_size": 100} if newer.startswith("graph.") else {"top_k": 20, "page_size": 20}
    if newer == "kb.search":
        wide["options"] = {"max_per_doc": 20, "max_snippet_chars": SNIPPET_CHARS}
    was = caller.call(older, examples.plain[older]).answer[ITEMS[older]]
    now = caller.call(newer, {**examples.plain[newer], **wide}).answer[ITEMS[newer]]
    shared = min(len(was), len(now))
    assert shared > 0

    def bare(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{k: v for k, v in item.items() if k not in ("scores", "debug")} for item in items[:shared]]

    assert bare(was) == bare(now)
