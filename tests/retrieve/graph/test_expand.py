"""What surrounds a node."""

from __future__ import annotations

from typing import get_args

import pytest

from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.requests import DescribeInput, ExpandInput, RelType
from graphctx.retrieve.graph import GraphExplorer

_ARROWS = {"out": ("-", "->"), "in": ("<-", "-"), "both": ("-", "-")}


def test_one_hop_is_what_the_graph_database_says(handbook_kb: KnowledgeBase) -> None:
    index = handbook_kb.searcher().index
    graph, database = handbook_kb.searcher().graph, index.snapshot.graph
    for table, row in (("documents", 3), ("sections", 40), ("units", 50), ("entities", 60), ("entities", 200)):
        node_id = index.snapshot.table(table, ["id"])["id"][row].as_py()
        for rel in get_args(RelType):
            for direction in ("out", "in", "both"):
                found = graph.expand(ExpandInput(node_ids=[node_id], rel_types=[rel], direction=direction))
                tail, head = _ARROWS["both" if rel == "RELATED" else direction]
                stored = database.query(f"MATCH (a {{id: $id}}){tail}[:{rel}]{head}(b) RETURN b.id", {"id": node_id})
                assert {item.id for item in found.items} == {row[0] for row in stored.rows}, (node_id, rel, direction)
                assert found.capped == "none"


def test_weights_of_relations_are_those_of_the_database(handbook_kb: KnowledgeBase) -> None:
    searcher = handbook_kb.searcher()
    [start] = searcher.graph.describe(DescribeInput(node_ids=["Winter Desk"])).items
    rows = searcher.index.snapshot.graph.query(
        "MATCH (a {id: $id})-[r:RELATED]-(b) RETURN b.id, r", {"id": start.id}
    ).rows
    stored = dict(rows)
    found = searcher.graph.expand(ExpandInput(node_ids=[start.id], rel_types=["RELATED"]))
    for item in found.items:
        [relation] = item.via
        assert relation.weight == pytest.approx(stored[item.id]["weight"], abs=1e-4)
        assert relation.n_facts == stored[item.id]["n_facts"]
        assert [relation.source, relation.target] == sorted([start.id, item.id])


def test_nodes_come_by_hop_then_weight_then_id(handbook_kb: KnowledgeBase) -> None:
    graph = handbook_kb.searcher().graph
    found = graph.expand(ExpandInput(node_ids=["Gannet"], max_hops=2))
    order = [(item.hop, -(item.via[0].weight or 0.0), item.id) for item in found.items]
    assert order == sorted(order)
    assert len({item.id for item in found.items}) == len(found.items)
    assert found.starts[0] not in {item.id for item in found.items}
    assert all(1 <= len(item.via) <= 3 for item in found.items)


def test_each_node_says_by_which_relations_it_was_reached(graph: GraphExplorer) -> None:
    found = graph.expand(ExpandInput(node_ids=["Gannet", "Ingrid Vasslund"], rel_types=["RELATED"]))
    by_name = {item.name: item for item in found.items}
    both = by_name["Project Kestrel"].via
    assert [relation.predicates for relation in both] == [["Project Kestrel replaces Gannet"], []]
    starts = set(found.starts)
    for item in found.items:
        for relation in item.via:
            assert item.id in (relation.source, relation.target)
            assert starts & {relation.source, relation.target}


def test_the_cap_on_nodes_cuts_the_end_and_says_so(handbook_kb: KnowledgeBase) -> None:
    graph = handbook_kb.searcher().graph
    whole = graph.expand(ExpandInput(node_ids=["Gannet"]))
    assert whole.capped == "none"
    for most in (1, 7, len(whole.items)):
        cut = graph.expand(ExpandInput(node_ids=["Gannet"], max_nodes=most))
        assert list(cut.items) == list(whole.items[:most])
        assert cut.capped == ("node_cap" if most < len(whole.items) else "none")
    further = graph.expand(ExpandInput(node_ids=["Gannet"], max_hops=2, max_nodes=len(whole.items)))
    assert further.capped == "node_cap"  # there are nodes at the second hop


def test_a_direction_is_followed(graph: GraphExplorer) -> None:
    def uris(direction: str) -> list[str | None]:
        request = ExpandInput(node_ids=["open/desk.md"], rel_types=["LINKS_TO"], direction=direction)
        return sorted(str(item.doc_uri) for item in graph.expand(request).items)

    assert uris("in") == ["closed/plan.md", "open/gannet.md"]
    assert uris("out") == []


def test_nothing_around_a_node_is_no_error(graph: GraphExplorer) -> None:
    found = graph.expand(ExpandInput(node_ids=["open/anna.md"], rel_types=["LINKS_TO"]))
    assert (list(found.items), found.empty_reason) == ([], "no_match")
