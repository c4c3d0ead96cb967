"""The development sets in one table, beside what they must show: ``make eval-dev``.

    python -m eval.dev [--data DIR] [--work DIR] [--only NAME,…] [--no-baselines] [--html FILE] [--json FILE]

The sets are not part of the repository: they are looked for below ``--data``, by default in ``$GRAPHCTX_DEV_DATA`` or
``../shared/data``, and missing ones are skipped; it is an error if all are missing. Each is ingested
once and kept below ``--work``. The default answers with quotes; the first-stage baselines (``bm25``, ``vector``,
``rrf`` and the bare ``hybrid``) only rank.
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
from typing import Any, Literal

from graphctx.cli.console import errors_console
from graphctx.cli.progress import progress_view
from graphctx.errors import GraphctxError, InvalidArgument
from graphctx.eval.run import Measured, Where
from graphctx.eval.suites import load_suite
from graphctx.eval.summary import SCHEMA, summary
from graphctx.ingest.report import Progress
from graphctx.retrieve.variants import DEFAULT_VARIANT

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class DevSet:
    """A set, and what it must show in percent (``AUROC`` in 0..1).

    Attributes:
        name: of the folder.
        least: measure to the least value.
        not_below: measures in which no baseline may be better.
        blank: whether titles are blanked.
        limit: how many questions; 0 for all.
        quoting: the measure that tells how well the set is quoted from: ``span`` where it has no answers, or answers
            that are free paraphrases of the text.
    """

    name: str
    least: dict[str, float]
    not_below: tuple[str, ...] = ()
    blank: bool = False
    limit: int = 0
    quoting: Literal["answer", "span"] = "answer"

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
    DevSet("clapnq_dev", {"AUROC": 0.8}, ("R@5", "hit@1"), quoting="span"),
    DevSet("xquad_en", {"answer@500": 95}, ("R@5", "hit@1")),
    DevSet("chunking_eval", {}, ("R@5", "hit@1"), quoting="span"),
    DevSet("lihua_world", {"R@5": 82}),
    DevSet("handbook", {"answer": 90, "AUROC": 0.8}),
)


def data_parser(description: str) -> argparse.ArgumentParser:
    """Return the options of every command over data that is not part of the repository."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = Path(os.environ.get("GRAPHCTX_DEV_DATA") or ROOT.parent / "shared" / "data")
    parser.add_argument("--data", type=Path, default=data, help="where the sets lie")
    parser.add_argument("--work", type=Path, default=ROOT / ".kb" / "eval", help="where knowledge bases are kept")
    return parser


def dev_parser(description: str) -> argparse.ArgumentParser:
    """What every command over the development sets takes; it ends with code 2 where a set is asked for that is none."""
    parser = data_parser(description)
    parser.add_argument("--only", type=_names, default=_NAMES, metavar="NAME,…", help="sets, separated by commas")
    return parser


def sets_of(asked: argparse.Namespace) -> Iterator[tuple[DevSet, Path]]:
    """Yield the sets that are asked for and there, each with its path; of others a line is printed.

    Raises:
        InvalidArgument: none of them is there.
    """
    found = False
    for one in SETS:
        if one.name not in asked.only:
            continue
        path = ROOT / one.path if one.name == "handbook" else asked.data / one.path
        if path.exists():
            found = True
            yield one, path
        else:
            errors_console().print(f"{one.name}: not below {asked.data}, skipped", soft_wrap=True)
    if not found:
        raise InvalidArgument(f"There is none of these sets below {asked.data}: say by --data where they lie.")


def ask(
    measured: Measured,
    one: DevSet,
    path: Path,
    variants: tuple[str, ...],
    work: Path,
    *,
    ranking_only: tuple[str, ...],
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


_NAMES = tuple(dict.fromkeys(one.name for one in SETS))


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    unknown = [name for name in names if name not in _NAMES]
    if unknown or not names:
        raise argparse.ArgumentTypeError(
            f"no such set: {', '.join(unknown) or repr(text)}; sets are {', '.join(_NAMES)}"
        )
    return names


BASELINES = ("bm25", "vector", "rrf", "hybrid")
COLUMNS = ("R@2", "R@5", "all@5", "all@10", "hit@1", "MRR", "nDCG@10", "answer", "answer@500", "span")


def main() -> int:
    """Command line; exit code 1 where a set is below what it must show, or none is there."""
    parser = dev_parser(str(__doc__))
    parser.add_argument("--no-baselines", action="store_true", help="run the default alone")
    parser.add_argument("--html", type=Path, help="write the report")
    parser.add_argument("--json", type=Path, help="write what `graphctx eval --json` prints")
    asked = parser.parse_args()
    variants = (*(() if asked.no_baselines else BASELINES), DEFAULT_VARIANT)
    measured, ran = Measured(), []
    began = time.monotonic()
    try:
        for one, path in sets_of(asked):
            ask(measured, one, path, variants, asked.work, ranking_only=BASELINES, with_misses=asked.html is not None)
            ran.append(one)
    except GraphctxError as error:
        errors_console().print(str(error), soft_wrap=True)
        return 1
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
    """What each set must show beside what it shows, as Markdown; returns how many fall short.

    A measure that no question of a set has falls short: it shows nothing.
    """
    print("| set | must show | shows | |")
    print("|---|---|--:|---|")
    short = 0
    for one, suite in zip(sets, suites, strict=True):
        shows = values_of(suite, DEFAULT_VARIANT)
        for measure, least, why in required(one, suite):
            digits = 2 if measure == "AUROC" else 1
            must = f"| {suite['suite']} | {measure} ≥ {least:.{digits}f}{why} |"
            if measure not in shows:
                short += 1
                print(f"{must} | not measured |")
                continue
            shown = round(shows[measure], digits)
            falls_short = shown < round(least, digits)  # what must be shown is rounded, too
            short += falls_short
            print(f"{must} {shown:.{digits}f} | {'short' if falls_short else 'yes'} |")
    return short


def required(one: DevSet, suite: dict[str, Any]) -> Iterator[tuple[str, float, str]]:
    """Measure, least value, and which baseline it is of, if it is of one."""
    for measure, least in one.least.items():
        yield measure, least, ""
    baselines = {name: values_of(suite, name) for name in suite["variants"] if name != DEFAULT_VARIANT}
    for measure in one.not_below:
        values = {name: shows[measure] for name, shows in baselines.items() if measure in shows}
        if values:
            best = max(values, key=values.__getitem__)
            yield measure, values[best], f" ({best})"


def values_of(suite: dict[str, Any], variant: str) -> dict[str, float]:
    """Measure to its mean in percent, and to the AUROC where a suite has questions of both kinds."""
    values = suite["variants"][variant]
    shows = {name: 100 * found["mean"] for name, found in values["measures"].items()}
    return shows | ({"AUROC": values["abstention"]["auroc"]} if values["abstention"] else {})


if __name__ == "__main__":
    sys.exit(main())
