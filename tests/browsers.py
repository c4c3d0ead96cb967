"""Headless Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

HANG_MS = 60_000
"""Milliseconds until something that never appears fails a test; a machine under load is slow."""


def browser_path() -> str | None:
    """Return the browser of ``$GRAPHCTX_BROWSER``, or one that is installed."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return os.environ.get("GRAPHCTX_BROWSER") or next(filter(None, map(shutil.which, names)), None)


@contextmanager
def launched() -> Iterator[Browser]:
    """Start the browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=browser_path(), args=["--no-sandbox", "--enable-unsafe-swiftshader"]
        )
        try:
            yield browser
        finally:
            browser.close()
