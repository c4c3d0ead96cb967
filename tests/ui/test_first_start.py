"""From an empty folder to a marked quote, as a person goes."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page, expect

from eval.page_browser import served

NOTES = {
    "ferry.md": "# The ferry\n\nThe ferry to Port Averil leaves the north quay at six in the morning.\n\n"
    "Captain Ines Halvorsen commands the ferry.\n",
    "harbour.md": "# Harbour rules\n\nNobody swims near the north quay while the ferry is moored there.\n",
    "broken.pdf": "%PDF-1.4 nothing of this is a PDF",
    "photo.png": "not a document",
}


def test_a_person_gets_from_an_empty_folder_to_a_marked_quote(page: Page, tmp_path: Path) -> None:
    files = []
    for name, text in NOTES.items():
        files.append(tmp_path / name)
        files[-1].write_text(text, "utf-8")
    with served(tmp_path / "kb") as url:
        page.goto(url)
        expect(page.get_by_role("heading", name="Begin with your documents")).to_be_visible()
        page.get_by_label("Choose files").set_input_files(files)
        expect(page.locator(".staged li").filter(has_text="photo.png")).to_contain_text("cannot be read")
        page.get_by_role("button", name="Add 3 files").click()
        expect(page.get_by_role("heading", name="Reading your documents")).to_be_visible()

        expect(page.get_by_role("heading", name="Ask")).to_be_visible()
        expect(page.get_by_text("2 documents published")).to_be_visible()
        page.get_by_role("link", name="1 file was skipped").click()
        expect(page.get_by_role("row").filter(has_text="broken.pdf")).to_contain_text("damaged")
        page.get_by_role("button", name="Delete broken.pdf").click()
        expect(page.get_by_text("Nothing was skipped.")).to_be_visible()

        page.get_by_role("link", name="Ask", exact=True).click()
        page.get_by_label("Question").first.fill("When does the ferry leave?")
        page.keyboard.press("Enter")
        expect(page.locator(".quote").filter(has_text="six in the morning").first).to_be_visible()

        start = NOTES["ferry.md"].index("The ferry to")
        span = {"uri": "ferry.md", "start": start, "end": start + 70}
        page.goto(f"{url.partition('#')[0]}#/documents?{urlencode(span)}")
        expect(page.locator(".reader mark").first).to_contain_text("The ferry to Port Averil")
