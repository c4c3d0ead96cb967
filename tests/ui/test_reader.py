"""The reader: large documents by windows, and hostile documents as text."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from eval.page_browser import served
from graphctx import KnowledgeBase

ENTRY = "```\n" + "07:00 | 412 | 3.1 | 😀 | N | 6\n" * 90 + "```\n"
"""Code, of which nothing is extracted."""
DAYS = 100
KEY = "The golden key lies below the lighthouse of Quarrelsome Rock."
HOSTILE = (
    '# <img src=x onerror="window.hacked = 1">\n\n<script>window.hacked = 1</script>\n\n'
    'The cuckoo clock <mark class="strong">of the 🕰 customs</mark> house is [late](javascript:window.hacked=1) '
    "\x1b[31mby\u202e ten minutes.\n\n</blockquote></main>"
)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of a large document and a hostile one."""
    folder = tmp_path_factory.mktemp("read")
    documents = folder / "documents"
    documents.mkdir()
    days = "".join(f"## Day {day}\n\n{ENTRY}\n" for day in range(DAYS))
    (documents / "book.md").write_text(f"# The book\n\n{days}## The end\n\n{KEY}\n", "utf-8")
    (documents / "<b>'&\".md").write_text(HOSTILE, "utf-8")
    with KnowledgeBase.open(folder / "kb", create=True) as kb:
        kb.ingest(documents, processes=1)
    with served(folder / "kb") as url:
        yield url


def at(url: str, **params: object) -> str:
    return f"{url.partition('#')[0]}#/ask?{urlencode(params)}"


@pytest.mark.slow
def test_a_large_document_is_read_by_windows(page: Page, url: str) -> None:
    page.goto(url)
    page.get_by_label("Question").fill("Where is the golden key?")
    page.keyboard.press("Enter")
    page.locator(".quote", has_text="golden key").get_by_role("link").first.click()
    expect(page.locator("mark.strong").first).to_be_in_viewport()
    assert KEY in "".join(page.locator("mark.strong").all_text_contents())
    text = page.get_by_role("region", name="Text of the document")
    characters = "document.querySelector('.scroll').textContent.length"
    for _ in range(7):  # upwards, until windows that were read first are dropped
        first = page.locator("[data-window]").first.get_attribute("data-window")
        text.evaluate("(element) => { element.scrollTop = 0; }")
        expect(page.locator("[data-window]").first).not_to_have_attribute("data-window", first or "")
        assert page.evaluate(characters) < 300_000
    page.get_by_text("Outline", exact=True).click()
    page.get_by_role("navigation", name="Outline").get_by_role("link", name="Day 7", exact=True).click()
    expect(page.get_by_role("heading", name="## Day 7", exact=True)).to_be_in_viewport()


@pytest.mark.slow
def test_a_hostile_document_is_shown_as_text(page: Page, url: str) -> None:
    page.goto(url)
    page.goto(at(url, q="How late is the cuckoo clock of the customs house? <img src=x onerror='window.hacked=1'>"))
    quote = page.locator(".quote", has_text="cuckoo")
    expect(quote).to_contain_text('<mark class="strong">')
    expect(quote).to_contain_text("\\u{1b}[31mby\\u{202e} ten minutes.")
    quote.get_by_role("link").first.click()
    marks = page.locator("mark.strong")
    expect(marks.first).to_be_in_viewport()
    shown = "".join(marks.all_text_contents())
    assert shown.startswith('The cuckoo clock <mark class="strong">of the 🕰 customs</mark> house')
    expect(page.locator(".reader")).to_contain_text("<script>window.hacked = 1</script>")
    assert page.locator("img, .block a").count() == 0
    assert page.evaluate("window.hacked") is None
