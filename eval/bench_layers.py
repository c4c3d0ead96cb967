"""Open a layer and search it, beside numpy's bare matrix product on the same data.

    python eval/bench_layers.py [--chunks 10000 100000] [--folder DIR]

For each size a layer file of 384 dimensions is written once and then used by a process of its own: it opens and
checks the file, searches it for the first time and again, by a vector and by words, and takes ``matrix @ query`` of
the same matrix with BLAS, on one thread. Times are the median of several; a ratio compares times of one process.
Memory is the process's resident set; pages of the mapped file count while they are in the page cache and can be
dropped by the system at any time, so the process's own part is printed, too.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

DIM = 384
WORDS = 60  # words of a chunk: some 400 characters, a paragraph


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--chunks", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(arguments.measure)))
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.folder or Path(scratch)
        measured = []
        for number in arguments.chunks:
            path = folder / f"bench-{number}" / "AGENTS.db"
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                make(path, number)
            command = [sys.executable, __file__, "--measure", str(path)]
            # One thread for BLAS: ours uses one, and threads on busy cores wait for one another.
            environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
            done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
            measured.append(json.loads(done.stdout))
    print_table(measured)


def make(path: Path, number: int) -> None:
    """Write a layer of chunks of made-up words with random vectors of length 1."""
    from graphctx.layers import Chunk, LayerContent, Profile, metadata_for, write_layer

    rng = np.random.default_rng(20261101)
    vocabulary = np.array([f"w{i:05d}" for i in range(30_000)])
    chunks = [
        Chunk(i + 1, f"Chunk {i}: " + " ".join(words), "note", "human", 1.0, 0, (f"docs/{i}.md:1",))
        for i, words in enumerate(_texts(rng, vocabulary, number))
    ]
    matrix = rng.normal(size=(number, DIM)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    profile = Profile("hash", "", "", DIM, "l2")  # so that a query in words needs no model, whose time is not ours
    write_layer(path, LayerContent(chunks, matrix, metadata=metadata_for(profile)))


def _texts(rng: np.random.Generator, vocabulary: np.ndarray, number: int) -> Iterator[np.ndarray]:
    for start in range(0, number, 1000):
        ranks = np.minimum(rng.zipf(1.3, size=(min(1000, number - start), WORDS)), len(vocabulary)) - 1
        yield from vocabulary[ranks]


def measure(path: Path) -> dict[str, float]:
    """Measure one file in this process."""
    from graphctx.layers import LayerFile, LayerStack

    bare = memory()
    query = np.random.default_rng(7).normal(size=DIM).astype(np.float32)
    start = time.perf_counter()
    stack = LayerStack(path.parent)
    view = stack.view("base")
    opened = time.perf_counter() - start
    assert view is not None
    first_answer = stack.search(vector=query, k=10)
    first = time.perf_counter() - start
    expected = first_answer.hits[0].record
    again = median(lambda: stack.search(vector=query, k=10))
    words = view.file.content(expected)[:120]
    started = time.perf_counter()
    assert stack.search(words, 10).hits[0].record == expected
    first_words = time.perf_counter() - started
    by_words = median(lambda: stack.search(words, 10))
    reopen = median(lambda: LayerFile.open(path).close())
    used = memory()
    matrix = np.require(view.file.matrix, requirements="A")  # BLAS takes aligned numbers alone
    assert expected == int(np.argmax(matrix @ query / np.linalg.norm(matrix, axis=1)))
    product = median(lambda: np.matmul(matrix, query))
    cold = median(lambda: np.matmul(mapped(path, len(matrix)), query))
    return {
        "chunks": len(view.file),
        "megabytes": path.stat().st_size / 1e6,
        "open": opened,
        "first": first,
        "again": again,
        "first_words": first_words,
        "words": by_words,
        "product": product,
        "cold": cold,
        "reopen": reopen,
        "resident": used[0] - bare[0],
        "own": used[1] - bare[1],
    }


def mapped(path: Path, rows: int) -> np.ndarray:
    """Return the matrix of a file, which is its last part, mapped anew."""
    offset = path.stat().st_size - rows * DIM * 4
    return np.require(np.memmap(path, "<f4", "r", offset, (rows, DIM)), requirements="A")


def median(work: Callable[[], object], turns: int = 9) -> float:
    """Return seconds, the median of several turns after one that is not counted."""
    work()
    times = []
    for _ in range(turns):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def memory() -> tuple[float, float]:
    """Return megabytes of this process: resident, and of them its own."""
    import psutil

    used = psutil.Process(os.getpid()).memory_info()
    return used.rss / 1e6, (used.rss - used.shared) / 1e6


def print_table(measured: list[dict[str, float]]) -> None:
    """Print what was measured, with ratios to the bare product."""
    rows = [
        ("file", "{megabytes:.0f} MB", ""),
        ("matrix @ query, numpy", "{product:.1f} ms", "product"),
        ("map and matrix @ query, numpy", "{cold:.1f} ms", "cold"),
        ("open and check", "{open:.1f} ms", "open"),
        ("open and check again", "{reopen:.1f} ms", "reopen"),
        ("open and first search by a vector", "{first:.1f} ms", "first"),
        ("search by a vector", "{again:.1f} ms", "again"),
        ("first search by words", "{first_words:.1f} ms", "first_words"),
        ("search by words", "{words:.1f} ms", "words"),
        ("resident memory, file's pages included", "{resident:.0f} MB", ""),
        ("memory of its own", "{own:.0f} MB", ""),
    ]
    print("| | " + " | ".join(f"{row['chunks']:,.0f} chunks" for row in measured) + " |")
    print("|---|" + "---|" * len(measured))
    for name, form, ratio in rows:
        cells = []
        for row in measured:
            shown = {
                key: value * 1000 if key not in ("megabytes", "resident", "own") else value
                for key, value in row.items()
            }
            times = f" ({row[ratio] / row['product']:.1f}x)" if ratio and ratio != "product" else ""
            cells.append(form.format(**shown) + times)
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
