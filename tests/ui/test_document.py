"""Windows of documents over HTTP: exact, whole lines, and never outside the boundary."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from eval.page_browser import served
from graphctx import KnowledgeBase
from tests.ui.api import called, post

PDF = "reports/annual-review-2024.pdf"


@pytest.mark.parametrize("size", [200, 1000, 100_000])
def test_windows_one_after_another_are_the_whole_text(handbook_url: str, handbook_kb: KnowledgeBase, size: int) -> None:
    found, at = "", 0
    while not found or at < len(handbook_kb.document(PDF).text):
        window = called(handbook_url, "document", uri=PDF, start=at, end=at + size, outline=False)
        assert window["start"] == at
        assert window["line"] == found.count("\n") + 1
        found, at = found + window["text"], window["end"]
    assert found == handbook_kb.document(PDF).text


def test_a_window_has_the_outline_the_pages_and_the_names_in_it(handbook_url: str) -> None:
    window = called(handbook_url, "document", uri=PDF, start=1900, end=2300)
    assert window["page_starts"][0] == 0
    assert "People" in [heading["title"] for heading in window["outline"]]
    assert {entity["name"] for entity in window["entities"]} >= {"Orla Fenwick", "Telemetry Team"}
    assert all(window["start"] <= entity["start"] < window["end"] for entity in window["entities"])


@pytest.fixture(scope="module")
def teams_url(handbook_path: Path) -> Iterator[str]:
    """The address of the page of a server whose boundary is one folder."""
    with served(handbook_path, environment={"GRAPHCTX_SERVER__REPOSITORIES": '["teams"]'}) as url:
        yield url


def test_a_document_outside_the_boundary_is_unknown(teams_url: str) -> None:
    assert called(teams_url, "document", uri="teams/electronics-workshop.md")["title"] == "Electronics Workshop"
    refused = post(teams_url, "document", {"uri": PDF})
    assert refused.status_code == 400
    assert refused.json()["error"]["message"] == f"There is no document '{PDF}' in the published snapshot."


def test_names_are_those_of_the_documents_within_the_boundary(
    teams_url: str, handbook_url: str, handbook_kb: KnowledgeBase
) -> None:
    uri = "teams/electronics-workshop.md"
    inside = {one["id"]: one["n_units"] for one in called(teams_url, "document", uri=uri)["entities"]}
    everywhere = {one["id"]: one["n_units"] for one in called(handbook_url, "document", uri=uri)["entities"]}
    assert all(count <= everywhere[entity] for entity, count in inside.items())
    assert sum(inside.values()) < sum(everywhere.values())
