"""Nothing outside the boundary of the settings or the filters is in GraphML or on a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphctx.errors import InvalidArgument
from graphctx.export.options import ExportFormat
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.requests import DescribeInput, Filters
from tests.export.conftest import Export, data_of

OUTSIDE = ("Nightjar", "Dorothea", "Hollow Rock", "secret")


@pytest.mark.parametrize("format_", ["graphml", "html"])
@pytest.mark.parametrize("narrowed", [{"doc_tag": ["public"]}, {"path_prefix": "open/"}])
def test_filters_leave_nothing_from_outside(
    export: Export, tmp_path: Path, format_: ExportFormat, narrowed: dict[str, Any]
) -> None:
    export(tmp_path / "part", format_, **narrowed)
    part = (tmp_path / "part").read_text("utf-8")
    assert not [word for word in OUTSIDE if word in part]
    assert "Ada Merriweather" in part


def test_without_filters_everything_is_exported(page: Path, graph_file: Path) -> None:
    for file in (page, graph_file):
        assert all(word in file.read_text("utf-8") for word in OUTSIDE)


@pytest.mark.parametrize("format_", ["graphml", "html"])
@pytest.mark.parametrize(
    ("setting", "value"), [("DOC_TAGS", '["public"]'), ("REPOSITORIES", '["open"]')], ids=["tags", "repositories"]
)
def test_the_boundary_of_the_settings_holds_without_any_filter(
    export: Export, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format_: ExportFormat, setting: str, value: str
) -> None:
    monkeypatch.setenv(f"GRAPHCTX_SERVER__{setting}", value)
    export(tmp_path / "x", format_, **({"documents": True} if format_ == "graphml" else {}))
    assert not [word for word in OUTSIDE if word in (tmp_path / "x").read_text("utf-8")]


def test_counts_are_of_what_is_within_the_filters(export: Export, kb_path: Path, page: Path, tmp_path: Path) -> None:
    export(tmp_path / "part.html", "html", path_prefix="open/")
    entities = {entity["name"]: entity for entity in data_of(tmp_path / "part.html")["entities"]}
    with KnowledgeBase.open(kb_path) as kb:
        asked = DescribeInput(node_ids=[entities["Kittiwake"]["id"]], filters=Filters(path_prefix="open/"))
        told = kb.searcher().graph.describe(asked).items[0]
    assert (entities["Kittiwake"]["units"], entities["Kittiwake"]["mentions"]) == (told.n_units, told.n_mentions)
    whole = {entity["name"]: entity for entity in data_of(page)["entities"]}
    assert whole["Kittiwake"]["mentions"] > entities["Kittiwake"]["mentions"]


def test_tables_are_whole_whatever_the_boundary(
    export: Export, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHCTX_SERVER__DOC_TAGS", '["public"]')
    assert export(tmp_path / "t", "parquet").counts["documents"] == 4


def test_a_filter_that_leaves_no_document_is_refused(export: Export, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="nothing to export"):
        export(tmp_path / "x", "html", doc_tag=["no-such-tag"])
    assert not (tmp_path / "x").exists()
