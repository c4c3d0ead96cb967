"""Measure how long a question takes by stage, and how much memory it needs, over made-up corpora of several sizes.

``python -m eval.bench_query [--sizes 10000,100000,200000] [--questions 200] [--json]``. The corpora are those of
``eval/synthetic_index.py``, kept in ``.kb/bench``; each size is measured in a process of its own. Each question is
asked three times in turn: at first as it comes, its documents not yet read (this is the time of the whole call); then
its bare parts, the embedding of the question and two searches over all units, one by words and one by vector; then
again with a stopwatch in it. Compare the ratio of whole to bare, not milliseconds.

Memory is what the process holds more than before the knowledge base was opened, model and libraries not counted:
``own`` memory, and ``mapped`` pages of the snapshot's files, which it touched and the system can take back.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from eval.bench import table
from eval.stopwatch import Stopwatch
from eval.synthetic_index import questions, synthetic_kb
from graphctx import KnowledgeBase
from graphctx.text.lexical import terms

FOLDER = Path(".kb/bench")
TOP = 100
"""The bare searches give so many units each."""

STAGES = {
    "question embedding": ["graphctx.nlp.onnx:OnnxEmbedder.embed"],
    "question, rest": ["graphctx.retrieve.question:understand"],
    "first stage": ["graphctx.retrieve.first_stage:search"],
    "base score": ["graphctx.retrieve.base_score:base_scores"],
    "walk": ["graphctx.retrieve.walk:local_walk", "graphctx.retrieve.walk:alias_scores"],
    "rank": ["graphctx.retrieve.rank:rank", "graphctx.retrieve.rank:cap_per_document"],
    "texts": ["graphctx.retrieve.index:SearchIndex.text_of", "graphctx.retrieve.index:SearchIndex.unit"],
    "sentences": ["graphctx.retrieve.sentences:sentence_pool"],
    "pick": ["graphctx.retrieve.evidence:find_evidence"],
    "quote and cite": ["graphctx.retrieve.cite:quote", "graphctx.retrieve.focus:focus"],
    "budget": ["graphctx.model.assemble:evidence_answer"],
    "rest": ["graphctx.knowledge_base:KnowledgeBase.retrieve_evidence"],
}
"""A stage's time is that of its functions without the other stages called in them."""

Row = dict[str, Any]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m eval.bench_query", description=str(__doc__).splitlines()[0])
    parser.add_argument("--sizes", default="10000,100000,200000", help="units, with commas between")
    parser.add_argument("--questions", type=int, default=200, help="questions for each size")
    parser.add_argument("--folder", type=Path, default=FOLDER, help=f"where corpora are kept; default: {FOLDER}")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)  # in the process of one size
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(arguments.folder, arguments.measure, arguments.questions)))
        return
    sizes = [int(size) for size in arguments.sizes.split(",")]
    measured = [_in_a_process(size, arguments.folder, arguments.questions) for size in sizes]
    if arguments.json:
        print(json.dumps(measured, indent=2))
    else:
        print_tables(measured)


def _in_a_process(size: int, folder: Path, count: int) -> Row:
    synthetic_kb(folder, size)
    command = [sys.executable, "-m", "eval.bench_query", "--folder", str(folder), "--questions", str(count)]
    result = subprocess.run([*command, "--measure", str(size)], check=True, stdout=subprocess.PIPE, text=True)
    measured: Row = json.loads(result.stdout)
    return measured


def measure(folder: Path, size: int, count: int) -> Row:
    """Ask all questions of one size."""
    kb_dir = synthetic_kb(folder, size)
    warm_up, *asked = questions(kb_dir)[: count + 1]
    with KnowledgeBase.open(synthetic_kb(folder, 1_000)) as small:  # libraries and model are loaded, whatever the size
        small.retrieve_evidence(warm_up)
        model = small.pinned().require().index.embedder
    before = psutil.Process().memory_info()
    with KnowledgeBase.open(kb_dir) as kb:
        vars(kb)["_embedder"] = model  # its session takes 70 MB, whatever the size
        opening = _seconds(kb.warm)
        kb.retrieve_evidence(warm_up)
        watch = Stopwatch(STAGES)
        whole, bare, again = [], [], []
        parts: dict[str, list[float]] = {"embedding": [], "words": [], "vectors": []}
        stages: dict[str, list[float]] = {stage: [] for stage in STAGES}
        bare_parts = BareSearch(kb)
        quotes = 0
        for text in asked:
            started = time.perf_counter()
            answer = kb.retrieve_evidence(text)
            whole.append(time.perf_counter() - started)
            quotes += len(answer.quotes)
            taken = bare_parts(text)
            bare.append(sum(taken.values()))
            for name, seconds in taken.items():
                parts[name].append(seconds)
            with watch.installed():
                again.append(_seconds(lambda text=text: kb.retrieve_evidence(text)))  # type: ignore[misc]
            for stage, seconds in watch.take().items():
                stages[stage].append(seconds)
        after = psutil.Process().memory_info()
        vectors = (kb.path / "snapshots" / kb.snapshot_id / "vectors" / "units.npy").stat().st_size
    return {
        "units": size,
        "questions": len(asked),
        "quotes_per_question": round(quotes / len(asked), 2),
        "open_and_warm_seconds": round(opening, 2),
        "whole_ms": _percentiles(whole),
        "bare_ms": _percentiles(bare),
        "bare_parts_ms": {name: _percentiles(taken) for name, taken in parts.items()},
        "whole_to_bare": round(float(np.median(whole) / np.median(bare)), 2),
        "again_ms": _percentiles(again),
        "stages_ms": {stage: _percentiles(taken) for stage, taken in stages.items()},
        "memory_mb": {
            "vectors": round(vectors / 1e6),
            "own": round((after.rss - after.shared - before.rss + before.shared) / 1e6),
            "mapped": round((after.shared - before.shared) / 1e6),
            "resident_to_vectors": round((after.rss - before.rss) / vectors, 2),
        },
    }


class BareSearch:
    """What every hybrid search has to do: embed the question, score all units by words and by vector, take the best.

    Plain: the index's BM25 over all units, and one product of the matrix in memory with the question.
    """

    def __init__(self, kb: KnowledgeBase) -> None:
        index = kb.pinned().require().index
        self._embedder, self._bm25 = index.embedder, index.bm25
        self._vectors = np.asarray(index.vectors)

    def __call__(self, text: str) -> dict[str, float]:
        """Seconds of each part."""
        found: dict[str, Any] = {}

        def embed() -> None:
            found["vector"] = self._embedder.embed([text])[0]

        def words() -> None:
            _best(self._bm25.scores(list(dict.fromkeys(terms(text)))))

        def vectors() -> None:
            _best(np.einsum("ij,j->i", self._vectors, found["vector"]))

        return {work.__name__.replace("embed", "embedding"): _seconds(work) for work in (embed, words, vectors)}


def _best(scores: np.ndarray) -> np.ndarray:
    top = np.argpartition(scores, len(scores) - TOP)[len(scores) - TOP :]
    return top[np.argsort(-scores[top])]


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _percentiles(seconds: list[float]) -> dict[str, float]:
    return {f"p{p}": round(float(np.percentile(seconds, p)) * 1000, 2) for p in (50, 95)}


def print_tables(measured: list[Row]) -> None:
    """Print what was measured as Markdown tables."""
    head = [f"{row['units'] // 1000}k units" for row in measured]

    def cells(name: str, of: Callable[[Row], dict[str, float]]) -> tuple[str, ...]:
        return (name, *(f"{of(row)['p50']:.2f} / {of(row)['p95']:.2f}" for row in measured))

    rows = [cells(f"{stage}", lambda row, stage=stage: row["stages_ms"][stage]) for stage in STAGES]  # type: ignore[misc]
    rows.append(cells("all stages, with stopwatch", lambda row: row["again_ms"]))
    rows.append(cells("retrieve_evidence", lambda row: row["whole_ms"]))
    for part in ("embedding", "words", "vectors"):
        rows.append(cells(f"bare: {part}", lambda row, part=part: row["bare_parts_ms"][part]))  # type: ignore[misc]
    rows.append(cells("bare, together", lambda row: row["bare_ms"]))
    table(("ms, p50 / p95", *head), rows)
    table(("", *head), [("whole p50 to bare p50", *(row["whole_to_bare"] for row in measured))])
    memory = [(f"{name} MB", *(row["memory_mb"][name] for row in measured)) for name in ("vectors", "own", "mapped")]
    memory.append(("resident to vectors", *(row["memory_mb"]["resident_to_vectors"] for row in measured)))
    memory.append(("open and warm, s", *(row["open_and_warm_seconds"] for row in measured)))
    memory.append(("quotes a question", *(row["quotes_per_question"] for row in measured)))
    table(("memory", *head), memory)
    print(f"{measured[0]['questions']} questions for each size, each asked once as it comes and once with a stopwatch")


if __name__ == "__main__":
    main()
