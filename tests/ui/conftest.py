"""A real server, started as a person starts it, and a real browser in front of it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from eval.page_browser import HANG_MS, browser_path, launched, served
from graphctx.eval.run import Measured, Where
from graphctx.eval.saved_report import REPORT_SCHEMA, write_report
from graphctx.eval.suites import load_suite
from tests.ui.stored import fill_layers, fill_memory

expect.set_options(timeout=HANG_MS)
NO_BROWSER = "no Chromium or Chrome is installed; $GRAPHCTX_BROWSER names one that is elsewhere"
ARTIFACTS = os.environ.get("GRAPHCTX_ARTIFACTS", "")
"""The folder of pictures that the tests take of the views; none are taken without it."""
SUITE = Path(__file__).resolve().parents[2] / "eval" / "golden" / "handbook.jsonl"


@pytest.fixture(scope="module")  # while Playwright runs, no test of another module could run an event loop
def browser() -> Iterator[Browser]:
    if browser_path() is None:
        pytest.skip(NO_BROWSER)
    with launched() as browser:
        yield browser


@pytest.fixture(scope="session")
def handbook_url(handbook_path: Path) -> Iterator[str]:
    """The address of the page over the handbook; nobody may change what it serves."""
    with served(handbook_path) as url:
        yield url


@pytest.fixture(scope="session")
def reports_path(tmp_path_factory: pytest.TempPathFactory, handbook_path: Path) -> Path:
    """A folder of two reports about the handbook, and two files that are none."""
    folder = tmp_path_factory.mktemp("reports")
    suite, where = load_suite(SUITE, limit=8), Where(handbook_path, handbook_path, folder)
    for name, variants in (("monday", ["hybrid_local", "bm25"]), ("tuesday", ["vector"])):
        measured = Measured()
        measured.add(suite, variants, where, with_misses=True)
        write_report(folder / f"{name}.json", measured)
    (folder / "broken.json").write_text("{", "utf-8")
    (folder / ".hidden.json").write_bytes((folder / "monday.json").read_bytes())
    (folder / "partial.json").write_text(json.dumps({"schema": REPORT_SCHEMA, "suites": []}), "utf-8")
    return folder


@pytest.fixture(scope="session")
def beside(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Settings, as an environment, of a memory and of layers that hold something, beside the handbook."""
    folder = tmp_path_factory.mktemp("beside")
    fill_memory(folder / "memory", project="handbook")
    fill_layers(folder / "layers")
    return {"GRAPHCTX_MEMORY__FOLDER": str(folder / "memory"), "GRAPHCTX_LAYERS__FOLDER": str(folder / "layers")}


@pytest.fixture(scope="session")
def everything_url(handbook_path: Path, reports_path: Path, beside: dict[str, str]) -> Iterator[str]:
    """The address of a page with every view; nobody may change what it serves."""
    with served(handbook_path, "--reports", reports_path, environment=beside) as url:
        yield url


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """An empty tab of its own; the test fails if a script fails or something from elsewhere is asked for."""
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(HANG_MS)
    failures: list[str] = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.on("console", lambda message: failures.extend(_violations(message.text)))
    yield page
    context.close()
    assert failures == []


def take_picture(page: Page, name: str) -> None:
    """Keep a picture of what a tab shows as an artefact of the test run."""
    if ARTIFACTS:
        page.screenshot(path=Path(ARTIFACTS) / f"{name}.png", animations="disabled")


def _violations(text: str) -> Sequence[str]:
    return [text] if "Content Security Policy" in text else []
