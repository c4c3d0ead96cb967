"""The web page over a real server, and a headless Chromium in front of it: for tests, benchmarks and screenshots."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

HANG_MS = 120_000
"""Milliseconds until something that never appears is an error; a machine under load is slow."""


@contextmanager
def served(
    kb: Path, *options: str | Path, cwd: Path | None = None, environment: Mapping[str, str] = {}
) -> Iterator[str]:
    """Run ``graphctx ui`` on a free port, and yield the address that it prints, with its token.

    Raises:
        RuntimeError: the server ends before it listens.
    """
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = str(probe.getsockname()[1])
    command = [sys.executable, "-m", "graphctx.cli", "ui", "--kb", str(kb), "--no-browser", "--port", port]
    environment = {**os.environ, "COLUMNS": "400", **environment}
    with subprocess.Popen(
        [*command, *map(str, options)], stderr=subprocess.PIPE, text=True, cwd=cwd, env=environment
    ) as process:
        assert process.stderr is not None
        said = ""
        while not (found := re.search(r"http://\S+#token=\S+", said)):
            line = process.stderr.readline()
            if not line:
                raise RuntimeError(f"The server ended: {said}")
            said += line
        draining = threading.Thread(target=process.stderr.read)
        draining.start()
        try:
            yield found.group()
        finally:
            process.terminate()
            draining.join()


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
