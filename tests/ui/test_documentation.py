"""The views over a real documentation site, graphctx's own, used as a person would."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from filelock import FileLock
from playwright.sync_api import Page, expect

from eval.page_browser import served
from graphctx import KnowledgeBase
from tests.ui.api import called
from tests.ui.conftest import take_picture
from tests.ui.marks import expect_marked

DOCS = Path(__file__).resolve().parents[2] / "docs"
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]  # a whole documentation is ingested first
QUESTION = "Who may ingest and remove documents on the page of a shared server?"


@pytest.fixture(scope="module")
def site(run_folder: Path) -> Iterator[str]:
    """The address of the page over the documentation, which is ingested once in a test run."""
    kb_dir = run_folder / "documentation-kb"
    with FileLock(run_folder / "documentation-kb.lock"):
        if not (kb_dir / "CURRENT").exists():
            with KnowledgeBase.open(kb_dir, create=True) as kb:
                kb.ingest(DOCS, processes=1)
    with served(kb_dir) as url:
        yield url


def text_of(uri: str) -> str:
    return (DOCS / uri).read_text("utf-8")


def test_a_question_leads_to_the_marked_quote_and_by_the_outline_through_its_document(page: Page, site: str) -> None:
    quotes = called(site, "tools/kb.retrieve_evidence", question=QUESTION)["quotes"]
    page.set_viewport_size({"width": 1600, "height": 900})
    page.goto(site)
    page.get_by_label("Question").fill(QUESTION)
    page.keyboard.press("Enter")
    for number, quote in enumerate(quotes):
        page.locator(".quote .open").nth(number).click()
        expect(page.locator(".quote[aria-current]")).to_have_attribute("data-number", str(number + 1))
        expect(page.get_by_role("region", name=f"Document {quote['title']}")).to_be_visible()
        expect_marked(page, quote["quote"])
        assert text_of(quote["doc_uri"])[quote["start_char"] : quote["end_char"]] == quote["quote"]
        if number == 0:
            take_picture(page, "ask-light")
            page.emulate_media(color_scheme="dark")
            take_picture(page, "ask-dark")
    outline = called(site, "document", uri=quotes[-1]["doc_uri"])["outline"]
    links = page.get_by_role("navigation", name="Outline").get_by_role("link")
    expect(links).to_have_text([heading["title"] for heading in outline])
    links.last.click()
    expect(page.get_by_role("heading", name=outline[-1]["title"]).last).to_be_in_viewport()


def test_themes_lead_down_to_sentences_in_their_places(page: Page, site: str) -> None:
    page.goto(site)
    page.get_by_role("link", name="Themes", exact=True).click()
    first = page.locator("ul.themes").get_by_role("link").first
    title = first.inner_text()
    first.click()
    expect(page.get_by_role("heading", name=title)).to_be_visible()
    expect(page.locator("circle.chosen")).to_have_count(1)
    sentence = page.locator(".cited").first
    sentence.scroll_into_view_if_needed()
    take_picture(page, "themes")
    place = parse_qs(urlsplit(sentence.get_by_role("link").get_attribute("href") or "").fragment.partition("?")[2])
    sentence.get_by_role("link").click()
    start, end = int(place["start"][0]), int(place["end"][0])
    expect_marked(page, text_of(place["uri"][0])[start:end])


def test_the_graph_leads_from_a_name_to_the_sentence_of_a_relation(page: Page, site: str) -> None:
    page.goto(site)
    page.get_by_role("link", name="Graph", exact=True).click()
    page.locator(".rows").get_by_role("button").first.click()
    expect(page.get_by_role("heading", name="Documents say")).to_be_visible()
    relation = page.locator(".rows > li").first
    relation.get_by_role("button").first.click()
    expect(relation.locator(".cited mark").first).to_be_visible()
    take_picture(page, "graph")


def test_documents_are_found_and_what_was_skipped_says_why(page: Page, site: str) -> None:
    found = called(site, "documents")
    assert found["total"] == sum(1 for _ in DOCS.rglob("*.md"))
    page.goto(site)
    page.get_by_role("link", name="Documents", exact=True).click()
    page.get_by_label("Search titles and paths").fill("page.md")
    row = page.get_by_role("row").filter(has=page.get_by_text("page.md", exact=True))
    expect(row).to_have_count(1)
    expect(page.get_by_role("row").filter(has_text="architecture.md")).to_have_count(0)
    take_picture(page, "documents")
    row.get_by_role("link", name="The page").click()
    expect(page.get_by_role("region", name="Text of the document")).to_contain_text("opens a page on this machine")
    page.keyboard.press("Escape")
    page.get_by_label("Search titles and paths").fill("images")
    page.get_by_role("link", name="Skipped").click()
    expect(page.get_by_role("row").filter(has_text="images/")).to_have_count(found["skipped"])
    expect(page.get_by_role("row").filter(has_text="graph.png")).to_contain_text("unsupported type")
