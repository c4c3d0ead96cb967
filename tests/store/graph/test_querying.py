"""Statements in Cypher: what may be asked, what comes back, and what stops it."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphctx.errors import InvalidArgument, TimedOut
from graphctx.store.graph.base import GraphStore

from .chosen import CHAIN


def test_a_node_a_relation_and_a_path_come_as_plain_values(store: GraphStore) -> None:
    result = store.query(
        "MATCH p = (a:Entity {id: $id})-[r:RELATED]-(b:Entity) RETURN a, r, p ORDER BY b.id", {"id": CHAIN[0]}
    )
    node, relation, path = result.rows[0]
    assert result.columns == ("a", "r", "p")
    assert node["_label"] == "Entity"
    assert node["name"] == "harbour"
    assert relation == {"_label": "RELATED", "weight": 1.0, "n_facts": 0, "n_units": 1, "similarity": 0.0}
    assert set(path) == {"nodes", "relations"}
    assert not {"_id", "_ID", "_src", "_dst"} & {*node, *relation, *path["nodes"][0]}


def test_max_rows_cuts_and_says_so(store: GraphStore) -> None:
    cut = store.query("MATCH (e:Entity) RETURN e.id ORDER BY e.id", max_rows=3)
    assert (len(cut.rows), cut.truncated) == (3, True)
    exact = store.query("MATCH (e:Entity) RETURN e.id", max_rows=7)
    assert (len(exact.rows), exact.truncated) == (7, False)


@pytest.mark.parametrize(
    "cypher",
    [
        "CREATE (:Entity {id: 'e_x'})",
        "MATCH (e:Entity) SET e.name = 'x'",
        "MATCH (e:Entity) DETACH DELETE e",
        "MERGE (:Entity {id: 'e_x'})",
        "DROP TABLE Entity",
        "CREATE NODE TABLE X(id STRING PRIMARY KEY)",
        "COPY (MATCH (e:Entity) RETURN e.id) TO 'stolen.csv'",
        "PROFILE COPY (MATCH (e:Entity) RETURN e.id) TO 'stolen.csv'",
        "/* MATCH */ COPY (MATCH (e:Entity) RETURN e.id) TO 'stolen.csv'",
        "EXPORT DATABASE 'stolen'",
        "LOAD FROM '/etc/passwd' (file_format='csv') RETURN *",
        "MATCH (e:Entity) load/**/from '/etc/passwd' (file_format='csv') RETURN *",
        "LOAD WITH HEADERS (a STRING) FROM '/etc/passwd' RETURN a",
        "ATTACH 'x.db' AS other",
        "INSTALL httpfs",
        "LOAD EXTENSION httpfs",
        "CALL threads=3",
        "CALL current_setting('home_directory') RETURN *",
        "CALL project_graph('g', ['Entity'], ['RELATED'])",
        "BEGIN TRANSACTION",
        "CHECKPOINT",
        "RETURN 1; RETURN 2",
        "RETURN 1; COPY (MATCH (e:Entity) RETURN e.id) TO 'stolen.csv'",
    ],
)
def test_what_does_not_only_read_is_refused(
    store: GraphStore, cypher: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidArgument):
        store.query(cypher)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "cypher",
    [
        "MATCH (e:Entity) WHERE e.name = 'LOAD FROM; COPY' RETURN e.id;",
        "EXPLAIN MATCH (e:Entity) RETURN e.id",
        "CALL show_tables() RETURN name",
        "CALL table_info('Entity') RETURN *",
        "// COPY\nRETURN 1 // ; CREATE",
        'OPTIONAL MATCH (e:Entity {name: "it\'s"}) RETURN e.`name`',
        "UNWIND [1, 2] AS x WITH x AS call RETURN call",
    ],
)
def test_what_only_reads_is_run(store: GraphStore, cypher: str) -> None:
    assert store.query(cypher).columns


def test_a_syntax_error_shows_the_engines_message(store: GraphStore) -> None:
    with pytest.raises(InvalidArgument, match="Invalid input"):
        store.query("MATCH (a RETURN a")
    with pytest.raises(InvalidArgument, match="Nowhere"):
        store.query("MATCH (a:Nowhere) RETURN a")


def test_parameters_must_match_the_statement(store: GraphStore) -> None:
    # Without this check kuzu answers a statement without its parameters with rows that do not fit it.
    with pytest.raises(InvalidArgument, match=r"\$id"):
        store.query("MATCH (e:Entity) WHERE e.id = $id RETURN e.id")
    with pytest.raises(InvalidArgument, match="other"):
        store.query("MATCH (e:Entity) RETURN e.id", {"other": 1})
    with pytest.raises(InvalidArgument):
        store.query("MATCH (e:Entity) WHERE e.id = $id RETURN e.id", {"id": object()})
    assert store.query("RETURN '$id', $x", {"x": [1, 2]}).rows == [("$id", [1, 2])]


def test_a_statement_past_its_time_is_stopped_and_the_store_stays_usable(store: GraphStore) -> None:
    slow = "UNWIND range(1, 3000) AS a UNWIND range(1, 3000) AS b UNWIND range(1, 3000) AS c RETURN sum(a + b + c)"
    with pytest.raises(TimedOut):
        store.query(slow, timeout_ms=100)
    assert store.query("RETURN 1").rows == [(1,)]
