"""Outcomes in short: means with their number of questions, by type of question, and times; and how values are shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

from graphctx.eval.measures import auroc
from graphctx.eval.records import Golden, Outcome, SuiteRun
from graphctx.model.answers import LOW_CONFIDENCE

_WORD = re.compile(r"[a-z]+")
_SIZES = frozenset({"bytes", "tokens", "calls", "quotes", "rated", "descended", "dropped", "ms", "milliseconds"})
_LESS_IS_BETTER = frozenset({"truncated"})
_NEITHER = frozenset({"confidence", "empty"})


def is_share(measure: str) -> bool:
    """Return whether values lie in 0..1 (and are shown in percent), rather than being counts or times."""
    return not _SIZES & _words(measure)


def direction(measure: str) -> int:
    """1 where more is better, -1 where less is, 0 where neither is."""
    words = _words(measure)
    if words & _NEITHER:
        return 0
    return -1 if words & (_SIZES | _LESS_IS_BETTER) else 1


def shown(measure: str, value: float, *, signed: bool = False) -> str:
    """Return a value for people: shares in percent and small sizes with one decimal, others with none."""
    number, digits = (value * 100, 1) if is_share(measure) else (value, 1 if abs(value) < 100 else 0)
    sign = "+" if signed else ""
    text = f"{number:{sign},.{digits}f}"
    return text.replace("-", "−") if float(text.replace(",", "")) else f"{0:.{digits}f}"


def _words(measure: str) -> frozenset[str]:
    return frozenset(_WORD.findall(measure.lower()))


SCHEMA = "graphctx-eval/1"
"""Of the JSON object that ``graphctx eval --json`` prints; it changes when a field changes its meaning."""

NO_TYPE = "(none)"
"""Stands for the type of questions that have none, in a suite where others do."""


def summary(run: SuiteRun) -> dict[str, Any]:
    """Return one suite as JSON values; described in docs/evaluation.md.

    Means of shares are in 0..1. Everything but ``milliseconds`` is the same in every run.
    """
    some = next(iter(run.outcomes.values()))
    answerable = sum(one.golden.answerable for one in some)
    return {
        "suite": run.suite,
        "snapshot_id": run.snapshot_id,
        "judge": run.judge,
        "questions": {
            "asked": len(some),
            "answerable": answerable,
            "unanswerable": len(some) - answerable,
            "left_out": run.left_out,
            "without_gold": sum(one.golden.answerable and not _has_gold(one.golden) for one in some),
            "not_ranked": len(run.not_ranked),
            "spans_outside": run.spans_outside,
        },
        "warnings": list(run.warnings),
        "variants": {name: _variant(outcomes) for name, outcomes in run.outcomes.items()},
    }


def means(outcomes: Iterable[Outcome]) -> dict[str, dict[str, float | int]]:
    """Measure to its mean and to how many questions have it."""
    values: dict[str, list[float]] = {}
    for one in outcomes:
        for name, value in one.measures.items():
            values.setdefault(name, []).append(value)
    return {name: {"mean": round(fmean(found), 6), "n": len(found)} for name, found in values.items()}


def abstention(outcomes: Sequence[Outcome]) -> dict[str, float | int]:
    """Return how well confidence tells answerable questions from others; empty where a suite has only one kind.

    ``auroc`` is of the best quote's confidence. ``empty`` is the share without any quote, ``unsure`` that without a
    quote of `LOW_CONFIDENCE`, of each kind.
    """
    best = [(one.golden.answerable, one.measures["confidence"]) for one in outcomes if "confidence" in one.measures]
    positive = [value for answerable, value in best if answerable]
    negative = [value for answerable, value in best if not answerable]
    if not positive or not negative:
        return {}
    empty = {
        kind: [one.measures["empty"] for one in outcomes if one.golden.answerable is kind] for kind in (True, False)
    }
    return {
        "auroc": round(auroc(positive, negative), 6),
        "answerable": len(positive),
        "unanswerable": len(negative),
        "empty_answerable": round(fmean(empty[True]), 6),
        "empty_unanswerable": round(fmean(empty[False]), 6),
        "unsure_answerable": round(fmean(value < LOW_CONFIDENCE for value in positive), 6),
        "unsure_unanswerable": round(fmean(value < LOW_CONFIDENCE for value in negative), 6),
    }


def milliseconds(outcomes: Iterable[Outcome]) -> dict[str, dict[str, float]]:
    """Stage to the median and the 95th percentile of its times."""
    times: dict[str, list[float]] = {}
    for one in outcomes:
        for stage, taken in one.milliseconds.items():
            times.setdefault(stage, []).append(taken)
    return {stage: {"p50": _percentile(taken, 50), "p95": _percentile(taken, 95)} for stage, taken in times.items()}


def _has_gold(golden: Golden) -> bool:
    return bool(golden.gold_docs or golden.gold_spans or golden.points)


def _variant(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    named = {one.golden.type for one in outcomes}
    types = sorted(named) if any(named) else []
    return {
        "measures": means(outcomes),
        "abstention": abstention(outcomes),
        "types": {name or NO_TYPE: means(one for one in outcomes if one.golden.type == name) for name in types},
        "milliseconds": milliseconds(outcomes),
    }


def _percentile(values: list[float], percent: int) -> float:
    """By the nearest rank."""
    ordered = sorted(values)
    return round(ordered[max(0, -(-len(ordered) * percent // 100) - 1)], 2)
