from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.store.manifest import Versions
from graphctx.store.publish import STEPS, SnapshotContent, publish
from graphctx.store.snapshot import current_id, open_snapshot

from .world import DIMENSION, content, entity_id, publish_world, unit_vectors, world


def test_what_was_published_is_what_is_read(published: Path) -> None:
    written = content()
    with open_snapshot(published) as snapshot:
        for name, table in written.tables.items():
            assert snapshot.table(name).equals(table)
        assert snapshot.table("units", ["id", "text"]).column_names == ["id", "text"]
        arrays = snapshot.arrays()
        assert arrays.keys() == written.arrays.keys()
        assert all((arrays[name] == written.arrays[name]).all() for name in arrays)
        assert (snapshot.matrix("units") == written.matrices["units"]).all()
        assert isinstance(snapshot.matrix("sentences"), np.memmap)
        assert snapshot.graph.counts() == snapshot.manifest.graph_counts
        assert snapshot.graph.query("MATCH (e {id: $id}) RETURN e.name", {"id": entity_id("loom")}).rows == [("loom",)]
        assert snapshot.tables.search_vector("units", unit_vectors(12)[3], 1)[0].row == 3
        assert (snapshot.directory / "bm25" / "words.json").read_text() == '["harbour"]'
        assert snapshot.manifest.counts["units"] == 12
        assert snapshot.manifest.versions.engine


def test_the_same_content_keeps_its_snapshot(kb_dir: Path) -> None:
    with open_snapshot(kb_dir) as snapshot:
        before = snapshot.manifest
    steps: list[str] = []
    again = publish_world(kb_dir, at="2027-01-01T00:00:00Z", on_step=steps.append)
    assert again == before
    assert steps == ["hash", "publish"]


def test_other_content_another_engine_or_variant_is_another_snapshot(kb_dir: Path) -> None:
    first = current_id(kb_dir)
    steps: list[str] = []
    changed = publish_world(kb_dir, stamp="second", on_step=steps.append)
    variant = publish_world(kb_dir, variant=("bm25 k1=1.2",))
    assert tuple(steps) == STEPS
    assert len({first, changed.snapshot_id, variant.snapshot_id}) == 3
    assert changed.parent == first
    assert variant.content_hash != changed.content_hash
    assert current_id(kb_dir) == variant.snapshot_id


def test_a_mtime_changes_no_id(tmp_path: Path) -> None:
    first = content()
    tables = dict(first.tables)
    at = tables["documents"].schema.get_field_index("mtime")
    later = tables["documents"].column("mtime").combine_chunks().fill_null("x")
    tables["documents"] = tables["documents"].set_column(
        at, tables["documents"].schema.field(at), [["2030-01-01"] * len(later)]
    )
    given = {"engine": "kuzu", "project_id": "p", "versions": Versions(graphctx="1"), "created_at": "now"}
    one = publish(tmp_path / "a", first, **given)  # type: ignore[arg-type]
    other = SnapshotContent(tables, first.vectors, first.arrays, first.matrices, first.extras)
    two = publish(tmp_path / "b", other, **given)  # type: ignore[arg-type]
    assert one.snapshot_id == two.snapshot_id


def test_a_damaged_snapshot_is_written_again_by_the_next_publish(kb_dir: Path) -> None:
    found = current_id(kb_dir)
    assert found is not None
    (kb_dir / "snapshots" / found / "graph.kuzu").write_bytes(b"rubbish")
    publish_world(kb_dir)
    with open_snapshot(kb_dir) as snapshot:
        assert snapshot.id == found
        assert snapshot.graph.counts()["Document"] == 4
    assert [path.name for path in (kb_dir / "snapshots").iterdir()] == [found]


def test_a_failing_step_leaves_what_was_published_and_nothing_else(kb_dir: Path) -> None:
    def fail(_directory: Path) -> None:
        raise KeyboardInterrupt

    before = current_id(kb_dir)
    broken = content(stamp="second")
    broken = SnapshotContent(broken.tables, broken.vectors, broken.arrays, broken.matrices, {"bm25": fail})
    with pytest.raises(KeyboardInterrupt):
        publish(kb_dir, broken, engine="kuzu", project_id="p", versions=Versions(graphctx="1"), created_at="now")
    assert current_id(kb_dir) == before
    assert [path.name for path in (kb_dir / "snapshots").iterdir()] == [before]
    open_snapshot(kb_dir).close()


def test_rubbish_of_a_killed_ingest_is_cleaned_by_the_next(kb_dir: Path) -> None:
    (kb_dir / "snapshots" / ".tmp-0123" / "parquet").mkdir(parents=True)
    (kb_dir / "snapshots" / ".tmp-0123" / "parquet" / "x").write_bytes(b"x")
    publish_world(kb_dir)
    assert [path.name for path in (kb_dir / "snapshots").iterdir()] == [current_id(kb_dir)]


def test_an_empty_corpus_can_be_published(tmp_path: Path) -> None:
    tables = {name: table.slice(0, 0) for name, table in world().items()}
    none = np.zeros((0, DIMENSION), np.float32)
    empty = SnapshotContent(tables, {"units": none, "entities": none}, {"a": np.zeros(0, np.int32)}, {"units": none})
    publish(tmp_path, empty, engine="kuzu", project_id="p", versions=Versions(graphctx="1"), created_at="now")
    with open_snapshot(tmp_path) as snapshot:
        assert snapshot.matrix("units").shape == (0, DIMENSION)
        assert snapshot.tables.search_text("units", "harbour", 3) == []
        assert snapshot.tables.search_vector("units", np.zeros(DIMENSION, np.float32), 3) == []
        assert snapshot.table("units").num_rows == 0


def test_the_other_engine_publishes_and_reads_in_a_process_of_its_own(tmp_path: Path) -> None:
    script = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parents[1])!r})\n"
        "from pathlib import Path\nfrom store.world import publish_world\n"
        "from graphctx.store.snapshot import open_snapshot\n"
        "publish_world(Path(sys.argv[1]), engine='ladybug')\n"
        "print(open_snapshot(Path(sys.argv[1])).graph.counts()['TextUnit'])\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "12"
    assert current_id(tmp_path) != current_id_of_kuzu(tmp_path / "kuzu")


def current_id_of_kuzu(kb_dir: Path) -> str:
    return publish_world(kb_dir).snapshot_id


@pytest.mark.parametrize("missing", ["units", "links"])
def test_a_missing_table_is_named(missing: str) -> None:
    tables = {name: table for name, table in world().items() if name != missing}
    with pytest.raises(InvalidArgument, match=missing):
        SnapshotContent(tables)


def test_a_table_with_other_columns_is_named() -> None:
    tables = world()
    tables["units"] = tables["units"].drop_columns(["text"])
    with pytest.raises(InvalidArgument, match="units"):
        SnapshotContent(tables)


def test_a_snapshot_that_fails_its_verification_is_not_published(kb_dir: Path) -> None:
    def spoil(directory: Path) -> None:
        graph = directory.parent / "graph.kuzu"
        graph.write_bytes(graph.read_bytes()[:4096])

    before = current_id(kb_dir)
    bad = content(stamp="second")
    bad = SnapshotContent(bad.tables, bad.vectors, bad.arrays, bad.matrices, {"bm25": spoil})
    with pytest.raises(BackendUnavailable, match="verification"):
        publish(kb_dir, bad, engine="kuzu", project_id="p", versions=Versions(graphctx="1"), created_at="now")
    assert current_id(kb_dir) == before
    assert [path.name for path in (kb_dir / "snapshots").iterdir()] == [before]
