"""Measure a Dask cluster and replicas of an object store, and extrapolate an ingest to 100 million units.

``python -m eval.bench_scale [--words N]``. Documents are made up. Two corpora, one three times as large as the other,
are ingested, and again without snapshots and with the memo, which leaves the steps that need the whole. The larger one
is ingested on a Dask cluster of two workers of this machine, published to an S3 server of this machine, and copied.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from eval.bench_ingest import CHANGE, run, write_corpus
from eval.benchmarks import Row, table
from eval.s3_server import s3_server
from graphctx import KnowledgeBase
from graphctx.store.files import size_of

UNITS = 100_000_000
CORES = 64
GBIT = 10
"""Of a machine in the arithmetic: its cores, and its network in gigabits per second."""

_URL = "s3://bench/kb"


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        prog="python -m eval.bench_scale", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    parser.add_argument("--words", type=int, default=50_000, help="words of the smaller corpus; default: 50000")
    words = parser.parse_args().words
    with tempfile.TemporaryDirectory(prefix="graphctx-bench-") as place:
        folder = Path(place)
        corpora = [ingest_twice(folder / str(factor), factor * words) for factor in (1, 3)]
        dask = dask_ingest(folder / "3")
        copies = copy_and_follow(folder / "3")
    print(f"Load of the machine: {os.getloadavg()[0]:.1f}; {os.cpu_count()} cores.\n")
    _print(corpora, dask, copies)


def ingest_twice(place: Path, words: int) -> Row:
    """Ingest a corpus, and again without what was published."""
    write_corpus(place / "docs", None, words)
    first = run("ingest", place / "kb", place / "docs")
    published = size_of(place / "kb" / "snapshots")
    shutil.rmtree(place / "kb" / "snapshots")
    (place / "kb" / "CURRENT").unlink()
    whole = run("ingest", place / "kb", place / "docs")
    return {"first": first, "whole": whole, "bytes": published}


def dask_ingest(place: Path) -> Row:
    """Ingest on a cluster of two workers; the content must be that of the local ingest."""
    with KnowledgeBase.open(place / "kb") as local, KnowledgeBase.open(place / "dask", create=True) as spread:
        started = time.perf_counter()
        report = spread.ingest(place / "docs", engine="dask", processes=2)
        wall = time.perf_counter() - started
        assert report.content_hash == local.status().content_hash, "the cluster made another snapshot"
    return {"wall": wall, "seconds": report.seconds}


def copy_and_follow(place: Path) -> Row:
    """Publish, copy, change one document of the source, publish and copy again."""
    found: Row = {}
    os.environ["GRAPHCTX_REPLICA__FOLDER"] = str(place / "copies")
    with s3_server("bench") as server, KnowledgeBase.open(place / "kb") as kb:
        os.environ.update(server.environment)
        for name in ("first", "next"):
            started = time.perf_counter()
            done = kb.publish(_URL)
            sent = time.perf_counter()
            KnowledgeBase.open(_URL).close()
            found[name] = {
                "sent": done.uploaded_bytes / 1e6,
                "publish": sent - started,
                "copy": time.perf_counter() - sent,
            }
            if name == "first":
                changed = min((place / "docs").rglob("*.md"))
                changed.write_text(changed.read_text("utf-8") + CHANGE, "utf-8")
                kb.ingest(place / "docs")
    return found


def _print(corpora: list[Row], dask: Row, copies: Row) -> None:
    def of_documents(row: Row) -> float:
        return row["first"]["cpu"] - row["whole"]["cpu"]

    rows = []
    for row in corpora:
        units = row["first"]["units"]
        rows.append(
            (
                f"{units:,}",
                round(of_documents(row), 1),
                round(of_documents(row) / units * 1000, 1),
                round(row["whole"]["cpu"], 1),
                round(row["whole"]["cpu"] / units * 1000, 1),
                row["first"]["peak_mb"],
                round(row["bytes"] / units),
            )
        )
    times = ("extract, embed: CPU s", "ms a unit", "the other steps: CPU s", "ms a unit")
    table(("units", *times, "peak MB", "bytes a unit"), rows)

    local = corpora[1]["first"]
    steps = ("read", "split", "extract", "embed")
    table(
        ("seconds", *steps, "whole ingest"),
        [
            (name, *(round(row["seconds"][step], 1) for step in steps), round(row["wall"], 1))
            for name, row in (("worker processes", local), ("Dask, two workers", dask))
        ],
    )
    table(
        ("object store", "MB sent", "publish s", "copy s"),
        [
            (name, round(row["sent"], 1), round(row["publish"], 1), round(row["copy"], 1))
            for name, row in (("all files", copies["first"]), ("after one changed file", copies["next"]))
        ],
    )

    small, large = corpora
    more = large["first"]["units"] - small["first"]["units"]

    def at_scale(of: Callable[[Row], float]) -> float:
        """What grows from the smaller to the larger corpus, per unit, times the units; fixed costs drop out."""
        return (of(large) - of(small)) / more * UNITS

    documents = at_scale(of_documents) / 3600
    whole = at_scale(lambda row: row["whole"]["cpu"]) / 3600
    memory = at_scale(lambda row: row["whole"]["peak_mb"]) / 1e6
    size = at_scale(lambda row: row["bytes"])
    table(
        (f"arithmetic for {UNITS:,} units", ""),
        [
            ("extract and embed, core hours", round(documents)),
            (f"on ten machines of {CORES} cores, hours", round(documents / CORES / 10, 1)),
            ("the other steps, core hours on one machine", round(whole)),
            ("memory of that machine, TB", round(memory, 1)),
            ("snapshot, TB", round(size / 1e12, 2)),
            (f"copying it at {GBIT} Gbit/s, minutes", round(size * 8 / (GBIT * 1e9) / 60)),
        ],
    )


if __name__ == "__main__":
    main()
