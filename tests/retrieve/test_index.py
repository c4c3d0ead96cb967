"""What stands behind a row: documents, units, texts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphctx.errors import InvalidArgument
from graphctx.knowledge_base import KnowledgeBase
from graphctx.retrieve.index import SearchIndex


@pytest.fixture
def again(handbook_kb: KnowledgeBase) -> Callable[[], SearchIndex]:
    index = handbook_kb.searcher().index
    return lambda: SearchIndex(index.snapshot, index.embedder)


def test_documents_and_units_are_found_by_their_names(again: Callable[[], SearchIndex]) -> None:
    index = again()
    units = index.snapshot.table("units").to_pylist()
    for row in range(0, len(units), 17):
        unit = index.unit(row)
        assert {name: getattr(unit, name) for name in ("id", "doc_row", "heading", "start_char")} == {
            name: units[row][name] for name in ("id", "doc_row", "heading", "start_char")
        }
        assert index.unit_row(unit.id) == row
        document = index.document(units[row]["doc_uri"])
        assert document is index.document(units[row]["doc_id"])
        assert document.text[unit.start_char : unit.end_char] == units[row]["text"]
        first = next(at for at, other in enumerate(units) if other["section_id"] == units[row]["section_id"])
        assert index.unit_row(units[row]["section_id"]) == first
    for name in ("u_none", "s_none", "", "\ud800"):
        with pytest.raises(InvalidArgument):
            index.unit_row(name)
    for name in ("nowhere.md", "\ud800"):
        with pytest.raises(InvalidArgument):
            index.document(name)
