"""What is described, and how much of it."""

from __future__ import annotations

import pytest

from graphctx.errors import InvalidArgument
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.requests import DescribeInput
from graphctx.retrieve.graph import GraphExplorer


def test_a_document_says_what_it_is_and_how_large(graph: GraphExplorer) -> None:
    [node] = graph.describe(DescribeInput(node_ids=["open/gannet.md"])).items
    assert (node.name, node.doc_uri, node.n_units, node.n_children) == ("Gannet", "open/gannet.md", 4, 1)
    assert node.snippet is None


def test_counts_of_an_entity_are_those_of_the_snapshot(graph: GraphExplorer, harbour: KnowledgeBase) -> None:
    rows = harbour.searcher().index.snapshot.table("entities").to_pylist()
    for row in rows:
        [node] = graph.describe(DescribeInput(node_ids=[row["id"]])).items
        told = (node.name, node.label, node.aliases, node.n_mentions, node.n_units)
        assert told == (row["name"], row["label"], row["aliases"], row["n_mentions"], row["n_units"])


def test_only_the_fields_that_are_asked_for_are_reported(graph: GraphExplorer) -> None:
    found = graph.describe(DescribeInput(node_ids=["Gannet", "open/desk.md"], fields=["n_units", "tags"]))
    assert [set(node.model_dump()) for node in found.items] == [{"id", "kind", "n_units"}] * 2
    with_text = graph.describe(DescribeInput(node_ids=["Gannet"], fields=["name"], include_snippet=True))
    assert set(with_text.items[0].model_dump()) == {"id", "kind", "name", "snippet"}


def test_an_unknown_field_is_refused_with_the_known_ones(graph: GraphExplorer) -> None:
    with pytest.raises(InvalidArgument, match="n_mentions") as caught:
        graph.describe(DescribeInput(node_ids=["Gannet"], fields=["size"]))
    assert caught.value.details["value"] == "size"
