"""Shared fixtures. The scripts of eval/tools are not a package: they are imported as they are run, from their folder."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphctx.ingest.read import discover, read_file
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.documents import Document

REPO = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "eval" / "tools"))

KEEPERS = {"Ada": "Thornby", "Silas": "Saltby", "Maud": "Wexley", "Piran": "Ormsby", "Tamsin": "Netherton"}
SMALL = {
    f"keepers/{name.lower()}.md": f"# {name} Merriweather\n\n{name} Merriweather kept the light of Gull Point in "
    f"{1871 + at}. {name} was born in the village of {village}.\n"
    for at, (name, village) in enumerate(KEEPERS.items())
} | {
    "log.md": "# The log\n\n"
    + "\n".join(f"## Night {n}\n\nOn night {n} the keeper saw {n * 7} ships pass the point.\n" for n in range(1, 31)),
    "lamp.md": "# Lamp\n\nAda lit\nthe lamp. Silas watched. Ada slept.\n",
    "sub/boat.md": "# Boat\n\nKittiwake.\n",
}


@pytest.fixture(scope="session")
def small_kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    """A few made documents, ingested once; nobody may change it."""
    folder = tmp_path_factory.mktemp("small")
    for name, text in SMALL.items():
        (folder / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "docs" / name).write_text(text, "utf-8")
    with KnowledgeBase.open(folder / "kb", create=True, project_id="test") as kb:
        kb.ingest(folder / "docs", processes=1)
        yield kb


@pytest.fixture(scope="session")
def handbook() -> Path:
    return REPO / "eval" / "corpora" / "handbook"


@pytest.fixture(scope="session")
def golden_folder() -> Path:
    return REPO / "eval" / "golden"


@pytest.fixture(scope="session")
def documents(handbook: Path) -> dict[str, Document]:
    """Every document of the handbook, by path."""
    return {file.rel: read_file(file, file.rel).documents[0] for file in discover([handbook]).files}


@pytest.fixture(scope="session")
def corpus(documents: dict[str, Document]) -> dict[str, str]:
    """The text of every document of the handbook, by path."""
    return {uri: document.text for uri, document in documents.items()}
