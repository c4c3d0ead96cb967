"""Reports as JSON files: what ``graphctx eval --report`` writes and the page shows, one run or two side by side."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from graphctx.errors import InvalidArgument
from graphctx.eval.compare import holm, interval, p_value
from graphctx.eval.plots import Plot, figures
from graphctx.eval.records import Outcome, SuiteRun
from graphctx.eval.report import OVERVIEW
from graphctx.eval.run import Measured, reference
from graphctx.eval.summary import SCHEMA, direction, is_share, summary
from graphctx.eval.worst import Miss, score_of
from graphctx.store.files import write_atomic
from graphctx.version import __version__

if TYPE_CHECKING:
    from graphctx.eval.compare import Comparison

REPORT_SCHEMA = "graphctx-eval-report/1"
"""Of a report; it changes when a field changes its meaning."""

Saved = dict[str, Any]
"""A report, or a part of one, as JSON values."""


def write_report(path: Path, measured: Measured) -> None:
    """Write a report; its folder is made if there is none.

    Args:
        path: the file.
        measured: suites with their comparisons and their worst questions.
    """
    content = {
        "schema": REPORT_SCHEMA,
        "version": __version__,
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "suites": [_suite(run, measured.comparisons, measured.misses.get(run.suite, ())) for run in measured.runs],
        "entities": [run.as_dict() for run in measured.entities],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, json.dumps(content, ensure_ascii=False).encode())


def read_report(path: Path) -> Saved:
    """Read a report, or the JSON object that ``graphctx eval --json`` prints, which has means alone.

    Raises:
        InvalidArgument: the file is neither.
    """
    try:
        content = json.loads(path.read_bytes())
        schema = content.get("schema")
        if schema == SCHEMA:
            made = datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="seconds")
            suites = [_of_summary(suite, content["comparisons"]) for suite in content["suites"]]
            content = {"version": "", "created_at": made, "suites": suites, "entities": content["entities"]}
        elif schema != REPORT_SCHEMA:
            raise ValueError
        for suite in content["suites"]:
            names = dict.fromkeys(name for one in suite["summary"]["variants"].values() for name in one["measures"])
            suite["measures"] = [
                {"name": name, "share": is_share(name), "direction": direction(name), "main": name in OVERVIEW}
                for name in names
            ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise InvalidArgument(
            f"{path.name} is not a report that this version reads; graphctx eval SUITE --report FILE writes one.",
            field="name",
            value=path.name,
        ) from None
    return dict(content)


def compare_reports(before: Saved, after: Saved) -> list[Saved]:
    """Compare the questions that two reports have in common, suite by suite.

    Returns:
        For each suite of both: its name, the variants, the number of questions, ``measures`` with means and difference,
        the main ones with its interval and a p-value adjusted over them, and ``changed``: the questions whose score
        changed, by how much it fell.
    """
    earlier = {suite["summary"]["suite"]: suite for suite in before["suites"]}
    return [
        _compared(earlier[name], suite) for suite in after["suites"] if (name := suite["summary"]["suite"]) in earlier
    ]


def _compared(before: Saved, after: Saved) -> Saved:
    known = {one["id"]: one for one in before["questions"]}
    pairs = [(known[one["id"]], one) for one in after["questions"] if one["id"] in known]
    pairs = [(one, other) for one, other in pairs if one["question"] == other["question"]]
    measures = []
    for measure in dict.fromkeys(name for one, _ in pairs for name in one["measures"]):
        values = [
            (one["measures"][measure], other["measures"][measure])
            for one, other in pairs
            if measure in one["measures"] and measure in other["measures"]
        ]
        if not values:
            continue
        differences = [round(new - old, 9) for old, new in values]
        compared: Saved = {
            "name": measure,
            "n": len(values),
            "before": round(fmean(old for old, _ in values), 6),
            "after": round(fmean(new for _, new in values), 6),
            "difference": round(fmean(differences), 6),
            "share": is_share(measure),
            "direction": direction(measure),
            "main": measure in OVERVIEW,
        }
        if compared["main"]:
            compared["low"], compared["high"] = interval(differences)
            compared["p_value"] = p_value(differences)
        measures.append(compared)
    main = [one for one in measures if one["main"]]
    for one, adjusted in zip(main, holm([one["p_value"] for one in main]), strict=True):
        one["p_adjusted"] = adjusted
    changed = [
        {"id": new["id"], "question": new["question"], "before": old["score"], "after": new["score"]}
        for old, new in pairs
        if old["score"] != new["score"]
    ]
    return {
        "suite": after["summary"]["suite"],
        "variants": [before["variant"], after["variant"]],
        "snapshots": [before["summary"]["snapshot_id"], after["summary"]["snapshot_id"]],
        "n": len(pairs),
        "measures": measures,
        "changed": sorted(changed, key=lambda one: (round(one["after"] - one["before"], 9), one["id"])),
    }


def _suite(run: SuiteRun, comparisons: Sequence[Comparison], misses: Sequence[Miss]) -> Saved:
    chosen = reference(run)
    return {
        "summary": summary(run),
        "variant": chosen,
        "intervals": {name: _intervals(outcomes) for name, outcomes in run.outcomes.items()},
        "plots": [_plot(plot) for plot in figures(run, chosen)],
        "comparisons": [one.as_dict() for one in comparisons if one.suite == run.suite],
        "misses": [_miss(miss) for miss in misses],
        "questions": [_question(one) for one in run.outcomes[chosen]],
    }


def _of_summary(suite: Saved, comparisons: Sequence[Saved]) -> Saved:
    return {
        "summary": suite,
        "variant": next(iter(suite["variants"])),
        "intervals": {},
        "plots": [],
        "comparisons": [one for one in comparisons if one["suite"] == suite["suite"]],
        "misses": [],
        "questions": [],
    }


def _intervals(outcomes: Sequence[Outcome]) -> dict[str, tuple[float, float]]:
    names = dict.fromkeys(name for one in outcomes for name in one.measures)
    return {name: interval([one.measures[name] for one in outcomes if name in one.measures]) for name in names}


def _plot(plot: Plot) -> Saved:
    return {**asdict(plot), "right": plot.right, "top": plot.top, "bottom": plot.bottom}


def _question(outcome: Outcome) -> Saved:
    golden = outcome.golden
    return {
        "id": golden.id,
        "question": golden.question,
        "type": golden.type,
        "answerable": golden.answerable,
        "score": round(score_of(outcome), 4),
        "measures": {name: round(value, 6) for name, value in outcome.measures.items()},
    }


def _miss(miss: Miss) -> Saved:
    outcome = miss.outcome
    return {
        **_question(outcome),
        "answers": list(outcome.golden.answers),
        "quotes_asked": miss.quotes_asked,
        "gold": [asdict(gold) for gold in miss.gold],
        "quotes": [
            {
                "quote": quote.quote,
                "doc_uri": quote.doc_uri,
                "title": quote.title,
                "heading": quote.heading,
                "start_char": quote.start_char,
                "end_char": quote.end_char,
                "line": quote.line,
                "confidence": quote.confidence,
            }
            for quote in outcome.quotes
        ],
    }
