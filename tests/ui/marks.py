"""What the browser shows of documents: the marks of the reader, and cited spans."""

from __future__ import annotations

from urllib.parse import parse_qsl

from playwright.sync_api import Locator, Page, expect

MARKS = "mark.strong"
EQUAL = "([marks, text]) => [...document.querySelectorAll(marks)].map((mark) => mark.textContent).join('') === text"


def marked(page: Page) -> str:
    """Return the text that is marked strongly in the reader."""
    expect(page.locator(MARKS).first).to_be_in_viewport()
    return "".join(page.locator(MARKS).all_text_contents())


def expect_marked(page: Page, text: str) -> None:
    """Wait until the reader shows a mark of exactly this text."""
    page.wait_for_function(EQUAL, arg=[MARKS, text])
    expect(page.locator(MARKS).first).to_be_in_viewport()


def place_and_text(cited: Locator) -> tuple[dict[str, str], str]:
    """Return what the link of a cited span says (``uri``, ``start``, ``end``), and the text that is shown."""
    address, text = cited.evaluate(
        "(one) => [one.querySelector('a').hash, one.querySelector('blockquote').textContent]"
    )
    return dict(parse_qsl(address.partition("?")[2])), text
