from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from graphctx.knowledge_base import KnowledgeBase

from .corpus import write_corpus
from .examples import Examples
from .protocol import Caller, in_memory
from .truth import Truth

PROJECT = "marrow"


@pytest.fixture(scope="session")
def nasty_path(run_folder: Path) -> Path:
    """The folder of the ingested nasty documents, made by whichever worker comes first; nobody may change it."""
    home = run_folder / "nasty"
    with FileLock(run_folder / "nasty.lock"):
        if not (home / "done").exists():
            with KnowledgeBase.open(home / "kb", create=True, project_id=PROJECT) as kb:
                kb.ingest(write_corpus(home / "documents"), processes=1)
            (home / "done").touch()
    return home / "kb"


@pytest.fixture(scope="session")
def nasty(nasty_path: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase.open(nasty_path) as kb:
        yield kb


@pytest.fixture(scope="session")
def truth(nasty: KnowledgeBase) -> Truth:
    return Truth(nasty)


@pytest.fixture(scope="session")
def caller(nasty: KnowledgeBase) -> Iterator[Caller]:
    """A client of a server with every toolset of the tool contract."""
    with in_memory(nasty) as caller:
        yield caller


@pytest.fixture(scope="session")
def examples(caller: Caller, truth: Truth) -> Examples:
    """A call of every tool that has an answer, of this client's own session."""
    return Examples.gathered(caller, truth)


@pytest.fixture(scope="session")
def schemas(caller: Caller) -> dict[str, Any]:
    """The listed tools by name."""
    return caller.tools()


@contextmanager
def fenced_kb(path: Path, **boundary: list[str]) -> Iterator[KnowledgeBase]:
    """A knowledge base whose settings draw a boundary: ``repositories`` or ``doc_tags``."""
    with pytest.MonkeyPatch.context() as patch:
        for name, values in boundary.items():
            patch.setenv(f"GRAPHCTX_SERVER__{name.upper()}", json.dumps(values))
        kb = KnowledgeBase.open(path)
    with kb:
        yield kb


@pytest.fixture(scope="session")
def fenced(nasty_path: Path) -> Iterator[Caller]:
    """A server whose settings let it see the open half alone."""
    with fenced_kb(nasty_path, repositories=["open"]) as kb, in_memory(kb) as caller:
        yield caller


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
