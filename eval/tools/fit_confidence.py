"""Fit the weights of ``graphctx/retrieve/confidence.py``: ``python -m eval.tools.fit_confidence``.

The examples are described in eval/tools/confidence_examples.py. Sets weigh the same, whatever their size. The
split is by set: each is judged by weights that were fitted on the others (a set and its copy without titles go
together). The weights that are printed last, for ``WEIGHTS`` and ``BIAS``, are fitted on all; ``--check`` judges each
set by the weights that are in the code instead, and prints none.

AUROC   of the best quote's confidence, between the set's own answerable questions and its unanswerable ones
        (``real``), the same questions with their gold hidden or cut out, and questions of other sets (``off``)
ECE     expected calibration error of the quotes of the questions as they are, in ten bins
low     share of questions without a quote of LOW_CONFIDENCE: answerable, and unanswerable in each way
empty   share of questions without a quote of FLOOR

The sets are looked for below ``--data``, by default in ``$GRAPHCTX_DEV_DATA`` or ``../shared/data``; missing ones
are skipped. The first run ingests them below ``--work``, some fifteen minutes; later ones take three.
``--examples FILE`` keeps the examples, and takes them from there if the file is there.
"""

from __future__ import annotations

import argparse
import os
import pickle
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from eval.tools.confidence_examples import Example, cut_folder, cut_set, evenly, gather, gather_cut
from graphctx.eval.measures import auroc
from graphctx.eval.records import Golden
from graphctx.eval.suites import Suite, load_suite
from graphctx.model.answers import LOW_CONFIDENCE
from graphctx.retrieve.confidence import BIAS, FLOOR, WEIGHTS

ROOT = Path(__file__).resolve().parents[2]
Real = npt.NDArray[np.float64]

SETS = (
    "handbook",
    "clapnq_dev",
    "hotpot_train100",
    "2wiki_dev200",
    "musique_train100",
    "hotpot_train100:blank",
    "2wiki_dev200:blank",
    "musique_train100:blank",
    "popqa_pooled",
    "xquad_en",
    "chunking_eval",
    "lihua_world",
)
FOREIGN = 15
"""Questions that are asked from each of the other sets."""

WAYS = {"full": 1.0, "hidden": 0.6, "cut": 1.0, "off": 0.3}
"""The weight of an example by the way its question was asked: near misses teach more than what is far off."""

L2 = 1e-3
"""Penalty of the squared weights of standardised features, beside the mean log loss."""

HANDBOOK = ROOT / "eval" / "golden" / "handbook.jsonl"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = Path(os.environ.get("GRAPHCTX_DEV_DATA") or ROOT.parent / "shared" / "data")
    parser.add_argument("--data", type=Path, default=data, help="where the sets lie")
    parser.add_argument("--work", type=Path, default=ROOT / ".kb" / "eval", help="where knowledge bases are kept")
    parser.add_argument("--examples", type=Path, help="keep the examples in this file, or take them from there")
    parser.add_argument("--check", action="store_true", help="judge the weights that are in the code")
    asked = parser.parse_args()
    if asked.examples and asked.examples.exists():
        examples = pickle.loads(asked.examples.read_bytes())
    else:
        examples = collect(asked.data, asked.work)
        if asked.examples:
            asked.examples.write_bytes(pickle.dumps(examples))
    present = np.array([*WEIGHTS.values(), BIAS])
    judged = {
        name: predict(found, present if asked.check else fitted(others(examples, name)))
        for name, found in examples.items()
    }
    print_sets(examples, judged)
    print_reliability(examples, judged)
    if not asked.check:
        *weights, bias = fitted(examples).round(3)
        print("\nWEIGHTS")
        for name, weight in zip(WEIGHTS, weights, strict=True):
            print(f'    "{name}": {weight:g},')
        print(f"BIAS = {bias:g}")


def collect(data: Path, work: Path) -> dict[str, list[Example]]:
    """Return the examples of every set that is there."""
    suites = {name: suite for name in SETS if (suite := _suite(name, data))}
    questions = {
        name: [Golden(f"{name} {item.row.id}", item.row.question) for item in suite.rows]
        for name, suite in suites.items()
        if not suite.blank_titles
    }
    examples = {}
    for name, suite in suites.items():
        began = time.monotonic()
        foreign = [one for other in questions if other != _base(name) for one in evenly(questions[other], FOREIGN)]
        examples[name] = list(gather(name, suite, foreign, work))
        if (cut := None if suite.blank_titles else _cut(name, data, work)) and cut.rows:
            examples[name] += gather_cut(cut, work)
        print(f"{name}: {len(examples[name])} quotes, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return examples


def _suite(name: str, data: Path) -> Suite | None:
    path = HANDBOOK if name == "handbook" else data / _base(name)
    return load_suite(path, blank_titles=name.endswith(":blank")) if path.exists() else None


def _cut(name: str, data: Path, work: Path) -> Suite | None:
    if name == "handbook":
        questions, documents = cut_folder(HANDBOOK, ROOT / "eval" / "corpora" / "handbook", work / "cut" / name)
        return load_suite(questions, corpus=documents)
    folder = cut_set(data / name, work / "cut" / name)
    return load_suite(folder) if (folder / "questions.jsonl").stat().st_size else None


def _base(name: str) -> str:
    return name.removesuffix(":blank")


def others(examples: dict[str, list[Example]], name: str) -> dict[str, list[Example]]:
    """Return all sets but one and its copy without titles."""
    return {other: found for other, found in examples.items() if _base(other) != _base(name)}


def fitted(examples: dict[str, list[Example]]) -> Real:
    """Return the weights of the features and the bias.

    First the weights, by the examples of all ways; then slope and bias of their sum, by those of questions as they are
    alone, so that confidence is calibrated where most of what is asked is answered.
    """
    features = np.array([one.features for found in examples.values() for one in found])
    gold = np.array([one.gold for found in examples.values() for one in found], dtype=np.float64)
    as_it_is = np.array([one.way == "full" for found in examples.values() for one in found])
    weight = np.concatenate([_weights(name, found) for name, found in examples.items()])
    beta = logistic(features, gold, weight)
    total = (features @ beta[:-1])[:, None]
    slope, bias = logistic(total, gold, weight * as_it_is)
    return np.append(beta[:-1] * slope, bias)


def logistic(features: Real, gold: Real, weight: Real) -> Real:
    """Weights and bias of a logistic regression, by Newton's method on the penalised mean log loss."""
    weight = weight / weight.sum()
    mean = weight @ features
    spread = np.sqrt(weight @ (features - mean) ** 2) + 1e-9
    design = np.c_[(features - mean) / spread, np.ones(len(features))]
    penalty = np.append(np.full(features.shape[1], 2 * L2), 0.0)
    beta = np.zeros(design.shape[1])
    for _ in range(30):
        sure = 1 / (1 + np.exp(-design @ beta))
        gradient = design.T @ (weight * (sure - gold)) + penalty * beta
        curvature = (design * (weight * sure * (1 - sure))[:, None]).T @ design + np.diag(penalty)
        step = np.linalg.solve(curvature, gradient)
        beta -= step
        if np.abs(step).max() < 1e-9:
            break
    plain = beta[:-1] / spread
    both: Real = np.append(plain, beta[-1] - plain @ mean)
    return both


def _weights(name: str, found: Sequence[Example]) -> Real:
    weight = np.array([WAYS[one.way] for one in found])
    share: Real = weight / weight.sum() * (0.5 if name.endswith(":blank") else 1.0)
    return share


def predict(found: Sequence[Example], beta: Real) -> Real:
    """Return the confidence of each example."""
    features = np.array([one.features for one in found])
    sure: Real = np.round(1 / (1 + np.exp(-(features @ beta[:-1] + beta[-1]))), 3)
    return sure


def best(found: Sequence[Example], sure: Real, way: str, answerable: bool) -> dict[str, float]:
    """Return the confidence of the best quote of each question that was asked in one way."""
    top: dict[str, float] = {}
    for one, value in zip(found, sure, strict=True):
        if one.way == way and one.answerable is answerable:
            top[one.question] = max(top.get(one.question, 0.0), float(value))
    return top


def print_sets(examples: dict[str, list[Example]], judged: dict[str, Real]) -> None:
    """One line for each set."""
    names = ("real", "hidden", "cut", "off")
    columns = [f"AUROC {name}" for name in names] + ["ECE", "low answ."] + [f"low {name}" for name in names]
    print(f"{'':24}" + "".join(f"{column:>13}" for column in [*columns, "empty answ.", "empty real", "empty off"]))
    lines = []
    for name, found in examples.items():
        sure = judged[name]
        answerable = best(found, sure, "full", True)
        none = {way: best(found, sure, "full" if way == "real" else way, False) for way in names}
        alike = {way: [v for key, v in answerable.items() if way != "cut" or key in none["cut"]] for way in names}
        line = [
            *(auroc(alike[way], list(none[way].values())) if none[way] else np.nan for way in names),
            calibration_error(*_as_they_are(found, sure)),
            _below(answerable.values(), LOW_CONFIDENCE),
            *(_below(none[way].values(), LOW_CONFIDENCE) for way in names),
            _below(answerable.values(), FLOOR),
            *(_below(none[way].values(), FLOOR) for way in ("real", "off")),
        ]
        lines.append(line)
        print(f"{name:24}" + "".join(f"{value:13.3f}" for value in line).replace("nan", "  -"), flush=True)
    print(f"{'mean':24}" + "".join(f"{value:13.3f}" for value in np.nanmean(lines, axis=0)))


def _below(values: Iterable[float], least: float) -> float:
    below = [value < least for value in values]
    return float(np.mean(below)) if below else float("nan")


def _as_they_are(found: Sequence[Example], sure: Real) -> tuple[Real, Real]:
    chosen = np.array([one.way == "full" for one in found])
    return sure[chosen], np.array([one.gold for one in found], dtype=np.float64)[chosen]


def calibration_error(sure: Real, gold: Real) -> float:
    """Return the mean distance of confidence and share of gold in ten bins of equal width, weighted by their size."""
    place = np.minimum((sure * 10).astype(int), 9)
    return float(
        sum(abs(sure[place == at].mean() - gold[place == at].mean()) * np.mean(place == at) for at in np.unique(place))
    )


def print_reliability(examples: dict[str, list[Example]], judged: dict[str, Real]) -> None:
    """How many quotes of a confidence are gold, over all sets as they are, each with the same weight."""
    parts = [_as_they_are(examples[name], judged[name]) for name in examples]
    sure, gold = (np.concatenate([part[at] for part in parts]) for at in (0, 1))
    weight = np.concatenate([np.full(len(part[0]), 1 / len(part[0])) for part in parts])
    place = np.minimum((sure * 10).astype(int), 9)
    print(f"\n{'confidence':>12}{'quotes':>8}{'mean':>8}{'gold':>8}")
    error = 0.0
    for at in range(10):
        here = place == at
        if here.any():
            mean, share = (float(np.average(values[here], weights=weight[here])) for values in (sure, gold))
            error += abs(mean - share) * float(weight[here].sum() / weight.sum())
            print(f"{at / 10:>7.1f}–{at / 10 + 0.1:.1f}{here.sum():>8}{mean:>8.2f}{share:>8.2f}")
    print(f"expected calibration error {error:.3f}")


if __name__ == "__main__":
    main()
