"""What the steps of an evaluation hand to each other."""

from __future__ import annotations

from dataclasses import dataclass, field

from graphctx.model.answers import Quote

GLOBAL = "global"
"""The variant that is global search, in runs of questions about the whole."""


@dataclass(frozen=True, slots=True)
class GoldSpan:
    """A span of a document that a good answer quotes: code points, end exclusive."""

    doc_uri: str
    start_char: int
    end_char: int


@dataclass(frozen=True, slots=True)
class GoldPoint:
    """A fact that a good answer contains, and every place that states it: one of them is enough."""

    point: str
    spans: tuple[GoldSpan, ...]


@dataclass(frozen=True, slots=True)
class Golden:
    """A question with what is known of its answer.

    Attributes:
        id: within its suite.
        question: as it is asked.
        type: of question, for the breakdown; empty where the suite has none.
        answers: strings, any of which (for the type ``list``: all of which) an answer holds.
        answerable: whether the corpus answers it.
        gold_docs: URIs of the documents that are needed.
        gold_spans: the spans that are needed.
        max_tokens: what all quotes together may weigh, where the suite says; else 0.
        max_calls: how many calls of tools the answer may take, where the suite says; else 0.
        points: what is needed, each in one of its places; of questions about the whole, and of no others.
    """

    id: str
    question: str
    type: str = ""
    answers: tuple[str, ...] = ()
    answerable: bool = True
    gold_docs: tuple[str, ...] = ()
    gold_spans: tuple[GoldSpan, ...] = ()
    max_tokens: int = 0
    max_calls: int = 0
    points: tuple[GoldPoint, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one variant made of one question.

    Attributes:
        golden: the question.
        ranked: keys of what was found, best first, without repeats: document URIs, or ``uri@start-end`` of units
            where a suite is judged by units.
        relevant: the keys among which the gold lies.
        quotes: of ``retrieve_evidence`` at its defaults.
        measures: name to value, as far as a measure applies; shares in 0..1, sizes in their own units.
        milliseconds: stage to time.
    """

    golden: Golden
    ranked: tuple[str, ...]
    relevant: frozenset[str]
    quotes: tuple[Quote, ...]
    measures: dict[str, float]
    milliseconds: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SuiteRun:
    """All outcomes of a suite.

    Attributes:
        suite: its name.
        snapshot_id: of the knowledge base that was asked.
        outcomes: variant to outcomes, all variants in the same order of questions.
        judge: what was ranked, ``documents`` or ``units``; ``points`` where questions are about the whole.
        left_out: questions of the suite that were not asked, since nothing can be measured of them.
        not_ranked: ids of questions with gold of which no ranking is measured: units are judged, and no unit holds
            their gold, or it names documents only.
        spans_outside: gold spans that no unit overlaps, where units are judged.
        warnings: what is odd about the golden file, a sentence each.
    """

    suite: str
    snapshot_id: str
    outcomes: dict[str, list[Outcome]]
    judge: str = "documents"
    left_out: int = 0
    not_ranked: tuple[str, ...] = ()
    spans_outside: int = 0
    warnings: tuple[str, ...] = ()
