"""A headless Chromium, spoken to over the DevTools protocol through two pipes: nothing but the standard library."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

_FLAGS = (
    "--headless=new",
    "--no-sandbox",  # containers lack what the sandbox needs; the pages are our own
    "--disable-gpu",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)

_LAUNCH = """
import fcntl, os, sys
# The browser reads from descriptor 3 and writes to 4. Ours may be these two the other way round: out of the way first.
ours = [fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3]]
for number, descriptor in enumerate(ours, 3):
    os.dup2(descriptor, number)
os.execvp(sys.argv[3], sys.argv[3:])
"""

_ERRORS = ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")


def browser_path() -> str | None:
    """The program, if there is one: ``$GRAPHCTX_BROWSER``, else the first of the usual names."""
    named = os.environ.get("GRAPHCTX_BROWSER")
    return named or next((path for name in _NAMES if (path := shutil.which(name))), None)


class Page:
    """One page of a browser. Every request that it makes and everything that it complains about is kept."""

    def __init__(self, process: subprocess.Popen[bytes], send: int, receive: int) -> None:
        self._process = process
        self._send, self._receive = send, receive
        self._last = 0
        self._rest = b""
        self.session: str | None = None
        self.requests: list[str] = []
        self.complaints: list[dict[str, Any]] = []

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and wait for its answer.

        Raises:
            AssertionError: the browser refuses it, or is gone.
        """
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self._send, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._last:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def evaluate(self, expression: str) -> Any:
        """The value of an expression of JavaScript; a promise is awaited.

        Raises:
            AssertionError: it throws.
        """
        told = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def wait_for(self, condition: str, seconds: float = 20) -> None:
        """Wait until an expression is true, looked at before each frame.

        Raises:
            AssertionError: it does not become so.
        """
        looked = f"""new Promise((done, fail) => {{
            const late = performance.now() + {seconds * 1000};
            const look = () => {{
                if ({condition}) done(true);
                else if (performance.now() > late) fail(new Error("still not: " + {json.dumps(condition)}));
                else requestAnimationFrame(look);
            }};
            look();
        }})"""
        assert self.evaluate(looked) is True

    def key(self, name: str, text: str = "") -> None:
        """Press a key and let it go."""
        down = "keyDown" if text else "rawKeyDown"
        codes = {"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowRight": 39, "ArrowUp": 38, "Home": 36, "Tab": 9}
        code = codes.get(name, 0)
        more = {"text": text} if text else {}
        self.call("Input.dispatchKeyEvent", type=down, key=name, windowsVirtualKeyCode=code, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name, windowsVirtualKeyCode=code)

    def type(self, text: str) -> None:
        """Type a text where the focus is."""
        self.call("Input.insertText", text=text)

    def click(self, selector: str) -> None:
        """Click in the middle of the first element that a selector names."""
        box = self.evaluate(f"""(() => {{
            const element = document.querySelector({json.dumps(selector)});
            if (element instanceof HTMLElement) element.scrollIntoView({{ block: "nearest" }});
            const box = element.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def open(self, path: Path, width: int = 1280, height: int = 800, *, dark: bool = False, hash_: str = "") -> None:
        """Load a file without motion, and wait for its scripts to have run."""
        features = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        self.call("Emulation.setEmulatedMedia", features=features)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.requests.clear()
        self.complaints.clear()
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=path.resolve().as_uri() + hash_)
        self.wait_for("document.readyState === 'complete' && location.protocol === 'file:'")

    def screenshot(self, path: Path) -> None:
        """Write what is seen as a PNG file."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            read = os.read(self._receive, 1 << 16)
            assert read, f"the browser is gone: {self._process.poll()}"
            self._rest += read
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
            case method if method in _ERRORS:
                self.complaints.append(message["params"])
        return message


@contextmanager
def opened_browser(profile: Path) -> Iterator[Page]:
    """Start a browser with a fresh profile; skips the test where there is none."""
    program = browser_path()
    if program is None:
        pytest.skip("no Chromium or Chrome is installed; $GRAPHCTX_BROWSER names one that is elsewhere")
    if sys.platform == "win32":
        pytest.skip("a browser is spoken to through inherited pipes, which Windows has not")
    (from_us, to_browser), (from_browser, to_us) = os.pipe(), os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", _LAUNCH, str(from_us), str(to_us), program, *_FLAGS, f"--user-data-dir={profile}"],
        pass_fds=(from_us, to_us),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(from_us)
    os.close(to_us)
    page = Page(process, to_browser, from_browser)
    try:
        found = page.call("Target.createTarget", url="about:blank")["targetId"]
        page.session = page.call("Target.attachToTarget", targetId=found, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        yield page
        page.session = None
        page.call("Browser.close")
    finally:
        os.close(to_browser)
        os.close(from_browser)
        process.kill()
        process.wait()
