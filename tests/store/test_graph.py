"""Every graph engine passes this file.

The engines cannot share a process: the file runs here for one of them, and in a process of its own for each other.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest

from graphctx.errors import BackendUnavailable, InternalError, InvalidArgument, TimedOut
from graphctx.model.ids import content_id
from graphctx.store.graph import DEFAULT_ENGINE, ENGINES, graph_engine
from graphctx.store.graph.base import GraphStore
from graphctx.store.graph.schema import NODE_TABLES, REL_TABLES

from .world import TOPICS, entity_id, world

ENGINE = os.environ.get("GRAPHCTX_TEST_ENGINE", DEFAULT_ENGINE)
OTHERS = [name for name in ENGINES if name != ENGINE]
Graph = graph_engine(ENGINE)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("graph") / f"graph.{ENGINE}"
    Graph(path).build(world())
    return path


@pytest.fixture
def store(file: Path) -> Iterator[GraphStore]:
    opened = Graph(file)
    yield opened
    opened.close()


@pytest.mark.slow
@pytest.mark.skipif("GRAPHCTX_TEST_ENGINE" in os.environ, reason="this is the run of one engine")
@pytest.mark.parametrize("other", OTHERS)
def test_another_engine_passes_the_same_tests(other: str) -> None:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", __file__]
    environment = {**os.environ, "GRAPHCTX_TEST_ENGINE": other}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


def test_an_engine_is_known_by_its_name_and_excludes_others_from_its_process() -> None:
    assert Graph.version()
    for other in OTHERS:
        with pytest.raises(BackendUnavailable, match="another process"):
            graph_engine(other).version()
    with pytest.raises(InvalidArgument, match="neo4j"):
        graph_engine("neo4j")


# Building


def test_the_counts_that_building_returns_are_those_of_the_file(store: GraphStore, tmp_path: Path) -> None:
    built = Graph(tmp_path / "graph.again").build(world())
    assert built == store.counts()
    assert list(built) == [table.label for table in (*NODE_TABLES, *REL_TABLES)]
    assert list(built.values()) == [4, 8, 12, 7, 3, 8, 4, 12, 8, 24, 6, 1, 3, 7, 2]


def test_an_empty_corpus_builds_an_empty_graph(tmp_path: Path) -> None:
    graph = Graph(tmp_path / "graph.empty")
    counts = graph.build({name: table.slice(0, 0) for name, table in world().items()})
    assert set(counts.values()) == {0}
    assert graph.counts() == counts
    graph.close()


def test_what_cannot_be_built_is_refused(file: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument):
        Graph(file).build(world())
    twice = world()
    twice["entities"] = pa.concat_tables([twice["entities"], twice["entities"].slice(0, 1)])
    with pytest.raises(InternalError, match="entities"):
        Graph(tmp_path / "graph.twice").build(twice)
    lost = world()
    at = lost["units"].schema.get_field_index("section_id")
    nowhere = pa.array([content_id("s", "nowhere")] * lost["units"].num_rows)
    lost["units"] = lost["units"].set_column(at, lost["units"].schema.field(at), nowhere)
    with pytest.raises(InternalError):
        Graph(tmp_path / "graph.lost").build(lost)


def test_reading_changes_no_byte_and_leaves_no_log(tmp_path: Path) -> None:
    graph = Graph(tmp_path / "graph.x")
    graph.build(world())
    before = (tmp_path / "graph.x").read_bytes()
    graph.counts()
    graph.close()
    assert (tmp_path / "graph.x").read_bytes() == before
    assert [left.name for left in tmp_path.iterdir()] == ["graph.x"]


# The content


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
    cypher = "MATCH (e:Entity {name: 'loom'})-[:IN_COMMUNITY]->(c)-[:CHILD_OF]->(p) RETURN c.level, c.title, p.title"
    assert store.query(cypher).rows == [(1, "Half 1", "All")]


# Statements


def test_a_node_a_relation_and_a_path_are_returned_as_plain_values(store: GraphStore) -> None:
    cypher = "MATCH p = (a:Entity {id: $id})-[r:RELATED]-(b:Entity) RETURN a, r, p ORDER BY b.id"
    result = store.query(cypher, {"id": entity_id("harbour")})
    node, relation, path = result.rows[0]
    assert result.columns == ("a", "r", "p")
    assert (node["_label"], node["name"]) == ("Entity", "harbour")
    assert relation == {"_label": "RELATED", "weight": 1.0, "n_facts": 0, "n_units": 1}
    assert set(path) == {"nodes", "relations"}
    assert not {"_id", "_ID", "_src", "_dst"} & {*node, *relation, *path["nodes"][0]}


def test_max_rows_cuts_and_says_so(store: GraphStore) -> None:
    for most, expected in ((3, (3, True)), (7, (7, False))):
        result = store.query("MATCH (e:Entity) RETURN e.id", max_rows=most)
        assert (len(result.rows), result.truncated) == expected


@pytest.mark.parametrize(
    "cypher",
    [
        "CREATE (:Entity {id: 'e_x'})",
        "MATCH (e:Entity) SET e.name = 'x'",
        "MATCH (e:Entity) DETACH DELETE e",
        "MERGE (:Entity {id: 'e_x'})",
        "DROP TABLE Entity",
        "COPY (MATCH (e:Entity) RETURN e.id) TO 'stolen.csv'",
        "PROFILE COPY (MATCH (e:Entity) RETURN e.id) TO 'stolen.csv'",
        "/* MATCH */ COPY (MATCH (e:Entity) RETURN e.id) TO 'stolen.csv'",
        "EXPORT DATABASE 'stolen'",
        "LOAD FROM '/etc/passwd' (file_format='csv') RETURN *",
        "MATCH (e:Entity) load/**/from '/etc/passwd' (file_format='csv') RETURN *",
        "LOAD WITH HEADERS (a STRING) FROM '/etc/passwd' RETURN a",
        "ATTACH 'x.db' AS other",
        "INSTALL httpfs",
        "CALL threads=3",
        "CALL current_setting('home_directory') RETURN *",
        "CALL project_graph('g', ['Entity'], ['RELATED'])",
        "BEGIN TRANSACTION",
        "CHECKPOINT",
        "RETURN 1; COPY (MATCH (e:Entity) RETURN e.id) TO 'stolen.csv'",
        "  ",
        "RETURN 'open",
    ],
)
def test_a_statement_that_does_more_than_read_is_refused(
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
        "// COPY\nRETURN 1 // ; CREATE",
        'OPTIONAL MATCH (e:Entity {name: "it\'s"}) RETURN e.`name`',
        "UNWIND [1, 2] AS x WITH x AS call RETURN call",
    ],
)
def test_a_statement_that_only_reads_is_run(store: GraphStore, cypher: str) -> None:
    assert store.query(cypher).columns


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda s: s.query("MATCH (a RETURN a"), "Invalid input"),
        (lambda s: s.query("MATCH (a:Nowhere) RETURN a"), "Nowhere"),
        # Without this check kuzu answers a statement without its parameters with rows that do not fit it.
        (lambda s: s.query("MATCH (e:Entity) WHERE e.id = $id RETURN e.id"), r"\$id"),
        (lambda s: s.query("MATCH (e:Entity) RETURN e.id", {"other": 1}), "other"),
        (lambda s: s.query("MATCH (e:Entity) WHERE e.id = $id RETURN e.id", {"id": object()}), "parameter"),
        (lambda s: s.query("RETURN 1", timeout_ms=0), "timeout_ms"),
        (lambda s: s.query("RETURN 1", max_rows=-1), "max_rows"),
    ],
)
def test_a_wrong_statement_or_argument_is_refused_with_the_reason(
    store: GraphStore, call: Callable[[GraphStore], object], says: str
) -> None:
    with pytest.raises(InvalidArgument, match=says):
        call(store)
    assert store.query("RETURN '$id', $x", {"x": [1, 2]}).rows == [("$id", [1, 2])]


def test_a_statement_past_its_time_is_stopped_and_the_store_stays_usable(store: GraphStore) -> None:
    slow = "UNWIND range(1, 3000) AS a UNWIND range(1, 3000) AS b UNWIND range(1, 3000) AS c RETURN sum(a + b + c)"
    with pytest.raises(TimedOut):
        store.query(slow, timeout_ms=100)
    assert store.query("RETURN 1").rows == [(1,)]


# The file, shared by stores and threads


def test_many_threads_share_a_store_and_open_and_forget_their_own(store: GraphStore, file: Path) -> None:
    def ask(i: int) -> tuple[object, int]:
        name = store.query("MATCH (e:Entity {id: $id}) RETURN e.name", {"id": entity_id(TOPICS[i % 7])}).rows[0][0]
        return name, Graph(file).counts()["TextUnit"]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(64))) == [(TOPICS[i % 7], 12) for i in range(64)]


def test_stores_on_one_file_share_it_and_close_apart(file: Path) -> None:
    first, second = Graph(file), Graph(file)
    assert first.counts() == second.counts()
    first.close()
    first.close()
    assert second.query("RETURN 1").rows == first.query("RETURN 1").rows == [(1,)]
    first.close()
    second.close()


def test_a_file_that_replaces_another_is_seen_by_stores_opened_afterwards(tmp_path: Path) -> None:
    old, new = Graph(tmp_path / "graph.x"), Graph(tmp_path / "graph.x")
    old.build(world(2))
    assert old.counts()["Document"] == 2
    Graph(tmp_path / "graph.y").build(world(3))
    (tmp_path / "graph.y").replace(tmp_path / "graph.x")
    assert (old.counts()["Document"], new.counts()["Document"]) == (2, 3)
    old.close()
    new.close()


def test_a_missing_or_foreign_file_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(BackendUnavailable, match=r"graph\.none"):
        Graph(tmp_path / "graph.none").query("RETURN 1")
    script = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parents[1])!r}); from store.world import world\n"
        "from pathlib import Path; from graphctx.store.graph import graph_engine\n"
        "graph_engine(sys.argv[1])(Path(sys.argv[2])).build(world())"
    )
    subprocess.run([sys.executable, "-c", script, OTHERS[0], str(tmp_path / "graph.other")], check=True)
    with pytest.raises(BackendUnavailable, match=r"graph\.other") as caught:
        Graph(tmp_path / "graph.other").query("RETURN 1")
    assert str(tmp_path) not in caught.value.message


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are listed in /proc/self/fd on Linux only")
def test_a_graph_that_nobody_refers_to_is_closed(tmp_path: Path) -> None:
    def is_open() -> bool:
        gc.collect()
        return path.resolve() in [entry.resolve() for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink()]

    path = tmp_path / "graph.lone"
    Graph(path).build(world())
    first, second = Graph(path), Graph(path)
    assert first.counts() == second.counts()
    first.close()
    del first
    assert is_open()
    assert second.counts()["Document"] == 4
    del second
    assert not is_open()
