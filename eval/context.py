"""Composed contexts beside the best chunks in order of score, at equal tokens: ``make eval-context``.

    python -m eval.context [--data DIR] [--work DIR] [--only NAME,…] [--tokens N,…]

The sets are the handbook, the documentation sites of eval/answers and two multi-hop sets; those that are not below
``--data`` are skipped. What is measured is described in docs/context.md.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from statistics import fmean, median

from eval.answers.ask import Pages, read_questions
from eval.benchmarks import table
from eval.dev import ROOT, data_parser
from graphctx.cli.console import errors_console
from graphctx.cli.progress import ProgressView, progress_view
from graphctx.context.composer import ContextComposer
from graphctx.context.documents import DocumentSource
from graphctx.context.render import sections_text
from graphctx.errors import GraphctxError, InvalidArgument
from graphctx.eval.compare import p_value
from graphctx.eval.golden import bind
from graphctx.eval.measures import QuotedText, holds_answer
from graphctx.eval.run import open_for
from graphctx.eval.suites import Suite, load_suite
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.context import ContextInput, ContextSection
from graphctx.text.lexical import terms
from graphctx.text.sentences import split_sentences

BUDGETS = (1_000, 2_000, 4_000, 8_000, 32_000)
COVERED = 0.9
"""A gold span counts as held if this much of its text is in the context."""

NEAR_DUPLICATE = 0.9
"""Two sentences of at least `MIN_TERMS` terms are near-duplicates if they share this much of them (Jaccard)."""
MIN_TERMS = 4

SHORTENED_FROM, SHORTENED_TO = 8_000, (50, 25)
"""Tokens of the context that is shortened, and percentages of its retrieved part."""

END_SHARE = 0.2
"""Gold is at the ends if a piece that holds most of it reaches into the first or the last fifth of the pieces."""

MAX_QUESTIONS = 60

SITES = ("fastapi_docs", "helm_docs", "prometheus_docs", "rust_book")
GOLDEN = ("handbook", "hotpot_train100", "musique_train100")

Holds = Callable[[Sequence[QuotedText]], dict[str, float]]
"""From the spans of a context to ``gold``, the share of what is needed that they hold, and ``answer``, 0 or 1."""


@dataclass(frozen=True, slots=True)
class ContextQuestion:
    """A question, and how a context is judged: by its spans, and by its words alone."""

    text: str
    holds: Holds
    says: Callable[[str], float | None]


def main() -> int:
    """Command line; exit code 1 where no set is there."""
    parser = data_parser(str(__doc__))
    parser.add_argument("--only", default=",".join((*GOLDEN, *SITES)), metavar="NAME,…", help="sets to ask")
    parser.add_argument("--tokens", type=_numbers, default=BUDGETS, metavar="N,…", help="sizes of contexts")
    chosen = parser.parse_args()
    values: dict[tuple[str, str, int, str], list[float]] = defaultdict(list)
    try:
        with progress_view() as view:
            for name, kb in _opened(chosen, view):
                with kb:
                    questions = _questions(name, kb, chosen.data)
                    for number, question in enumerate(questions, 1):
                        _ask(kb, name, question, chosen.tokens, values)
                        view.step(name, number, len(questions), "questions")
        if not values:
            raise InvalidArgument(f"None of these sets is below {chosen.data}: say by --data where they lie.")
    except GraphctxError as error:
        errors_console().print(str(error), soft_wrap=True)
        return 1
    _print(values, chosen.tokens)
    return 0


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


def _opened(chosen: argparse.Namespace, view: ProgressView) -> Iterator[tuple[str, KnowledgeBase]]:
    for name in chosen.only.split(","):
        path = _suite_path(name, chosen.data)
        if name in SITES:
            suite = Suite(name, path, "questions", corpus=chosen.data / "docs" / name)
        elif path.exists():
            suite = load_suite(path)
        if suite.corpus is not None and suite.corpus.exists():
            yield name, open_for(suite, kb=None, default_kb=chosen.work, work=chosen.work, on_progress=view)
        else:
            errors_console().print(f"{name}: not below {chosen.data}, skipped", soft_wrap=True)


def _suite_path(name: str, data: Path) -> Path:
    if name in SITES:
        return ROOT / "eval" / "answers" / f"{name}.jsonl"
    return ROOT / "eval" / "golden" / "handbook.jsonl" if name == "handbook" else data / name


def _questions(name: str, kb: KnowledgeBase, data: Path) -> list[ContextQuestion]:
    path = _suite_path(name, data)
    if name in SITES:
        pages = Pages(kb)
        asked = [question for question in read_questions(path) if question.parts]

        def parts_of(question: object) -> Holds:
            def holds(spans: Sequence[QuotedText]) -> dict[str, float]:
                given = [
                    any(
                        part.lies_in(pages[one.doc_uri], one.start_char, one.end_char) and part.matches(one.text)
                        for one in spans
                    )
                    for part in question.parts  # type: ignore[attr-defined]
                ]
                return {"gold": fmean(given), "answer": float(all(given))}

            return holds

        return [
            ContextQuestion(
                question.question,
                parts_of(question),
                lambda text, parts=question.parts: fmean(part.matches(text) for part in parts),  # type: ignore[misc]
            )
            for question in asked
        ]
    suite = load_suite(path)
    goldens = [one for one in bind(suite.rows, kb, source=suite.path.name, prefix=suite.prefix) if one.answerable]

    def spans_of(golden: object) -> Holds:
        def holds(spans: Sequence[QuotedText]) -> dict[str, float]:
            measures = {}
            if golden.gold_spans:  # type: ignore[attr-defined]
                held = []
                for gold in golden.gold_spans:  # type: ignore[attr-defined]
                    inside = sum(
                        max(0, min(one.end_char, gold.end_char) - max(one.start_char, gold.start_char))
                        for one in spans
                        if one.doc_uri == gold.doc_uri
                    )
                    held.append(inside >= COVERED * (gold.end_char - gold.start_char))
                measures["gold"] = fmean(held)
            answer = holds_answer(golden, [one.text for one in spans])  # type: ignore[arg-type]
            return measures if answer is None else measures | {"answer": float(answer)}

        return holds

    return [
        ContextQuestion(
            golden.question,
            spans_of(golden),
            lambda text, golden=golden: holds_answer(golden, [text]),  # type: ignore[misc]
        )
        for golden in goldens[:MAX_QUESTIONS]
    ]


def _ask(
    kb: KnowledgeBase,
    name: str,
    question: ContextQuestion,
    budgets: Sequence[int],
    values: dict[tuple[str, str, int, str], list[float]],
) -> None:
    source = DocumentSource(kb.searcher(), kb.tokens)
    composer = ContextComposer([source], kb.tokens)
    for budget in budgets:
        started = time.perf_counter()
        request = ContextInput(query=question.text, max_tokens=budget)
        sections = composer.compose(request).retrieved_sections
        milliseconds = (time.perf_counter() - started) * 1000
        weight = kb.tokens.count(sections_text(sections))
        chunks = source.retrieve(request.model_copy(update={"strategy": "flat"}), weight).sections
        for variant, found in (("composed", sections), ("chunks", chunks)):
            spans = _spans(kb, found)
            measures = question.holds(spans) | {
                "repeated": _repeated(spans),
                "tokens": kb.tokens.count(sections_text(found)),
            }
            if variant == "composed":
                measures["ms"] = milliseconds
            if (place := _gold_at_the_ends(question, kb, found)) is not None:
                measures["ends"] = place
            for measure, value in measures.items():
                values[variant, measure, budget, name].append(value)
            if budget == SHORTENED_FROM:
                _shorten(kb, question, variant, name, sections_text(found), values)


def _shorten(
    kb: KnowledgeBase,
    question: ContextQuestion,
    variant: str,
    name: str,
    text: str,
    values: dict[tuple[str, str, int, str], list[float]],
) -> None:
    """Shorten a retrieved part to shares of its tokens, and note what it still says of what it said."""
    said = question.says(text)
    if not said:
        return
    for percent in SHORTENED_TO:
        shorter = kb.optimize_context(text, kb.tokens.count(text) * percent // 100, query=question.text)
        values[variant, "kept", percent, name].append((question.says(shorter.text) or 0.0) / said)


def _spans(kb: KnowledgeBase, sections: Sequence[ContextSection]) -> list[QuotedText]:
    """Return the spans of some sections; those with only white space between them are one."""
    places = sorted({(s.metadata["doc_uri"], s.metadata["start_char"], s.metadata["end_char"]) for s in sections})
    joined: list[tuple[str, int, int]] = []
    for uri, start, end in places:
        if joined and joined[-1][0] == uri and not kb.document(uri).text[joined[-1][2] : start].strip():
            joined[-1] = (uri, joined[-1][1], max(end, joined[-1][2]))
        else:
            joined.append((uri, start, end))
    return [QuotedText(uri, start, end, kb.document(uri).text[start:end], 0) for uri, start, end in joined]


def _repeated(spans: Sequence[QuotedText]) -> float:
    """Return the share of sentences that nearly repeat an earlier one."""
    seen: list[frozenset[str]] = []
    repeated = 0
    for one in spans:
        for start, end in split_sentences(one.text):
            own = frozenset(terms(one.text[start:end]))
            if len(own) >= MIN_TERMS:
                repeated += any(len(own & other) >= NEAR_DUPLICATE * len(own | other) for other in seen)
                seen.append(own)
    return repeated / max(len(seen), 1)


def _gold_at_the_ends(question: ContextQuestion, kb: KnowledgeBase, sections: Sequence[ContextSection]) -> float | None:
    """Return whether the piece that holds most is in the first or last fifth of the text; ``None`` if none does."""
    pieces = [one for one in sections if one.hierarchy_level != 1]
    held = [question.holds(_spans(kb, [one])).get("gold", 0.0) for one in pieces]
    if not held or not max(held):
        return None
    ends = list(accumulate(len(one.content) for one in pieces))
    starts = [0, *ends[:-1]]
    return fmean(
        starts[at] < END_SHARE * ends[-1] or ends[at] > (1 - END_SHARE) * ends[-1]
        for at, value in enumerate(held)
        if value == max(held)
    )


def _print(values: dict[tuple[str, str, int, str], list[float]], budgets: Sequence[int]) -> None:
    names = sorted({key[3] for key in values})
    for measure, what in (("gold", "Share of what is needed"), ("answer", "Whole answers")):
        rows = []
        for budget in budgets:
            mine, theirs = (
                [mean for name in names if (mean := _mean(values, variant, measure, budget, name)) is not None]
                for variant in ("composed", "chunks")
            )
            pairs = [
                one - other
                for name in names
                for one, other in zip(
                    values["composed", measure, budget, name], values["chunks", measure, budget, name], strict=True
                )
            ]
            by_set = (
                "/".join(
                    "-" if (mean := _mean(values, variant, measure, budget, name)) is None else f"{100 * mean:.0f}"
                    for variant in ("composed", "chunks")
                )
                for name in names
            )
            means = [f"{100 * fmean(one):.1f}" for one in (mine, theirs)]
            rows.append((f"{budget:,}", *means, f"{p_value(pairs):.4f}", *by_set))
        print(f"\n{what} (%), composed and chunks, mean of the sets; p of the paired difference over all questions\n")
        table(("tokens", "composed", "chunks", "p", *names), rows)
    print("\nRepetition, gold at the ends (%), tokens of the retrieved part, and milliseconds\n")
    rows = []
    for budget in budgets:
        cells = [f"{budget:,}"]
        for measure, scale in (("repeated", 100.0), ("ends", 100.0), ("tokens", 1.0)):
            for variant in ("composed", "chunks"):
                every = [one for name in names for one in values.get((variant, measure, budget, name), ())]
                cells.append(f"{scale * fmean(every):.1f}" if every else "-")
        times = [one for name in names for one in values["composed", "ms", budget, name]]
        rows.append((*cells, f"{median(times):.0f}"))
    head = ("repeated", "of chunks", "at the ends", "of chunks", "tokens", "of chunks", "median ms")
    table(("tokens", *head), rows)

    if SHORTENED_FROM not in budgets:
        return
    print(f"\nAnswers that a retrieved part of {SHORTENED_FROM:,} tokens keeps when it is shortened (%)\n")
    rows = []
    for variant in ("composed", "chunks"):
        for percent in SHORTENED_TO:
            means = [100 * (_mean(values, variant, "kept", percent, name) or 0.0) for name in names]
            every = [100 * one for name in names for one in values[variant, "kept", percent, name]]
            rows.append((variant, f"{percent} %", *(f"{mean:.1f}" for mean in (fmean(means), fmean(every), *means))))
    table(("text", "of its tokens", "mean of the sets", "of all questions", *names), rows)


def _mean(
    values: dict[tuple[str, str, int, str], list[float]], variant: str, measure: str, budget: int, name: str
) -> float | None:
    found = values.get((variant, measure, budget, name))
    return fmean(found) if found else None


if __name__ == "__main__":
    sys.exit(main())
