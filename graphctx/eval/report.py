"""The report: one HTML file that needs nothing else, with tables, plots and the questions that went worst.

What is shown is put together here as plain values; ``templates/`` says how it looks. Every text passes the template
engine's escaping, since documents and questions hold any character.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from graphctx.eval.compare import Comparison, interval
from graphctx.eval.plots import figures
from graphctx.eval.records import Outcome, SuiteRun
from graphctx.eval.summary import abstention, direction, is_share, shown
from graphctx.eval.worst import Miss
from graphctx.retrieve.variants import DEFAULT_VARIANT
from graphctx.version import __version__

if TYPE_CHECKING:
    from graphctx.eval.entities import EntityRun

OVERVIEW = ("R@5", "all@10", "hit@1", "MRR", "answer", "answer@500", "span", "points@500", "points@1000", "points@2000")
"""Measures of the first table, of the breakdown by type, and of the comparisons."""

_GROUPS = (
    ("Finding", ("R@2", "R@5", "R@10", "all@2", "all@5", "all@10", "hit@1", "MRR", "nDCG@10")),
    ("Quoting", ("answer", "answer@250", "answer@500", "answer@1000", "span", "span@250", "span@500", "span@1000")),
    ("Points", ("points@500", "points@1000", "points@2000")),
    ("Communities", ("rated", "descended", "dropped")),
    ("Size", ("exact", "quotes", "quote_tokens", "tokens", "bytes", "calls", "truncated", "in_budget")),
)


Row = dict[str, Any]
"""Values as the templates show them, by name."""


def write_html(
    path: Path,
    runs: Sequence[SuiteRun],
    comparisons: Sequence[Comparison] = (),
    misses: Mapping[str, Sequence[Miss]] | None = None,
    *,
    entities: Sequence[EntityRun] = (),
    variant: str = DEFAULT_VARIANT,
) -> None:
    """Write the report of some runs; the folder is made if there is none.

    Args:
        path: the file.
        runs: suites, each with at least one variant.
        comparisons: of `graphctx.eval.compare.compare`, of any of the suites.
        misses: suite to the questions that went worst (`graphctx.eval.worst.worst`).
        entities: suites of entities.
        variant: whose breakdown by type and confidences are shown; where a suite was run without it, its first.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("graphctx.eval"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"marked": marked, "measures": _measures}
    chosen = [variant if variant in run.outcomes else next(iter(run.outcomes)) for run in runs]
    content: dict[str, Any] = {
        "version": __version__,
        "overview": _overview(runs, chosen),
        "entities": entities,
        "sections": [
            _section(at, run, name, comparisons, (misses or {}).get(run.suite, ()))
            for at, (run, name) in enumerate(zip(runs, chosen, strict=True), start=1)
        ],
    }
    page = environment.get_template("report.html.j2").render(content)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, "utf-8")


def _overview(runs: Sequence[SuiteRun], chosen: Sequence[str]) -> Row:
    shown = {run.suite: run.outcomes[variant] for run, variant in zip(runs, chosen, strict=True)}
    columns = _present(OVERVIEW, (one for outcomes in shown.values() for one in outcomes))
    rows = [_row(suite, columns, outcomes) for suite, outcomes in shown.items()]
    return {"title": "All suites", "columns": columns, "rows": rows}


def _section(
    number: int, run: SuiteRun, variant: str, comparisons: Sequence[Comparison], misses: Sequence[Miss]
) -> Row:
    outcomes = run.outcomes[variant]
    compared = [one for one in comparisons if one.suite == run.suite and one.measure in OVERVIEW]
    auroc = {name: abstention(some).get("auroc") for name, some in run.outcomes.items()}
    grids = (_grid(title, names, run, variant) for title, names in _GROUPS)
    return {
        "run": run,
        "anchor": f"suite-{number}",
        "n": len(outcomes),
        "unanswerable": sum(not one.golden.answerable for one in outcomes),
        "auroc": {name: f"{value:.2f}" for name, value in auroc.items() if value is not None},
        "grids": [grid for grid in grids if grid["columns"]],
        "types": _types(outcomes),
        "plots": figures(run, variant),
        "against": compared[0].against if compared else "",
        "differences": list(_differences(compared)),
        "misses": misses,
    }


def _grid(title: str, names: Sequence[str], run: SuiteRun, variant: str) -> Row:
    """Return means of all variants; the best of each column is marked if they differ."""
    columns = _present(names, (one for outcomes in run.outcomes.values() for one in outcomes))
    best: dict[str, float] = {}
    for name in columns:
        means = [fmean(values) for outcomes in run.outcomes.values() if (values := _values(name, outcomes))]
        if len(set(means)) > 1 and direction(name):
            best[name] = max(means) if direction(name) > 0 else min(means)
    rows = [
        _row(name, columns, outcomes, best, chosen=name == variant and len(run.outcomes) > 1)
        for name, outcomes in run.outcomes.items()
    ]
    return {"title": title, "columns": columns, "rows": rows}


def _types(outcomes: Sequence[Outcome]) -> Row | None:
    """Return the breakdown by type of question, if there is more than one type."""
    names = sorted({one.golden.type for one in outcomes if one.golden.type})
    if len(names) < 2:
        return None
    columns = _present(OVERVIEW, outcomes)
    rows = [_row(name, columns, [one for one in outcomes if one.golden.type == name]) for name in names]
    return {"title": "By type of question", "columns": columns, "rows": rows}


def _present(names: Sequence[str], outcomes: Iterable[Outcome]) -> list[str]:
    have = {name for one in outcomes for name in one.measures}
    return [name for name in names if name in have]


def _row(
    name: str,
    columns: Sequence[str],
    outcomes: Sequence[Outcome],
    best: Mapping[str, float] | None = None,
    *,
    chosen: bool = False,
) -> Row:
    """Return a row of means with their 95 % intervals; a cell without values is ``None``."""
    cells: list[Row | None] = []
    for measure in columns:
        if not (values := _values(measure, outcomes)):
            cells.append(None)
            continue
        low, high = interval(values)
        mean = fmean(values)
        spread = "" if low == high else f"{shown(measure, low)} to {shown(measure, high)}"
        cells.append({"mean": shown(measure, mean), "interval": spread, "best": (best or {}).get(measure) == mean})
    return {"name": name, "n": len(outcomes), "cells": cells, "chosen": chosen}


def _values(measure: str, outcomes: Sequence[Outcome]) -> list[float]:
    return [one.measures[measure] for one in outcomes if measure in one.measures]


def _differences(compared: Sequence[Comparison]) -> Iterator[Row]:
    """Yield comparisons by variant, then measure; strips of shares and of sizes are each scaled to their widest."""
    widest: dict[bool, float] = {}
    for one in compared:
        share = is_share(one.measure)
        widest[share] = max(widest.get(share, 0.0), abs(one.low), abs(one.high))
    variants = list(dict.fromkeys(one.variant for one in compared))
    for one in sorted(compared, key=lambda one: (variants.index(one.variant), OVERVIEW.index(one.measure))):
        scale = widest[is_share(one.measure)] or 1.0
        gain = one.difference * direction(one.measure)
        yield {
            "variant": one.variant,
            "measure": one.measure,
            "n": one.n,
            **{name: shown(one.measure, getattr(one, name), signed=True) for name in ("difference", "low", "high")},
            "p_value": f"{one.p_adjusted:.3f}" if one.p_adjusted >= 0.001 else "< 0.001",
            "questions": f"{one.higher} / {one.lower}",
            "verdict": ("better" if gain > 0 else "worse") if one.sure and gain else "",
            "strip": [round(value / scale, 3) for value in (one.low, one.difference, one.high)],
        }


def _measures(outcome: Outcome) -> list[tuple[str, str]]:
    """Return the main measures of one question, as they are written."""
    return [(name, shown(name, outcome.measures[name])) for name in OVERVIEW if name in outcome.measures]


def marked(text: str, answers: Sequence[str]) -> list[tuple[str, bool]]:
    """Return a text in pieces, each with whether it is one of the answers, whatever its case."""
    words = [re.escape(answer) for answer in sorted(answers, key=len, reverse=True) if answer.strip()]
    if not words:
        return [(text, False)]
    pieces = re.split(f"({'|'.join(words)})", text, flags=re.IGNORECASE)
    return [(piece, at % 2 == 1) for at, piece in enumerate(pieces) if piece]
