"""Publishing a snapshot, and reading it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.store.child import run_child
from graphctx.store.processes import start_process
from graphctx.store.publish import STEPS, SnapshotContent
from graphctx.store.schema import TABLES
from graphctx.store.snapshot import current_id, open_snapshot

from .world import DIMENSION, content, entity_id, publish_content, publish_world, unit_vectors, world


def test_what_is_published_can_be_read(published: Path) -> None:
    written = content()
    with open_snapshot(published) as snapshot:
        for name in TABLES:
            assert snapshot.table(name).equals(written.tables[name])
        assert snapshot.table("units", ["text", "id"]).column_names == ["text", "id"]
        arrays = snapshot.arrays()
        assert arrays.keys() == written.arrays.keys()
        assert all((arrays[name] == written.arrays[name]).all() for name in arrays)
        assert (snapshot.matrix("units") == written.matrices["units"]).all()
        assert isinstance(snapshot.matrix("sentences"), np.memmap)
        assert snapshot.graph.query("MATCH (e {id: $id}) RETURN e.name", {"id": entity_id("loom")}).rows == [("loom",)]
        assert snapshot.tables.search_vector("units", unit_vectors(12)[3], 1)[0].row == 3
        assert (snapshot.directory / "bm25" / "words.json").read_text() == '["harbour"]'
        assert snapshot.manifest.counts["units"] == 12
        assert snapshot.manifest.versions.engine


def test_the_same_content_keeps_its_snapshot_and_other_content_or_another_variant_does_not(kb_dir: Path) -> None:
    with open_snapshot(kb_dir) as snapshot:
        first = snapshot.manifest
    steps: list[str] = []
    assert publish_world(kb_dir, at="2027-01-01T00:00:00Z", on_step=steps.append) == first
    assert steps == ["hash", "publish"]
    changed = publish_world(kb_dir, stamp="second", on_step=steps.append)
    variant = publish_world(kb_dir, variant=("bm25 k1=1.2",))
    assert tuple(steps[2:]) == STEPS
    assert len({first.snapshot_id, changed.snapshot_id, variant.snapshot_id}) == 3
    assert changed.parent == first.snapshot_id
    assert variant.content_hash == first.content_hash != changed.content_hash
    assert current_id(kb_dir) == variant.snapshot_id


def test_a_damaged_snapshot_is_written_again_by_the_next_publish(kb_dir: Path) -> None:
    found = str(current_id(kb_dir))
    (kb_dir / "snapshots" / found / "walk.npz").write_bytes(b"rubbish")
    publish_world(kb_dir)
    with open_snapshot(kb_dir) as snapshot:
        assert snapshot.id == found
        assert "weight" in snapshot.arrays()
    assert [path.name for path in (kb_dir / "snapshots").iterdir()] == [found]


def fail(_directory: Path) -> None:
    raise KeyboardInterrupt


def spoil_the_arrays(directory: Path) -> None:
    (directory.parent / "walk.npz").write_bytes(b"rubbish")


@pytest.mark.parametrize(
    ("extra", "error"),
    [pytest.param(fail, KeyboardInterrupt, marks=pytest.mark.slow), (spoil_the_arrays, BackendUnavailable)],
)
def test_what_fails_or_does_not_pass_verification_leaves_what_was_published_and_nothing_else(
    kb_dir: Path, extra: object, error: type[BaseException]
) -> None:
    before = current_id(kb_dir)
    with pytest.raises(error):
        publish_content(kb_dir, content(stamp="second", extras={"bm25": extra}))
    assert current_id(kb_dir) == before
    assert [path.name for path in (kb_dir / "snapshots").iterdir()] == [before]
    open_snapshot(kb_dir).close()


def test_an_empty_corpus_can_be_published(tmp_path: Path) -> None:
    tables = {name: table.slice(0, 0) for name, table in world().items()}
    none = np.zeros((0, DIMENSION), np.float32)
    vectors = {"units": none}
    publish_content(tmp_path, SnapshotContent(tables, vectors, {"a": np.zeros(0, np.int32)}, {"units": none}))
    with open_snapshot(tmp_path) as snapshot:
        assert snapshot.matrix("units").shape == (0, DIMENSION)
        assert snapshot.tables.search_vector("units", np.zeros(DIMENSION, np.float32), 3) == []
        assert snapshot.table("units").num_rows == 0


@pytest.mark.slow
def test_the_other_engine_publishes_another_snapshot_in_a_process_of_its_own(published: Path, tmp_path: Path) -> None:
    script = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parents[1])!r})\n"
        "from pathlib import Path\nfrom store.world import publish_world\n"
        "from graphctx.store.snapshot import open_snapshot\n"
        "publish_world(Path(sys.argv[1]), engine='ladybug')\n"
        "print(open_snapshot(Path(sys.argv[1])).graph.counts()['TextUnit'])\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "12"
    assert current_id(tmp_path) != current_id(published)


def test_a_crash_of_the_graph_engine_is_reported_whatever_bytes_it_wrote(monkeypatch: pytest.MonkeyPatch) -> None:
    crash = [sys.executable, "-c", r"import os; os.write(2, b'no room at \xff\n'); os._exit(3)"]
    monkeypatch.setattr("graphctx.store.child.start_module", lambda name, **options: start_process(crash, **options))
    with pytest.raises(BackendUnavailable, match=r"exit code 3, it said: no room at"):
        run_child("version", engine="kuzu")


def test_a_missing_table_or_column_is_named() -> None:
    tables = world()
    with pytest.raises(InvalidArgument, match="links"):
        SnapshotContent({name: table for name, table in tables.items() if name != "links"})
    with pytest.raises(InvalidArgument, match="units"):
        SnapshotContent({**tables, "units": tables["units"].drop_columns(["text"])})
