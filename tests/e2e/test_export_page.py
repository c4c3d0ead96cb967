"""The exported page in a real browser: what is seen, what is found, and that nothing is asked of anybody."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from graphctx.knowledge_base import KnowledgeBase
from tests.export.browser import Page, browser_path, opened_browser

pytestmark = pytest.mark.skipif(
    browser_path() is None, reason="no Chromium or Chrome is installed; $GRAPHCTX_BROWSER names one that is elsewhere"
)

HOSTILE = "</script><script>window.pwned=1</script>"
DOCUMENTS = {
    "a.md": f"# <img src=x onerror=window.pwned=2> {HOSTILE}\n\n"
    f"The option `{HOSTILE}` starts `<b onclick=pwned()>bold</b>`. Gull Point uses `{HOSTILE}`.\n",
    "b.md": "# Gull Point\n\nGull Point pays Brannoch Quay. Brannoch Quay built the Kittiwake for Gull Point.\n",
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with opened_browser(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture(scope="module")
def handbook_page(handbook_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "handbook.html"
    with KnowledgeBase.open(handbook_path) as kb:
        kb.export(path, "html")
    return path


@pytest.fixture
def page(browser: Page, handbook_page: Path) -> Iterator[Page]:
    """The handbook's page, open; no test may make it complain or ask for anything."""
    browser.open(handbook_page)
    yield browser
    assert browser.complaints == []
    assert [url for url in browser.requests if not url.startswith("data:")] == [handbook_page.resolve().as_uri()]


def heading(page: Page) -> str:
    return str(page.evaluate("document.querySelector('#panel h2').textContent"))


def labels(page: Page) -> list[str]:
    found: list[str] = page.evaluate("[...document.querySelectorAll('#labels text')].map((text) => text.textContent)")
    return found


def chosen_circle(page: Page) -> list[float]:
    """The middle of the chosen circle and its radius, and the middle of the map, in pixels."""
    found: list[float] = page.evaluate(
        "(() => { const c = document.querySelector('circle.chosen').getBoundingClientRect(),"
        " m = document.querySelector('#map').getBoundingClientRect();"
        " return [c.x + c.width / 2, c.y + c.height / 2, c.width / 2, m.x + m.width / 2, m.y + m.height / 2]; })()"
    )
    return found


def test_the_page_shows_the_communities_with_names_that_do_not_overlap(page: Page) -> None:
    assert page.evaluate("document.querySelectorAll('circle.community.d1').length") > 5
    assert {"Gannet", "Sieve"} <= set(labels(page))
    overlaps = page.evaluate("""(() => {
        const boxes = [...document.querySelectorAll('#labels text')].map((text) => text.getBoundingClientRect());
        const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
        return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) => meet(a, b))).length;
    })()""")
    assert overlaps == 0


def test_a_search_finds_an_entity_goes_to_it_and_shows_its_quotes(page: Page) -> None:
    page.key("/", "/")
    page.type("gannet")
    page.wait_for("!document.querySelector('#found').hidden")
    assert page.evaluate("document.querySelector('#found li[aria-selected=true] span').textContent") == "Gannet"
    page.key("Enter", "\r")
    page.wait_for("document.querySelector('#panel h2').textContent === 'Gannet'")
    x, y, radius, middle_x, middle_y = chosen_circle(page)
    assert abs(x - middle_x) < 2
    assert abs(y - middle_y) < 2
    assert radius > 60
    quotes = page.evaluate("[...document.querySelectorAll('#panel blockquote')].map((one) => one.textContent)")
    assert quotes[0].startswith("Gannet is the gateway through which every message from a buoy comes ashore.")
    assert "systems/gannet.md:10" in quotes[0]
    assert page.evaluate("document.querySelector('#panel mark').textContent") == "Gannet"


def test_clicks_lead_inwards_and_the_trail_leads_back(page: Page) -> None:
    page.click("circle.community.d1:not(.loose)")
    page.wait_for("document.querySelector('#trail').textContent.startsWith('All›')")
    community = heading(page)
    assert page.evaluate("document.querySelectorAll('#panel blockquote').length") > 0
    page.click("#panel .names button")
    page.wait_for(f"document.querySelector('#panel h2').textContent !== {community!r}")
    assert community in page.evaluate("document.querySelector('#trail').textContent")
    page.click("#trail button")
    page.wait_for("document.querySelector('#trail').textContent === 'All'")
    assert page.evaluate("document.querySelector('circle.chosen')") is None


def test_a_click_on_the_map_opens_the_outermost_closed_circle(page: Page) -> None:
    page.click("circle.entity")
    page.wait_for("document.querySelector('circle.chosen') !== null")
    assert page.evaluate("document.querySelector('circle.chosen').classList.contains('d1')")


def test_the_map_is_used_by_keys_alone(page: Page) -> None:
    page.evaluate("document.querySelector('#canvas').focus()")
    page.key("ArrowRight")
    first = page.evaluate("document.querySelector('circle.cursor title').textContent")
    assert first in page.evaluate("document.querySelector('#said').textContent")
    page.key("Enter", "\r")
    page.wait_for(f"document.querySelector('#panel h2').textContent === {first!r}")
    page.key("Escape")
    page.wait_for("document.querySelector('#trail').textContent === 'All'")


def test_back_leads_to_what_was_chosen_before(page: Page) -> None:
    root = heading(page)
    page.click("#panel .list button")
    page.wait_for(f"document.querySelector('#panel h2').textContent !== {root!r}")
    page.evaluate("history.back()")
    page.wait_for(f"document.querySelector('#panel h2').textContent === {root!r}")


def test_a_citation_leads_to_all_that_is_quoted_of_its_document(page: Page) -> None:
    page.click("#panel .list button")
    page.wait_for("document.querySelector('#panel blockquote a') !== null")
    title = page.evaluate("document.querySelector('#panel blockquote a').textContent")
    page.click("#panel blockquote a")
    page.wait_for(f"document.querySelector('#panel h2').textContent === {title!r}")
    assert page.evaluate("document.querySelectorAll('#panel blockquote').length") > 1


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_texts_stand_out_from_what_is_behind_them(browser: Page, handbook_page: Path, dark: bool) -> None:
    browser.open(handbook_page, dark=dark)
    # Luminance after WCAG 2.2; 4.5 is what it asks of text. Colours are drawn, so that any notation is understood.
    lowest = browser.evaluate("""(() => {
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


def test_a_narrow_window_has_the_map_above_and_the_panel_below(browser: Page, handbook_page: Path) -> None:
    browser.open(handbook_page, width=400, height=800)
    assert browser.evaluate("document.documentElement.scrollWidth") <= 400
    assert browser.evaluate(
        "document.querySelector('#map').getBoundingClientRect().bottom"
        " <= document.querySelector('#panel').getBoundingClientRect().top + 1"
    )


def test_documents_cannot_run_anything(browser: Page, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    for name, text in DOCUMENTS.items():
        (docs / name).write_text(text, "utf-8")
    with KnowledgeBase.open(tmp_path / "kb", create=True, project_id="<img src=x onerror=window.pwned=3>") as kb:
        kb.ingest(docs, processes=1)
        kb.export(tmp_path / "x.html", "html")
    browser.open(tmp_path / "x.html")
    browser.evaluate("document.querySelector('#query').focus()")
    browser.type("script")
    browser.key("Enter", "\r")
    browser.wait_for("document.querySelector('#panel h2').textContent.includes('script')")
    for at in range(browser.evaluate("document.querySelectorAll('circle.entity').length")):
        browser.evaluate(f"document.querySelectorAll('circle.entity')[{at}].dispatchEvent(new MouseEvent('click'))")
    assert browser.evaluate("window.pwned === undefined")
    assert browser.evaluate("document.querySelectorAll('img, b, #panel script').length") == 0
    assert browser.complaints == []


def test_the_policy_stops_a_script_and_a_connection(browser: Page, handbook_page: Path) -> None:
    browser.open(handbook_page)
    browser.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.ran = 1'}))"
    )
    assert browser.evaluate("window.ran === undefined")
    assert browser.evaluate("fetch('https://example.com').then(() => 'reached', () => 'stopped')") == "stopped"
    assert any("Content Security Policy" in str(complaint) for complaint in browser.complaints)


def test_documents_without_communities_still_make_a_page(browser: Page, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# One\n\nIt rains.\n")
    with KnowledgeBase.open(tmp_path / "kb", create=True, project_id="rain") as kb:
        kb.ingest(tmp_path / "a.md", processes=1)
        kb.export(tmp_path / "x.html", "html")
    browser.open(tmp_path / "x.html")
    assert heading(browser) == "rain"
    assert browser.complaints == []
