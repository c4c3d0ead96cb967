"""How two nodes hang together."""

from __future__ import annotations

from itertools import pairwise

from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.graph import Path
from graphctx.model.requests import DescribeInput, PathsInput
from graphctx.retrieve.graph import GraphExplorer


def _names(path: Path) -> list[str]:
    return [node.name for node in path.nodes]


def test_the_shortest_path_comes_first(graph: GraphExplorer) -> None:
    found = graph.paths(PathsInput(start_ids=["Zacharias Quill"], end_ids=["Gannet"], rel_types=["RELATED"]))
    assert _names(found.items[0]) == ["Zacharias Quill", "Ingrid Vasslund", "Gannet"]
    lengths = [path.length for path in found.items]
    assert lengths == sorted(lengths)


def test_shortest_paths_are_those_of_the_database(handbook_kb: KnowledgeBase) -> None:
    searcher = handbook_kb.searcher()
    graph, database = searcher.graph, searcher.index.snapshot.graph
    cypher = (
        "MATCH p = (a:Entity {id: $one})-[:RELATED* ALL SHORTEST 1..4]-(b:Entity {id: $other}) "
        "RETURN properties(nodes(p), 'id') LIMIT 50"
    )
    ids = searcher.index.snapshot.table("entities", ["id"])["id"].to_pylist()
    for one, other in ((0, 100), (5, 300), (17, 450), (60, 61), (200, 500)):
        rows = database.query(cypher, {"one": ids[one], "other": ids[other]}).rows
        stored = [tuple(path) for (path,) in rows]
        request = PathsInput(
            start_ids=[ids[one]], end_ids=[ids[other]], rel_types=["RELATED"], max_hops=4, max_paths=50
        )
        found = [tuple(node.id for node in path.nodes) for path in graph.paths(request).items]
        shortest = [path for path in found if len(path) == len(found[0])] if found else []
        if len(stored) < 50:
            assert set(stored) == set(shortest)
        else:
            assert len(found[0]) == len(stored[0])


def test_a_path_is_simple_and_its_relations_join_its_nodes(handbook_kb: KnowledgeBase) -> None:
    graph = handbook_kb.searcher().graph
    found = graph.paths(PathsInput(start_ids=["Gannet", "Sieve"], end_ids=["Winter Desk"], max_hops=4, max_paths=50))
    assert len(found.items) == 50
    order = []
    for path in found.items:
        ids = [node.id for node in path.nodes]
        assert len(set(ids)) == len(ids) == path.length + 1
        for pair, relation in zip(pairwise(ids), path.relations, strict=True):
            assert {relation.source, relation.target} == set(pair)
        weights = [relation.weight for relation in path.relations if relation.weight is not None]
        order.append((path.length, -min(weights), ids))
    assert order == sorted(order)


def test_fewer_paths_are_the_first_of_more(handbook_kb: KnowledgeBase) -> None:
    graph = handbook_kb.searcher().graph

    def paths(most: int) -> list[Path]:
        return list(graph.paths(PathsInput(start_ids=["Gannet"], end_ids=["Sieve"], max_paths=most)).items)

    assert paths(4) == paths(30)[:4] == paths(4)
    assert graph.paths(PathsInput(start_ids=["Gannet"], end_ids=["Sieve"], max_paths=4)).capped == "node_cap"
    direct = PathsInput(start_ids=["Gannet"], end_ids=["Sieve"], max_hops=1, max_paths=4)
    assert graph.paths(direct).capped == "none"


def test_the_outline_joins_only_what_nothing_else_does(graph: GraphExplorer) -> None:
    [document] = graph.describe(DescribeInput(node_ids=["open/anna.md"])).items
    found = graph.paths(PathsInput(start_ids=[document.id], end_ids=["Anna Halloran"], max_hops=4))
    assert [relation.type for relation in found.items[0].relations] == ["HAS_SECTION", "HAS_UNIT", "MENTIONS"]
    joined = graph.paths(PathsInput(start_ids=["Lisbon"], end_ids=["Peter Halloran"], max_hops=4, max_paths=50))
    assert {relation.type for path in joined.items for relation in path.relations} <= {
        "RELATED",
        "MENTIONS",
        "LINKS_TO",
    }


def test_what_hangs_together_by_nothing_has_no_path(graph: GraphExplorer) -> None:
    found = graph.paths(PathsInput(start_ids=["Lisbon"], end_ids=["Anna Halloran"], rel_types=["RELATED"], max_hops=4))
    assert (list(found.items), found.empty_reason) == ([], "no_match")


def test_a_node_is_its_own_path(graph: GraphExplorer) -> None:
    found = graph.paths(PathsInput(start_ids=["Gannet"], end_ids=["Gannet", "Lisbon"], max_hops=1))
    assert [(path.length, _names(path)) for path in found.items] == [(0, ["Gannet"]), (1, ["Gannet", "Lisbon"])]
