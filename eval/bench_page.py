"""Measure the web page: its first view, the frames of a graph of 5,000 names, and lists of 10,000 documents.

``python -m eval.bench_page [--documents 10000] [--seconds 5] [--kb DIR]``. The knowledge base is made up and kept in
``.kb/bench``; ``graphctx ui`` serves it and a headless Chromium opens it, as a person's browser would. Bytes are those
of the network, compressed. Frames are counted by ``requestAnimationFrame`` while the mouse drags the drawing round and
while its wheel turns; without a graphics processor the browser draws in software, and says so in the line on top, and a
busy machine has fewer frames. Compare ratios, not milliseconds.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from eval.benchmarks import table
from eval.page_browser import launched, served
from graphctx import KnowledgeBase

REVISION = 1
"""Counts changes of what is made: an older one in the cache is made anew."""

NAMES = 6_000
"""Different names in the documents; so many that 5,000 of them can be drawn."""

TOPICS = 200
WAIT_MS = 300_000

_SYLLABLES = (
    "ba",
    "cor",
    "dun",
    "el",
    "fen",
    "gal",
    "hor",
    "isk",
    "jor",
    "kel",
    "lam",
    "mor",
    "nev",
    "ost",
    "pel",
    "ruk",
)
_VERBS = ("repairs the boat of", "writes to", "sails with", "was trained by", "pays", "lives beside", "sold a net to")

FRAMES = """(seconds) => new Promise((done) => {
    const times = [];
    const step = (now) => {
        times.push(now);
        if (now - times[0] < seconds * 1000) requestAnimationFrame(step);
        else done(times);
    };
    requestAnimationFrame(step);
})"""
RENDERER = """() => {
    const gl = document.createElement("canvas").getContext("webgl2");
    const asked = gl?.getExtension("WEBGL_debug_renderer_info");
    return asked ? gl.getParameter(asked.UNMASKED_RENDERER_WEBGL) : "no WebGL";
}"""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=10_000, help="documents of the knowledge base; default: 10000")
    parser.add_argument("--seconds", type=float, default=5.0, help="how long frames are counted; default: 5")
    parser.add_argument("--kb", type=Path, help="a knowledge base to measure instead of the made-up one")
    arguments = parser.parse_args()
    kb_dir = arguments.kb or page_kb(Path(".kb/bench"), arguments.documents)
    with served(kb_dir) as url, launched() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(WAIT_MS)
        measure(page, url, arguments.seconds)


def measure(page: Page, url: str, seconds: float) -> None:
    """Print the tables of a page."""
    sizes: list[int] = []
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    network.on("Network.loadingFinished", lambda event: sizes.append(int(event["encodedDataLength"])))
    first = timed(lambda: page.goto(url), lambda: page.get_by_label("Question").first.wait_for())
    page.wait_for_load_state("networkidle")
    first_bytes, first_requests = sum(sizes), len(sizes)
    print(f"{page.evaluate(RENDERER)}; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors\n")
    rows: list[tuple[Any, ...]] = [("first view", round(first, 2), round(first_bytes / 1000, 1), first_requests)]
    views = {
        "documents": ("/documents", "main a[href*='uri=']"),
        "themes": ("/themes", "ul.themes li"),
        "graph of 5,000 names": ("/graph?most=5000", ".canvas canvas"),
    }
    for name, (address, shown) in views.items():
        if not page.locator(f"nav a[href='#{address.partition('?')[0]}']").count():
            continue
        sizes.clear()
        taken = timed(
            lambda to=address: page.evaluate("(to) => { location.hash = to; }", to), page.locator(shown).first.wait_for
        )
        page.wait_for_load_state("networkidle")
        rows.append((name, round(taken, 2), round(sum(sizes) / 1000, 1), len(sizes)))
    table(("view", "seconds", "kB", "requests"), rows)
    canvas = page.locator(".canvas")
    print(f"Drawn: {canvas.get_attribute('aria-label')}.\n")
    box = canvas.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    table(
        ("while the graph is", "frames/s", "median ms", "slowest of 20 ms"),
        [
            ("left alone", *frames(page, seconds, lambda turn: page.wait_for_timeout(50))),
            ("panned", *frames(page, seconds, lambda turn: pan(page, x, y, turn))),
            ("zoomed", *frames(page, seconds, lambda turn: zoom(page, x, y, turn))),
        ],
    )


def timed(start: Callable[[], object], until: Callable[[], object]) -> float:
    """Return the seconds from a call to the end of another."""
    started = time.perf_counter()
    start()
    until()
    return time.perf_counter() - started


def frames(page: Page, seconds: float, move: Callable[[int], object]) -> tuple[float, float, float]:
    """Return the frames in a second, and the median and the 95th percentile of the milliseconds between two."""
    page.evaluate(f"(seconds) => {{ window.counted = ({FRAMES})(seconds); }}", seconds)
    ends = time.perf_counter() + seconds
    turn = 0
    while time.perf_counter() < ends:
        move(turn)
        turn += 1
    page.mouse.up()
    times: list[float] = page.evaluate("() => window.counted")
    between = sorted(later - earlier for earlier, later in itertools.pairwise(times))
    at = [between[int(share * (len(between) - 1))] for share in (0.5, 0.95)]
    return round(1000 * (len(times) - 1) / (times[-1] - times[0]), 1), round(at[0], 1), round(at[1], 1)


def pan(page: Page, x: float, y: float, turn: int) -> None:
    """Drag the drawing a step further round a circle."""
    if turn == 0:
        page.mouse.move(x, y)
        page.mouse.down()
    page.mouse.move(x + 120 * math.sin(turn / 8), y + 120 * (1 - math.cos(turn / 8)))


def zoom(page: Page, x: float, y: float, turn: int) -> None:
    """Turn the wheel: six steps closer, then six back."""
    if turn == 0:
        page.mouse.move(x, y)
    page.mouse.wheel(0, -120 if turn // 6 % 2 == 0 else 120)
    page.wait_for_timeout(30)


def page_kb(folder: Path, n_documents: int) -> Path:
    """Return the made-up knowledge base of this many short documents, made if the folder has none of this revision."""
    kb_dir = folder / f"page-{n_documents}-{REVISION}"
    if (kb_dir / "CURRENT").is_file():
        return kb_dir
    print(f"Making {kb_dir} of {n_documents:,} documents, which takes some minutes.", file=sys.stderr)
    shutil.rmtree(kb_dir, ignore_errors=True)
    with tempfile.TemporaryDirectory() as made:
        for number, text in enumerate(documents(n_documents)):
            path = Path(made) / f"topic-{number % TOPICS:03}" / f"note-{number:05}.md"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, "utf-8")
        with KnowledgeBase.open(kb_dir, create=True, project_id="page-bench") as kb:
            kb.ingest(made)
    return kb_dir


def documents(count: int) -> Iterator[str]:
    """Yield documents, each with names of one topic that do something with each other."""
    rng = random.Random(0)
    names = [f"{_word(rng).title()} {_word(rng).title()}" for _ in range(NAMES)]
    for number in range(count):
        known = names[number % TOPICS :: TOPICS]
        lines = [f"# Note {number:05} of the {_word(rng)} coast", ""]
        one, other, third = rng.sample(known, 3)
        lines.append(f"{one} {rng.choice(_VERBS)} {other}. {third} {rng.choice(_VERBS)} {one}.")
        if number % 5 == 0:
            lines.append(f"{third} {rng.choice(_VERBS)} {rng.choice(names)}.")
        yield "\n".join(lines) + "\n"


def _word(rng: random.Random) -> str:
    return "".join(rng.choice(_SYLLABLES) for _ in range(3))


if __name__ == "__main__":
    main()
