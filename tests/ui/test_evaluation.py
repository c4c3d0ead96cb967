"""The view Evaluation: reports with plots, two runs side by side, and one question explained."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from eval.page_browser import served

from .api import post
from .conftest import take_picture


@pytest.fixture(scope="module")
def url(handbook_path: Path, reports_path: Path) -> Iterator[str]:
    with served(handbook_path, "--reports", reports_path) as url:
        yield url


@pytest.mark.slow
def test_a_report_shows_plots_measures_and_the_worst_question_explained(page: Page, url: str) -> None:
    page.goto(url)
    page.get_by_role("link", name="Evaluation").click()
    expect(page.get_by_label("broken.json")).to_contain_text("is not a report")
    expect(page.get_by_label("partial.json")).to_contain_text("is no complete report")
    page.get_by_role("link", name="monday.json").click()
    expect(page.get_by_role("img", name="Gold found among the first k")).to_be_visible()
    expect(page.get_by_role("row", name="R@5").first).to_be_visible()
    take_picture(page, "evaluation")
    worst = page.locator("details.miss").first
    worst.locator("summary").click()
    expect(worst.get_by_role("table")).to_contain_text("Quote")
    question = worst.locator(".question").inner_text()
    worst.get_by_role("link", name="Explain").click()
    expect(page.get_by_role("heading", name=question)).to_be_visible()
    expect(page.get_by_role("heading", name="By words (BM25)")).to_be_visible()
    page.get_by_role("link", name="monday.json").click()
    expect(page.get_by_role("heading", name="handbook")).to_be_visible()


@pytest.mark.slow
def test_two_runs_are_compared_side_by_side(page: Page, url: str) -> None:
    page.goto(url)
    page.get_by_role("link", name="Evaluation").click()
    page.get_by_label("Before").select_option("monday.json")
    page.get_by_label("After").select_option("tuesday.json")
    page.get_by_role("button", name="Compare two runs").click()
    expect(page.get_by_role("columnheader", name="difference")).to_be_visible()
    for name in ("monday", "tuesday"):
        expect(page.get_by_role("img", name=f"Gold found among the first k: {name}.json")).to_be_visible()


@pytest.mark.parametrize("name", ["../kb.toml", "nothing.json", "..\\\\a.json", "/etc/passwd.json", ".hidden.json"])
def test_only_reports_of_the_folder_are_read(url: str, name: str) -> None:
    assert post(url, "evaluation_report", {"name": name}).status_code == 400
