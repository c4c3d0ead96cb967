"""A small knowledge base that all tests of the command line read."""

from __future__ import annotations

from pathlib import Path

import pytest
from filelock import FileLock

from graphctx.knowledge_base import KnowledgeBase

HARBOUR = """---
title: Harbour
---
# Harbour

The lights are lit at dusk.

## Fees

Ships pay by length, and boats pay nothing.

## Empty above

### Gulls

Gulls are not fed.
"""
DOCUMENTS = {
    "docs/ada.md": "# Ada Merriweather\n\nAda Merriweather was the first keeper. She was born in the village of Thornby.\n",
    "docs/boat.md": "# The boat\n\nThe boat of Gull Point is called Kittiwake. It was built in Saltby.\n",
    "docs/lamp.md": "# The lamp\n\nThe lamp of Gull Point was lit by Ada Merriweather in 1871. It burns rape oil.\n",
    "docs/harbour #1.md": HARBOUR,
    "docs/in/b#.md": "---\ntags: [sea]\n---\nTides are told by the hour.\n",
    "more/lamp.md": "# Another lamp\n\nThis lamp is dark.\n",
}


@pytest.fixture(scope="session")
def lighthouse(run_folder: Path) -> Path:
    """The folder of the knowledge base; nobody may change it. Its sources are ``docs`` and ``more`` beside it."""
    folder = run_folder / "lighthouse"
    with FileLock(run_folder / "lighthouse.lock"):
        if not (folder / "kb" / "CURRENT").exists():
            for name, text in DOCUMENTS.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(text, "utf-8")
            with KnowledgeBase.open(folder / "kb", create=True, project_id="../light house") as kb:
                kb.ingest([folder / "docs", folder / "more"], processes=1)
    return folder / "kb"
