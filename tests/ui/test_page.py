"""The page as a whole: who may see it, what it loads, and whom it keeps out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Page, expect

from graphctx.ui.routes import STATIC

VIEWS: list[str] = re.findall(r'{ name: "(\w+)"', (STATIC / "views.js").read_text("utf-8"))
QUESTION = "q=For+whom+did+the+managing+director+work%3F"
ADDRESSES = [
    *(f"#/{name}" for name in VIEWS),
    f"#/ask?{QUESTION}&why=1&doc=people/ingrid-vasslund.md&start=101&end=245",
    f"#/ask?{QUESTION}&memory=1&layer=base&layer=delta",
    "#/ask?q=What+are+the+main+themes%3F&about=whole&why=1",
    "#/ask?q=qqqq+zzzz",
    "#/documents?uri=people/ingrid-vasslund.md&start=101&end=245",
    "#/graph?id=Gannet&at=Gannet",
    "#/layers?tab=proposals",
    "#/memory?tab=facts",
    "#/evaluation?report=monday.json",
    "#/evaluation?before=monday.json&after=tuesday.json",
    f"#/evaluation?explain={QUESTION[2:]}&report=monday.json",
]
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
AXE = (Path(__file__).parent / "axe.min.js").read_text("utf-8")
"""axe-core as npm has it (MPL-2.0): a file of the repository, so that the tests need no npm."""
FIRST_VIEW_BYTES = 150_000


@pytest.mark.slow
def test_the_token_leaves_the_address(page: Page, handbook_url: str) -> None:
    page.goto(handbook_url)
    expect(page.get_by_role("heading", name="Ask")).to_be_visible()
    assert "token" not in page.url


@pytest.mark.slow
@pytest.mark.parametrize("hash_", ["", "#token=wrong-0123456789-wrong-0123", "#/ask?q=ledger"])
def test_without_the_right_token_nothing_is_shown_and_one_is_asked_for(
    page: Page, handbook_url: str, hash_: str
) -> None:
    address, _, token = handbook_url.partition("#token=")
    page.goto(address + hash_)
    page.get_by_label("bearer token").fill(token)
    assert page.locator("nav").count() == 0
    assert page.locator("main").inner_text().split() == "graphctx This server needs a bearer token. Open".split()
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("heading", name="Ask")).to_be_visible()


@pytest.mark.slow
def test_a_view_that_is_left_asks_for_nothing_more(page: Page, handbook_url: str) -> None:
    page.goto(handbook_url)
    page.get_by_role("link", name="Graph", exact=True).click()
    expect(page.locator(".rows > li").first).to_be_visible()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rpartition("/api/")[2]))
    page.get_by_role("link", name="Themes", exact=True).click()
    expect(page.locator("ul.themes > li").first).to_be_visible()
    assert "themes" in asked
    assert "graph" not in asked


@pytest.mark.slow
def test_the_first_view_is_small(page: Page, handbook_url: str) -> None:
    page.goto(handbook_url)
    expect(page.get_by_role("heading", name="Try one of these")).to_be_visible()
    sizes: list[float] = page.evaluate(
        "[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]"
        ".map((entry) => entry.transferSize)"
    )
    assert 20_000 < sum(sizes) < FIRST_VIEW_BYTES


@pytest.mark.slow
@pytest.mark.parametrize("address", ADDRESSES)
def test_axe_finds_nothing(page: Page, everything_url: str, address: str) -> None:
    page.set_viewport_size({"width": 1700, "height": 900})
    page.emulate_media(reduced_motion="reduce")
    page.goto(everything_url)
    expect(page.get_by_role("navigation", name="Views").get_by_role("link")).to_have_count(len(VIEWS))
    page.goto(everything_url.partition("#")[0] + address)
    expect(page.locator("main h1")).to_be_visible()
    expect(page.locator("main [role=status]", has_text="…")).to_have_count(0)
    page.evaluate(AXE)
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        found: dict[str, Any] = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        violations = [
            (theme, violation["id"], node["target"], node["failureSummary"])
            for violation in found["violations"]
            for node in violation["nodes"]
        ]
        assert violations == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 360])
def test_on_a_phone_the_views_are_in_one_line_and_nothing_is_wider_than_it(
    page: Page, everything_url: str, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 740})
    page.goto(everything_url)
    views = page.get_by_role("navigation", name="Views")
    links = views.get_by_role("link")
    expect(links).to_have_count(len(VIEWS))
    for name in VIEWS:
        page.goto(f"{everything_url.partition('#')[0]}#/{name}")
        expect(views.locator("[aria-current]")).to_have_attribute("href", f"#/{name}")
        expect(views.locator("[aria-current]")).to_be_in_viewport(ratio=1)
        assert links.evaluate_all("(all) => new Set(all.map((one) => one.getBoundingClientRect().y)).size") == 1
        expect(page.locator("main [role=status]", has_text="…")).to_have_count(0)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
