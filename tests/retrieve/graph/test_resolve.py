"""Ids, URIs and names become nodes; what is unknown or ambiguous is said to be so."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.errors import InvalidArgument
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.requests import (
    ChildrenInput,
    DescribeInput,
    ParentsInput,
    PathsInput,
    SectionsForEntitiesInput,
)
from graphctx.retrieve.graph import GraphExplorer


def test_a_document_is_found_by_uri_and_an_entity_by_any_of_its_names(graph: GraphExplorer) -> None:
    found = graph.describe(
        DescribeInput(node_ids=["open/gannet.md", "gannet", "the WINTER desk", "tide tables", "Kristofer Lindqvist"])
    )
    assert [(node.kind, node.name) for node in found.items] == [
        ("document", "Gannet"),
        ("entity", "Gannet"),
        ("entity", "Winter Desk"),
        ("entity", "tide table"),
        ("entity", "Kristofer Lindqvist"),
    ]
    assert found.starts == [node.id for node in found.items]
    again = graph.describe(DescribeInput(node_ids=[node.id for node in found.items]))
    assert list(again.items) == list(found.items)


def test_what_is_named_twice_is_described_once(graph: GraphExplorer) -> None:
    found = graph.describe(DescribeInput(node_ids=["Gannet", "GANNET", "Gannet"]))
    assert len(found.items) == 1


def test_a_name_of_several_entities_is_not_guessed(graph: GraphExplorer) -> None:
    found = graph.describe(DescribeInput(node_ids=["Halloran"]))
    assert (list(found.items), found.empty_reason) == ([], "ambiguous")
    [unresolved] = found.unresolved
    assert (unresolved.asked, unresolved.reason) == ("Halloran", "ambiguous")
    assert {candidate.name for candidate in unresolved.candidates} == {"Anna Halloran", "Peter Halloran"}
    chosen = graph.describe(DescribeInput(node_ids=[unresolved.candidates[0].id, "Halloran"]))
    assert [node.name for node in chosen.items] == [unresolved.candidates[0].name]
    assert (chosen.empty_reason, len(chosen.unresolved)) == (None, 1)


def test_an_unknown_name_among_known_ones_comes_with_near_names(graph: GraphExplorer) -> None:
    found = graph.describe(DescribeInput(node_ids=["Gannet", "Ingrid Vaslund", "d_aaaaaaaaaaaaaaaa"]))
    assert [node.name for node in found.items] == ["Gannet"]
    near, unknown = found.unresolved
    assert (near.reason, near.candidates[0].name) == ("unknown", "Ingrid Vasslund")
    assert len(near.candidates) <= 5
    assert (unknown.reason, unknown.candidates) == ("unknown", [])


def test_nothing_known_at_all_is_an_error_that_helps(graph: GraphExplorer) -> None:
    with pytest.raises(InvalidArgument, match="'Ingrid Vasslund'") as caught:
        graph.describe(DescribeInput(node_ids=["Ingrid Vaslund"]))
    assert caught.value.details["field"] == "node_ids"
    assert caught.value.details["value"] == "Ingrid Vaslund"
    with pytest.raises(InvalidArgument, match=r"open/gannet\.md"):
        graph.children(ChildrenInput(parent_id="open/ganet.md"))
    with pytest.raises(InvalidArgument) as caught:
        graph.paths(PathsInput(start_ids=["Gannet"], end_ids=["qqqq"]))
    assert caught.value.details["field"] == "end_ids"


def test_a_node_of_the_wrong_kind_is_unknown(graph: GraphExplorer) -> None:
    entity = graph.describe(DescribeInput(node_ids=["Gannet"])).items[0]
    with pytest.raises(InvalidArgument, match="section or unit"):
        graph.parents(ParentsInput(section_ids=[entity.id]))
    with pytest.raises(InvalidArgument, match="entity_ids"):
        graph.sections_for_entities(SectionsForEntitiesInput(entity_ids=["open/gannet.md2"]))


@given(name=st.text(min_size=1, max_size=300).filter(str.strip))
def test_any_text_is_known_or_refused(harbour: KnowledgeBase, name: str) -> None:
    graph = harbour.searcher().graph
    try:
        found = graph.describe(DescribeInput.model_construct(node_ids=["Gannet", name]))
        assert len(found.items) + len(found.unresolved) in (1, 2)
        json.dumps([item.model_dump_json() for item in found.unresolved])
        graph.children(ChildrenInput.model_construct(parent_id=name))
    except InvalidArgument as error:
        json.dumps(error.envelope()).encode("utf-8")


@pytest.mark.parametrize("name", ["\ud800", "\x00", "e_\udfff", "?", "-" * 300, "…", "the"])
def test_a_name_that_no_text_can_hold_is_unknown(graph: GraphExplorer, name: str) -> None:
    found = graph.describe(DescribeInput.model_construct(node_ids=["Gannet", name]))
    assert [item.reason for item in found.unresolved] == ["unknown"]
    assert found.unresolved[0].model_dump_json()
