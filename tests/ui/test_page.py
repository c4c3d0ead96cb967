"""The page as a whole: who may see it, what it loads, and whom it keeps out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from graphctx.ui.routes import STATIC
from tests.ui.conftest import served

VIEWS: list[str] = re.findall(r'{ name: "(\w+)"', (STATIC / "views.js").read_text("utf-8"))
QUESTION = "q=For+whom+did+the+managing+director+work%3F"
ADDRESSES = [
    *(f"#/{name}" for name in VIEWS),
    f"#/ask?{QUESTION}&why=1&doc=people/ingrid-vasslund.md&start=101&end=245",
    "#/ask?q=What+are+the+main+themes%3F&about=whole",
    "#/ask?q=qqqq+zzzz",
]
AXE = (Path(__file__).parent / "axe.min.js").read_text("utf-8")
"""axe-core as npm has it (MPL-2.0): a file of the repository, so that the tests need no npm."""
FIRST_VIEW_BYTES = 150_000


@pytest.fixture(scope="module")
def everything_url(handbook_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of the handbook, with a memory and layers."""
    memory, layers = (tmp_path_factory.mktemp(name) for name in ("memory", "layers"))
    with served(handbook_path, "--memory", memory, "--layers", layers) as url:
        yield url


def test_the_token_leaves_the_address(page: Page, handbook_url: str) -> None:
    page.goto(handbook_url)
    expect(page.get_by_role("heading", name="Ask")).to_be_visible()
    assert "token" not in page.url


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


def test_the_first_view_is_small(page: Page, handbook_url: str) -> None:
    page.goto(handbook_url)
    expect(page.get_by_role("heading", name="Try one of these")).to_be_visible()
    sizes: list[float] = page.evaluate(
        "[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]"
        ".map((entry) => entry.transferSize)"
    )
    assert 20_000 < sum(sizes) < FIRST_VIEW_BYTES


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("address", ADDRESSES)
def test_axe_finds_nothing_serious(page: Page, everything_url: str, address: str, theme: Any) -> None:
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    page.goto(everything_url)
    expect(page.locator("main h1")).to_be_visible()
    page.goto(everything_url.partition("#")[0] + address)
    expect(page.locator("main h1")).to_be_visible()
    expect(page.locator("main [role=status]", has_text="…")).to_have_count(0)
    page.evaluate(AXE)
    found: dict[str, Any] = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    serious = [
        (violation["id"], node["target"], node["failureSummary"])
        for violation in found["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]
    assert serious == []
