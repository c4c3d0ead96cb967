"""Prove that equal documents and equal questions give equal bytes: ``make determinism``.

    python -m eval.determinism SUITE… [--questions 60] [--work DIR] [--reuse] [--json]

A suite is what ``graphctx eval`` takes. Its knowledge base is made from nothing three times: of the corpus as it is, of
a copy whose rows or files come in another order, and of half of that copy and then all of it; each time with another
number of worker processes. The content of the snapshots must be the same. Then its questions are asked in processes
with other hash seeds, numbers of threads and orders, and by several threads at once. What a client gets must be the
same, byte for byte. Exit code 1, with the first difference, where it is not.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from eval.benchmarks import table
from graphctx.cli.console import errors_console
from graphctx.errors import GraphctxError, InvalidArgument
from graphctx.eval.golden import objects
from graphctx.eval.suites import Suite, load_suite
from graphctx.ingest import workers
from graphctx.knowledge_base import KnowledgeBase
from graphctx.store.schema import TABLES, UNHASHED_COLUMNS
from graphctx.store.snapshot import MATRICES_DIR, PARQUET_DIR, TABLES_DIR, Snapshot, open_snapshot

ROOT = Path(__file__).resolve().parent.parent
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")
"""Of numpy and of the tokenizer."""

Row = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Build:
    """How a knowledge base is made: ``shares`` of the corpus one after another, with this many worker processes; with a
    ``shuffle`` other than 0 in another order of rows or files."""

    name: str
    shuffle: int
    shares: tuple[float, ...]
    processes: int
    hash_seed: int
    threads: int


@dataclass(frozen=True, slots=True)
class Asking:
    """How questions are asked of a build: by this many ``callers`` at once, the last question first if ``reverse``."""

    build: str
    hash_seed: int
    threads: int
    reverse: bool = False
    callers: int = 1


BUILDS = (
    Build("as it is", 0, (1.0,), processes=1, hash_seed=0, threads=1),
    Build("shuffled", 1, (1.0,), processes=2, hash_seed=1, threads=4),
    Build("in halves", 2, (0.5, 1.0), processes=3, hash_seed=2, threads=2),
)
ASKINGS = (
    Asking("as it is", hash_seed=0, threads=1),
    Asking("as it is", hash_seed=1, threads=4, reverse=True),
    Asking("as it is", hash_seed=2, threads=4, callers=4),
    Asking("shuffled", hash_seed=3, threads=1, reverse=True),
    Asking("in halves", hash_seed=4, threads=4),
)


def main() -> int:
    """Command line; exit code 1 where something differs, 2 where a suite cannot be used."""
    if sys.argv[1:] in (["--build"], ["--answer"]):  # in a process of its own
        work = build if sys.argv[1] == "--build" else answer
        json.dump(work(**json.load(sys.stdin)), sys.stdout)
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="+", type=Path, metavar="SUITE", help="golden file, or folder with a corpus")
    parser.add_argument("--questions", type=int, default=60, help="how many are asked, spread evenly; 0 for all")
    parser.add_argument(
        "--work", type=Path, default=ROOT / ".kb" / "determinism", help="where knowledge bases are kept"
    )
    parser.add_argument("--reuse", action="store_true", help="bring what is kept up to date instead of making it anew")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    asked = parser.parse_args()
    try:
        proofs = [prove(load_suite(path), asked.work, asked.questions, asked.reuse) for path in asked.suites]
    except GraphctxError as error:
        errors_console().print(str(error), soft_wrap=True)
        return 2
    if asked.json:
        print(json.dumps({"schema": "graphctx-determinism/1", "suites": proofs}, indent=2))
    else:
        print_proofs(proofs)
    return 1 if any(proof["differences"] for proof in proofs) else 0


def prove(suite: Suite, work: Path, limit: int, reuse: bool) -> Row:
    """Make the knowledge bases of a suite, ask its questions, and say what differs."""
    if suite.corpus is None or not suite.rows:
        raise InvalidArgument(f"{suite.name} does not say of which documents its questions are asked.")
    folder = work.resolve() / f"{suite.name}-{hashlib.sha256(str(suite.path.resolve()).encode()).hexdigest()[:6]}"
    if not reuse:
        shutil.rmtree(folder, ignore_errors=True)
    questions = [item.row.question for item in spread(suite.rows, limit)]
    kbs = {how.name: folder / how.name.replace(" ", "-") / "kb" for how in BUILDS}
    builds: list[Row] = []
    askings: list[Row] = []
    first: list[list[str]] = []
    differences = []
    for how in BUILDS:
        errors_console().print(f"{suite.name}: ingest {how.name}", soft_wrap=True)
        builds.append(asdict(how) | make(suite.corpus.resolve(), kbs[how.name], how))
        if any(builds[-1][key] != builds[0][key] for key in ("content_hash", "files")):
            differences.append(f"{how.name}: {content_difference(kbs[BUILDS[0].name], kbs[how.name])}")
    for asking in ASKINGS:
        errors_console().print(f"{suite.name}: ask {len(askings) + 1} of {len(ASKINGS)}", soft_wrap=True)
        options = {"questions": questions, "reverse": asking.reverse, "callers": asking.callers}
        given = child("answer", asking.hash_seed, asking.threads, kb=str(kbs[asking.build]), **options)
        first = first or given
        askings.append(asdict(asking) | {"digest": hashlib.sha256(json.dumps(given).encode()).hexdigest()})
        if given != first:
            differences.append(f"{asking}: {answer_difference(questions, first, given)}")
    counted = {"suite": suite.name, "documents": builds[0]["documents"], "questions": len(questions)}
    return counted | {"builds": builds, "askings": askings, "differences": differences}


def spread(rows: Sequence[T], limit: int) -> list[T]:
    """Return at most this many rows, evenly from the first to the last; all of them for 0."""
    n = min(limit, len(rows)) if limit else len(rows)
    return [rows[at * len(rows) // n] for at in range(n)]


def make(corpus: Path, kb: Path, how: Build) -> Row:
    """Make one knowledge base, each share of the corpus in a process of its own."""
    made: Row = {}
    copy = kb.with_name("copy")
    for share in how.shares:
        shutil.rmtree(copy, ignore_errors=True)
        source = arranged(corpus, copy, how.shuffle, share) if how.shuffle else corpus
        made = child("build", how.hash_seed, how.threads, kb=str(kb), source=str(source), processes=how.processes)
    return made


def arranged(corpus: Path, folder: Path, seed: int, share: float) -> Path:
    """Write the first share of a corpus in another order. Of rows with one id only the first is a document."""
    shuffled = random.Random(seed)
    target = folder / corpus.name
    folder.mkdir(parents=True, exist_ok=True)
    if corpus.suffix == ".jsonl":
        distinct: dict[str, Row] = {}
        for _, row in objects(corpus):
            distinct.setdefault(str(row.get("id")), row)
        rows = list(distinct.values())
        shuffled.shuffle(rows)
        kept = rows[: max(1, round(share * len(rows)))]
        target.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in kept), "utf-8")
        return target
    files = sorted(path for path in corpus.rglob("*") if path.is_file()) if corpus.is_dir() else [corpus]
    shuffled.shuffle(files)
    for path in files[: max(1, round(share * len(files)))]:
        copy = target / path.relative_to(corpus) if corpus.is_dir() else target
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    return target


def child(function: str, hash_seed: int, threads: int, **options: Any) -> Any:
    """Call `build` or `answer` in a process of its own; arguments and result are JSON."""
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    own = {"PYTHONPATH": paths, "PYTHONHASHSEED": str(hash_seed)} | dict.fromkeys(THREADS, str(threads))
    done = subprocess.run(
        [sys.executable, "-m", "eval.determinism", f"--{function}"],
        input=json.dumps(options),
        env={**os.environ, **own},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def print_proofs(proofs: Sequence[Row]) -> None:
    """Print what was made and asked, and whether it was the same."""
    for proof in proofs:
        print(f"{proof['suite']}: {proof['documents']:,} documents, {proof['questions']} questions\n")
        print_rows(proof["builds"], ("name", "processes", "hash_seed", "threads", "content_hash", "files"))
        print_rows(proof["askings"], ("build", "reverse", "callers", "hash_seed", "threads", "digest"))
        print("\n".join(f"DIFFERS: {text}" for text in proof["differences"]) or "All the same.", end="\n\n")


def print_rows(rows: Sequence[Row], columns: tuple[str, ...]) -> None:
    """Print some columns as a table, of digests the beginning."""
    table(
        tuple(name.replace("_", " ") for name in columns),
        [tuple(str(row[name])[:16] for name in columns) for row in rows],
    )


def answer_difference(questions: Sequence[str], one: list[list[str]], two: list[list[str]]) -> str:
    """Return the first question, call and field that differ."""
    for question, left, right in zip(questions, one, two, strict=True):
        for call, a, b in zip(("search", "retrieve_evidence"), left, right, strict=True):
            if a != b:
                where = next(differing(json.loads(a), json.loads(b), call), f"{call}: the order of its fields")
                return f"{question!r}, {where}"
    return "nothing"


def differing(a: Any, b: Any, path: str) -> Iterator[str]:
    """Yield where two JSON values differ, with both values."""
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        for key in a:
            yield from differing(a[key], b[key], f"{path}.{key}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for at, (x, y) in enumerate(zip(a, b, strict=True)):
            yield from differing(x, y, f"{path}[{at}]")
    elif a != b:
        yield f"{path}: {a!r:.120} and {b!r:.120}"


def content_difference(one: Path, two: Path) -> str:
    """Return the first table, column and row, or array, in which two snapshots differ."""
    with open_snapshot(one) as left, open_snapshot(two) as right:
        for name, schema in TABLES.items():
            a, b = left.table(name), right.table(name)
            if a.num_rows != b.num_rows:
                return f"table {name}: {a.num_rows} and {b.num_rows} rows"
            for column in (column for column in schema.names if column not in UNHASHED_COLUMNS.get(name, ())):
                x, y = a[column].to_pylist(), b[column].to_pylist()
                for at in (at for at in range(len(x)) if x[at] != y[at]):
                    return f"table {name}, {column}, row {at}: {x[at]!r:.120} and {y[at]!r:.120}"
        ours, theirs = arrays_of(left), arrays_of(right)
        return next((f"array {key}" for key in sorted(ours) if ours[key] != theirs.get(key)), "nothing that is kept")


def arrays_of(snapshot: Snapshot) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    """What the arrays of a snapshot hold, by name."""
    held = dict(snapshot.arrays())
    names = (path.stem for path in (snapshot.directory / MATRICES_DIR).glob("*.npy"))
    held |= {f"{MATRICES_DIR}/{name}": snapshot.matrix(name) for name in names}
    return {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in held.items()}


OWN_BYTES = (f"{TABLES_DIR}/", *(f"{PARQUET_DIR}/{name}." for name in UNHASHED_COLUMNS))
"""How the names of files begin that may differ: those of LanceDB hold random ids, and these tables say when
a document's file was written and what a community was called before. All others are the same, byte for byte."""


def build(kb: str, source: str, processes: int) -> dict[str, Any]:
    """Ingest, with workers however small the corpus is; return digests of the content and of the files."""
    workers.SIZE_FOR_MORE_WORKERS = 0
    with KnowledgeBase.open(kb, create=True, project_id="determinism") as base:
        report = base.ingest(source, prune=True, processes=processes)
    with open_snapshot(Path(kb)) as snapshot:
        files = snapshot.manifest.files
    kept = [(name, files[name].sha256) for name in sorted(files) if not name.startswith(OWN_BYTES)]
    digest = hashlib.sha256(json.dumps(kept).encode()).hexdigest()
    return {"content_hash": report.content_hash, "files": digest, "documents": report.documents}


def answer(kb: str, questions: Sequence[str], reverse: bool, callers: int) -> list[list[str]]:
    """Return the JSON of `search` and of `retrieve_evidence` for each question, in the order given.

    The snapshot id is taken out, so that only differences that follow from the content are reported.
    """
    with KnowledgeBase.open(kb) as base:

        def ask(question: str) -> list[str]:
            found = base.search(question, top_k=10, include_scores=True)
            evidence = base.retrieve_evidence(question, include_diagnostics=True)
            return [one.model_dump_json().replace(base.snapshot_id, "SNAPSHOT") for one in (found, evidence)]

        with ThreadPoolExecutor(callers) as pool:
            answers = list(pool.map(ask, questions[::-1] if reverse else questions))
        return answers[::-1] if reverse else answers


if __name__ == "__main__":
    sys.exit(main())
