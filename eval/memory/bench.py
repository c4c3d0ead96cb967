"""How long the memory takes, and what its prefilter finds: ``make bench-memory``.

    python -m eval.memory.bench [--items 10000 100000 300000] [--questions 200]

The items have texts of their own and vectors near those of real sentences, which are not embedded one by one; what
is timed embeds for real. ``memory_retrieve`` and ``get_relevant_context`` are timed as the tools ask: embedding of the
question, search, the block of 3,000 tokens of the former, and the count of the use. Questions alternate with stores,
so that the index follows a change each time. Each time is given of the wall and of the processor. Recall is the share
of the items of the highest cosines that the sign-bit prefilter lets through.
"""

from __future__ import annotations

import argparse
import resource
import sqlite3
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from eval.memory.conversations import changing_facts
from graphctx.memory import (
    FILE_NAME,
    IterationClient,
    Memory,
    MemoryDraft,
    MemoryQuery,
    MemoryScope,
    Moment,
    assemble_block,
)
from graphctx.memory.database import MemoryDatabase
from graphctx.memory.index import MemoryIndex
from graphctx.memory.search import CANDIDATES
from graphctx.memory.store import ItemStore, item_of
from graphctx.nlp.embedders import make_embedder
from graphctx.nlp.tokens import AnswerCounter
from graphctx.settings import load_settings

KINDS = ("turn", "turn", "turn", "fact", "skill", "error", "file", "output")
SETTINGS = load_settings({"memory": {"storage": {"max_size_mb": 10_000}}}).memory
SCOPE = MemoryScope(project="bench", session="today")
START = datetime(2026, 1, 1, tzinfo=UTC)
PER_SESSION = 200
NOISE = 0.6
"""Length of what is added to a real vector: items of one sentence have a mean cosine of 0.86 with it."""


def main() -> int:
    """Print a table for each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, nargs="+", default=[10_000, 100_000, 300_000])
    parser.add_argument("--questions", type=int, default=200, help="timed of each kind")
    asked = parser.parse_args()
    for n_items in asked.items:
        with tempfile.TemporaryDirectory() as folder:
            fill(Path(folder), n_items)
            measure(Path(folder), n_items, asked.questions)
            print_recall(Path(folder))
    return 0


def fill(folder: Path, n_items: int) -> None:
    """Write a memory of items in sessions of `PER_SESSION`."""
    draw = np.random.default_rng(3)
    sentences = [period.statement for period in changing_facts()]
    embedder = make_embedder()
    vectors = embedder.embed(sentences)
    database = MemoryDatabase(folder, max_size_mb=10_000)
    items = ItemStore(database, SETTINGS)
    with database.write() as connection:
        connection.execute("INSERT INTO meta VALUES ('embedder', ?)", (embedder.fingerprint,))
        for number in range(n_items):
            at = int(draw.integers(len(sentences)))
            words = " ".join(f"w{word}" for word in draw.zipf(1.3, 25) % 50_000)
            kind = KINDS[number % len(KINDS)] if number % PER_SESSION else "iteration"
            scope = MemoryScope(SCOPE.principal, SCOPE.project, f"s{number // PER_SESSION}")
            draft = MemoryDraft(kind, f"{sentences[at]} {words}", author="user")  # type: ignore[arg-type]
            noise = draw.standard_normal(vectors.shape[1]).astype(np.float32)
            vector = vectors[at] + NOISE * noise / np.linalg.norm(noise)
            moment = Moment(START + timedelta(minutes=number), number // PER_SESSION)
            items.insert(connection, item_of(draft, scope, moment, SETTINGS), vector / np.linalg.norm(vector), False)
    database.close()


def measure(folder: Path, n_items: int, n_questions: int) -> None:
    """Print the times of a memory."""
    counter = AnswerCounter()
    questions = [period.statement for period in changing_facts(seed=5)][:n_questions]
    now = Moment(START + timedelta(days=400), n_items // PER_SESSION)
    times: dict[str, list[tuple[float, float]]] = {}

    def timed(name: str, run: Callable[[], object]) -> None:
        wall, processor = time.perf_counter(), time.process_time()
        run()
        used = time.process_time() - processor
        times.setdefault(name, []).append(((time.perf_counter() - wall) * 1000, used * 1000))

    before = _resident_mb()
    with Memory(folder, SETTINGS) as memory:
        timed("load", memory.load)
        loaded = _resident_mb()
        block = MemoryQuery("", SCOPE, now, limit=SETTINGS.ranking.top_k)
        client = IterationClient(memory, SCOPE, clock=lambda: now.at)
        client.store_iteration_result(n_items // PER_SESSION, "The last one.", True)
        assemble_block(memory, replace(block, text="What is new?"), 3000, counter.count)
        for number, text in enumerate(questions):
            draft = MemoryDraft("turn", f"{text} That is turn {number}.", author="user")
            timed("memory_store", lambda draft=draft: memory.add([draft], SCOPE, now))  # type: ignore[misc]
            query = replace(block, text=text)
            timed("memory_retrieve", lambda query=query: assemble_block(memory, query, 3000, counter.count))  # type: ignore[misc]
            timed("get_relevant_context", lambda text=text: client.get_relevant_context(text))  # type: ignore[misc]
        for _ in range(5):
            timed("get_context_stats", client.get_context_stats)
    print(f"## {n_items:,} items\n\n| | n | median ms | p99 ms | median processor ms | p99 processor ms |")
    print("|---|--:|--:|--:|--:|--:|")
    for name, each in times.items():
        wall, processor = zip(*each, strict=True)
        cells = [f"{value:.1f}" for values in (wall, processor) for value in np.percentile(values, [50, 99])]
        print(f"| {name} | {len(each)} | {' | '.join(cells)} |")
    print(
        f"\nMemory of the process: {before:.0f} MB before, {loaded:.0f} MB with the index and the embedder.\n",
        flush=True,
    )


def print_recall(folder: Path) -> None:
    """Print which of the nearest items the prefilter finds, and how many pass it."""
    embedder = make_embedder()
    index = MemoryIndex(embedder.dimension)
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection:
        index.refresh(connection)
    slots = np.arange(len(index.ids))
    everything, found, passed = np.ones(len(slots), bool), defaultdict[int, list[float]](list), []
    for period in changing_facts(seed=5)[:30]:
        vector = embedder.embed([period.statement])[0]
        order = np.argsort(-index.cosines(vector, slots), kind="stable")
        near = index.nearest(vector, everything, CANDIDATES)
        passed.append(len(near))
        for k in (10, 50, 200):
            found[k].append(np.isin(order[:k], near).mean())
    shares = ", ".join(f"{100 * np.mean(each):.1f} % of the nearest {k}" for k, each in found.items())
    print(f"Recall of the prefilter, which {np.mean(passed):,.0f} items pass: {shares}.\n", flush=True)


def _resident_mb() -> float:
    """Return the largest resident set of the process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    sys.exit(main())
