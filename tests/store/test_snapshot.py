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

FLIPS = max(1, round(3 * float(os.environ.get("GRAPHCTX_TEST_EFFORT", "1"))))


def manifest_of(kb_dir: Path) -> Path:
    return kb_dir / "snapshots" / str(current_id(kb_dir)) / MANIFEST_NAME


def test_nothing_published_says_what_to_do(tmp_path: Path) -> None:
    assert current_id(tmp_path) is None
    with pytest.raises(BackendUnavailable, match="graphctx ingest"):
        open_snapshot(tmp_path)


@pytest.mark.parametrize("text", [b"", b"../../etc\n", b"\xff\xfe", b"sn_aaaaaaaaaaaaaaaa\nmore"])
def test_a_damaged_current_is_unavailable(kb_dir: Path, text: bytes) -> None:
    (kb_dir / "CURRENT").write_bytes(text)
    with pytest.raises(BackendUnavailable, match="CURRENT"):
        open_snapshot(kb_dir)
    (kb_dir / "CURRENT").unlink()
    (kb_dir / "CURRENT").mkdir()
    with pytest.raises(BackendUnavailable, match="CURRENT cannot be read"):
        open_snapshot(kb_dir)


def test_a_snapshot_that_is_not_there_is_named(published: Path) -> None:
    with pytest.raises(BackendUnavailable, match="sn_aaaaaaaaaaaaaaaa is missing"):
        open_snapshot(published, "sn_aaaaaaaaaaaaaaaa")
    with pytest.raises(InvalidArgument):
        open_snapshot(published, "../../etc")


def test_every_file_that_is_missing_cut_or_changed_is_named_below_the_knowledge_base(kb_dir: Path) -> None:
    draw = random.Random(20260101)
    for path in sorted(path for path in manifest_of(kb_dir).parent.rglob("*") if path.is_file()):
        data, name = path.read_bytes(), path.relative_to(kb_dir).as_posix()
        path.unlink()
        with pytest.raises(BackendUnavailable) as caught:
            open_snapshot(kb_dir)
        assert caught.value.details["file"] == name
        assert name in caught.value.message
        assert "graphctx ingest" in caught.value.message
        assert str(kb_dir) not in caught.value.message
        for length in {0, len(data) // 2, len(data) - 2}:  # the last byte of the manifest is a line end
            path.write_bytes(data[:length])
            with pytest.raises(BackendUnavailable):
                open_snapshot(kb_dir)
        for _ in range(FLIPS):
            spoilt = bytearray(data)
            spoilt[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
            path.write_bytes(bytes(spoilt))
            try:
                open_snapshot(kb_dir).close()
            except BackendUnavailable:
                continue
            assert path.name == MANIFEST_NAME  # white space of the manifest alone means nothing
            assert json.loads(bytes(spoilt)) == json.loads(data)
        path.write_bytes(data)
    open_snapshot(kb_dir).close()


@pytest.mark.parametrize("name", ["tables/units.lance/_versions/9.manifest"])
def test_a_stray_file_beside_the_engines_files_is_refused(kb_dir: Path, name: str) -> None:
    (manifest_of(kb_dir).parent / name).write_bytes(b"x")
    with pytest.raises(BackendUnavailable, match="not part of the snapshot"):
        open_snapshot(kb_dir)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"format_version": FORMAT_VERSION - 1}, "Run `graphctx ingest` again"),
        ({"format_version": FORMAT_VERSION + 1}, "Use the version that wrote it"),
        ({"format_version": "1"}, "damaged"),
        ({"files": {"../../../etc/passwd": {"size": 1, "sha256": "0" * 64}}}, "damaged"),
        ({"files": {"/etc/passwd": {"size": 1, "sha256": "0" * 64}}}, "damaged"),
        ({"counts": "many"}, "damaged"),
        ({"unknown": 1}, "damaged"),
        ({"snapshot_id": "sn_aaaaaaaaaaaaaaaa"}, "damaged"),
    ],
)
def test_a_manifest_of_another_format_or_without_sense_is_refused(
    kb_dir: Path, changes: dict[str, object], says: str
) -> None:
    path = manifest_of(kb_dir)
    data = json.loads(path.read_text("utf-8")) | changes
    data.pop("checksum")
    path.write_text(json.dumps({**data, "checksum": checksum_of(data)}))
    with pytest.raises(BackendUnavailable, match=f"{MANIFEST_NAME}.*{says}"):
        open_snapshot(kb_dir)


@pytest.mark.parametrize("text", [b"", b"[]", b"{", b"\xff", b"[" * 100_000])
def test_a_file_that_is_not_a_manifest_is_refused(kb_dir: Path, text: bytes) -> None:
    manifest_of(kb_dir).write_bytes(text)
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
