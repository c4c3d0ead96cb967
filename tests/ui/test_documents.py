"""The list of documents, over HTTP and in a browser."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from graphctx.knowledge_base import KnowledgeBase
from tests.ui.api import called


@pytest.mark.parametrize(
    ("sort", "key"), [("uri", "uri"), ("size", "bytes"), ("updated", "updated_at")], ids=["path", "size", "date"]
)
def test_pages_hold_every_document_once_in_the_order_asked_for(handbook_url: str, sort: str, key: str) -> None:
    found: list[dict[str, Any]] = []
    while (
        len(found)
        < (page := called(handbook_url, "documents", sort=sort, descending=True, offset=len(found), limit=7))["total"]
    ):
        found += page["documents"]
    assert len({item["uri"] for item in found}) == len(found) == page["total"]
    assert [item[key] for item in found] == sorted((item[key] for item in found), reverse=True)


def test_words_tags_and_folders_narrow_the_list(handbook_url: str, handbook_kb: KnowledgeBase) -> None:
    found = called(
        handbook_url, "documents", query="MARGARET old", filters={"doc_tag": ["incident"], "path_prefix": "incidents/"}
    )["documents"]
    assert [item["uri"] for item in found] == ["incidents/2023-02-old-margaret-adrift.md"]
    assert found[0]["bytes"] == len(handbook_kb.document(found[0]["uri"]).text.encode())


@pytest.mark.slow
def test_a_document_is_found_and_opens_at_a_marked_span(
    page: Page, handbook_url: str, handbook_kb: KnowledgeBase
) -> None:
    page.goto(handbook_url)
    page.get_by_role("link", name="Documents", exact=True).click()
    page.get_by_label("Search titles and paths").fill("gannet")
    expect(page).to_have_url(re.compile("q=gannet"))
    page.locator("td.title a", has_text="DEC-017").click()
    expect(page.get_by_role("region", name="Text of the document")).to_be_visible()
    uri = "decisions/dec-017-gannet.md"
    text = handbook_kb.document(uri).text
    start = text.index("Gannet", len(text) // 2)
    page.goto(f"{page.url}&start={start}&end={start + len('Gannet')}")
    expect(page.locator(".reader mark")).to_have_text("Gannet")
    page.keyboard.press("Escape")
    expect(page.get_by_label("Search titles and paths")).to_have_value("gannet")
