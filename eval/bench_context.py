"""Measure how long a composed context takes by stage, over corpora of several sizes.

``python -m eval.bench_context [--sizes 0,10000,100000] [--questions 100] [--clock cpu]``. Size 0 is the
sample handbook with its golden questions; the other corpora are made up (``eval/synthetic_communities.py``, as many
units as communities) and kept in ``.kb/bench``. Each size is measured in a process of its own, without the cache of
contexts, and each question is asked twice: the second time a stopwatch takes the stages. Compare ratios, not
milliseconds.
"""

from __future__ import annotations

import time
from pathlib import Path

from eval.bench import GOLDEN, handbook_kb, read_questions
from eval.benchmarks import Clock, Row, Stopwatch, percentiles, run_sizes, seconds, table
from eval.synthetic_communities import communities_kb, global_questions
from graphctx import KnowledgeBase
from graphctx.context import ContextCache
from graphctx.nlp.embedders import RECENT_VECTORS
from graphctx.settings import ContextSettings

BUDGETS = (4_000, 32_000)

_WARM_UP = 20
"""This many other questions are asked before time is measured."""

STAGES = {
    "question": ["graphctx.retrieve.question:parse_question"],
    "search": ["graphctx.retrieve.searcher:Searcher.rank"],
    "distinct units": ["graphctx.retrieve.ranking:top_units"],
    "sentences": ["graphctx.retrieve.sentences:sentence_pool", "graphctx.retrieve.runs:SentenceRuns.of"],
    "candidates, rest": ["graphctx.context.candidates:find_candidates"],
    "concepts": ["graphctx.context.documents:concepts_of"],
    "choosing": ["graphctx.context.documents:DocumentSource._chosen"],
    "documents, rest": ["graphctx.context.documents:DocumentSource.retrieve"],
    "rest": ["graphctx.knowledge_base:KnowledgeBase.compose_context"],
}
"""A stage's time is that of its functions without the other stages called in them."""


def main() -> None:
    """Run the benchmark."""
    run_sizes(
        "eval.bench_context",
        str(__doc__),
        sizes="0,10000,100000",
        unit="units",
        questions=100,
        make=kept_kb,
        measure=measure,
        show=print_tables,
    )


def kept_kb(folder: Path, size: int) -> Path:
    """Return the knowledge base of a size, made on first use; 0 is the handbook."""
    return communities_kb(folder, size) if size else handbook_kb(folder)


def measure(folder: Path, size: int, count: int, clock: Clock = time.perf_counter) -> Row:
    """Compose contexts for the questions of one size."""
    kb_dir = kept_kb(folder, size)
    questions = global_questions(kb_dir) if size else read_questions(GOLDEN)
    asked, before_them = questions[:count], questions[-_WARM_UP:]
    taken: dict[str, list[float]] = {}
    tokens: dict[int, list[int]] = {budget: [] for budget in BUDGETS}
    with KnowledgeBase.open(kb_dir) as kb:
        uncached = kb.settings.model_copy(update={"context": ContextSettings(cache_entries=0)})
        kb.context_cache = ContextCache(uncached, kb.searcher().index.embedder)
        kb.warm()
        for text in before_them:
            kb.compose_context(text)
        watch = Stopwatch(STAGES, clock)
        for text in asked:
            for budget in BUDGETS:
                RECENT_VECTORS.clear()
                started = clock()
                context = kb.compose_context(text, budget)
                run = {f"{budget:,} tokens": clock() - started}
                tokens[budget].append(context.tokens["retrieved_sections"])
                RECENT_VECTORS.clear()
                with watch.installed():
                    kb.compose_context(text, budget)
                run |= {f"{budget:,}: {name}": value for name, value in watch.take().items()}
                for name, value in run.items():
                    taken.setdefault(name, []).append(value)
            RECENT_VECTORS.clear()
            taken.setdefault("retrieve_evidence", []).append(seconds(lambda: kb.retrieve_evidence(text), clock))  # noqa: B023
    return {
        "units": size,
        "questions": len(asked),
        "retrieved_tokens": {f"{budget:,}": round(sum(own) / len(own)) for budget, own in tokens.items()},
        "ms": {name: percentiles(values) for name, values in taken.items()},
    }


def print_tables(measured: list[Row]) -> None:
    """Print what was measured as Markdown tables."""
    head = [f"{row['units']:,}" if row["units"] else "handbook" for row in measured]
    cells = [
        (name, *(f"{row['ms'][name]['p50']:.2f} / {row['ms'][name]['p95']:.2f}" for row in measured))
        for name in measured[0]["ms"]
    ]
    table(("ms, p50 / p95", *head), cells)
    tokens = [(name, *(row["retrieved_tokens"][name] for row in measured)) for name in measured[0]["retrieved_tokens"]]
    table(("tokens of the retrieved part", *head), tokens)
    print(f"{measured[0]['questions']} questions for each size")


if __name__ == "__main__":
    main()
