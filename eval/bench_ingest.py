"""Measure an ingest: speed, memory, a small change, tiny files and bytes on disk, and print a table.

``python -m eval.bench_ingest [--folder FOLDER] [--words N] [--times 1,3] [--base DIR] [--json]``. The documents are
copied from a folder of Markdown, as many as hold ``N`` words, or made up without one, in some 500 files. Every ingest
runs in a process of its own. Its wall-clock time, and the processor time and the memory of it and of its workers, are
taken from outside; the ratios are of processor time, which depends less on what else the machine does. Beside the whole
ingest are the bare costs of its two models on the same units: spaCy as it comes, and one pass of the embedder. The
first table has every figure beside its target. The default size takes some five minutes; ``--words 2000000 --times
1,3,10`` takes hours.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path

import psutil

from eval.bench import embedded_texts, sizes
from eval.benchmarks import Row, table
from eval.synthetic_text import make_corpus
from graphctx import KnowledgeBase
from graphctx.nlp.embedders import DEFAULT, make_embedder
from graphctx.nlp.spacy_extractor import MODEL, SpacyExtractor

HANDBOOK = Path(__file__).resolve().parent / "corpora" / "handbook"
FILES = 500
WORDS_PER_UNIT = 74
TINY = 10
CHANGE = "\n\nThe harbour gate of Port Averil opens at noon when the release is done.\n"
_POLL_SECONDS = 0.05


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        prog="python -m eval.bench_ingest", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    parser.add_argument("--folder", type=Path, help="Markdown files; default: made-up text")
    parser.add_argument("--words", type=int, default=50_000, help="words of the corpus; default: 50000")
    parser.add_argument("--times", default="1,3", help="sizes at which memory is measured; default: 1,3")
    parser.add_argument("--base", type=Path, help="a checkout of another version, whose speed is compared")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    parser.add_argument("--measure", nargs=3, metavar=("WHAT", "KB", "FOLDER"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        what, kb_dir, folder = arguments.measure
        print(json.dumps(MEASURES[what](Path(kb_dir), Path(folder))))
        return
    with tempfile.TemporaryDirectory(prefix="graphctx-bench-") as place:
        times = [int(number) for number in arguments.times.split(",")]
        measured = bench(Path(place), arguments.folder, arguments.words, times, arguments.base)
    if arguments.json:
        print(json.dumps(measured, indent=2))
    else:
        print_tables(measured)


def bench(place: Path, folder: Path | None, words: int, times: list[int], base: Path | None = None) -> Row:
    """Measure everything below a scratch folder."""
    kb, docs = place / "kb", place / "docs"
    write_corpus(docs, folder, words)
    load_before = os.getloadavg()[0]
    whole = run("ingest", kb, docs)
    bare = {what: run(what, kb, docs) for what in ("spacy", "embedding")}
    base_whole = run("ingest", place / "base-kb", docs, checkout=base) if base else None
    paths = sorted(docs.rglob("*.md*"))
    change, hundredth = (change_and_ingest(kb, docs, some) for some in (paths[len(paths) // 2 :][:1], paths[::100]))
    write_tiny(place / "tiny")
    models = run("models", place / "none", place / "tiny")
    tiny = run("ingest", place / "tiny-kb", place / "tiny")
    memory = {"1": whole["peak_mb"]}
    for factor in times:
        if factor > 1:
            write_corpus(place / f"docs{factor}", folder, factor * words)
            memory[str(factor)] = run("ingest", place / f"kb{factor}", place / f"docs{factor}")["peak_mb"]
            shutil.rmtree(place / f"kb{factor}")
    return {
        "load": [round(load_before, 1), round(os.getloadavg()[0], 1)],
        "whole": whole,
        "base": base_whole,
        "bare": bare,
        "change": change,
        "hundredth": hundredth,
        "models": models,
        "tiny": tiny,
        "peak_mb": memory,
    }


def change_and_ingest(kb_dir: Path, docs: Path, paths: list[Path]) -> Row:
    """Append a sentence to some files and measure the ingest that follows."""
    for path in paths:
        path.write_text(path.read_text("utf-8") + CHANGE, "utf-8")
    return run("ingest", kb_dir, docs)


def run(what: str, kb_dir: Path, folder: Path, checkout: Path | None = None) -> Row:
    """Run one measure in a process; add wall and processor seconds, and the peak of memory with its workers.

    Args:
        what: one of `MEASURES`.
        kb_dir: the knowledge base.
        folder: the documents.
        checkout: the version to run; this one by default.
    """
    command = [sys.executable, "-m", "eval.bench_ingest", "--measure", what, str(kb_dir), str(folder)]
    started, peak = time.perf_counter(), 0.0
    taken: dict[int, float] = {}
    root = (checkout or Path(__file__).parent.parent).resolve()
    environment = {**os.environ, "PYTHONPATH": str(root)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root, env=environment) as process:
        main_process = psutil.Process(process.pid)
        while process.poll() is None:
            memory = 0
            for one in (main_process, *_children(main_process)):
                try:
                    cpu = one.cpu_times()
                    taken[one.pid] = cpu.user + cpu.system
                    memory += one.memory_info().rss
                except psutil.Error:
                    continue
            peak = max(peak, memory / 1e6)
            time.sleep(_POLL_SECONDS)
        output = process.stdout.read() if process.stdout else ""
    if process.returncode:
        raise SystemExit(f"Measuring {what} failed with exit code {process.returncode}.")
    wall = time.perf_counter() - started
    row: Row = json.loads(output.splitlines()[-1])
    return {"wall": round(wall, 2), "cpu": round(sum(taken.values()), 2), "peak_mb": round(peak)} | row


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def _ingest(kb_dir: Path, folder: Path) -> Row:
    with KnowledgeBase.open(kb_dir, create=True, project_id="bench") as kb:
        report = kb.ingest(folder)
    names = ("words", "documents", "units", "sentences", "entities", "communities", "replaced", "seconds")
    disk = sizes(kb_dir)
    text = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return {name: getattr(report, name) for name in names} | {"disk_kb": disk, "text_kb": round(text / 1024)}


def _spacy(kb_dir: Path, folder: Path) -> Row:
    import spacy

    units, pipeline = embedded_texts(kb_dir)[0], spacy.load(MODEL)
    return _taken(lambda: list(pipeline.pipe(units)))


def _embedding(kb_dir: Path, folder: Path) -> Row:
    units, embedder = embedded_texts(kb_dir)[0], make_embedder(DEFAULT)
    embedder.embed(["warm"])
    return _taken(lambda: embedder.embed(units))


def _taken(work: Callable[[], object]) -> Row:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return {"wall": round(time.perf_counter() - wall, 2), "cpu": round(time.process_time() - cpu, 2)}


def _models(kb_dir: Path, folder: Path) -> Row:
    make_embedder(DEFAULT).embed(["warm"])
    SpacyExtractor().load()
    return {}


MEASURES: dict[str, Callable[[Path, Path], Row]] = {
    "ingest": _ingest,
    "spacy": _spacy,
    "embedding": _embedding,
    "models": _models,
}


def write_corpus(target: Path, folder: Path | None, words: int) -> None:
    """Write files of about this many words: copies of a folder's, as often as needed, or made-up ones."""
    if folder is None:
        _write_made_up(target, words)
        return
    paths = sorted(path for path in folder.rglob("*.md*") if path.is_file())
    if not paths:
        raise SystemExit(f"{folder} holds no Markdown files.")
    written = round_number = 0
    while written < words:
        for path in paths:
            text = path.read_text("utf-8")
            copy = target / str(round_number) / path.relative_to(folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            # Another round is another text, so that nothing of it is memoised.
            copy.write_text(text if not round_number else text.replace("e", f"e{round_number}", 200), "utf-8")
            written += len(text.split())
            if written >= words:
                break
        round_number += 1


def _write_made_up(target: Path, words: int) -> None:
    corpus = make_corpus(max(1, words // WORDS_PER_UNIT), HANDBOOK)
    parts = [
        f"{title}\n\n{text}\n"
        for title, text in zip_longest(corpus.titles(), corpus.texts.to_pylist(), fillvalue="Notes")
    ]
    each = -(-len(parts) // FILES)
    target.mkdir(parents=True)
    for number, start in enumerate(range(0, len(parts), each)):
        text = f"# Volume {number}\n\n" + "\n".join(f"## {part}" for part in parts[start : start + each])
        (target / f"{number:04}.md").write_text(text, "utf-8")


def write_tiny(target: Path) -> None:
    """Write ten files of a sentence or two."""
    target.mkdir(parents=True)
    for number in range(TINY):
        text = f"# Buoy {number}\n\nBuoy {number} was built by Maren Halloran. She tests it in Port Averil.\n"
        (target / f"{number}.md").write_text(text, "utf-8")


def figures(measured: Row) -> list[tuple[str, str, str, str]]:
    """Return every figure that has a target, beside it: figure, measured, target, and whether it is reached."""
    whole, base, memory = measured["whole"], measured["base"], measured["peak_mb"]
    bare = sum(one["cpu"] for one in measured["bare"].values())
    most = max(memory, key=int)
    rows = [("words/s", f"{whole['words'] / whole['wall']:,.0f}", "", "")]

    def add(figure: str, value: float, target: float, share: str = ".2f", *, least: bool = False) -> None:
        sign, reached = ("≥", value >= target) if least else ("≤", value <= target)
        rows.append((figure, f"{value:{share}}", f"{sign} {target:{share}}", "yes" if reached else "no"))

    if base is not None:
        add("words per CPU second, to those of the base", base["cpu"] / whole["cpu"], 2.0, least=True)
    add("whole ingest, to spaCy and one embedding pass alone", whole["cpu"] / bare, 1.15)
    add("one sentence changed, to the whole", measured["change"]["cpu"] / whole["cpu"], 0.05, ".1%")
    add("1 % of the documents changed, to the whole", measured["hundredth"]["cpu"] / whole["cpu"], 0.05, ".1%")
    add(f"{TINY} tiny files, to loading the models", measured["tiny"]["cpu"] / measured["models"]["cpu"], 2.0)
    add("bytes of a snapshot for a byte of text", snapshot_kb(whole["disk_kb"]) / whole["text_kb"], 6.0, ".1f")
    if most != "1":
        add(f"peak memory at {most} × the corpus, to 1 ×", memory[most] / memory["1"], 1.5)
    return rows


def snapshot_kb(disk: Row) -> int:
    """Return the size of the snapshot among the parts on disk."""
    return sum(size for part, size in disk.items() if part != "(cache)")


def print_tables(measured: Row) -> None:
    """Print what was measured as Markdown tables."""
    whole, change, tiny, models = (measured[name] for name in ("whole", "change", "tiny", "models"))
    spacy, embedding = measured["bare"]["spacy"], measured["bare"]["embedding"]
    counts = ", ".join(f"{whole[name]:,} {name}" for name in ("words", "documents", "units", "entities", "communities"))
    print(f"{counts}\nload of the machine before and after: {measured['load'][0]} and {measured['load'][1]}\n")
    bare = spacy["cpu"] + embedding["cpu"]
    table(("figure", "measured", "target", "reached"), figures(measured))

    def row(what: str, one: Row, beside: float) -> tuple[str, float, float, str]:
        return what, one["wall"], one["cpu"], f"{one['cpu'] / beside:.2f}"

    table(
        ("what", "wall s", "CPU s", "CPU ratio"),
        [
            row("spaCy alone, to both alone", spacy, bare),
            row("one embedding pass over the units, to both alone", embedding, bare),
            row("whole ingest, to both alone", whole, bare),
            row("one sentence changed, to the whole", change, whole["cpu"]),
            row("1 % of the documents changed, to the whole", measured["hundredth"], whole["cpu"]),
            row("loading both models", models, models["cpu"]),
            row(f"{TINY} tiny files, to loading", tiny, models["cpu"]),
        ],
    )
    print(f"{whole['words'] / whole['wall']:,.0f} words/s, {whole['words'] / whole['cpu']:,.0f} words per CPU second\n")
    table(
        ("wall s by step", "whole", "one sentence", "tiny"),
        [
            (step, *(round(one["seconds"].get(step, 0), 2) for one in (whole, change, tiny)))
            for step in whole["seconds"]
        ],
    )
    memory = measured["peak_mb"]
    table(
        ("peak memory", "MB", "ratio"),
        [(f"{factor} ×", value, f"{value / memory['1']:.2f}") for factor, value in memory.items()],
    )
    disk, text = whole["disk_kb"], whole["text_kb"]
    rows = [(part, size, f"{size / text:.1f}") for part, size in disk.items()]
    table(
        ("on disk", "KB", "to a byte of text"),
        [*rows, ("snapshot", snapshot_kb(disk), f"{snapshot_kb(disk) / text:.1f}")],
    )


if __name__ == "__main__":
    main()
