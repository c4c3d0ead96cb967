"""The scripts of eval/tools are no package: they are imported as they are run, from their own folder."""

import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "eval" / "tools"))


@pytest.fixture(scope="session")
def handbook() -> Path:
    return REPO / "eval" / "corpora" / "handbook"


@pytest.fixture(scope="session")
def golden_folder() -> Path:
    return REPO / "eval" / "golden"


@pytest.fixture(scope="session")
def corpus(handbook: Path) -> dict[str, str]:
    """The text of every document of the handbook, by path."""
    from build_golden import read_corpus

    return read_corpus(handbook)
