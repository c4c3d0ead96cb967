"""The page in a browser, used as a person would."""

from __future__ import annotations

from playwright.sync_api import Page, expect


def test_a_question_shows_its_quotes(page: Page, handbook_url: str) -> None:
    page.goto(handbook_url)
    page.get_by_label("Question").fill("How often does a freshly built data logger fail its cold test?")
    page.keyboard.press("Enter")
    expect(page.locator(".quote").filter(has_text="logger").first).to_be_visible()


def test_the_token_leaves_the_address(page: Page, handbook_url: str) -> None:
    page.goto(handbook_url)
    expect(page.get_by_role("heading", name="Ask")).to_be_visible()
    assert "token" not in page.url


def test_without_a_token_the_page_asks_for_one(page: Page, handbook_url: str) -> None:
    address, _, token = handbook_url.partition("#token=")
    page.goto(address)
    page.get_by_label("bearer token").fill(token)
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("heading", name="Ask")).to_be_visible()
