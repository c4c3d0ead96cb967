"""Write the pictures of the README into docs/images: the page over the sample handbook, in Chromium.

python tools/ui/screenshots.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page

from eval.page_browser import launched, served

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
SIZE = {"width": 1200, "height": 720}


def document(page: Page) -> None:
    """Show a question, its quotes, and the first of them in its document."""
    page.get_by_label("Question", exact=True).fill("How often does a freshly built data logger fail its cold test?")
    page.keyboard.press("Enter")
    page.locator(".quote").first.wait_for()
    page.locator(".quote").first.get_by_role("link").first.click()
    page.locator("mark.strong").first.wait_for()


def graph(page: Page) -> None:
    """Show a name with its neighbours."""
    page.get_by_role("link", name="Graph", exact=True).click()
    page.get_by_label("Find a name", exact=True).fill("Gannet")
    page.get_by_role("button", name="Show", exact=True).click()
    page.get_by_text("neighbours in all").wait_for()
    page.locator(".cited").first.wait_for()


def themes(page: Page) -> None:
    """Show a theme on the map."""
    page.get_by_role("link", name="Themes").click()
    page.locator(".themes").get_by_role("link").first.click()
    page.locator(".cited").first.wait_for()


def main() -> None:
    """Serve the handbook and take the pictures."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        kb = Path(folder) / "handbook"
        command = [sys.executable, "-m", "graphctx.cli", "ingest", ROOT / "eval/corpora/handbook", "--kb", kb]
        subprocess.run(command, check=True)
        with served(kb) as address, launched() as browser:
            for scene, colours in ((document, "light"), (graph, "light"), (themes, "dark")):
                page = browser.new_context(viewport=SIZE, color_scheme=colours).new_page()
                page.goto(address)
                scene(page)
                page.wait_for_timeout(1500)  # until the map has come to rest
                page.screenshot(path=IMAGES / f"{scene.__name__}.png")


if __name__ == "__main__":
    main()
