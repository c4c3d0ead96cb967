"""Measure which share of the nearest vectors the binary prefilter keeps, on real vectors.

``python -m eval.tools.prefilter_recall KB… --questions FILE…``. The vectors are those of the units and sentences of
some knowledge bases, each once, and random parts of them; the questions are evenly spaced ones of golden files. Made-up
vectors say little here: noise that is the same in all directions is the hardest case.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import numpy.typing as npt

from eval.benchmarks import table
from graphctx.eval.suites import load_suite
from graphctx.nlp.embedders import DEFAULT, make_embedder
from graphctx.retrieve.arrays import top_rows
from graphctx.retrieve.binary_prefilter import BinaryPrefilter
from graphctx.store.snapshot import open_snapshot

NEAREST = (10, 50, 100)
PARTS = (4, 2, 1)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kb", type=Path, nargs="+", help="folders of knowledge bases")
    parser.add_argument("--questions", type=Path, nargs="+", required=True, help="golden files or sets")
    parser.add_argument("--of-each", type=int, default=20, help="questions of each file; default: 20")
    arguments = parser.parse_args()
    vectors = np.unique(np.concatenate([vectors_of(folder) for folder in arguments.kb]), axis=0)
    lengths = np.linalg.norm(vectors.astype(np.float32), axis=1)
    texts = [text for path in arguments.questions for text in questions_of(path, arguments.of_each)]
    questions = make_embedder(DEFAULT).embed(texts)
    rng = np.random.default_rng(0)
    rows = []
    for part in PARTS:
        chosen = rng.permutation(len(vectors))[: len(vectors) // part]
        some, prefilter = vectors[chosen], BinaryPrefilter(vectors[chosen])
        found = np.mean([kept(prefilter, one, (some @ one) / lengths[chosen]) for one in questions], axis=0)
        rows.append((f"{len(some):,}", *(f"{100 * share:.2f}" for share in found)))
    print(f"{len(questions)} questions; % of the nearest that the prefilter keeps\n")
    table(("vectors", *(f"nearest {count}" for count in NEAREST)), rows)


def vectors_of(kb_dir: Path) -> npt.NDArray[np.int8]:
    """Return the quantised vectors of a knowledge base's units and sentences, without empty ones."""
    with open_snapshot(kb_dir) as snapshot:
        both = np.concatenate([np.asarray(snapshot.matrix(name)) for name in ("units", "sentences")])
    kept_rows: npt.NDArray[np.int8] = both[both.any(axis=1)]
    return kept_rows


def questions_of(path: Path, count: int) -> list[str]:
    """Return evenly spaced questions of a golden file or set."""
    questions = [one.row.question for one in load_suite(path).rows]
    return questions[:: max(1, len(questions) // count)][:count]


def kept(
    prefilter: BinaryPrefilter, question: npt.NDArray[np.float32], cosines: npt.NDArray[np.float32]
) -> list[float]:
    """Return the share of the nearest vectors that the prefilter keeps, for each number of `NEAREST`."""
    likely = prefilter.likely(question, None, np.arange(len(cosines)))
    return [float(np.isin(top_rows(cosines, count), likely).mean()) for count in NEAREST]


if __name__ == "__main__":
    main()
