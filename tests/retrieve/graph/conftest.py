"""A small knowledge base whose graph can be told by heart."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graphctx.knowledge_base import KnowledgeBase
from graphctx.retrieve.graph import GraphExplorer
from graphctx.retrieve.graph.view import GraphView

FILES = {
    "open/gannet.md": (
        "# Gannet\n\nGannet is the gateway of Marstrand Harbour. Peter Halloran wrote Gannet in Lisbon.\n\n"
        "## Restart\n\nHalloran restarts Gannet from the Winter Desk. See [the desk](desk.md).\n\n"
        "### Before\n\nTell Ingrid Vasslund first.\n\n### After\n\nIngrid Vasslund writes the report about Gannet.\n"
    ),
    "open/desk.md": (
        "# The Winter Desk\n\nThe Winter Desk watches Marstrand Harbour at night. Ingrid Vasslund leads the Winter Desk.\n\n"
        "## Rota\n\nOdile Brandt keeps the rota. Odile Brandt calls Ingrid Vasslund. Kristofer Lindqvist pays for the tide table.\n"
    ),
    "open/anna.md": "# Lighthouse\n\nAnna Halloran paints the lighthouse. Halloran keeps geese beside the lighthouse. "
    "The `gannet.toml` file names the desk. Read `gannet.toml`, or copy the `gannet.toml` file, before the tide clock (`tide_clock`).\n",
    "closed/plan.md": (
        "# Project Kestrel\n\nProject Kestrel replaces Gannet. Ingrid Vasslund pays Zacharias Quill for Project Kestrel.\n\n"
        "## Money\n\nZacharias Quill owes Odile Brandt 900 crowns. The old name of the Winter Desk is on the "
        "[gateway](../open/gannet.md).\n\nKristoffer Lindqvist pays Lisbon. Kristoffer Lindqvist trusts Zacharias Quill.\n"
    ),
    "closed/more.md": "# Ledger\n\nZacharias Quill keeps the ledger. Gannet is in the ledger. Gannet pays Lisbon. "
    "The `tide_clock` is slow. The tide clock, also called `old-clock.py`, is slow. The tide tables lie in Lisbon. Nobody reads tide tables.\n",
}


class Anew(GraphView):
    """Everything, as if it were a scope."""

    @property
    def whole(self) -> bool:
        return False


@pytest.fixture(scope="session")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    """Five documents, three of them in ``open``; nobody may change it."""
    folder = tmp_path_factory.mktemp("harbour")
    for name, text in FILES.items():
        path = folder / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    with KnowledgeBase.open(folder / "kb", create=True, project_id="harbour") as kb:
        kb.ingest(folder / "docs", processes=1)
        yield kb


@pytest.fixture
def graph(harbour: KnowledgeBase) -> GraphExplorer:
    """Its graph."""
    return harbour.searcher().graph
