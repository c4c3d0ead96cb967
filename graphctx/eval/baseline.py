"""Baselines: the measures of each question in an accepted run, so that a worse run is noticed.

A baseline is a JSON file with one line for each question, sorted, without times: a difference in it is readable in a
review. `check` compares question by question, so that it sees a fall that a comparison of means would take for noise,
and no noise as a fall.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from graphctx.errors import InvalidArgument
from graphctx.eval.compare import p_value
from graphctx.eval.records import GLOBAL, Golden, Outcome, SuiteRun
from graphctx.eval.summary import direction, is_share
from graphctx.version import __version__

FORMAT = 1
"""Of the file."""

ABSTENTION = ("confidence", "empty")
"""Measures of which more is better for questions that have an answer and worse for others, or the other way round."""

MEASURES = (
    *("R@5", "all@10", "hit@1", "MRR", "nDCG@10", "answer", "answer@500", "span", "span@500"),
    *("points@500", "points@1000", "points@2000"),
    *ABSTENTION,
)
"""What a baseline holds of each question: enough to see a fall in finding, ordering, quoting and abstaining."""

LEVEL = 0.05
"""A fall counts where the one-sided randomisation test has a smaller p-value. Measures are not adjusted for each
other: they rise and fall together, and a false alarm costs a look while a missed fall costs a release."""

MIN_FALL = 0.01
"""A mean that fell by a point or less is not a regression: among thousands of questions any fall is sure."""

EXACT = "exact"
"""The measure that must be 1 on every question: every quote slices back to its document."""

_DIGITS = 4
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Regression:
    """One way in which a run is worse than its baseline.

    Attributes:
        suite, variant: where.
        kind: ``fell``, ``inexact`` (a quote does not slice back), ``missing`` (questions or a measure were not run).
        measure: what fell, or rose where less is better; empty for missing questions.
        n: questions that were compared, or that are missing.
        before, now: means over them.
        p_value: one-sided; 0 where there was no test.
        questions: ids of those that are worse or missing, sorted.
    """

    suite: str
    variant: str
    kind: Literal["fell", "inexact", "missing"]
    measure: str
    n: int
    before: float
    now: float
    p_value: float
    questions: tuple[str, ...]

    def __str__(self) -> str:
        """Return one sentence that says what is worse, by how much, and where."""
        ids = ", ".join(self.questions[:_SHOWN]) + (" …" if len(self.questions) > _SHOWN else "")
        where = f"{self.suite}, {self.variant}"
        if self.kind == "missing":
            if not self.measure:
                return f"{where}: {_questions(self.n)} of the baseline {_were(self.n)} not asked ({ids})."
            return f"{where}: {self.measure} was not measured for {_questions(self.n)} ({ids})."
        if self.kind == "inexact":
            return f"{where}: quotes do not slice back to their documents in {_questions(len(self.questions))} ({ids})."
        return (
            f"{where}: {self.measure} {'fell' if self.now < self.before else 'rose'} "
            f"from {self.before:.1%} to {self.now:.1%} over {_questions(self.n)} "
            f"(p = {self.p_value:.3f}); worse on {ids}."
        )


def _questions(count: int) -> str:
    return f"{count} question{'' if count == 1 else 's'}"


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def write(path: Path, runs: Sequence[SuiteRun]) -> None:
    """Write the baseline of some runs, all variants of each; the folder is made if there is none.

    Of questions about the whole, only global search is kept: a rival that gets worse is not a regression.

    Raises:
        InvalidArgument: a suite occurs twice.
    """
    names = [run.suite for run in runs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidArgument(f"A baseline holds each suite once; {twice[0]!r} was run twice.", suite=twice[0])
    suites = ",\n".join(_suite_lines(run) for run in sorted(runs, key=lambda run: run.suite))
    head = f'{{"format": {FORMAT}, "graphctx": {json.dumps(__version__)}, "suites": {{\n'
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{head}{suites}\n}}}}\n", "utf-8")


def _suite_lines(run: SuiteRun) -> str:
    variants = [GLOBAL] if run.judge == "points" else sorted(run.outcomes)
    measures = [name for name in MEASURES if any(name in one.measures for v in variants for one in run.outcomes[v])]
    by_id: dict[str, dict[str, Outcome]] = {}
    for variant in variants:
        for one in run.outcomes[variant]:
            by_id.setdefault(one.golden.id, {})[variant] = one
    rows = []
    for name, found in sorted(by_id.items()):
        values = {variant: [_kept(one.measures.get(measure)) for measure in measures] for variant, one in found.items()}
        line = {"golden": _digest(next(iter(found.values())).golden), **values}
        rows.append(f"{json.dumps(name, ensure_ascii=False)}: {json.dumps(line, ensure_ascii=False)}")
    head = {"n": len(rows), "variants": variants, "measures": measures}
    fields = json.dumps(head, ensure_ascii=False)[:-1]
    questions = ",\n".join(rows)
    return f'{json.dumps(run.suite, ensure_ascii=False)}: {fields}, "questions": {{\n{questions}\n}}}}'


def _kept(value: float | None) -> float | int | None:
    if value is None:
        return None
    rounded = round(value, _DIGITS)
    return int(rounded) if rounded == int(rounded) else rounded


def _digest(golden: Golden) -> str:
    """Changes whenever the question or what is asked of an answer does."""
    spans = sorted((span.doc_uri, span.start_char, span.end_char) for span in golden.gold_spans)
    asked = [golden.question, golden.type, golden.answers, golden.answerable, sorted(golden.gold_docs), spans]
    if golden.points:  # so that what was written of other questions still holds
        asked.append([sorted((s.doc_uri, s.start_char, s.end_char) for s in one.spans) for one in golden.points])
    return hashlib.sha256(json.dumps(asked).encode("utf-8")).hexdigest()[:8]


def not_asked(path: Path, runs: Sequence[SuiteRun]) -> int:
    """Return how many questions of the baseline's same suites were not asked.

    Raises:
        InvalidArgument: as `check`, for the file.
    """
    suites = read(path)
    asked = {(run.suite, one.golden.id) for run in runs for some in run.outcomes.values() for one in some}
    return sum(
        (run.suite, name) not in asked for run in runs for name in suites.get(run.suite, {}).get("questions", {})
    )


def check(path: Path, runs: Sequence[SuiteRun], *, partly: bool = False) -> list[Regression]:
    """Compare runs with their baseline.

    Suites and variants of the baseline that were not run are skipped, and so are questions that it does not hold.

    Args:
        path: the baseline.
        runs: what was measured.
        partly: whether questions of the baseline may be left unasked.

    Returns:
        Everything that is worse, by suite, variant and measure; empty where all is well.

    Raises:
        InvalidArgument: the file is missing, not a baseline or of another format; it does not hold a suite, or none of
            the variants that were run; or the golden questions have changed since.
    """
    suites = read(path)
    found: list[Regression] = []
    for run in runs:
        known = suites.get(run.suite)
        if known is None:
            raise InvalidArgument(
                f"The baseline {path.name} does not hold suite {run.suite!r}; it holds: {', '.join(suites)}. "
                "Take another baseline, or write this one again with that suite.",
                suite=run.suite,
            )
        common = [variant for variant in run.outcomes if variant in known["variants"]]
        if not common:
            raise InvalidArgument(
                f"The baseline {path.name} holds suite {run.suite!r} for {', '.join(known['variants'])}, and it was "
                f"run for {', '.join(run.outcomes)}: there is nothing to compare. Run one of the former.",
                suite=run.suite,
            )
        for variant, outcomes in run.outcomes.items():
            found += _inexact(run.suite, variant, outcomes)
        for variant in common:
            found += _worse(run.suite, variant, known, run.outcomes[variant], path.name)
    return [one for one in found if not (partly and one.kind == "missing" and not one.measure)]


def read(path: Path) -> dict[str, dict[str, Any]]:
    """Return the suites of a baseline.

    Raises:
        InvalidArgument: the file is missing, not a baseline or of another format.
    """
    try:
        content = json.loads(path.read_text("utf-8"))
        version, suites = content["format"], content["suites"]
    except OSError as error:
        raise InvalidArgument(
            f"The baseline {path.name} cannot be read: {error.strerror}. Write one with --write-baseline.",
            path=path.name,
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidArgument(
            f"{path.name} is not a baseline of graphctx eval. Write one with --write-baseline.", path=path.name
        ) from error
    if version != FORMAT:
        raise InvalidArgument(
            f"The baseline {path.name} has format {version}, and this graphctx reads format {FORMAT}. "
            "Write it again with --write-baseline.",
            path=path.name,
            format=version,
        )
    return dict(suites)


def _inexact(suite: str, variant: str, outcomes: Sequence[Outcome]) -> list[Regression]:
    values = {one.golden.id: one.measures[EXACT] for one in outcomes if EXACT in one.measures}
    wrong = tuple(sorted(name for name, value in values.items() if value < 1))
    if not wrong:
        return []
    return [Regression(suite, variant, "inexact", EXACT, len(values), 1.0, fmean(values.values()), 0.0, wrong)]


def _worse(suite: str, variant: str, known: dict[str, Any], outcomes: Sequence[Outcome], file: str) -> list[Regression]:
    """What is worse in one variant of one suite."""
    expected: dict[str, list[float | None]] = {
        name: line[variant] for name, line in known["questions"].items() if variant in line
    }
    now = {one.golden.id: one for one in outcomes}
    for name in sorted(expected.keys() & now.keys()):
        if known["questions"][name]["golden"] != _digest(now[name].golden):
            raise InvalidArgument(
                f"Question {name!r} of suite {suite!r} is not the one that the baseline {file} was written for: its "
                "words or its gold have changed. Write the baseline again with --write-baseline.",
                suite=suite,
                question=name,
            )
    found = []
    absent = tuple(sorted(expected.keys() - now.keys()))
    if absent:
        found.append(Regression(suite, variant, "missing", "", len(absent), 1.0, 0.0, 0.0, absent))
    for at, measure in enumerate(known["measures"]):
        before = {name: values[at] for name, values in expected.items() if values[at] is not None and name in now}
        unmeasured = tuple(sorted(name for name in before if measure not in now[name].measures))
        if unmeasured:
            found.append(Regression(suite, variant, "missing", measure, len(unmeasured), 1.0, 0.0, 0.0, unmeasured))
        pairs = [
            (name, float(value or 0.0), round(now[name].measures[measure], _DIGITS))
            for name, value in sorted(before.items())
            if measure in now[name].measures
        ]
        if measure not in ABSTENTION:
            found += _fallen(suite, variant, measure, pairs, direction(measure))
            continue
        for answerable, kind in ((True, "answerable"), (False, "unanswerable")):
            some = [pair for pair in pairs if now[pair[0]].golden.answerable is answerable]
            better = 1 if answerable == (measure == "confidence") else -1
            found += _fallen(suite, variant, f"{measure} of {kind} questions", some, better)
    return found


def _fallen(
    suite: str, variant: str, measure: str, pairs: Sequence[tuple[str, float, float]], better: int
) -> list[Regression]:
    """Return the fall of a measure, if it is one; ``better`` is 1 where more is better, and -1 where less is."""
    if not pairs:
        return []
    gains = [better * (now - before) for _, before, now in pairs]
    before, now = fmean(one for _, one, _ in pairs), fmean(one for _, _, one in pairs)
    least = MIN_FALL if is_share(measure) else MIN_FALL * abs(before)
    p = p_value(gains, fell=True)
    if fmean(gains) >= -least or p >= LEVEL:
        return []
    lower = tuple(name for (name, _, _), gain in zip(pairs, gains, strict=True) if gain < 0)
    return [Regression(suite, variant, "fell", measure, len(pairs), round(before, 6), round(now, 6), p, lower)]
