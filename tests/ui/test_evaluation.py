"""The view Evaluation: reports with plots, two runs side by side, and one question explained."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from graphctx.eval.run import Measured, Where
from graphctx.eval.saved_report import write_report
from graphctx.eval.suites import load_suite

from .api import post
from .conftest import served

SUITE = Path(__file__).resolve().parents[2] / "eval" / "golden" / "handbook.jsonl"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, handbook_path: Path) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("reports")
    suite, where = load_suite(SUITE, limit=8), Where(handbook_path, handbook_path, folder)
    for name, variants in (("monday", ["hybrid_local", "bm25"]), ("tuesday", ["vector"])):
        measured = Measured()
        measured.add(suite, variants, where, with_misses=True)
        write_report(folder / f"{name}.json", measured)
    (folder / "broken.json").write_text("{", "utf-8")
    with served(handbook_path, "--reports", folder) as url:
        yield url


def test_a_report_shows_plots_measures_and_the_worst_question_explained(page: Page, url: str) -> None:
    page.goto(url)
    page.get_by_role("link", name="Evaluation").click()
    expect(page.get_by_label("broken.json")).to_contain_text("is not a report")
    page.get_by_role("link", name="monday.json").click()
    expect(page.get_by_role("img", name="Gold found among the first k")).to_be_visible()
    expect(page.get_by_role("row", name="R@5").first).to_be_visible()
    worst = page.locator("details.miss").first
    worst.locator("summary").click()
    expect(worst.get_by_role("table")).to_contain_text("Quote")
    question = worst.locator(".question").inner_text()
    worst.get_by_role("link", name="Explain").click()
    expect(page.get_by_role("heading", name=question)).to_be_visible()
    expect(page.get_by_role("heading", name="By words (BM25)")).to_be_visible()
    page.get_by_role("link", name="monday.json").click()
    expect(page.get_by_role("heading", name="handbook")).to_be_visible()


def test_two_runs_are_compared_side_by_side(page: Page, url: str) -> None:
    page.goto(url)
    page.get_by_role("link", name="Evaluation").click()
    page.get_by_label("Before").select_option("monday.json")
    page.get_by_label("After").select_option("tuesday.json")
    page.get_by_role("button", name="Compare two runs").click()
    expect(page.get_by_role("columnheader", name="difference")).to_be_visible()
    for name in ("monday", "tuesday"):
        expect(page.get_by_role("img", name=f"Gold found among the first k: {name}.json")).to_be_visible()


@pytest.mark.parametrize("name", ["../kb.toml", "nothing.json", "..\\\\a.json", "/etc/passwd.json"])
def test_only_reports_of_the_folder_are_read(url: str, name: str) -> None:
    assert post(url, "evaluation_report", {"name": name}).status_code == 400
