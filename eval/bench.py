"""Measure ingest, queries, memory and size, and print a table.

``python -m eval.bench [FOLDER] [--questions FILE] [--json]``. Times are of one run in one process on this machine;
compare ratios, not seconds. Ingest is set beside the bare cost of its two models on the same text: spaCy alone, one
document at a time on one core, and the embedder alone. Questions are the answerable ones of the golden set; each is
asked once to warm up and then ``ROUNDS`` times.
"""

from __future__ import annotations

import argparse
import json
import platform
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import numpy as np
import psutil

from eval.benchmarks import Row, table
from graphctx import KnowledgeBase
from graphctx.ingest.embed import MIN_SENTENCE_CHARS
from graphctx.ingest.report import IngestReport
from graphctx.nlp.embedders import DEFAULT, make_embedder
from graphctx.nlp.spacy_extractor import MODEL
from graphctx.nlp.tokens import WordPieceCounter
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import parse_question
from graphctx.retrieve.ranking import quoted_units, rank
from graphctx.retrieve.selection import select_sentences
from graphctx.retrieve.stages import EXPANSIONS, FIRST_STAGES, RERANKERS
from graphctx.retrieve.variants import SelectionWeights
from graphctx.store.snapshot import open_snapshot

ROOT = Path(__file__).resolve().parent
HANDBOOK = ROOT / "corpora" / "handbook"
GOLDEN = ROOT / "golden" / "handbook.jsonl"
ROUNDS = 3
STAGES = ("question embedding", "first stage", "ranking (with first stage)", "evidence", "retrieve_evidence")

T = TypeVar("T")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        prog="python -m eval.bench", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    parser.add_argument("folder", nargs="?", type=Path, default=HANDBOOK, help="the documents; default: the handbook")
    parser.add_argument("--questions", type=Path, default=GOLDEN, help="JSON lines with a field 'question'")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    arguments = parser.parse_args()
    questions = read_questions(arguments.questions)
    with tempfile.TemporaryDirectory(prefix="graphctx-bench-") as place:
        measured = bench(arguments.folder, questions, Path(place) / "kb")
    if arguments.json:
        print(json.dumps(measured, indent=2))
    else:
        print_tables(measured)


def handbook_kb(folder: Path) -> Path:
    """Return the knowledge base of the handbook in a folder, made on first use."""
    with KnowledgeBase.open(folder / "handbook", create=True) as kb:
        kb.ingest(HANDBOOK)
        return kb.path


def read_questions(path: Path) -> list[str]:
    """Return the answerable questions of a golden set, in its order."""
    items = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    return [item["question"] for item in items if item.get("answerable", True)]


def bench(folder: Path, questions: list[str], kb_dir: Path) -> Row:
    """Measure everything on one folder."""
    with KnowledgeBase.open(kb_dir, create=True, project_id="bench") as kb:
        one_core = kb.ingest(folder, processes=1)
    with timed() as again, KnowledgeBase.open(kb_dir) as kb:
        kb.ingest(folder)
    units, sentences = embedded_texts(kb_dir)
    spacy_seconds = bare_spacy(units)
    embed_seconds = bare_embedding(units, sentences)
    memory_before = rss()
    with KnowledgeBase.open(kb_dir) as kb:
        with timed() as opening:
            kb.warm()
        latency = query_latency(kb, questions)
        memory = rss()
    return {
        "machine": {"cores": psutil.cpu_count(logical=True), "python": platform.python_version()},
        "corpus": {
            name: getattr(one_core, name)
            for name in ("documents", "words", "units", "sentences", "entities", "facts", "edges")
        },
        "ingest": ingest_rows(one_core, again["seconds"], spacy_seconds, embed_seconds),
        "latency_ms": latency,
        "questions": len(questions),
        "rounds": ROUNDS,
        "open_and_warm_seconds": round(opening["seconds"], 2),
        "memory_mb": {"after ingest": round(memory_before), "after all questions": round(memory)},
        "disk_kb": sizes(kb_dir),
    }


def ingest_rows(report: IngestReport, again: float, spacy_seconds: float, embed_seconds: float) -> list[Row]:
    """What, seconds, words a second, and the ratio to the bare cost that it is to be compared with."""
    bare = spacy_seconds + embed_seconds

    def row(what: str, seconds: float, beside: float) -> Row:
        speed = round(report.words / seconds) if seconds > 0 else 0
        return {
            "what": what,
            "seconds": round(seconds, 2),
            "words_per_second": speed,
            "ratio": round(seconds / beside, 2) if beside > 0 else 0.0,
        }

    return [
        row("spaCy alone", spacy_seconds, bare),
        row("embedding alone", embed_seconds, bare),
        row("both alone", bare, bare),
        row("whole ingest, one process", report.total_seconds, bare),
        *(row(f"  {step}", seconds, bare) for step, seconds in report.seconds.items()),
        row("the same again, nothing changed", again, bare),
    ]


def embedded_texts(kb_dir: Path) -> tuple[list[str], list[str]]:
    """Return the texts of units and of sentences, as far as they are embedded."""
    with open_snapshot(kb_dir) as snapshot:
        units = snapshot.table("units", columns=["text", "start_char"]).to_pylist()
        rows = snapshot.table("sentences").to_pylist()
    sentences = []
    for row in rows:
        unit = units[row["unit_row"]]
        text = unit["text"][row["start_char"] - unit["start_char"] : row["end_char"] - unit["start_char"]]
        if len(text) >= MIN_SENTENCE_CHARS:
            sentences.append(text)
    return [unit["text"] for unit in units], sentences


def bare_spacy(texts: list[str]) -> float:
    """Return seconds of the unchanged pipeline over the texts, its loading left out."""
    import spacy

    pipeline = spacy.load(MODEL)
    pipeline("warm")
    with timed() as taken:
        for _ in pipeline.pipe(texts):
            pass
    return taken["seconds"]


def bare_embedding(units: list[str], sentences: list[str]) -> float:
    """Return seconds of the embedder over the distinct texts, its loading left out."""
    embedder = make_embedder(DEFAULT)
    embedder.embed(["warm"])
    texts = list(dict.fromkeys([*units, *sentences]))
    with timed() as taken:
        embedder.embed(texts)
    return taken["seconds"]


def query_latency(kb: KnowledgeBase, questions: list[str]) -> dict[str, Row]:
    """Return milliseconds of each stage, p50 and p95 over all questions and rounds, in a warm process."""
    with open_snapshot(kb.path) as snapshot:
        index = SearchIndex(snapshot, make_embedder(DEFAULT))
        index.warm()
        tokens, settings = WordPieceCounter(), kb.settings.retrieve
        first_stage = FIRST_STAGES[settings.first_stage]
        times: dict[str, list[float]] = {stage: [] for stage in STAGES}

        def stages(text: str) -> None:
            once(times, STAGES[0], lambda: index.embedder.embed([text]))
            question = parse_question(text, index)
            once(times, STAGES[1], lambda: first_stage(index, question, settings.candidates))
            ranking = once(
                times,
                STAGES[2],
                lambda: rank(
                    index,
                    question,
                    n_candidates=settings.candidates,
                    mode="hybrid",
                    first_stage=first_stage,
                    expansion=EXPANSIONS[settings.expansion],
                    reranker=RERANKERS[settings.reranker],
                ),
            )
            once(
                times,
                STAGES[3],
                lambda: select_sentences(
                    index,
                    question,
                    ranking,
                    quoted_units(index, ranking, 5, settings.max_per_document),
                    max_units=5,
                    max_quotes=6,
                    max_quote_tokens=80,
                    weights=SelectionWeights(),
                    tokens=tokens,
                ),
            )
            once(times, STAGES[4], lambda: kb.retrieve_evidence(text))

        for text in questions:
            stages(text)
        for taken in times.values():
            taken.clear()
        for _ in range(ROUNDS):
            for text in questions:
                stages(text)
    return {
        stage: {f"p{p}": round(float(np.percentile(taken, p)), 2) for p in (50, 95)} for stage, taken in times.items()
    }


def once(times: dict[str, list[float]], stage: str, work: Callable[[], T]) -> T:
    """Do some work and note how many milliseconds it took."""
    with timed() as taken:
        result = work()
    times[stage].append(taken["seconds"] * 1000)
    return result


@contextmanager
def timed() -> Iterator[dict[str, float]]:
    """Take the seconds of the block, under ``seconds``."""
    taken: dict[str, float] = {}
    started = time.perf_counter()
    yield taken
    taken["seconds"] = time.perf_counter() - started


def rss() -> float:
    """Return resident memory of this process in MB."""
    return float(psutil.Process().memory_info().rss) / 1e6


def sizes(kb_dir: Path) -> dict[str, int]:
    """Return kilobytes on disk by part of the published snapshot, and of the cache."""
    with open_snapshot(kb_dir) as snapshot:
        parts: dict[str, int] = {}
        for name, entry in snapshot.manifest.files.items():
            part = name.split("/")[0]
            parts[part] = parts.get(part, 0) + entry.size
    parts["(cache)"] = sum(path.stat().st_size for path in (kb_dir / "cache").rglob("*") if path.is_file())
    return {part: round(size / 1024) for part, size in sorted(parts.items())}


def print_tables(measured: Row) -> None:
    """Print what was measured as Markdown tables."""
    corpus = measured["corpus"]
    print(", ".join(f"{value:,} {name}" for name, value in corpus.items()))
    print(f"{measured['machine']['cores']} cores, Python {measured['machine']['python']}\n")
    table(
        ("ingest", "s", "words/s", "to both alone"),
        [(row["what"], row["seconds"], row["words_per_second"], row["ratio"]) for row in measured["ingest"]],
    )
    latency = measured["latency_ms"]
    whole = latency[STAGES[-1]]["p50"]
    table(
        ("query stage, ms", "p50", "p95", "share of p50"),
        [(stage, row["p50"], row["p95"], f"{row['p50'] / whole:.0%}") for stage, row in latency.items()],
    )
    print(f"{measured['questions']} questions, {measured['rounds']} rounds in a warm process\n")
    table(("memory", "MB"), list(measured["memory_mb"].items()))
    disk = measured["disk_kb"]
    total = sum(size for part, size in disk.items() if part != "(cache)")
    table(("on disk", "KB", "share"), [(part, size, f"{size / total:.0%}") for part, size in disk.items()])
    print(f"snapshot {total:,} KB for {corpus['words']:,} words; open and warm {measured['open_and_warm_seconds']} s")


if __name__ == "__main__":
    main()
