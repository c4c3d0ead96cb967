"""Nodes and relations as the tables say, and arguments that are refused."""

from __future__ import annotations

from itertools import pairwise

import pytest

from graphctx.errors import InvalidArgument
from graphctx.store.graph.base import GraphStore
from graphctx.store.graph.schema import NODE_TABLES

from ..world import world


def test_every_kind_of_node_has_the_properties_of_its_table(store: GraphStore) -> None:
    tables = world()
    for node in NODE_TABLES:
        rows = tables[node.source].select([name for name, _ in node.columns]).to_pylist()
        found = [row[0] for row in store.query(f"MATCH (n:{node.label}) RETURN n").rows]
        expected = [{"_label": node.label, **row} for row in rows]
        assert sorted(found, key=lambda row: str(row["id"])) == sorted(expected, key=lambda row: str(row["id"]))


def test_next_leads_through_a_document_and_not_into_another(store: GraphStore) -> None:
    units = world()["units"].to_pylist()
    pairs = {(a["id"], b["id"]) for a, b in pairwise(units) if a["doc_id"] == b["doc_id"]}
    assert set(store.query("MATCH (a)-[:NEXT]->(b) RETURN a.id, b.id").rows) == pairs


def test_an_entity_belongs_to_its_finest_community_and_coarser_ones_follow(store: GraphStore) -> None:
    result = store.query(
        "MATCH (e:Entity {name: 'loom'})-[:IN_COMMUNITY]->(c)-[:CHILD_OF]->(p) RETURN c.level, c.title, p.level, p.title"
    )
    assert result.rows == [(1, "Half 1", 0, "All")]


@pytest.mark.parametrize(
    "call",
    [
        lambda s: s.query("RETURN 1", timeout_ms=0),
        lambda s: s.query("RETURN 1", max_rows=-1),
        lambda s: s.query("  "),
        lambda s: s.query("RETURN 'open"),
    ],
)
def test_a_wrong_argument_is_named(store: GraphStore, call: object) -> None:
    with pytest.raises(InvalidArgument):
        call(store)  # type: ignore[operator]
