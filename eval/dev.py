"""The development sets in one table, beside what they must show: ``make eval-dev``.

    python -m eval.dev [--data DIR] [--work DIR] [--only NAME,…] [--no-baselines] [--html FILE] [--json FILE]

The sets are not part of the repository: they are looked for below ``--data``, by default in ``$GRAPHCTX_DEV_DATA`` or
``../shared/data``, and one that is not there is passed over. Each is ingested once and kept below ``--work``. The
default recipe answers with quotes; the first-stage baselines (``bm25``, ``vector``, ``rrf`` and the bare ``hybrid``)
only rank.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphctx.cli.console import errors_console
from graphctx.cli.progress import progress_view
from graphctx.errors import GraphctxError
from graphctx.eval.run import Measured, Where
from graphctx.eval.suites import load_suite
from graphctx.eval.summary import SCHEMA, summary
from graphctx.ingest.report import Progress
from graphctx.retrieve.recipe import DEFAULT_VARIANT

ROOT = Path(__file__).resolve().parent.parent
BASELINES = ("bm25", "vector", "rrf", "hybrid")
COLUMNS = ("R@2", "R@5", "all@5", "all@10", "hit@1", "MRR", "nDCG@10", "answer", "answer@500", "span")


@dataclass(frozen=True, slots=True)
class DevSet:
    """A set, and what it must show in percent (``AUROC`` in 0..1).

    Attributes:
        name: of the folder.
        least: measure to the least value.
        not_below: measures in which no baseline may be better.
        blank: whether titles are blanked.
        limit: how many questions; 0 for all.
    """

    name: str
    least: dict[str, float]
    not_below: tuple[str, ...] = ()
    blank: bool = False
    limit: int = 0

    @property
    def path(self) -> str:
        return "eval/golden/handbook.jsonl" if self.name == "handbook" else self.name


SETS = (
    DevSet("musique_train100", {"R@5": 73, "all@10": 64, "answer@500": 50}),
    DevSet("2wiki_dev200", {"R@5": 97, "all@10": 98, "answer@500": 78}),
    DevSet("hotpot_train100", {"R@5": 96, "all@10": 97, "answer@500": 82}),
    DevSet("musique_train100", {"R@5": 66}, blank=True),
    DevSet("2wiki_dev200", {"R@5": 88}, blank=True),
    DevSet("hotpot_train100", {"R@5": 90}, blank=True),
    DevSet("popqa_pooled", {"MRR": 80}, limit=300),
    DevSet("clapnq_dev", {"AUROC": 0.8}, ("R@5", "hit@1")),
    DevSet("xquad_en", {"answer@500": 95}, ("R@5", "hit@1")),
    DevSet("chunking_eval", {}, ("R@5", "hit@1")),
    DevSet("lihua_world", {"R@5": 82}),
    DevSet("handbook", {"answer": 90, "AUROC": 0.8}),
)


def main() -> int:
    """Command line; exit code 1 where a set is below what it must show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = Path(os.environ.get("GRAPHCTX_DEV_DATA") or ROOT.parent / "shared" / "data")
    parser.add_argument("--data", type=Path, default=data, help="where the sets lie")
    parser.add_argument("--work", type=Path, default=ROOT / ".kb" / "eval", help="where knowledge bases are kept")
    parser.add_argument("--only", default="", help="names of sets, separated by commas")
    parser.add_argument("--no-baselines", action="store_true", help="run the default recipe alone")
    parser.add_argument("--html", type=Path, help="write the report")
    parser.add_argument("--json", type=Path, help="write what `graphctx eval --json` prints")
    asked = parser.parse_args()
    chosen = [one for one in SETS if not asked.only or one.name in asked.only.split(",")]
    variants = (*(() if asked.no_baselines else BASELINES), DEFAULT_VARIANT)
    measured, ran = Measured(), []
    began = time.monotonic()
    for one in chosen:
        path = ROOT / one.path if one.name == "handbook" else asked.data / one.path
        if not path.exists():
            errors_console().print(f"{one.name}: not below {asked.data}, passed over", soft_wrap=True)
            continue
        try:
            run(measured, one, path, variants, asked.work, with_misses=asked.html is not None)
        except GraphctxError as error:
            errors_console().print(f"{one.name}: {error}", soft_wrap=True)
            return 1
        ran.append(one)
    suites = [summary(found) for found in measured.runs]
    print_measures(suites)
    short = print_verdicts(ran, suites)
    errors_console().print(f"{time.monotonic() - began:.0f} s", soft_wrap=True)
    if asked.json:
        asked.json.write_text(json.dumps({"schema": SCHEMA, "suites": suites}, indent=2) + "\n", "utf-8")
    if asked.html:
        from graphctx.eval.report import write_html

        write_html(asked.html, measured.runs, measured.comparisons, measured.misses)
    return 1 if short else 0


def run(
    measured: Measured,
    one: DevSet,
    path: Path,
    variants: tuple[str, ...],
    work: Path,
    *,
    ranking_only: tuple[str, ...] = BASELINES,
    with_misses: bool = False,
) -> None:
    """Ingest a set where that is needed, and ask its questions."""
    suite = load_suite(path, blank_titles=one.blank, limit=one.limit)
    errors_console().print(suite.name, style="bold", soft_wrap=True)
    with progress_view() as view:

        def asked(variant: str, done: int, total: int) -> None:
            view(Progress(variant, done, total, "questions"))  # type: ignore[arg-type]

        measured.add(
            suite,
            variants,
            Where(None, work, work),
            ranking_only=ranking_only,
            with_misses=with_misses,
            on_progress=view,
            on_asked=asked,
        )


def print_measures(suites: list[dict[str, Any]]) -> None:
    """Everything that was measured, as Markdown."""
    print(f"| set | variant | n | {' | '.join(COLUMNS)} | AUROC | quote tokens |")
    print("|---|---|--:" + "|--:" * (len(COLUMNS) + 2) + "|")
    for suite in suites:
        for variant, values in suite["variants"].items():
            measures = values["measures"]
            cells = [f"{100 * measures[name]['mean']:.1f}" if name in measures else "" for name in COLUMNS]
            auroc = f"{values['abstention']['auroc']:.2f}" if values["abstention"] else ""
            tokens = f"{measures['quote_tokens']['mean']:.0f}" if "quote_tokens" in measures else ""
            count = suite["questions"]["asked"]
            print(f"| {suite['suite']} | {variant} | {count} | {' | '.join(cells)} | {auroc} | {tokens} |")
    print()


def print_verdicts(sets: list[DevSet], suites: list[dict[str, Any]]) -> int:
    """What each set must show beside what it shows, as Markdown; returns how many fall short."""
    print("| set | must show | shows | |")
    print("|---|---|--:|---|")
    short = 0
    for one, suite in zip(sets, suites, strict=True):
        for measure, least, why in required(one, suite):
            digits = 2 if measure == "AUROC" else 1
            shown = round(value_of(suite, DEFAULT_VARIANT, measure), digits)
            falls_short = shown < round(least, digits)  # what must be shown is rounded, too
            short += falls_short
            verdict = "short" if falls_short else "yes"
            print(f"| {suite['suite']} | {measure} ≥ {least:.{digits}f}{why} | {shown:.{digits}f} | {verdict} |")
    return short


def required(one: DevSet, suite: dict[str, Any]) -> Iterator[tuple[str, float, str]]:
    """Measure, least value, and which baseline it is of, if it is of one."""
    for measure, least in one.least.items():
        yield measure, least, ""
    baselines = [variant for variant in suite["variants"] if variant != DEFAULT_VARIANT]
    for measure in one.not_below if baselines else ():
        values = {variant: value_of(suite, variant, measure) for variant in baselines}
        best = max(values, key=values.__getitem__)
        yield measure, values[best], f" ({best})"


def value_of(suite: dict[str, Any], variant: str, measure: str) -> float:
    """A mean in percent, or the AUROC."""
    values = suite["variants"][variant]
    return float(values["abstention"]["auroc"] if measure == "AUROC" else 100 * values["measures"][measure]["mean"])


if __name__ == "__main__":
    sys.exit(main())
