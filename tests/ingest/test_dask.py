"""Ingests on a real Dask cluster: a scheduler and two workers, each a process of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from graphctx.errors import BackendUnavailable
from graphctx.ingest import dask_executor
from graphctx.ingest.report import IngestReport, Progress
from graphctx.knowledge_base import KnowledgeBase

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")

FILES = 12
WORDS = ("harbour", "turbine", "ledger", "orchard", "beacon", "quarry", "loom", "Thornby", "Merriweather")


class Cluster:
    """A scheduler and two workers that do not come back when they are killed."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}"
        self._stack, self._folder = stack, folder
        self._start("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
        self.workers = [
            self._start("worker", self.address, "--no-nanny", "--nthreads", "1", "--no-dashboard") for _ in range(2)
        ]
        with distributed.Client(self.address, timeout=120) as client:
            client.wait_for_workers(2, timeout=120)

    def _start(self, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_" + kind, *arguments],
            cwd=self._folder,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        return process


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with ExitStack() as stack:
        yield Cluster(stack, tmp_path)


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """Files that are each a batch of its own."""
    folder = tmp_path / "documents"
    folder.mkdir()
    for number in range(FILES):
        sentences = [
            f"The {WORDS[(number + line) % 9]} of house {number} feeds the {WORDS[(number * line + 1) % 9]} in {1800 + line}."
            for line in range(60)
        ]
        (folder / f"{number:02}.md").write_text(f"# House {number}\n\n" + " ".join(sentences) + "\n")
    (folder / "damaged.pdf").write_bytes(b"%PDF-1.7 nothing")
    return folder


def ingested(kb: Path, documents: Path, **options: object) -> IngestReport:
    with KnowledgeBase.open(kb, create=True, project_id="test") as base:
        return base.ingest(documents, **options)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_publishes_the_same_content(
    cluster: Cluster, documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_executor, "_BATCH_SIZE", 1)
    killed: list[str] = []

    def kill(progress: Progress) -> None:
        if progress.step == "extract" and progress.done == 2 and not killed:
            killed.append(progress.step)
            os.kill(cluster.workers[0].pid, signal.SIGKILL)

    spread = ingested(tmp_path / "spread", documents, engine="dask", scheduler=cluster.address, on_progress=kill)
    local = ingested(tmp_path / "local", documents)
    assert killed
    assert spread.content_hash == local.content_hash
    assert spread.skipped == local.skipped
    assert len(spread.skipped) == 1
    assert cluster.workers[0].wait() == -signal.SIGKILL


@pytest.mark.slow
def test_workers_of_this_machine_are_started_and_ended(documents: Path, tmp_path: Path) -> None:
    for path in sorted(documents.glob("*.md"))[2:]:
        path.unlink()
    spread = ingested(tmp_path / "spread", documents, engine="dask", processes=2)
    assert spread.content_hash == ingested(tmp_path / "local", documents).content_hash


def test_a_scheduler_that_is_not_there_is_named(
    documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_executor, "CONNECT_SECONDS", 1)
    with pytest.raises(BackendUnavailable, match=r"The Dask scheduler tcp://127\.0\.0\.1:9 cannot be reached"):
        ingested(tmp_path / "kb", documents, engine="dask", scheduler="tcp://127.0.0.1:9")


def test_workers_of_another_version_are_refused(
    cluster: Cluster, documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dask_executor._versions.cache_clear()
    monkeypatch.setattr(dask_executor, "__version__", "99.0")
    with pytest.raises(BackendUnavailable, match=r"has graphctx .*, and this machine 99\.0"):
        ingested(tmp_path / "kb", documents, engine="dask", scheduler=cluster.address)
    dask_executor._versions.cache_clear()


def test_without_the_extra_the_error_says_what_to_install(
    documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(BackendUnavailable, match=r"graphctx\[dask\]"):
        ingested(tmp_path / "kb", documents, engine="dask")
