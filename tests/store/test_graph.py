"""One conformance suite that every engine passes, on real files.

The engines cannot share a process, so the suite runs here for one of them, and once more in a process of its own
for each of the others.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest

from graphctx.errors import BackendUnavailable, InternalError, InvalidArgument, TimedOut
from graphctx.model.ids import content_id
from graphctx.store.base import GraphEngine, GraphStore
from graphctx.store.ddl import NODE_TABLES, REL_TABLES, ddl
from graphctx.store.graph import ENGINES, make_graph_engine

from .world import TOPICS, entity_id, world

CHAIN = [entity_id(topic) for topic in TOPICS]


ENGINE = os.environ.get("GRAPHCTX_TEST_ENGINE", ENGINES[0])
OTHERS = [name for name in ENGINES if name != ENGINE]


@pytest.fixture(scope="module")
def engine() -> GraphEngine:
    return make_graph_engine(ENGINE)


@pytest.mark.skipif("GRAPHCTX_TEST_ENGINE" in os.environ, reason="this is the run of one engine")
@pytest.mark.parametrize("other", OTHERS)
def test_another_engine_passes_the_same_suite(other: str) -> None:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", __file__]
    environment = {**os.environ, "GRAPHCTX_TEST_ENGINE": other}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert "failed" not in done.stdout.splitlines()[-1]


@pytest.mark.parametrize("other", OTHERS)
def test_two_engines_in_one_process_are_refused(engine: GraphEngine, other: str) -> None:
    assert engine.version
    with pytest.raises(BackendUnavailable, match="another process"):
        assert make_graph_engine(other).version


@pytest.fixture(scope="module")
def file(engine: GraphEngine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("graph") / f"graph.{engine.name}"
    engine.build(path, world())
    return path


@pytest.fixture
def store(engine: GraphEngine, file: Path) -> Iterator[GraphStore]:
    opened = engine.open(file)
    yield opened
    opened.close()


def test_building_leaves_one_file_and_no_log(file: Path) -> None:
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_the_counts_that_building_returns_are_those_of_the_file(
    engine: GraphEngine, store: GraphStore, tmp_path: Path
) -> None:
    built = engine.build(tmp_path / "graph.again", world())
    assert built == store.counts()
    assert list(built) == [table.label for table in NODE_TABLES] + [table.label for table in REL_TABLES]
    assert built == {
        "Document": 4, "Section": 8, "TextUnit": 12, "Entity": 7, "Community": 3, "HAS_SECTION": 8, "PARENT_OF": 4, "HAS_UNIT": 12,
        "NEXT": 8, "MENTIONS": 24, "RELATED": 6, "LINKS_TO": 3, "IN_COMMUNITY": 7, "CHILD_OF": 2,
    }  # fmt: skip


def test_an_empty_corpus_builds_an_empty_graph(engine: GraphEngine, tmp_path: Path) -> None:
    empty = {name: table.slice(0, 0) for name, table in world().items()}
    counts = engine.build(tmp_path / "graph.empty", empty)
    assert set(counts.values()) == {0}
    opened = engine.open(tmp_path / "graph.empty")
    assert opened.counts() == counts
    opened.close()


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
    assert result.rows == [(0, "Half 1", 1, "All")]


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


def test_threads_share_one_store(store: GraphStore) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda i: store.nodes("Entity", [CHAIN[i % 7]])[0]["name"], range(64)))
    assert answers == [TOPICS[i % 7] for i in range(64)]


def test_stores_on_one_file_share_it_and_close_apart(engine: GraphEngine, file: Path) -> None:
    first, second = engine.open(file), engine.open(file)
    assert first.counts() == second.counts()
    first.close()
    first.close()
    assert second.query("RETURN 1").rows == [(1,)]
    assert first.query("RETURN 1").rows == [(1,)]
    first.close()
    second.close()


def test_a_file_that_replaces_another_is_seen_by_who_opens_it_then(engine: GraphEngine, tmp_path: Path) -> None:
    path = tmp_path / "graph.x"
    engine.build(path, world(2))
    old = engine.open(path)
    assert old.counts()["Document"] == 2
    engine.build(tmp_path / "graph.y", world(3))
    (tmp_path / "graph.y").replace(path)
    new = engine.open(path)
    assert (old.counts()["Document"], new.counts()["Document"]) == (2, 3)
    old.close()
    new.close()


def test_reading_changes_no_byte(engine: GraphEngine, tmp_path: Path) -> None:
    path = tmp_path / "graph.x"
    engine.build(path, world())
    before = path.read_bytes()
    opened = engine.open(path)
    opened.counts()
    opened.close()
    assert path.read_bytes() == before
    assert [left.name for left in tmp_path.iterdir()] == [path.name]


def test_two_processes_read_one_file(engine: GraphEngine, store: GraphStore, file: Path) -> None:
    store.counts()
    script = (
        "import sys; from pathlib import Path; from graphctx.store.graph import make_graph_engine\n"
        "print(make_graph_engine(sys.argv[1]).open(Path(sys.argv[2])).counts()['TextUnit'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, engine.name, str(file)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "12"


def test_a_file_that_is_there_is_not_built_over(engine: GraphEngine, file: Path) -> None:
    with pytest.raises(InvalidArgument):
        engine.build(file, world())


def test_an_id_that_occurs_twice_is_refused(engine: GraphEngine, tmp_path: Path) -> None:
    tables = world()
    tables["entities"] = pa.concat_tables([tables["entities"], tables["entities"].slice(0, 1)])
    with pytest.raises(InternalError, match="entities"):
        engine.build(tmp_path / "graph.x", tables)


def test_a_relation_without_its_end_is_refused(engine: GraphEngine, tmp_path: Path) -> None:
    tables = world()
    at = tables["units"].schema.get_field_index("section_id")
    lost = pa.array([content_id("s", "nowhere")] * tables["units"].num_rows)
    tables["units"] = tables["units"].set_column(at, tables["units"].schema.field(at), lost)
    with pytest.raises(InternalError):
        engine.build(tmp_path / "graph.x", tables)


def test_a_missing_or_foreign_file_is_unavailable(engine: GraphEngine, tmp_path: Path) -> None:
    with pytest.raises(BackendUnavailable, match=r"graph\.none"):
        engine.open(tmp_path / "graph.none").query("RETURN 1")
    build_in_a_process(OTHERS[0], tmp_path / "graph.other")
    with pytest.raises(BackendUnavailable, match=r"graph\.other") as caught:
        engine.open(tmp_path / "graph.other").query("RETURN 1")
    assert str(tmp_path) not in caught.value.message


def build_in_a_process(name: str, path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from graphctx.store.graph import make_graph_engine\n"
        f"sys.path.insert(0, {str(Path(__file__).parents[1])!r}); from store.world import world\n"
        "make_graph_engine(sys.argv[1]).build(Path(sys.argv[2]), world())"
    )
    subprocess.run([sys.executable, "-c", script, name, str(path)], check=True)


def test_both_speak_the_protocol(engine: GraphEngine, store: GraphStore) -> None:
    assert isinstance(engine, GraphEngine)
    assert isinstance(store, GraphStore)
    assert engine.version


def test_the_ddl_names_every_table_once() -> None:
    text = ddl()
    for table in (*NODE_TABLES, *REL_TABLES):
        assert text.count(f" TABLE {table.label} ") == 1


def test_an_unknown_engine_is_named() -> None:
    with pytest.raises(InvalidArgument, match="neo4j"):
        make_graph_engine("neo4j")


def is_open(file: Path) -> bool:
    """Whether this process holds the file."""
    held = [entry.resolve() for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink()]
    return file.resolve() in held


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are listed in /proc/self/fd on Linux only")
def test_a_graph_that_nobody_holds_any_more_is_closed(engine: GraphEngine, tmp_path: Path) -> None:
    file = tmp_path / "graph.lone"
    engine.build(file, world())
    first, second = engine.open(file), engine.open(file)
    assert first.counts() == second.counts()
    assert is_open(file)
    del first
    gc.collect()
    assert is_open(file)
    assert second.counts()["Document"] == 4
    del second
    gc.collect()
    assert not is_open(file)


def test_a_graph_is_given_back_once_by_closing_and_forgetting_it(engine: GraphEngine, tmp_path: Path) -> None:
    file = tmp_path / "graph.twice"
    engine.build(file, world())
    kept, closed = engine.open(file), engine.open(file)
    assert kept.counts() == closed.counts()
    closed.close()
    closed.close()
    del closed
    gc.collect()
    assert kept.counts()["Document"] == 4
    kept.close()


def test_graphs_are_opened_and_forgotten_by_many_threads(engine: GraphEngine, file: Path) -> None:
    def ask(_: int) -> int:
        return engine.open(file).counts()["TextUnit"]

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(ask, range(64))) == {12}
