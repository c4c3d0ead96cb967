"""The view of themes in a browser: down the hierarchy on the map and in words, and questions about the whole."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from graphctx.knowledge_base import KnowledgeBase
from graphctx.text.readable import readable
from tests.ui.marks import place_and_text


@pytest.fixture
def themes(page: Page, handbook_url: str) -> Page:
    """The view, open."""
    page.goto(handbook_url)
    page.get_by_role("link", name="Themes", exact=True).click()
    expect(page.get_by_role("list").get_by_role("link", name="Gannet")).to_be_visible()
    return page


@pytest.mark.slow
def test_a_theme_leads_to_its_sentences_and_to_the_finer_themes(themes: Page) -> None:
    themes.get_by_role("list").get_by_role("link", name="Gannet").click()
    expect(themes.get_by_role("heading", name="Gannet")).to_be_visible()
    expect(themes.locator("circle.chosen title")).to_have_text("Gannet")
    expect(themes.locator(".cited").first).to_be_visible()
    finer = themes.get_by_role("heading", name="Finer themes").locator("xpath=following-sibling::ul").first
    finer.get_by_role("link").first.click()
    trail = themes.get_by_role("navigation", name="Where you are")
    expect(trail.get_by_role("listitem")).to_have_count(3)
    trail.get_by_role("link", name="All themes").click()
    expect(themes.locator("circle.chosen")).to_have_count(0)


@pytest.mark.slow
def test_a_sentence_of_a_theme_leads_to_its_span(themes: Page, handbook_kb: KnowledgeBase) -> None:
    themes.get_by_role("list").get_by_role("link", name="Gannet").click()
    expect(themes.get_by_role("heading", name="Gannet")).to_be_visible()
    found, said = place_and_text(themes.locator(".cited").first)
    span = handbook_kb.document(found["uri"]).text[int(found["start"]) : int(found["end"])]
    assert "\n".join(readable(span, found["uri"])) == said


@pytest.mark.slow
def test_the_map_is_used_by_keys_alone(themes: Page) -> None:
    themes.locator(".map svg").focus()
    themes.keyboard.press("ArrowRight")
    title = themes.locator("circle.cursor title").text_content()
    assert title
    expect(themes.get_by_role("status").filter(has_text=title)).to_have_count(1)
    themes.keyboard.press("Enter")
    expect(themes.get_by_role("heading", name=title)).to_be_visible()
    themes.locator(".map svg").press("Home")
    expect(themes.get_by_role("heading", name=title)).to_have_count(0)


@pytest.mark.slow
def test_a_click_on_the_map_opens_the_outermost_closed_circle(themes: Page) -> None:
    box = themes.locator("circle.d2").first.bounding_box()
    assert box is not None
    themes.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(themes.locator("circle.d1.chosen")).to_have_count(1)
    expect(themes.locator(".panel h2")).to_be_visible()


@pytest.mark.slow
def test_a_question_about_the_whole_shows_cited_points_and_marks_their_themes(themes: Page) -> None:
    themes.get_by_label("Question about the whole").fill("How does the cooperative make decisions?")
    themes.keyboard.press("Enter")
    expect(themes.get_by_role("status").filter(has_text="word for word")).to_be_visible()
    expect(themes.locator(".cited a").first).to_be_visible()
    expect(themes.locator("circle.related").first).to_be_attached()
    assert "q=" in themes.url
    themes.locator(".panel section h2 a").first.click()
    expect(themes.get_by_role("heading", name="What documents say")).to_be_visible()
    expect(themes.locator("circle.related").first).to_be_attached()
    themes.reload()
    expect(themes.get_by_label("Question about the whole")).to_have_value("How does the cooperative make decisions?")
    themes.get_by_role("link", name="What the documents say to").click()
    expect(themes.get_by_role("status").filter(has_text="word for word")).to_be_visible()
