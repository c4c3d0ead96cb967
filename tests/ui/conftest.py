"""A real server, started as a person starts it, and a real browser in front of it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browsers import HANG_MS, browser_path, launched
from tests.e2e.listening import free_port

NO_BROWSER = "no Chromium or Chrome is installed; $GRAPHCTX_BROWSER names one that is elsewhere"


@contextmanager
def served(
    kb: Path, *options: str | Path, cwd: Path | None = None, environment: Mapping[str, str] = {}
) -> Iterator[str]:
    """Run ``graphctx ui`` on a free port, and yield the address that it prints, with its token."""
    command = [sys.executable, "-m", "graphctx.cli", "ui", "--kb", str(kb), "--no-browser", "--port", str(free_port())]
    environment = {**os.environ, "COLUMNS": "400", **environment}
    with subprocess.Popen(
        [*command, *map(str, options)], stderr=subprocess.PIPE, text=True, cwd=cwd, env=environment
    ) as process:
        assert process.stderr is not None
        said = ""
        while not (found := re.search(r"http://\S+#token=\S+", said)):
            line = process.stderr.readline()
            assert line, f"the server ended: {said}"
            said += line
        draining = threading.Thread(target=process.stderr.read)
        draining.start()
        try:
            yield found.group()
        finally:
            process.terminate()
            draining.join()


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


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """An empty tab of its own; the test fails if a script fails or something from elsewhere is asked for."""
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(HANG_MS)
    expect.set_options(timeout=HANG_MS)
    failures: list[str] = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.on("console", lambda message: failures.extend(_violations(message.text)))
    yield page
    context.close()
    assert failures == []


def _violations(text: str) -> Sequence[str]:
    return [text] if "Content Security Policy" in text else []
