"""What is made of four documentation sites, as a strict reader sees it: ``make eval-answers``.

    python -m eval.answers [--site NAME,…] [--examples] [--jsonl FILE] [--against FILE]
    python -m eval.answers --samples names|aliases|facts|titles N [--site NAME,…]
    python -m eval.answers --verdicts

The sites are not part of the repository: they are looked for in ``DATA/docs``, with ``$GRAPHCTX_DEV_DATA`` or
``../shared/data`` for DATA, and missing ones are skipped; it is an error if all are missing. Each is ingested once and
kept below ``--work``. How answers are judged is described in eval/answers/README.md.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from eval.answers.ask import HYBRID, WHOLE, Asked, ask, ask_about_the_whole, read_questions
from eval.answers.faults import FAULTS, Span, shares
from eval.answers.samples import KINDS, SAMPLES, read_verdicts, sample, verdict_table, with_verdicts
from eval.benchmarks import table
from eval.dev import data_parser
from graphctx.cli.console import errors_console
from graphctx.cli.progress import ProgressView, progress_view
from graphctx.errors import GraphctxError, InvalidArgument
from graphctx.eval.compare import compare, interval
from graphctx.eval.measures import POINT_BUDGETS, auroc
from graphctx.eval.records import GLOBAL, Outcome, SuiteRun
from graphctx.eval.run import open_for
from graphctx.eval.suites import Suite
from graphctx.knowledge_base import KnowledgeBase

HERE = Path(__file__).resolve().parent
ALL = "all"

Sites = dict[str, list[Asked]]


def main() -> int:
    """Command line; exit code 1 where no site is there, or a file is wrong."""
    parser = data_parser(str(__doc__))
    parser.add_argument("--questions", type=Path, default=HERE, help="folder of the answer sets")
    parser.add_argument("--site", metavar="NAME,…", default="", help="sites, separated by commas; by default all")
    parser.add_argument("--examples", action="store_true", help="print three examples of each fault")
    parser.add_argument("--jsonl", type=Path, help="write what was found of each question")
    parser.add_argument("--against", type=Path, help="compare with a file that --jsonl wrote, question by question")
    parser.add_argument(
        "--samples", nargs=2, metavar=("KIND", "N"), help=f"print samples to judge: {'|'.join(SAMPLES)}"
    )
    parser.add_argument("--verdicts", action="store_true", help="print how many of the samples were judged right")
    chosen = parser.parse_args()
    try:
        if chosen.verdicts:
            table(("site", *KINDS), verdict_table(read_verdicts(chosen.questions / "verdicts")))
        elif chosen.samples:
            _print_samples(chosen)
        else:
            _measure(chosen)
    except GraphctxError as error:
        errors_console().print(str(error), soft_wrap=True)
        return 1
    return 0


def _opened(chosen: argparse.Namespace, view: ProgressView) -> Iterator[tuple[str, KnowledgeBase]]:
    """Yield each site that is asked for and there, ingested.

    Raises:
        InvalidArgument: there is no such site, or none of them is there.
    """
    every = sorted(path.stem for path in chosen.questions.glob("*.jsonl") if not path.stem.endswith(WHOLE))
    names = [name.strip() for name in chosen.site.split(",") if name.strip()] or every
    unknown = sorted(set(names) - set(every))
    if unknown:
        raise InvalidArgument(f"There is no site {', '.join(unknown)}: sites are {', '.join(every)}.")
    found = False
    for name in names:
        folder = chosen.data / "docs" / name
        if not folder.is_dir():
            errors_console().print(f"{name}: no folder {folder}, skipped", soft_wrap=True)
            continue
        found = True
        suite = Suite(name, chosen.questions / f"{name}.jsonl", "questions", corpus=folder)
        with open_for(suite, kb=None, default_kb=chosen.work, work=chosen.work, on_progress=view) as kb:
            yield name, kb
    if not found:
        raise InvalidArgument(f"None of these sites is in {chosen.data / 'docs'}: say by --data where docs/ lies.")


def _print_samples(chosen: argparse.Namespace) -> None:
    what, number = chosen.samples
    if not number.isdigit():
        raise InvalidArgument(f"--samples needs a number of samples, not {number!r}.")
    verdicts = read_verdicts(chosen.questions / "verdicts")
    with progress_view() as view:
        for name, kb in _opened(chosen, view):
            for row in with_verdicts(sample(name, kb.searcher().index.snapshot, what, int(number)), verdicts):
                print(json.dumps(row, ensure_ascii=False))


def _measure(chosen: argparse.Namespace) -> None:
    sites: Sites = {}
    whole: dict[str, dict[str, list[Outcome]]] = {}
    with progress_view() as view:

        def asked(name: str, total: int) -> Callable[[int], None]:
            return lambda done: view.step(name, done, total, "questions")

        for name, kb in _opened(chosen, view):
            questions = read_questions(chosen.questions / f"{name}.jsonl")
            sites[name] = ask(kb, questions, asked(name, len(questions)))
            about = chosen.questions / f"{name}{WHOLE}.jsonl"
            if about.exists():
                questions = read_questions(about)
                whole[name] = ask_about_the_whole(kb, questions, asked(about.stem, len(questions)))
    if len(sites) > 1:
        sites[ALL] = [one for found in sites.values() for one in found]
    if len(whole) > 1:
        whole[ALL] = {
            variant: [one for found in whole.values() for one in found[variant]] for variant in (GLOBAL, HYBRID)
        }
    print_answers(sites)
    print_types([one for name, found in sites.items() if name != ALL for one in found])
    print_not_found(sites)
    print_faults(sites)
    if whole:
        print_whole(whole)
    if chosen.examples:
        print_examples(sites)
    rows = list(_rows(sites))
    if chosen.against:
        print_differences(rows, map(json.loads, chosen.against.read_text("utf-8").splitlines()))
    if chosen.jsonl:
        chosen.jsonl.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def print_answers(sites: Sites) -> None:
    """How many questions that can be answered are, and where the parts of their answers are, in percent."""
    rows = []
    for name, every in sites.items():
        found = [one for one in every if one.answerable]
        given = [one.has("given") for one in found]
        complete = [float(share == 1) for share in given]
        missing = [float(share == 0) for share in given]
        low, high = interval(complete)
        anywhere = [float(one.has("given", "elsewhere") == 1) for one in found]
        parts = [part for one in found for part in one.parts]
        shown = [_percent(complete), f"{100 * low:.0f}–{100 * high:.0f}"]
        shown += [_percent([1 - a - b for a, b in zip(complete, missing, strict=True)]), _percent(missing)]
        shown += [_percent(anywhere), _percent([float(one.first_gives) for one in found]), str(len(parts))]
        shown += [_percent([float(part == where) for part in parts]) for where in ("given", "elsewhere")]
        shown += [_percent([float(part == where) for part in parts]) for where in ("wrong sentences", "wrong document")]
        rows.append((name, str(len(found)), *shown))
    print("## Answers\n")
    shares = ("complete", "95 %", "partial", "missing", "complete, any place", "first quote")
    places = ("parts", "given", "elsewhere", "wrong sentences", "wrong document")
    table(("site", "questions", *shares, *places), rows)


def print_types(asked: Sequence[Asked]) -> None:
    """The same by type of question."""
    types = dict.fromkeys(one.question.type for one in asked if one.answerable)
    rows = []
    for kind in types:
        found = [one.has("given") for one in asked if one.question.type == kind]
        rows.append((kind, str(len(found)), _percent([float(share == 1) for share in found]), _percent(found)))
    table(("type", "questions", "complete", "parts given"), rows)


def print_not_found(sites: Sites) -> None:
    """What is said where the documents have no answer, beside how often it is said where they have one."""
    rows = []
    for name, every in sites.items():
        without = [one for one in every if not one.answerable]
        having = [one for one in every if one.answerable]
        shown = [_percent([float(not one.quotes) for one in without])]
        shown += [_percent([float(one.declined) for one in found]) for found in (without, having)]
        confidences = [[one.confidence for one in found] for found in (having, without)]
        shown.append(f"{auroc(*confidences):.2f}" if without and having else "")
        rows.append((name, str(len(without)), *shown))
    print("## Not found\n")
    heads = ("not answerable", "no quotes", "none, or only near matches", "the same of the answerable", "AUROC")
    table(("site", *heads), rows)


def print_faults(sites: Sites) -> None:
    """Faults in percent of quotes or of answers."""
    print("## Faults of quotes\n")
    counts = {name: shares([(one.quotes, one.faults) for one in found]) for name, found in sites.items()}
    rows = []
    for fault in FAULTS:
        cells = [counts[name][fault.name] for name in sites]
        shown = (f"{100 * n / max(1, of):.1f} ({n})" for n, of in cells)
        rows.append((fault.name, "answers" if fault.of_answers else "quotes", *shown))
    table(("fault", "percent (number) of", *sites), rows)


def print_whole(whole: dict[str, dict[str, list[Outcome]]]) -> None:
    """Points of questions about the whole by global search beside a plain hybrid search."""
    rows = []
    for name, outcomes in whole.items():
        found = {one.measure: one for one in compare(SuiteRun(name, "", outcomes, "points"), HYBRID)}
        for budget in POINT_BUDGETS:
            points, tokens = found[f"points@{budget}"], found[f"tokens@{budget}"]
            sure = f"{100 * points.difference:+.0f} ({100 * points.low:+.0f} to {100 * points.high:+.0f})"
            shown = (f"{100 * points.mean:.0f}", f"{100 * points.mean_against:.0f}", sure, f"{points.p_value:.3f}")
            weigh = f"{tokens.mean:.0f}, {tokens.mean_against:.0f}"
            rows.append((name, str(points.n), str(budget), *shown, weigh))
    print("## The whole\n")
    table(("site", "questions", "tokens", GLOBAL, HYBRID, "difference (95 %)", "p", "tokens used"), rows)


def print_examples(sites: Sites, most: int = 3) -> None:
    """The first quotes that have each fault, with the words around them, at most one of a question."""
    print("## Examples\n")
    for fault in FAULTS:
        print(f"### {fault.name}\n")
        having = [one for name, found in sites.items() if name != ALL for one in found if one.faults[fault.name]]
        step = max(1, len(having) // most)
        for one in having[::step][:most]:
            at = one.faults[fault.name][0]
            print(f"- {one.question.id}, quote {at + 1}, {shown_in_place(one.quotes[at])}")
        print()


def shown_in_place(quote: Span, around: int = 50, most: int = 240) -> str:
    """Return where a quote is, and it with what is around it, on one line."""
    text, body = quote.page.text, quote.text
    line = text.count("\n", 0, quote.start) + 1
    body = body if len(body) <= most else f"{body[: most // 2]} […] {body[-most // 2 :]}"
    before, after = text[max(0, quote.start - around) : quote.start], text[quote.end : quote.end + around]
    return f"{quote.page.uri}:{line}: …{_line(before)}⟦{_line(body)}⟧{_line(after)}…"


def _line(text: str) -> str:
    return text.replace("\n", "⏎")


def _rows(sites: Sites) -> Iterator[dict[str, Any]]:
    for name, found in sites.items():
        for one in found if name != ALL else ():
            yield {
                "id": one.question.id,
                "parts": list(one.parts),
                "confidence": round(one.confidence, 4),
                "faults": {fault: len(at) for fault, at in one.faults.items() if at},
                "quotes": [[quote.page.uri, quote.start, quote.end] for quote in one.quotes],
            }


def print_differences(rows: Sequence[dict[str, Any]], before: Iterable[dict[str, Any]]) -> None:
    """What changed since a file was written, over the questions that both have, with 95 % intervals."""
    earlier = {row["id"]: row for row in before}
    pairs = [(row, earlier[row["id"]]) for row in rows if row["parts"] and row["id"] in earlier]
    measures: dict[str, Callable[[dict[str, Any]], float]] = {
        "complete": lambda row: float(set(row["parts"]) == {"given"}),
        "parts given": lambda row: row["parts"].count("given") / len(row["parts"]),
    }
    shown = []
    for name, value in measures.items():
        now, then = ([value(pair[at]) for pair in pairs] for at in (0, 1))
        differences = [a - b for a, b in zip(now, then, strict=True)]
        low, high = interval(differences)
        changed = f"{100 * fmean(differences or [0]):+.0f} ({100 * low:+.0f} to {100 * high:+.0f})"
        shown.append((name, str(len(pairs)), _percent(then), _percent(now), changed))
    print("## Against the file\n")
    table(("measure", "questions", "before", "now", "difference (95 %)"), shown)


def _percent(values: Sequence[float]) -> str:
    return f"{100 * fmean(values):.0f}" if values else ""


if __name__ == "__main__":
    sys.exit(main())
