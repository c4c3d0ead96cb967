"""Snapshots on a real S3 server: readers get a whole one or the one before, whatever happens in between."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from eval.s3_server import S3Server, s3_server
from graphctx.errors import BackendUnavailable, InvalidArgument, ScopeViolation
from graphctx.store.config import KbConfig, read_config, write_config
from graphctx.store.lock import IngestLock
from graphctx.store.objects import ObjectStore, object_url
from graphctx.store.remote import publish_to
from graphctx.store.replica import Replica, local_folder
from graphctx.store.snapshot import current_id, open_snapshot

from .world import publish_world

pytest.importorskip("obstore", reason="the extra object-store is not installed")

NEVER = 3600.0
"""Seconds between two looks of a replica that a test moves by hand."""


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    with s3_server("library") as running:
        yield running


@pytest.fixture
def url(server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An address on the server for this test alone, and a folder of its own for copies."""
    use(server, tmp_path, monkeypatch)
    return f"s3://library/{tmp_path.name}"


def use(server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("GRAPHCTX_REPLICA__FOLDER", str(tmp_path / "copies"))


@pytest.fixture
def base(kb_dir: Path) -> Path:
    write_config(
        kb_dir,
        KbConfig(
            project_id="demo",
            removed={"people/ana.md": "docs"},
            settings={"server": {"doc_tags": ["even"], "tokens": {"ana": "s" * 40}}},
        ),
    )
    return kb_dir


def copied(url: str) -> Path:
    """Bring the copy of an address up to date."""
    folder = local_folder(url)
    replica = Replica(folder, NEVER)
    replica.open()
    replica.close()
    return folder


def files_of(kb: Path) -> dict[str, bytes]:
    directory = kb / "snapshots" / str(current_id(kb))
    return {path.relative_to(kb).as_posix(): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("place", "address"),
    [
        ("s3://bucket/a/b/", "s3://bucket/a/b"),
        (Path("s3://bucket/a"), "s3://bucket/a"),
        ("gs://bucket", "gs://bucket"),
        ("az://box/kb", "az://box/kb"),
        ("s3://", None),
        ("notes/s3", None),
        ("/srv/s3:/x", None),
    ],
)
def test_an_address_is_told_from_a_folder(place: str | Path, address: str | None) -> None:
    assert object_url(place) == address


def test_a_copy_has_every_file_and_the_configuration_without_its_secrets(url: str, base: Path) -> None:
    done = publish_to(base, url)
    copy = copied(url)
    assert files_of(copy) == files_of(base)
    assert done.uploaded > 0
    config = read_config(copy)
    assert config.project_id == "demo"
    assert config.removed == {}
    assert config.settings["server"] == {"doc_tags": ["even"], "tokens": {"ana": ""}}
    open_snapshot(copy).close()


def test_the_next_publish_sends_what_is_new_and_leaves_nothing_of_older_snapshots(url: str, base: Path) -> None:
    first = publish_to(base, url)
    copy = copied(url)
    publish_world(base, stamp="second")
    second = publish_to(base, url, keep=1)
    assert second.removed == [first.snapshot_id]
    assert second.uploaded < second.files
    with open_snapshot(base) as snapshot:
        hashes = {f"files/{entry.sha256}" for entry in snapshot.manifest.files.values()}
    assert ObjectStore(url).sizes("files").keys() == hashes
    copied(url)
    assert files_of(copy) == files_of(base)
    assert [path.name for path in (copy / "snapshots").glob("sn_*")] == [second.snapshot_id]


def test_a_snapshot_that_somebody_reads_stays_until_he_is_done(url: str, base: Path) -> None:
    publish_to(base, url)
    with open_snapshot(copied(url)) as reader:
        publish_world(base, stamp="second")
        publish_to(base, url)
        copy = copied(url)
        assert reader.table("units").num_rows > 0
        assert len(list((copy / "snapshots").glob("sn_*"))) == 2
    copied(url)
    assert len(list((copy / "snapshots").glob("sn_*"))) == 1


INTERRUPTED = """
import os, sys
from pathlib import Path
from graphctx.store.remote import publish_to
publish_to(Path(sys.argv[1]), sys.argv[2], on_file=lambda done, total: done < total - 2 or os._exit(9))
"""


def test_a_publish_that_is_killed_shows_nothing_and_the_next_one_goes_on(url: str, base: Path) -> None:
    first = publish_to(base, url)
    publish_world(base, stamp="second")
    killed = subprocess.run([sys.executable, "-c", INTERRUPTED, base, url], check=False, env=dict(os.environ))
    assert killed.returncode == 9
    assert current_id(copied(url)) == first.snapshot_id
    second = publish_to(base, url)
    assert second.uploaded <= 2
    assert current_id(copied(url)) == second.snapshot_id


def test_a_damaged_object_is_refused_while_the_copy_before_answers(
    url: str, base: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = publish_to(base, url)
    copied(url)
    publish_world(base, stamp="second")
    second = publish_to(base, url)
    with open_snapshot(base) as snapshot:
        entry = snapshot.manifest.files["parquet/units.parquet"]
    ObjectStore(url).put(f"files/{entry.sha256}", b"x" * entry.size)
    copy = copied(url)
    assert current_id(copy) == first.snapshot_id
    assert f"{entry.sha256} is damaged" in caplog.text
    assert publish_to(base, url).uploaded == 0
    publish_to(base, url, force=True)
    assert current_id(copied(url)) == second.snapshot_id


def test_a_damaged_copy_is_made_again(url: str, base: Path) -> None:
    publish_to(base, url)
    copy = copied(url)
    damaged = copy / "snapshots" / str(current_id(copy)) / "walk.npz"
    damaged.write_bytes(b"x" * damaged.stat().st_size)
    with pytest.raises(BackendUnavailable):
        open_snapshot(copy)
    replica = Replica(copy, NEVER)
    replica.open(repair=True)
    replica.close()
    assert files_of(copy) == files_of(base)


def test_without_the_store_the_copy_answers_and_without_a_copy_an_error_says_why(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with s3_server("library") as own:
        use(own, tmp_path, monkeypatch)
        publish_to(base, "s3://library/kb")
        copy = copied("s3://library/kb")
    assert copied("s3://library/kb") == copy
    assert "s3://library/kb cannot be used" in caplog.text
    open_snapshot(copy).close()
    with pytest.raises(BackendUnavailable, match="credentials"):
        local_folder("s3://library/other")


def test_a_follower_takes_up_the_next_publish(url: str, base: Path) -> None:
    publish_to(base, url)
    replica = Replica(local_folder(url), 0.05)
    replica.open()
    publish_world(base, stamp="second")
    second = publish_to(base, url, keep=1).snapshot_id
    while current_id(local_folder(url)) != second:  # the test's own time limit ends this
        pass
    replica.close()
    open_snapshot(local_folder(url)).close()


def test_several_processes_copy_into_one_folder(url: str, base: Path) -> None:
    publish_to(base, url)
    code = (
        "import sys; from graphctx.store.replica import Replica, local_folder; from graphctx.store.snapshot import *;"
        "folder = local_folder(sys.argv[1]); Replica(folder, 60).open(); print(open_snapshot(folder).id)"
    )

    def run(number: int) -> str:
        done = subprocess.run([sys.executable, "-c", code, url], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    with ThreadPoolExecutor(3) as pool:
        assert set(pool.map(run, range(3))) == {current_id(base)}


def test_a_copy_cannot_be_written(url: str, base: Path) -> None:
    publish_to(base, url)
    with pytest.raises(InvalidArgument, match="cannot be changed from here"), IngestLock(copied(url)):
        pass


def test_an_address_belongs_to_one_project(url: str, base: Path, tmp_path: Path) -> None:
    publish_to(base, url)
    write_config(base, read_config(base).model_copy(update={"project_id": "other"}))
    with pytest.raises(ScopeViolation, match="demo"):
        publish_to(base, url)


def test_where_nothing_is_published_the_error_names_the_command(url: str) -> None:
    with pytest.raises(BackendUnavailable, match=f"graphctx publish --to {url}"):
        local_folder(url)


def test_credentials_are_in_no_error(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hidden-value")
    with pytest.raises(BackendUnavailable) as caught:
        local_folder(url)
    assert "hidden-value" not in str(caught.value.envelope())


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(BackendUnavailable, match=r"graphctx\[object-store\]"):
        ObjectStore("s3://library/kb")
