"""A small knowledge base of hostile documents: markup, scripts and controls in names, titles and texts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import igraph
import pytest
from filelock import FileLock

from graphctx.export.options import ExportFormat, ExportReport
from graphctx.knowledge_base import KnowledgeBase

SCRIPT = "</script><script>window.pwned=1</script>"
IMAGE = "<img src=x onerror=window.pwned=2>"
GENERIC = "Vec<script>"

DOCUMENTS = {
    "open/ada.md": "---\ntags: [public]\n---\n# Ada Merriweather\n\nAda Merriweather keeps the Gull Point light. "
    "Ada Merriweather repairs the Kittiwake with Brannoch Quay. The Kittiwake carries oil to Gull Point.\n",
    "open/boat.md": "---\ntags: [public]\n---\n# The Kittiwake\n\nThe Kittiwake is the boat of Gull Point. "
    "Brannoch Quay built the Kittiwake in Saltby. Ada Merriweather sails the Kittiwake to Saltby & Thornby.\n",
    "closed/secret.md": "# Operation Nightjar\n\nOperation Nightjar moves the Kittiwake to Hollow Rock. "
    "Dorothea Vance runs Operation Nightjar from Hollow Rock. Dorothea Vance pays Brannoch Quay.\n",
    f"open/{IMAGE}.md": f"---\ntags: [public]\n---\n# {IMAGE} {SCRIPT}\n\n"
    f"The option `{SCRIPT}` starts `{IMAGE}`. Gull Point uses `{SCRIPT}` with `a&b<c>\u2028d`. "
    f"Brannoch Quay fears `{SCRIPT}` and `ctl_\x0b\x1f\x01x`. Saltby sets `ctl_\x0b\x1f\x01x` and reads `{GENERIC}`.\n",
}

Export = Callable[..., ExportReport]


@pytest.fixture(scope="session")
def kb_path(run_folder: Path) -> Path:
    """The folder of the knowledge base; nobody may change it."""
    folder = run_folder / "export"
    with FileLock(run_folder / "export.lock"):
        if not (folder / "kb" / "CURRENT").exists():
            for name, text in DOCUMENTS.items():
                path = folder / "docs" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, "utf-8")
            with KnowledgeBase.open(folder / "kb", create=True, project_id=f"light {IMAGE}") as kb:
                kb.ingest(folder / "docs", processes=1)
    return folder / "kb"


@pytest.fixture(scope="session")
def export(kb_path: Path) -> Export:
    """Export the knowledge base: ``export(path, "html", max_entities=3)``."""

    def run(path: Path, format_: ExportFormat, **options: Any) -> ExportReport:
        with KnowledgeBase.open(kb_path) as kb:
            return kb.export(path, format_, **options)

    return run


@pytest.fixture(scope="session")
def page(export: Export, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole knowledge base as a page."""
    path = tmp_path_factory.mktemp("page") / "x.html"
    export(path, "html")
    return path


@pytest.fixture(scope="session")
def graph_file(export: Export, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole knowledge base as GraphML, with documents."""
    path = tmp_path_factory.mktemp("graph") / "x.graphml"
    export(path, "graphml", documents=True)
    return path


@pytest.fixture(scope="session")
def graph(graph_file: Path) -> igraph.Graph:
    """That GraphML as igraph reads it."""
    return igraph.Graph.Read_GraphML(str(graph_file))


def data_of(page: Path) -> dict[str, Any]:
    """The data that a page embeds."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text("utf-8"), re.S)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data
