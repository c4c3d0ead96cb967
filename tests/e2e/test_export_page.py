"""The exported page in a real browser: what is seen, what is found, and that nothing is asked of anybody."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from eval.page_browser import HANG_MS, browser_path, launched
from graphctx.knowledge_base import KnowledgeBase
from tests.export.conftest import DOCUMENTS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        browser_path() is None,
        reason="no Chromium or Chrome is installed; $GRAPHCTX_BROWSER names one that is elsewhere",
    ),
]


@pytest.fixture(scope="module")  # while Playwright runs, no test of another module could run an event loop
def browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def handbook_page(handbook_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "handbook.html"
    with KnowledgeBase.open(handbook_path) as kb:
        kb.export(path, "html")
    return path


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    """An empty tab without motion; no test may make it complain or ask for anything but a file."""
    context = browser.new_context(reduced_motion="reduce", viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.set_default_timeout(HANG_MS)
    complaints: list[str] = []
    asked: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.extend([message.text] if message.type == "error" else []))
    page.on("request", lambda request: asked.append(request.url))
    yield page
    context.close()
    assert complaints == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


@pytest.fixture
def page(tab: Page, handbook_page: Path) -> Page:
    """The handbook's page, open."""
    tab.goto(handbook_page.resolve().as_uri())
    return tab


def test_the_page_shows_the_communities_with_names_that_do_not_overlap(page: Page) -> None:
    assert page.locator("circle.community.d1").count() > 5
    assert {"Gannet", "Almanac"} <= set(page.locator(".labels text").all_text_contents())
    overlaps = page.evaluate("""(() => {
        const boxes = [...document.querySelectorAll('.labels text')].map((text) => text.getBoundingClientRect());
        const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
        return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) => meet(a, b))).length;
    })()""")
    assert overlaps == 0


def test_a_search_finds_an_entity_goes_to_it_and_shows_its_quotes(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.insert_text("gannet")
    found = page.locator("#found li")
    expect(found.first).to_have_text("Gannetcommunity")
    expect(found.nth(1)).to_have_text("Gannetterm")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#panel h2")).to_have_text("Gannet")
    circle, frame = page.locator("circle.chosen").bounding_box(), page.locator("#map").bounding_box()
    assert circle is not None
    assert frame is not None
    assert circle["x"] + circle["width"] / 2 == pytest.approx(frame["x"] + frame["width"] / 2, abs=2)
    assert circle["y"] + circle["height"] / 2 == pytest.approx(frame["y"] + frame["height"] / 2, abs=2)
    assert circle["width"] > 120
    quote = page.locator("#panel .cited").first
    expect(quote).to_contain_text("Gannet is the gateway through which every message from a buoy comes ashore.")
    expect(quote).to_contain_text("systems/gannet.md:10")
    expect(quote.locator("mark").first).to_have_text("Gannet")


def test_clicks_lead_inwards_and_the_trail_leads_back(page: Page) -> None:
    page.locator("#panel .list button").first.click()
    expect(page.locator("circle.chosen")).to_have_count(1)
    community = page.locator("#panel h2").inner_text()
    expect(page.locator("#panel .cited").first).to_be_visible()
    page.locator("#panel .names button").first.click()
    expect(page.locator("#trail button", has_text=community).first).to_be_visible()
    page.locator("#trail button").first.click()
    expect(page.locator("#trail")).to_have_text("All")
    expect(page.locator("circle.chosen")).to_have_count(0)


def test_a_click_on_the_map_opens_the_outermost_closed_circle(page: Page) -> None:
    box = page.locator("circle.entity").first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page.locator("circle.chosen.d1")).to_have_count(1)


def test_the_map_is_used_by_keys_alone(page: Page) -> None:
    page.locator("#canvas").focus()
    page.keyboard.press("ArrowRight")
    first = page.locator("circle.cursor title").text_content() or ""
    expect(page.locator("#said")).to_contain_text(first)
    page.keyboard.press("Enter")
    expect(page.locator("#panel h2")).to_have_text(first)
    page.keyboard.press("Escape")
    expect(page.locator("#trail")).to_have_text("All")


def test_back_leads_to_what_was_chosen_before(page: Page) -> None:
    root = page.locator("#panel h2").inner_text()
    page.locator("#panel .list button").first.click()
    expect(page.locator("#panel h2")).not_to_have_text(root)
    page.go_back()
    expect(page.locator("#panel h2")).to_have_text(root)


def test_a_citation_leads_to_all_that_is_quoted_of_its_document(page: Page) -> None:
    page.locator("#panel .list button").first.click()
    link = page.locator("#panel .cited a").first
    title = link.inner_text()
    link.click()
    expect(page.locator("#panel h2")).to_have_text(title)
    assert page.locator("#panel .cited").count() > 1


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_texts_stand_out_from_what_is_behind_them(page: Page, dark: bool) -> None:
    page.emulate_media(color_scheme="dark" if dark else "light")
    # Luminance after WCAG 2.2; 4.5 is what it asks of text. Colours are drawn, so that any notation is understood.
    lowest = page.evaluate("""(() => {
        const pen = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d");
        const light = (colour) => {
            pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1);
            const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const text = light(getComputedStyle(document.body).color);
        return Math.min(...[...document.querySelectorAll("circle")].map((circle) => {
            const behind = light(getComputedStyle(circle).fill);
            return (Math.max(text, behind) + 0.05) / (Math.min(text, behind) + 0.05);
        }));
    })()""")
    assert lowest >= 4.5


def test_a_narrow_window_has_the_map_above_and_the_panel_below(page: Page) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    frame, panel = page.locator("#map").bounding_box(), page.locator("#panel").bounding_box()
    assert frame is not None
    assert panel is not None
    assert frame["y"] + frame["height"] <= panel["y"] + 1


def test_documents_cannot_run_anything(tab: Page, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    for name, text in DOCUMENTS.items():
        (docs / name).parent.mkdir(parents=True, exist_ok=True)
        (docs / name).write_text(text, "utf-8")
    with KnowledgeBase.open(tmp_path / "kb", create=True, project_id="<img src=x onerror=window.pwned=3>") as kb:
        kb.ingest(docs, processes=1)
        kb.export(tmp_path / "x.html", "html")
    tab.goto((tmp_path / "x.html").as_uri())
    tab.locator("#query").fill("script")
    tab.keyboard.press("Enter")
    expect(tab.locator("#panel h2")).to_contain_text("script")
    for circle in tab.locator("circle.entity").all():
        circle.dispatch_event("click")
    assert tab.evaluate("window.pwned === undefined")
    assert tab.locator("img, b, #panel script").count() == 0


def test_the_policy_stops_a_script_and_a_connection(browser: Browser, handbook_page: Path) -> None:
    page = browser.new_page()
    page.goto(handbook_page.resolve().as_uri())
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.ran = 1'}))"
    )
    assert page.evaluate("window.ran === undefined")
    assert page.evaluate("fetch('https://example.com').then(() => 'reached', () => 'stopped')") == "stopped"
    page.close()


def test_documents_without_communities_still_make_a_page(tab: Page, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# One\n\nIt rains.\n")
    with KnowledgeBase.open(tmp_path / "kb", create=True, project_id="rain") as kb:
        kb.ingest(tmp_path / "a.md", processes=1)
        kb.export(tmp_path / "x.html", "html")
    tab.goto((tmp_path / "x.html").as_uri())
    expect(tab.locator("#panel h2")).to_have_text("rain")
