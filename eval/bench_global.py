"""Measure how long a question about the whole takes, and what it costs, at 1,000, 10,000 and 100,000 communities.

``python -m eval.bench_global [--sizes 1000,10000,100000] [--questions 100] [--clock cpu]``. The knowledge bases are
those of ``eval/synthetic_communities.py``, kept in ``.kb/bench``, with as many units as communities; each size is
measured in a process of its own, through the façade's own view. No question is asked twice. For each question its bare
parts are timed: its embedding, and one product of all community vectors with it, which is the least that a search would
have to do that rates every community. Then the call is made; every second one with a stopwatch, which takes the
stages, and is not counted with the others. Then other questions are asked within a folder of about a quarter of the
documents; the first of them prepares the scope, and is timed apart. Compare ratios, not milliseconds.

Memory is what the process holds more than before the knowledge base was opened, model and libraries not counted:
``own`` memory, and ``mapped`` pages of the snapshot's files, which it touched and the system can take back.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import psutil

from eval.benchmarks import Clock, Row, Stopwatch, memory_taken, percentiles, run_sizes, seconds, table
from eval.synthetic_communities import communities_kb, global_questions
from graphctx import KnowledgeBase
from graphctx.model.requests import Filters, GlobalSearchInput
from graphctx.model.results import GlobalResults
from graphctx.nlp.base import Embedder

SMALLEST = 300
"""Communities of the knowledge base on which libraries and model are loaded, whatever the size."""

_WARM_UP = 50
"""This many other questions are asked before memory and time are measured."""

_SCOPED_SHARE = 4
"""One question within a scope for this many without."""

STAGES = {
    "question": ["graphctx.retrieve.question:parse_question"],
    "plain search": ["graphctx.retrieve.ranking:rank"],
    "where to begin": ["graphctx.retrieve.global_search.selection:community_scores"],
    "selection": ["graphctx.retrieve.global_search.selection:select_communities"],
    "candidates": ["graphctx.retrieve.global_search.points:candidate_points"],
    "reduce": ["graphctx.retrieve.global_search.reduce:PointSelector.select"],
    "rest": ["graphctx.retrieve.searcher:Searcher.global_search"],
}
"""A stage's time is that of its functions without the other stages called in them."""

COUNTS = ("communities", "rated", "descended", "dropped")

SCOPED = "global_search, in a scope"
EVERYTHING = Filters()


def main() -> None:
    """Run the benchmark."""
    run_sizes(
        "eval.bench_global",
        str(__doc__),
        sizes="1000,10000,100000",
        unit="communities",
        questions=100,
        make=communities_kb,
        measure=measure,
        show=print_tables,
    )


def measure(folder: Path, size: int, count: int, clock: Clock = time.perf_counter) -> Row:
    """Ask all questions of one size."""
    kb_dir = communities_kb(folder, size)
    warm_up, *asked = global_questions(kb_dir)[: count + 1]
    *scoped, last_one = global_questions(kb_dir)[count + 1 : count + 2 + max(2, count // _SCOPED_SHARE)]
    before_them = global_questions(kb_dir)[-_WARM_UP:]
    with KnowledgeBase.open(communities_kb(folder, SMALLEST)) as small:
        _ask(small, warm_up)
        model = small.searcher().index.embedder
    before = psutil.Process().memory_info()
    with KnowledgeBase.open(kb_dir) as kb:
        vars(kb)["_embedder"] = model  # its session takes 70 MB, whatever the size
        opening = seconds(lambda: (kb.warm(), _ask(kb, before_them[0])), time.perf_counter)
        for text in before_them[1:]:
            _ask(kb, text)
        after = psutil.Process().memory_info()
        vectors = kb.searcher().index.vectors_of(np.arange(kb.searcher().index.snapshot.manifest.counts["communities"]))
        watch = Stopwatch(STAGES, clock)
        runs: list[Row] = []
        counts: list[Row] = []
        for number, text in enumerate(asked):
            vector = model.embed([text])[0]
            run = {name: seconds(work, clock) for name, work in _bare(model, vectors, text, vector).items()}
            if number % 2:
                with watch.installed():
                    found = _ask(kb, text)
                run |= watch.take()
            else:
                started = clock()
                found = _ask(kb, text)
                run["global_search"] = clock() - started
            counts.append({name: getattr(found, name) for name in COUNTS} | _told(found))
            runs.append(run)
        part = _part_of(kb)
        ready = seconds(lambda: _ask(kb, last_one, part), clock)
        runs += [{SCOPED: seconds(partial(_ask, kb, text, part), clock)} for text in scoped]
    names = [*STAGES, "global_search", SCOPED, "bare: embedding", "bare: product", "bare: product, BLAS"]
    taken = {name: [run[name] for run in runs if name in run] for name in names}
    middle = {name: float(np.median(values)) for name, values in taken.items()}
    return {
        "communities": counts[0]["communities"],
        "size": size,
        "questions": len(asked),
        "open_and_warm_seconds": round(opening, 2),
        "first_in_a_scope_seconds": round(ready, 2),
        "ms": {name: percentiles(values) for name, values in taken.items()},
        "to_product": round(middle["global_search"] / middle["bare: product"], 2),
        "to_product_blas": round(middle["global_search"] / middle["bare: product, BLAS"], 2),
        "per_question": {name: _counted([one[name] for one in counts]) for name in counts[0] if name != "communities"},
        "memory_mb": {
            "vectors": round(vectors.nbytes / 1e6),
            **memory_taken(before, after),
        },
    }


def _ask(kb: KnowledgeBase, text: str, part: Filters = EVERYTHING) -> GlobalResults:
    return kb.searcher().global_search(GlobalSearchInput(question=text, filters=part))


def _part_of(kb: KnowledgeBase) -> Filters:
    """About a quarter of the documents: as many as the greatest power of ten below their count."""
    uris = kb.searcher().index.documents["uri"].to_pylist()  # notes/0000000.md and so on
    digits = len(str(len(uris) - 1)) - 1
    return Filters(path_prefix=min(uris)[: -digits - len(".md")])


def _told(found: GlobalResults) -> dict[str, int]:
    return {"points": len(found.items), "themes": len(found.themes), "empty": int(not found.items)}


def _counted(values: list[int]) -> dict[str, float]:
    return {"mean": round(float(np.mean(values)), 2), "most": float(max(values))}


def _bare(model: Embedder, vectors: np.ndarray, text: str, vector: np.ndarray) -> dict[str, Callable[[], object]]:
    """By numpy's ``einsum``, whose bits do not depend on threads, and by BLAS, which is faster, on all cores."""
    return {
        "bare: embedding": lambda: model.embed([text]),
        "bare: product": lambda: np.einsum("ij,j->i", vectors, vector),
        "bare: product, BLAS": lambda: vectors @ vector,
    }


def print_tables(measured: list[Row]) -> None:
    """Print what was measured as Markdown tables."""
    head = [f"{row['communities']:,}" for row in measured]

    def cells(name: str) -> tuple[str, ...]:
        return (name, *(f"{row['ms'][name]['p50']:.2f} / {row['ms'][name]['p95']:.2f}" for row in measured))

    table(("ms, p50 / p95", *head), [cells(name) for name in measured[0]["ms"]])
    first = measured[0]["ms"]["global_search"]["p50"]
    for row in measured:
        row["to_first"] = round(row["ms"]["global_search"]["p50"] / first, 2)
    ratios = {
        "to_first": f"to {head[0]} communities",
        "to_product": "to a product of all community vectors",
        "to_product_blas": "the same, BLAS",
    }
    table(("p50, ratio", *head), [(said, *(row[name] for row in measured)) for name, said in ratios.items()])
    counts = [
        (
            name,
            *(f"{row['per_question'][name]['mean']:.1f} / {row['per_question'][name]['most']:.0f}" for row in measured),
        )
        for name in measured[0]["per_question"]
    ]
    table(("a question, mean / most", *head), counts)
    memory = [(f"{name} MB", *(row["memory_mb"][name] for row in measured)) for name in ("vectors", "own", "mapped")]
    memory.append(("open and warm, s", *(row["open_and_warm_seconds"] for row in measured)))
    memory.append(("first in a scope, s", *(row["first_in_a_scope_seconds"] for row in measured)))
    table(("memory", *head), memory)
    print(f"{measured[0]['questions']} questions for each size")


if __name__ == "__main__":
    main()
