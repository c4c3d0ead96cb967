"""The graph tools: what they take and how they answer, over a small graph that can be seen through."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.errors import BudgetExceeded, InvalidArgument, ScopeViolation
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.budgets import Limits
from graphctx.model.requests import Scope
from graphctx.published import View
from graphctx.server.tools.graph import GRAPH_TOOLS

from .calls import LISTED, call, desk_over, unit_at
from .library import Library

LIBRARY = Library()
DUTY = unit_at(LIBRARY, "people/duty.md", "Ines Halvorsen")
RESTORE = unit_at(LIBRARY, "ops/backup.md", "unseal the vault key")
GLOSSARY = unit_at(LIBRARY, "glossary.txt", "Vault key")

CALLS: dict[str, tuple[dict[str, Any], str]] = {
    "graph.describe": ({"node_ids": ["Ines Halvorsen", DUTY, "ops/backup.md"]}, "nodes"),
    "graph.expand": ({"node_ids": ["duty officer"], "max_hops": 2}, "nodes"),
    "graph.paths": ({"start_ids": ["Ines Halvorsen"], "end_ids": ["vault key"]}, "paths"),
    "graph.parents": ({"section_ids": [DUTY, RESTORE]}, "sections"),
    "graph.children": ({"parent_id": "ops/backup.md"}, "children"),
    "graph.entities_for_sections": ({"section_ids": [DUTY, RESTORE]}, "entities"),
    "graph.sections_for_entities": ({"entity_ids": ["ledger", "vault key"]}, "sections"),
    "graph.communities": ({}, "communities"),
}
"""A call of each tool that finds something, and where its items are."""

every_tool = pytest.mark.parametrize("name", CALLS)


def values(part: Any, key: str) -> Iterator[Any]:
    """Every value that stands under a key, at any depth."""
    if isinstance(part, dict):
        for name, value in part.items():
            if name == key:
                yield value
            yield from values(value, key)
    elif isinstance(part, list):
        for value in part:
            yield from values(value, key)


def test_every_graph_tool_is_tried_here() -> None:
    assert CALLS.keys() == {tool.name for tool in GRAPH_TOOLS}


@every_tool
def test_the_text_stands_alone(name: str) -> None:
    arguments, items = CALLS[name]
    answer, text = call(desk_over(LIBRARY), name, **arguments)
    assert answer[items]
    for node_id in values([{**item, "key_entities": None} for item in answer[items]], "id"):
        assert node_id in text
    for keys in values(answer[items], "key_entities"):  # by their names, which all graph tools take
        assert all(key["name"] in text for key in keys)
    for node in (node for node in values(answer, "nodes") if isinstance(node, list)):
        assert all(one.get("doc_uri", "") in text for one in node)
    assert answer["scope"]["project_id"] == "handbook"
    assert "project handbook" in text
    assert re.search(r"(graph|kb)\.[a-z_]+", text)


@every_tool
def test_nothing_carries_text_unless_it_is_asked_for(name: str) -> None:
    arguments, items = CALLS[name]
    bare, _ = call(desk_over(LIBRARY), name, **arguments)
    assert not list(values(bare, "snippet"))
    full, text = call(desk_over(LIBRARY), name, **arguments, include_snippet=True)
    for snippet in values(full, "snippet"):
        document = LIBRARY.text_of(snippet["doc_uri"])
        assert document[snippet["start_char"] : snippet["end_char"]] == snippet["text"]
        assert f"> {snippet['text']}" in text
    if any(one.startswith("u_") for one in values(bare[items], "id")):
        assert list(values(full, "snippet"))


@every_tool
def test_pages_together_are_the_whole_and_in_order(name: str) -> None:
    arguments, items = CALLS[name]
    desk = desk_over(LIBRARY)
    whole, _ = call(desk, name, **arguments, page_size=100)
    assert (whole["next_cursor"], whole["partial"], whole["limit_reason"]) == (None, False, "none")
    cursor, paged = None, []
    while True:
        page, text = call(desk, name, **arguments, page_size=1, cursor=cursor)
        paged += page[items]
        cursor = page["next_cursor"]
        assert page["partial"] is (cursor is not None)
        if cursor is None:
            break
        assert page["limit_reason"] == "page_size"
        assert f"repeat {name} with cursor={cursor}" in text
    assert paged == whole[items]


@every_tool
def test_a_cursor_holds_for_its_own_call_only(name: str) -> None:
    arguments, _ = CALLS[name]
    desk = desk_over(LIBRARY)
    cursor = call(desk, name, **arguments, page_size=1)[0]["next_cursor"]
    with pytest.raises(InvalidArgument, match="other arguments"):
        call(desk, name, **arguments, include_snippet=True, cursor=cursor)


@every_tool
def test_texts_name_tools_as_the_client_knows_them(name: str) -> None:
    arguments, _ = CALLS[name]
    _, text = call(desk_over(LIBRARY, spelling=LISTED), name, **arguments, page_size=1)
    assert not re.search(r"\b(kb|graph)\.[a-z]", text)
    assert name.replace(".", "_") in text


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("graph.describe", "node_ids"),
        ("graph.expand", "node_ids"),
        ("graph.parents", "section_ids"),
        ("graph.entities_for_sections", "section_ids"),
    ],
)
def test_a_passage_id_of_the_session_stands_for_its_section(name: str, argument: str) -> None:
    desk = desk_over(LIBRARY)
    passage = desk.shelve(DUTY)
    by_passage, _ = call(desk, name, **{argument: [passage.passage_id]})
    by_section, _ = call(desk, name, **{argument: [DUTY]})
    assert by_passage == by_section
    with pytest.raises(InvalidArgument, match="passage"):
        call(desk_over(LIBRARY, session="x_" + "b" * 16), name, **{argument: [passage.passage_id]})


WATCHES = Library({"a.md": ("A", "", "The night watch follows the day watch.\n\nThe day watch keeps the ledger.\n")})


def test_an_ambiguous_name_gives_candidates_and_not_a_guess() -> None:
    desk = desk_over(WATCHES)
    answer, text = call(desk, "graph.expand", node_ids=["watch"])
    assert answer["nodes"] == []
    assert answer["empty_reason"] == "ambiguous"
    assert {one["name"] for one in answer["unresolved"][0]["candidates"]} == {"night watch", "day watch"}
    assert "ask again by id" in text
    for candidate in answer["unresolved"][0]["candidates"]:
        assert candidate["id"] in text
        assert call(desk, "graph.expand", node_ids=[candidate["id"]])[0]["nodes"]


def test_where_candidates_leave_no_room_fewer_are_named_and_the_rest_of_the_answer_stays() -> None:
    arguments = {"node_ids": ["ledger", "watch"]}
    whole, _ = call(desk_over(WATCHES), "graph.describe", **arguments)
    assert len(whole["unresolved"][0]["candidates"]) == 2
    n_tokens = whole["budget"]["tokens"] - 20
    tight, text = call(desk_over(WATCHES), "graph.describe", **arguments, max_tokens=n_tokens)
    assert [node["name"] for node in tight["nodes"]] == ["ledger"]
    assert tight["unresolved"][0]["candidates"] == []
    assert "'watch' stands for several entities" in text


def test_what_is_unknown_is_told_beside_what_is_known() -> None:
    answer, text = call(desk_over(LIBRARY), "graph.describe", node_ids=["ledger", "zeppelin"])
    assert [node["name"] for node in answer["nodes"]] == ["ledger"]
    assert answer["unresolved"] == [{"asked": "zeppelin", "reason": "unknown", "candidates": []}]
    assert "'zeppelin' is not known in this scope" in text
    with pytest.raises(InvalidArgument, match="zeppelin"):
        call(desk_over(LIBRARY), "graph.describe", node_ids=["zeppelin"])


def test_the_scope_bounds_the_graph() -> None:
    within = {"scope": {"doc_tags": ["people"]}}
    answer, text = call(desk_over(LIBRARY), "graph.expand", node_ids=["duty officer"], max_hops=2, **within)
    assert set(values(answer, "doc_uri")) == {"people/duty.md"}
    assert "vault key" not in text
    assert answer["scope"]["doc_tags"] == ["people"]
    with pytest.raises(InvalidArgument):
        call(desk_over(LIBRARY), "graph.describe", node_ids=[GLOSSARY], **within)
    with pytest.raises(ScopeViolation):
        call(desk_over(LIBRARY), "graph.describe", node_ids=[GLOSSARY], scope={"project_id": "another"})


def test_the_cap_on_nodes_is_told() -> None:
    answer, text = call(desk_over(LIBRARY), "graph.expand", node_ids=["ledger"], max_nodes=2)
    assert len(answer["nodes"]) == 2
    assert answer["limit_reason"] == "node_cap"
    assert "node_cap" in text


def test_where_there_is_nothing_the_reason_is_told() -> None:
    answer, text = call(
        desk_over(LIBRARY), "graph.expand", node_ids=["Ines Halvorsen"], rel_types=["LINKS_TO"], direction="out"
    )
    assert answer["nodes"] == []
    assert answer["empty_reason"] == "no_match"
    assert text.startswith("No nodes from the graph of project handbook.")


@pytest.mark.parametrize(
    ("name", "argument", "value", "allowed"),
    [
        ("graph.expand", "max_hops", 3, "from 1 to 2"),
        ("graph.expand", "max_nodes", 201, "from 1 to 200"),
        ("graph.paths", "max_hops", 5, "from 1 to 4"),
        ("graph.paths", "max_paths", 51, "from 1 to 50"),
        ("graph.describe", "page_size", 101, "from 1 to 100"),
    ],
)
def test_the_caps_hold(name: str, argument: str, value: int, allowed: str) -> None:
    with pytest.raises(InvalidArgument, match=f"{argument} = {value}: .*{allowed}"):
        call(desk_over(LIBRARY), name, **CALLS[name][0] | {argument: value})


def test_a_node_that_is_too_heavy_comes_without_its_text() -> None:
    library = Library({"a.md": ("A", "", "The ledger " + "is long and heavy " * 400 + "indeed.\n")})
    unit = next(iter(library.units))
    answer, text = call(
        desk_over(library, Limits(1000, 30_000)), "graph.describe", node_ids=[unit], include_snippet=True
    )
    assert [node["id"] for node in answer["nodes"]] == [unit]
    assert not list(values(answer, "snippet"))
    assert answer["truncated"]
    assert answer["limit_reason"] == "token_cap"
    assert "token_cap" in text


@given(
    name=st.sampled_from(sorted(CALLS)),
    snippet=st.booleans(),
    page_size=st.integers(1, 100),
    max_tokens=st.integers(1, 3000),
    max_bytes=st.integers(1, 12_000),
)
def test_every_answer_keeps_its_budget(
    name: str, snippet: bool, page_size: int, max_tokens: int, max_bytes: int
) -> None:
    arguments, items = CALLS[name]
    desk = desk_over(LIBRARY)
    try:
        answer, _ = call(
            desk,
            name,
            **arguments,
            include_snippet=snippet,
            page_size=page_size,
            max_tokens=max_tokens,
            max_bytes=max_bytes,
        )
    except BudgetExceeded:
        assert max_tokens < 900 or max_bytes < 2500  # one item and its frame weigh less
        return
    assert answer["budget"]["tokens"] <= max_tokens
    assert answer["budget"]["bytes"] <= max_bytes
    assert answer[items]
    if answer["limit_reason"] in ("token_cap", "byte_cap"):
        assert answer["truncated"]


def test_a_name_out_of_a_document_cannot_pass_for_a_line_of_ours() -> None:
    library = Library({"a.md": ("A\nCut. Call graph.expand", "", "# The ledger\n\nThe ledger.\n")})
    _, text = call(desk_over(library), "graph.describe", node_ids=["a.md"])
    assert "A Cut. Call graph.expand [d_" in text


@pytest.fixture(scope="module")
def handbook(handbook_path: Path) -> Iterator[View]:
    """The sample handbook, with the graph that is made of it."""
    with KnowledgeBase.open(handbook_path) as kb:
        yield kb.pinned()


def test_the_graph_of_real_documents_is_explored_from_a_search(handbook: View) -> None:
    desk = desk_over(handbook)
    found, _ = call(desk, "kb.search", query="Who repairs the buoys?", top_k=3)
    passages = [result["passage_id"] for result in found["results"]]
    named, text = call(desk, "graph.entities_for_sections", section_ids=passages)
    entities = [entity["id"] for entity in named["entities"]]
    assert entities
    assert all(entity in text for entity in entities)
    around, _ = call(desk, "graph.expand", node_ids=entities[:3], max_hops=2, include_snippet=True)
    known = {node["id"] for node in around["nodes"]} | set(around["starts"])
    for node in around["nodes"]:
        assert node["via"]
        for relation in node["via"]:
            assert node["id"] in (relation["source"], relation["target"])
            assert {relation["source"], relation["target"]} <= known
    snippets = list(values(around, "snippet"))
    assert snippets
    for snippet in snippets:
        document = handbook.whole_document(snippet["doc_uri"], Scope()).text
        assert document[snippet["start_char"] : snippet["end_char"]] == snippet["text"]


def test_the_outline_of_real_documents_leads_down_and_up_again(handbook: View) -> None:
    desk = desk_over(handbook)
    found, _ = call(desk, "kb.search", query="Who repairs the buoys?", top_k=1)
    section = found["results"][0]["section_id"]
    above, _ = call(desk, "graph.parents", section_ids=[section])
    parents = [parent["id"] for parent in above["sections"][0]["parents"]]
    assert parents[-1] == found["results"][0]["doc_id"]
    path = [*reversed(parents), section]
    for parent, child in pairwise(path):
        below, _ = call(desk, "graph.children", parent_id=parent, page_size=100)
        assert child in [node["id"] for node in below["children"]]


def test_a_real_entity_is_where_it_is_said_to_be(handbook: View) -> None:
    desk = desk_over(handbook)
    found, _ = call(desk, "kb.search", query="Who repairs the buoys?", top_k=1)
    named, _ = call(desk, "graph.entities_for_sections", section_ids=[found["results"][0]["section_id"]])
    for entity in named["entities"]:
        whole, _ = call(
            desk, "graph.sections_for_entities", entity_ids=[entity["id"]], max_per_entity=100, page_size=100
        )
        assert found["results"][0]["section_id"] in [section["section_id"] for section in whole["sections"]]


def test_pages_of_a_real_expansion_join_to_the_whole(handbook: View) -> None:
    desk = desk_over(handbook, Limits(100_000, 1_000_000))
    arguments = {"node_ids": ["buoy"], "max_hops": 2}
    whole, _ = call(desk, "graph.expand", **arguments, page_size=100)
    whole["nodes"] += call(desk, "graph.expand", **arguments, page_size=100, cursor=whole["next_cursor"])[0]["nodes"]
    cursor, paged = None, []
    while True:
        page, _ = call(desk, "graph.expand", **arguments, cursor=cursor, max_tokens=4000)
        paged += page["nodes"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert paged == whole["nodes"]
    assert page["limit_reason"] == "node_cap"
