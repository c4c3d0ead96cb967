"""Nodes, their neighbours, and the paths between them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest

from graphctx.errors import InvalidArgument
from graphctx.store.base import GraphEngine, GraphStore
from graphctx.store.ddl import NODE_TABLES

from ..world import entity_id, world
from .chosen import CHAIN


def test_nodes_come_in_the_order_of_the_ids_with_their_properties(store: GraphStore) -> None:
    wanted = [entity_id("loom"), "e_absent", entity_id("turbine")]
    assert store.nodes("Entity", wanted) == [
        {"id": wanted[0], "name": "loom", "label": "term", "aliases": [], "n_mentions": 2, "n_units": 2},
        {
            "id": wanted[2],
            "name": "turbine",
            "label": "term",
            "aliases": ["the turbine"],
            "n_mentions": 2,
            "n_units": 2,
        },
    ]
    assert store.nodes("Document", []) == []


def test_every_kind_of_node_can_be_read(store: GraphStore) -> None:
    tables = world()
    for node in NODE_TABLES:
        columns = [name for name, _ in node.columns]
        rows = tables[node.source].select(columns).to_pylist()
        assert store.nodes(node.label, [row["id"] for row in rows]) == rows  # type: ignore[arg-type]


def test_next_leads_through_a_document_and_not_into_another(store: GraphStore) -> None:
    units = world()["units"].to_pylist()
    pairs = {(a["id"], b["id"]) for a, b in pairwise(units) if a["doc_id"] == b["doc_id"]}
    assert set(store.query("MATCH (a)-[:NEXT]->(b) RETURN a.id, b.id").rows) == pairs


def test_an_entity_belongs_to_its_finest_community_and_coarser_ones_follow(store: GraphStore) -> None:
    result = store.query(
        "MATCH (e:Entity {name: 'loom'})-[:IN_COMMUNITY]->(c)-[:CHILD_OF]->(p) RETURN c.level, c.title, p.level, p.title"
    )
    assert result.rows == [(1, "Half 1", 0, "All")]


def test_neighbours_are_sorted_by_weight_then_id_and_limited_per_relation(store: GraphStore) -> None:
    related = store.neighbours(entity_id("ledger"), ["RELATED"])
    assert sorted((n.node["name"], n.numbers["weight"]) for n in related) == [("orchard", 3.0), ("turbine", 2.0)]
    every = store.neighbours(entity_id("ledger"))
    assert {n.relation for n in every} == {"MENTIONS", "RELATED", "IN_COMMUNITY"}
    assert all(not n.outgoing and n.kind == "TextUnit" for n in every if n.relation == "MENTIONS")
    few = store.neighbours(entity_id("ledger"), limit=1)
    assert next(n for n in every if n.relation == "MENTIONS") == few[0]
    assert {n.relation for n in few} == {"MENTIONS", "RELATED", "IN_COMMUNITY"}
    ids = [n.node["id"] for n in every if n.relation == "MENTIONS"]
    assert ids == sorted(ids)


def test_direction_chooses_the_end(store: GraphStore) -> None:
    first = world()["documents"]["id"].to_pylist()
    out = store.neighbours(first[1], ["LINKS_TO"], "out")
    into = store.neighbours(first[1], ["LINKS_TO"], "in")
    assert [n.node["id"] for n in out] == [first[2]]
    assert [n.node["id"] for n in into] == [first[0]]
    assert out[0].numbers == {"n_links": 1, "n_title_mentions": 1}


def test_an_unknown_node_has_no_neighbours(store: GraphStore) -> None:
    assert store.neighbours("e_absent") == []
    assert store.neighbours("nonsense") == []


def test_a_shortest_path_follows_the_chain(store: GraphStore) -> None:
    assert store.shortest_paths(CHAIN[0], CHAIN[4]) == [tuple(CHAIN[:5])]
    assert store.shortest_paths(CHAIN[4], CHAIN[0]) == [tuple(reversed(CHAIN[:5]))]
    assert store.shortest_paths(CHAIN[0], CHAIN[4], max_hops=3) == []
    assert store.shortest_paths(CHAIN[0], CHAIN[0]) == [(CHAIN[0],)]
    assert store.shortest_paths(CHAIN[0], "e_absent") == []


def test_all_shortest_paths_come_sorted_and_limited(engine: GraphEngine, tmp_path: Path) -> None:
    tables = world()
    rows = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4)]
    base = {"weight": 1.0, "n_facts": 0, "n_units": 0, "similarity": 0.0}
    tables["related"] = pa.Table.from_pylist(
        [{"source_row": a, "target_row": b, **base} for a, b in rows], schema=tables["related"].schema
    )
    engine.build(tmp_path / "graph.x", tables)
    opened = engine.open(tmp_path / "graph.x")
    ids = tables["entities"]["id"].to_pylist()
    assert opened.shortest_paths(ids[0], ids[4]) == [(ids[0], ids[middle], ids[4]) for middle in (1, 2, 3)]
    assert opened.shortest_paths(ids[0], ids[4], limit=2) == [(ids[0], ids[m], ids[4]) for m in (1, 2)]
    opened.close()


@pytest.mark.parametrize(
    "call",
    [
        lambda s: s.nodes("Nothing", ["x"]),
        lambda s: s.neighbours("e_x", ["NOT_A_RELATION"]),
        lambda s: s.neighbours("e_x", direction="sideways"),
        lambda s: s.neighbours("e_x", limit=0),
        lambda s: s.shortest_paths("e_x", "e_y", max_hops=0),
        lambda s: s.shortest_paths("e_x", "e_y", max_hops=11),
        lambda s: s.query("RETURN 1", timeout_ms=0),
        lambda s: s.query("RETURN 1", max_rows=-1),
        lambda s: s.query("  "),
        lambda s: s.query("RETURN 'open"),
    ],
)
def test_a_wrong_argument_is_named(store: GraphStore, call: object) -> None:
    with pytest.raises(InvalidArgument):
        call(store)  # type: ignore[operator]
