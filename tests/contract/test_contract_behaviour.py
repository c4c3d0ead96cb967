"""What arguments do: modes and limits of the kb tools, names, caps and directions of the graph tools."""

from __future__ import annotations

from typing import Any

import pytest

from graphctx.server.tools.compat import SNIPPET_CHARS

from .corpus import OPEN_QUESTION
from .examples import COMPAT, ITEMS, NODE_TOOLS, Examples
from .protocol import Caller
from .truth import Truth, nodes

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


def test_an_entity_is_the_same_by_name_and_by_id(caller: Caller) -> None:
    by_name = caller.call("graph.describe", {"node_ids": ["Oda Brenn"]}).answer["nodes"]
    by_id = caller.call("graph.describe", {"node_ids": [by_name[0]["id"]]}).answer["nodes"]
    other_case = caller.call("graph.describe", {"node_ids": ["oda brenn"]}).answer["nodes"]
    assert by_name == by_id == other_case


def test_a_document_is_the_same_by_uri_and_by_id(caller: Caller) -> None:
    by_uri = caller.call("graph.describe", {"node_ids": ["open/tide-gate.md"]}).answer["nodes"]
    assert by_uri == caller.call("graph.describe", {"node_ids": [by_uri[0]["id"]]}).answer["nodes"]
    assert by_uri[0]["kind"] == "document"


def test_every_kind_of_node_is_described(caller: Caller, truth: Truth) -> None:
    asked = [truth.ids(kind)[0] for kind in "dsue"]
    described = caller.call("graph.describe", {"node_ids": asked}).answer["nodes"]
    assert [node["id"] for node in described] == asked
    assert [node["kind"] for node in described] == ["document", "section", "unit", "entity"]


@pytest.mark.parametrize("most", [1, 3, 7, 200])
def test_an_expansion_has_no_more_nodes_than_its_cap(caller: Caller, most: int) -> None:
    asked = {"node_ids": ["tide gate"], "max_hops": 2, "max_nodes": most, "page_size": 100}
    reached: list[str] = []
    cursor = None
    while True:
        page = caller.call("graph.expand", {**asked, **({"cursor": cursor} if cursor else {})}).answer
        reached += [node["id"] for node in page["nodes"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert len(reached) == len(set(reached)) <= most
    assert page["limit_reason"] == ("node_cap" if len(reached) == most else "none")


def test_hops_are_counted_and_capped(caller: Caller) -> None:
    asked = {"node_ids": ["Oda Brenn"], "page_size": 100}
    one = caller.call("graph.expand", asked).answer["nodes"]
    two = caller.call("graph.expand", {**asked, "max_hops": 2}).answer["nodes"]
    assert {node["hop"] for node in one} == {1}
    assert {node["hop"] for node in two} <= {1, 2}
    hops = [node["hop"] for node in two]
    assert hops == sorted(hops)


@pytest.mark.parametrize(
    "rel_type", ["MENTIONS", "RELATED", "HAS_UNIT", "LINKS_TO", "NEXT", "HAS_SECTION", "PARENT_OF"]
)
def test_only_relations_that_are_asked_for_are_followed(caller: Caller, rel_type: str) -> None:
    start = {"MENTIONS": "Oda Brenn", "RELATED": "Oda Brenn", "LINKS_TO": "open/gate-log.md"}.get(rel_type)
    if start is None:
        document = caller.call("graph.children", {"parent_id": "open/tide-gate.md"}).answer["children"]
        section = document[0]["id"]
        units = caller.call("graph.children", {"parent_id": section}).answer["children"]
        start = {"HAS_UNIT": section, "PARENT_OF": section, "HAS_SECTION": "open/tide-gate.md", "NEXT": units[0]["id"]}[
            rel_type
        ]
    answer = caller.call("graph.expand", {"node_ids": [start], "rel_types": [rel_type]}).answer
    assert answer["nodes"]
    assert {relation["type"] for node in answer["nodes"] for relation in node["via"]} == {rel_type}


def test_a_direction_is_kept_to(caller: Caller) -> None:
    start = caller.call("graph.describe", {"node_ids": ["open/gate-log.md"]}).answer["nodes"][0]["id"]
    asked = {"node_ids": [start], "rel_types": ["LINKS_TO"]}
    for direction, end in (("out", "source"), ("in", "target")):
        answer = caller.call("graph.expand", {**asked, "direction": direction}).answer
        assert answer["nodes"]
        assert {relation[end] for node in answer["nodes"] for relation in node["via"]} == {start}


@pytest.mark.parametrize("hops", [1, 2, 3, 4])
def test_a_path_is_unbroken_and_no_longer_than_asked(caller: Caller, hops: int) -> None:
    asked = {
        "start_ids": ["Harbour Office"],
        "end_ids": ["Halvard Works", "Mercury"],
        "max_hops": hops,
        "max_paths": 20,
    }
    answer = caller.call("graph.paths", {**asked, "page_size": 100}).answer
    lengths = [path["length"] for path in answer["paths"]]
    assert lengths == sorted(lengths)
    assert len(lengths) <= 20
    for path in answer["paths"]:
        assert path["length"] == len(path["relations"]) == len(path["nodes"]) - 1 <= hops
        for before, relation, after in zip(path["nodes"], path["relations"], path["nodes"][1:], strict=False):
            assert {relation["source"], relation["target"]} == {before["id"], after["id"]}
    assert answer["paths"] or hops == 1


def test_parents_lead_to_the_document_and_children_lead_back(caller: Caller) -> None:
    document = caller.call("graph.describe", {"node_ids": ["open/tide-gate.md"]}).answer["nodes"][0]["id"]
    below, seen = [document], []
    while below:
        node = below.pop()
        answer = caller.call("graph.children", {"parent_id": node})
        children = [child["id"] for child in answer.answer["children"]] if not answer.is_error else []
        seen += children
        below += [child for child in children if child.startswith("s_")]
    assert len(seen) > 3
    for section in seen:
        parents = caller.call("graph.parents", {"section_ids": [section]}).answer["sections"][0]["parents"]
        assert parents[-1]["id"] == document


def test_entities_of_a_section_and_sections_of_an_entity_agree(caller: Caller) -> None:
    entity = caller.call("graph.describe", {"node_ids": ["Halvard Works"]}).answer["nodes"][0]["id"]
    asked = {"entity_ids": [entity], "page_size": 100, "max_per_entity": 100}
    sections = caller.call("graph.sections_for_entities", asked).answer["sections"]
    assert len(sections) > 3
    for section in sections:
        asked = {"section_ids": [section["section_id"]], "max_per_section": 100, "page_size": 100}
        named = caller.call("graph.entities_for_sections", asked).answer["entities"]
        assert entity in [found["id"] for found in named]


def test_only_entities_of_a_label_are_listed(caller: Caller, examples: Examples) -> None:
    asked = {**examples.plain["graph.entities_for_sections"], "labels": ["person"]}
    answer = caller.call("graph.entities_for_sections", asked).answer
    assert answer["entities"]
    assert {entity["label"] for entity in answer["entities"]} == {"person"}


def test_only_fields_that_are_asked_for_are_described(caller: Caller) -> None:
    (node,) = caller.call("graph.describe", {"node_ids": ["Oda Brenn"], "fields": ["label"]}).answer["nodes"]
    assert {name for name, value in node.items() if value} == {"id", "kind", "label"}


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


def test_every_tool_of_the_graph_is_tried_here() -> None:
    tried = set(OF_NODES) | {"graph.parents", "graph.children", "graph.entities_for_sections"}
    assert tried == set(NODE_TOOLS)
    assert set(COMPAT) >= {"search_sections", "get_section_text"}


def test_a_relation_names_both_of_its_ends(caller: Caller) -> None:
    answer = caller.call("graph.expand", {"node_ids": ["Oda Brenn", "tide gate"]}).answer
    ids = {node["id"] for node in nodes(answer["nodes"]) if "kind" in node} | set(answer["starts"])
    for node in answer["nodes"]:
        assert node["via"]
        for relation in node["via"]:
            assert node["id"] in (relation["source"], relation["target"])
            assert {relation["source"], relation["target"]} <= ids
