"""Measure how long a question takes by stage, and how much memory it needs, over corpora of several sizes.

``python -m eval.bench_query [--sizes 0,10000,100000,200000] [--questions 200] [--json]``. Size 0 is the sample handbook
with its golden questions; the other corpora are made up (``eval/synthetic_index.py``). They are kept in ``.kb/bench``;
each size is measured in a process of its own. For each question its bare parts are timed (its embedding, and two plain
searches over all units, by words and by vector), then the call. Every second call is made with a stopwatch, which takes
the stages, and is not counted with the others. Compare ratios, not milliseconds. Untimed, each question is also asked
without the binary prefilter, to tell which share of the nearest units and of the quotes it costs.

Memory is what the process holds more than before the knowledge base was opened, model and libraries not counted:
``own`` memory, and ``mapped`` pages of the snapshot's files, which it touched and the system can take back.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil

from eval.bench import GOLDEN, handbook_kb, read_questions
from eval.benchmarks import Clock, Row, Stopwatch, memory_taken, percentiles, run_sizes, seconds, table
from eval.synthetic_index import questions as synthetic_questions
from eval.synthetic_index import synthetic_kb
from graphctx import KnowledgeBase
from graphctx.nlp.embedders import RECENT_VECTORS
from graphctx.retrieve.question import parse_question
from graphctx.retrieve.stages.arrays_search import search_arrays

_WARM_UP = 100
"""This many other questions are asked before memory and time are measured."""

TOP = 100
"""Units that each bare search returns."""

NEAREST = (10, 100)
"""Of so many nearest units the share is taken that the search finds among as many."""

STAGES = {
    "question embedding": ["graphctx.nlp.onnx:OnnxEmbedder.embed"],
    "question, rest": ["graphctx.retrieve.question:parse_question"],
    "first stage": ["graphctx.retrieve.stages.arrays_search:merge_candidates"],
    "hybrid score": ["graphctx.retrieve.hybrid_score:hybrid_scores"],
    "expansion": ["graphctx.retrieve.stages.graph:GraphExpansion.__call__"],
    "ranking": ["graphctx.retrieve.ranking:rank", "graphctx.retrieve.ranking:quoted_units"],
    "texts": ["graphctx.retrieve.index:SearchIndex.text_of", "graphctx.retrieve.index:SearchIndex.unit"],
    "sentences": ["graphctx.retrieve.sentences:sentence_pool"],
    "selection": ["graphctx.retrieve.selection:select_sentences"],
    "citations": ["graphctx.retrieve.cite:quote", "graphctx.retrieve.fragments:best_fragments"],
    "budget": ["graphctx.model.assemble:evidence_answer"],
    "rest": ["graphctx.knowledge_base:KnowledgeBase.retrieve_evidence"],
}
"""A stage's time is that of its functions without the other stages called in them."""


def main() -> None:
    """Run the benchmark."""
    run_sizes(
        "eval.bench_query",
        str(__doc__),
        sizes="0,10000,100000,200000",
        unit="units",
        questions=200,
        make=kept_kb,
        measure=measure,
        show=print_tables,
    )


def kept_kb(folder: Path, size: int) -> Path:
    """Return the knowledge base of a size, made on first use; 0 is the handbook."""
    return synthetic_kb(folder, size) if size else handbook_kb(folder)


def measure(folder: Path, size: int, count: int, clock: Clock = time.perf_counter) -> Row:
    """Ask all questions of one size."""
    kb_dir = kept_kb(folder, size)
    questions = synthetic_questions(kb_dir) if size else read_questions(GOLDEN)
    warm_up, *asked = questions[: count + 1]
    before_them = questions[-_WARM_UP:]
    with KnowledgeBase.open(synthetic_kb(folder, 1_000)) as small:  # libraries and model are loaded, whatever the size
        small.retrieve_evidence(warm_up)
        model = small.searcher().index.embedder
    before = psutil.Process().memory_info()
    with KnowledgeBase.open(kb_dir) as kb:
        vars(kb)["_embedder"] = model  # its session takes 70 MB, whatever the size
        opening = seconds(kb.warm, time.perf_counter)
        for text in before_them:
            kb.retrieve_evidence(text)
        after = psutil.Process().memory_info()
        bare_search, watch = BareSearch(kb, clock), Stopwatch(STAGES, clock)
        runs: list[Row] = []
        quotes, found = 0, list[list[float]]()
        for number, text in enumerate(asked):
            run: Row = bare_search(text)
            RECENT_VECTORS.clear()  # the call embeds its question itself
            started = clock()
            if number % 2:
                with watch.installed():
                    answer = kb.retrieve_evidence(text)
                run |= watch.take()
            else:
                answer = kb.retrieve_evidence(text)
                run["retrieve_evidence"] = clock() - started
            quotes += len(answer.quotes)
            found.append(bare_search.nearest_found(text))
            runs.append(run)
        quoted = [_places(kb, text) for text in asked]
        vars(kb.searcher().index)["prefilter"] = None
        same = [_places(kb, text) == before for text, before in zip(asked, quoted, strict=True)]
        vectors = (kb.path / "snapshots" / kb.snapshot_id / "vectors" / "units.npy").stat().st_size
    for run in runs:
        run["bare"] = run["bare: embedding"] + run["bare: words"] + run["bare: vectors"]
        run["bare, BLAS"] = run["bare: embedding"] + run["bare: words"] + run["bare: vectors, BLAS"]
        run["embedding and first stage"] = run["bare: embedding"] + run["first stage alone"]
    taken = {name: [run[name] for run in runs if name in run] for name in [*runs[0], *STAGES]}
    middle = {name: float(np.median(values)) for name, values in taken.items()}
    return {
        "units": size,
        "questions": len(asked),
        "quotes_per_question": round(quotes / len(asked), 2),
        "open_and_warm_seconds": round(opening, 2),
        "ms": {name: percentiles(values) for name, values in taken.items()},
        "to_embedding": round(middle["retrieve_evidence"] / middle["question embedding"], 2),
        "to_bare": round(middle["retrieve_evidence"] / middle["bare"], 2),
        "to_bare_blas": round(middle["retrieve_evidence"] / middle["bare, BLAS"], 2),
        "to_own": round(middle["retrieve_evidence"] / middle["embedding and first stage"], 2),
        "same_quotes": round(float(np.mean(same)), 3),
        "nearest_found": dict(zip(map(str, NEAREST), np.mean(found, axis=0).round(3).tolist(), strict=True)),
        "memory_mb": {
            "vectors": round(vectors / 1e6),
            **memory_taken(before, after),
            "resident_to_vectors": round((after.rss - before.rss) / vectors, 2),
        },
    }


class BareSearch:
    """What every hybrid search has to do: embed the question, score all units by words and by vector, take the best.

    Plain, by the libraries: BM25 of bm25s over all units, and one product of the matrix in memory with the question, by
    numpy's ``einsum`` (whose bits do not depend on threads) and by BLAS (faster, on all cores). Beside it the first
    stage of graphctx, which returns the same.
    """

    def __init__(self, kb: KnowledgeBase, clock: Clock) -> None:
        import bm25s

        self._clock = clock
        self._index = kb.searcher().index
        self._candidates = kb.settings.retrieve.candidates
        self._vectors = self._index.vectors_of(np.arange(self._index.walk.n_units))
        self._bm25 = bm25s.BM25.load(str(self._index.snapshot.directory / "bm25"), mmap=True, show_progress=False)

    def nearest_found(self, text: str) -> list[float]:
        """Return the share of the nearest units that the first stage finds among as many, for each of `NEAREST`."""
        question = parse_question(text, self._index)
        nearest = _best(np.einsum("ij,j->i", self._vectors, question.vector))
        near = search_arrays(self._index, question, self._candidates).nearest
        return [float(np.isin(nearest[:count], near[:count]).mean()) for count in NEAREST]

    def __call__(self, text: str) -> dict[str, float]:
        """Return seconds of each part."""
        question = parse_question(text, self._index)
        known = self._bm25.vocab_dict
        words = [known[term] for term in question.terms if term in known]
        parts: dict[str, Callable[[], object]] = {
            "bare: embedding": lambda: self._index.embedder.embed([text]),
            "bare: words": lambda: _best(self._bm25.get_scores_from_ids(words)),
            "bare: vectors": lambda: _best(np.einsum("ij,j->i", self._vectors, question.vector)),
            "bare: vectors, BLAS": lambda: _best(self._vectors @ question.vector),
            "first stage alone": lambda: search_arrays(self._index, question, self._candidates),
        }
        return {name: seconds(work, self._clock) for name, work in parts.items()}


def _places(kb: KnowledgeBase, text: str) -> list[tuple[str | None, int]]:
    return [(quote.uri, quote.start_char) for quote in kb.retrieve_evidence(text).quotes]


def _best(scores: np.ndarray) -> np.ndarray:
    top = np.argpartition(scores, len(scores) - TOP)[len(scores) - TOP :]
    return top[np.argsort(-scores[top])]


def print_tables(measured: list[Row]) -> None:
    """Print what was measured as Markdown tables."""
    head = [f"{row['units'] // 1000}k units" if row["units"] else "handbook" for row in measured]

    def cells(name: str, of: Callable[[Row], dict[str, float]]) -> tuple[str, ...]:
        return (name, *(f"{of(row)['p50']:.2f} / {of(row)['p95']:.2f}" for row in measured))

    names = [*STAGES, "retrieve_evidence", "bare: embedding", "bare: words", "bare: vectors", "bare: vectors, BLAS"]
    names += ["bare", "bare, BLAS", "first stage alone", "embedding and first stage"]
    table(("ms, p50 / p95", *head), [cells(name, lambda row, name=name: row["ms"][name]) for name in names])  # type: ignore[misc]
    ratios = {
        "to_embedding": "retrieve_evidence to the embedding in it",
        "to_bare": "retrieve_evidence to bare",
        "to_bare_blas": "retrieve_evidence to bare, BLAS",
        "to_own": "retrieve_evidence to embedding and first stage",
    }
    table(("p50, ratio", *head), [(said, *(row[name] for row in measured)) for name, said in ratios.items()])
    nearest = [(f"nearest {count}", *(row["nearest_found"][str(count)] for row in measured)) for count in NEAREST]
    nearest.append(("same quotes as without it", *(row["same_quotes"] for row in measured)))
    table(("share found behind the binary prefilter", *head), nearest)
    memory = [(f"{name} MB", *(row["memory_mb"][name] for row in measured)) for name in ("vectors", "own", "mapped")]
    memory.append(("resident to vectors", *(row["memory_mb"]["resident_to_vectors"] for row in measured)))
    memory.append(("open and warm, s", *(row["open_and_warm_seconds"] for row in measured)))
    memory.append(("quotes a question", *(row["quotes_per_question"] for row in measured)))
    table(("memory", *head), memory)
    print(f"{measured[-1]['questions']} questions for each size")


if __name__ == "__main__":
    main()
