"""Fixtures that several packages share: sample documents, and knowledge bases made of them once per test run."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, settings

from graphctx.ingest.read import reader_for
from graphctx.ingest.report import IngestReport
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.documents import Document

REPO = Path(__file__).resolve().parents[1]
EFFORT = float(os.environ.get("GRAPHCTX_TEST_EFFORT", "1.0"))
"""How much the slow suites do, 1 by default."""

settings.register_profile(
    "graphctx",
    max_examples=max(10, int(100 * EFFORT)),
    deadline=None,  # a time is no property
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("graphctx")

Files = Mapping[str, str | bytes]
MakeKb = Callable[..., KnowledgeBase]


@pytest.fixture(scope="session")
def effort() -> float:
    """How much the slow suites do."""
    return EFFORT


@pytest.fixture(scope="session")
def handbook_folder() -> Path:
    """The sample handbook."""
    return REPO / "eval" / "corpora" / "handbook"


@pytest.fixture(scope="session")
def golden() -> list[dict[str, Any]]:
    """The handbook's golden questions."""
    lines = (REPO / "eval" / "golden" / "handbook.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder that all workers of this test run share."""
    base = tmp_path_factory.getbasetemp()
    return base if worker_id == "master" else base.parent


@pytest.fixture(scope="session")
def handbook_report(run_folder: Path, handbook_folder: Path) -> IngestReport:
    """What the one ingest of the handbook reported; the knowledge base is `handbook_path`."""
    folder, report = run_folder / "handbook-kb", run_folder / "handbook-report.json"
    with FileLock(run_folder / "handbook-kb.lock"):
        if not report.exists():
            with KnowledgeBase.open(folder, create=True, project_id="handbook") as kb:
                made = kb.ingest(handbook_folder, processes=1)
            report.write_text(made.model_dump_json(), "utf-8")
    return IngestReport.model_validate_json(report.read_text("utf-8"))


@pytest.fixture(scope="session")
def handbook_path(run_folder: Path, handbook_report: IngestReport) -> Path:
    """The folder of the ingested handbook; nobody may change it."""
    return run_folder / "handbook-kb"


@pytest.fixture(scope="session")
def handbook_kb(handbook_path: Path) -> Iterator[KnowledgeBase]:
    """The ingested handbook, open; nobody may change it."""
    with KnowledgeBase.open(handbook_path) as kb:
        yield kb


@pytest.fixture
def write_files(tmp_path: Path) -> Callable[..., Path]:
    """Write files below a fresh folder: ``write_files({"a/b.md": "# B"}, "docs")``."""

    def write(files: Files, name: str = "docs") -> Path:
        folder = tmp_path / name
        for rel, content in files.items():
            path = folder / rel
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return folder

    return write


@pytest.fixture
def make_kb(tmp_path: Path, write_files: Callable[..., Path]) -> Iterator[MakeKb]:
    """Make a knowledge base of a few files: ``make_kb({"a.md": "# A"})``. Its sources are in ``<name>-docs``."""
    opened: list[KnowledgeBase] = []

    def make(files: Files, name: str = "kb", **options: Any) -> KnowledgeBase:
        kb = KnowledgeBase.open(tmp_path / name, create=True, **{"project_id": "test", **options})
        opened.append(kb)
        kb.ingest(write_files(files, f"{name}-docs"), processes=1)
        return kb

    yield make
    for kb in opened:
        kb.close()


@pytest.fixture(scope="session")
def read_text() -> Callable[[str, str], Document]:
    """Read one document from a string: ``read_text("a/b.md", "# B")``."""

    def read(uri: str, text: str) -> Document:
        reader = reader_for(uri)
        assert reader is not None
        return reader.read(text.encode("utf-8"), uri).documents[0]

    return read


@pytest.fixture(scope="session")
def python() -> Callable[..., str]:
    """Run a piece of Python in a process of its own and give what it printed."""
    import subprocess

    def run(code: str, *arguments: object, **environment: str) -> str:
        path = os.pathsep.join([str(REPO), *filter(None, [os.environ.get("PYTHONPATH")])])
        done = subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": path, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
