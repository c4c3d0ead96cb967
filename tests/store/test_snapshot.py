"""Whatever happens to a file of a snapshot: a clear error or a sound answer, never a crash."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.store.manifest import FORMAT_VERSION, MANIFEST_NAME, checksum_of
from graphctx.store.snapshot import current_id, open_snapshot

EFFORT = float(os.environ.get("GRAPHCTX_TEST_EFFORT", "1"))


def directory_of(kb_dir: Path) -> Path:
    found = current_id(kb_dir)
    assert found is not None
    return kb_dir / "snapshots" / found


def files_of(kb_dir: Path) -> list[Path]:
    return sorted(path for path in directory_of(kb_dir).rglob("*") if path.is_file())


def test_nothing_published_says_what_to_do(tmp_path: Path) -> None:
    assert current_id(tmp_path) is None
    with pytest.raises(BackendUnavailable, match="graphctx ingest"):
        open_snapshot(tmp_path)


@pytest.mark.parametrize("text", [b"", b"sn_x\n", b"../../etc\n", b"\xff\xfe", b"sn_aaaaaaaaaaaaaaaa\nmore"])
def test_a_damaged_current_is_unavailable(kb_dir: Path, text: bytes) -> None:
    (kb_dir / "CURRENT").write_bytes(text)
    with pytest.raises(BackendUnavailable, match="CURRENT"):
        open_snapshot(kb_dir)


def test_a_snapshot_that_is_not_there_is_named(kb_dir: Path) -> None:
    with pytest.raises(BackendUnavailable, match="sn_aaaaaaaaaaaaaaaa is missing"):
        open_snapshot(kb_dir, "sn_aaaaaaaaaaaaaaaa")
    with pytest.raises(InvalidArgument):
        open_snapshot(kb_dir, "../../etc")


def test_every_file_that_is_missing_is_named_below_the_knowledge_base(kb_dir: Path) -> None:
    for path in files_of(kb_dir):
        data = path.read_bytes()
        path.unlink()
        name = path.relative_to(kb_dir).as_posix()
        with pytest.raises(BackendUnavailable) as caught:
            open_snapshot(kb_dir)
        assert caught.value.details["file"] == name
        assert name in caught.value.message
        assert "graphctx ingest" in caught.value.message
        assert str(kb_dir) not in caught.value.message
        path.write_bytes(data)
    open_snapshot(kb_dir).close()


def test_every_file_that_is_cut_short_is_noticed(kb_dir: Path) -> None:
    for path in files_of(kb_dir):
        data = path.read_bytes()
        shortest = len(data) - (2 if path.name == MANIFEST_NAME else 1)  # its last byte is a line end
        for length in {0, len(data) // 2, shortest}:
            path.write_bytes(data[:length])
            with pytest.raises(BackendUnavailable):
                open_snapshot(kb_dir)
        path.write_bytes(data)
    open_snapshot(kb_dir).close()


def test_any_flipped_bit_of_any_file_is_noticed(kb_dir: Path) -> None:
    draw = random.Random(20260101)
    for path in files_of(kb_dir):
        data = path.read_bytes()
        for _ in range(max(1, round(3 * EFFORT))):
            at, bit = draw.randrange(len(data)), draw.randrange(8)
            spoilt = bytearray(data)
            spoilt[at] ^= 1 << bit
            path.write_bytes(bytes(spoilt))
            try:
                opened = open_snapshot(kb_dir)
            except BackendUnavailable:
                continue
            opened.close()
            # White space of the manifest alone means nothing.
            assert path.name == MANIFEST_NAME
            assert json.loads(bytes(spoilt)) == json.loads(data)
        path.write_bytes(data)


@pytest.mark.parametrize("name", ["graph.kuzu.wal", "graph.kuzu.shadow", "tables/units.lance/_versions/9.manifest"])
def test_a_stray_file_beside_the_engines_files_is_refused(kb_dir: Path, name: str) -> None:
    (directory_of(kb_dir) / name).write_bytes(b"x")
    with pytest.raises(BackendUnavailable, match="not part of the snapshot"):
        open_snapshot(kb_dir)


def rewrite(kb_dir: Path, **changes: object) -> None:
    """Change fields of the manifest and make its checksum fit again."""
    path = directory_of(kb_dir) / MANIFEST_NAME
    data = json.loads(path.read_text("utf-8")) | changes
    data.pop("checksum")
    path.write_text(json.dumps({**data, "checksum": checksum_of(data)}))


@pytest.mark.parametrize(
    ("step", "advice"), [(-1, "Run `graphctx ingest` again"), (1, "Use the version that wrote it")]
)
def test_another_format_is_refused_and_named(kb_dir: Path, step: int, advice: str) -> None:
    rewrite(kb_dir, format_version=FORMAT_VERSION + step)
    with pytest.raises(BackendUnavailable, match=f"format {FORMAT_VERSION + step}.*{advice}"):
        open_snapshot(kb_dir)


@pytest.mark.parametrize(
    "changes",
    [
        {"files": {"../../../etc/passwd": {"size": 1, "sha256": "0" * 64}}},
        {"files": {"/etc/passwd": {"size": 1, "sha256": "0" * 64}}},
        {"counts": "many"},
        {"unknown": 1},
        {"format_version": "1"},
        {"snapshot_id": "sn_aaaaaaaaaaaaaaaa"},
    ],
)
def test_a_manifest_that_makes_no_sense_is_refused(kb_dir: Path, changes: dict[str, object]) -> None:
    rewrite(kb_dir, **changes)
    with pytest.raises(BackendUnavailable, match=MANIFEST_NAME):
        open_snapshot(kb_dir)


@pytest.mark.parametrize("text", [b"", b"[]", b"null", b"{", b"\xff", b"[" * 100_000])
def test_a_manifest_that_is_no_manifest_is_refused(kb_dir: Path, text: bytes) -> None:
    (directory_of(kb_dir) / MANIFEST_NAME).write_bytes(text)
    with pytest.raises(BackendUnavailable, match=MANIFEST_NAME):
        open_snapshot(kb_dir)


def test_unknown_names_are_named(published: Path) -> None:
    with open_snapshot(published) as snapshot:
        with pytest.raises(InvalidArgument, match="nothing"):
            snapshot.table("nothing")
        with pytest.raises(InvalidArgument, match="colour"):
            snapshot.table("units", ["colour"])
        with pytest.raises(InvalidArgument, match="nothing"):
            snapshot.matrix("nothing")


def test_a_closed_snapshot_opens_again_when_it_is_used(published: Path) -> None:
    snapshot = open_snapshot(published)
    before = snapshot.graph.counts()
    snapshot.close()
    assert snapshot.graph.counts() == before
    assert snapshot.tables.count("units") == 12
    snapshot.close()
