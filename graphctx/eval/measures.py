"""Measures of one question, and of a set of confidences.

Ranking measures follow trec_eval's definitions, and tests hold them to it. Those of quotes and points have no
counterpart: no library knows exact spans under a token budget.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from graphctx.eval.records import Golden, GoldPoint, GoldSpan
from graphctx.model.answers import EvidenceAnswer, Quote

BUDGETS = (250, 500, 1000)
"""Tokens of quotes that an answer is cut to, in addition to the default of six quotes."""

DEPTH = 10
"""Number of results that are ranked."""

MAX_QUOTES = 20
"""Quotes to ask for where a budget cuts: the tool's maximum."""

_RECALL = (2, 5, 10)
_WORD = re.compile(r"[^\W_]+")

CountTokens = Callable[[str], int]
DocumentText = Callable[[str], str]


def ranking_measures(
    ranked: Mapping[str, Sequence[str]], relevant: Mapping[str, frozenset[str]]
) -> dict[str, dict[str, float]]:
    """Return measures of rankings, in 0..1.

    ``R@k`` is the share of the relevant keys among the first k, ``all@k`` whether all of them are there, ``hit@1``
    whether the first is relevant, ``MRR`` the reciprocal rank of the first relevant one, and ``nDCG@10`` the
    normalised discounted cumulative gain with binary relevance.

    Args:
        ranked: question to keys, best first.
        relevant: question to its relevant keys, at least one each.

    Returns:
        Question to measures.
    """

    def of(keys: Sequence[str], wanted: frozenset[str]) -> dict[str, float]:
        places = [place for place, key in enumerate(keys) if key in wanted]
        recall = {k: sum(place < k for place in places) / len(wanted) for k in _RECALL}
        gain = _gain(place for place in places if place < 10)
        return {
            **{f"R@{k}": value for k, value in recall.items()},
            **{f"all@{k}": float(value > 1 - 1e-9) for k, value in recall.items()},
            "hit@1": float(0 in places),
            "MRR": 1 / (places[0] + 1) if places else 0.0,
            "nDCG@10": gain / _gain(range(min(10, len(wanted)))),
        }

    return {name: of(ranked[name], keys) for name, keys in relevant.items()}


def _gain(places: Iterable[int]) -> float:
    """Return the discounted cumulative gain of relevant results at these places, from 0."""
    return sum(1 / math.log2(place + 2) for place in places)


def quote_measures(golden: Golden, quotes: Sequence[Quote], count: CountTokens, suffix: str = "") -> dict[str, float]:
    """Return how much of what a question needs is in the quotes.

    ``answer`` (0 or 1): some quote holds an answer, or, for the type ``list``, the quotes hold all of them. Left out
    for questions without answers, without an answer in the corpus, or answered by yes or no. ``span``: the share of
    the gold spans that some quote overlaps. ``cover``: the share of the gold spans' characters inside quotes.
    ``quote_tokens``: of all quotes.

    Args:
        golden: the question.
        quotes: in rank order.
        count: tokens of a text.
        suffix: put behind each measure's name.
    """
    measures = {f"quote_tokens{suffix}": float(sum(count(quote.quote) for quote in quotes))}
    if not golden.answerable:
        return measures
    answer = holds_answer(golden, [quote.quote for quote in quotes])
    if answer is not None:
        measures[f"answer{suffix}"] = float(answer)
    if golden.gold_spans:
        touched = [any(_overlap(span, quote) for quote in quotes) for span in golden.gold_spans]
        measures[f"span{suffix}"] = sum(touched) / len(touched)
        measures[f"cover{suffix}"] = _covered(golden.gold_spans, quotes)
    return measures


def holds_answer(golden: Golden, texts: Sequence[str]) -> bool | None:
    """Return whether texts hold an answer, or for the type ``list`` all; ``None`` without answers beyond yes and no."""
    if not golden.answers or {answer.casefold().strip() for answer in golden.answers} <= {"yes", "no"}:
        return None
    normalised = [_normalised(text) for text in texts]
    return (all if golden.type == "list" else any)(_holds(normalised, answer) for answer in golden.answers)


def answer_measures(
    golden: Golden, answer: EvidenceAnswer, text_of: DocumentText, count: CountTokens, *, calls: int
) -> dict[str, float]:
    """Return all measures of one answer of ``retrieve_evidence`` at its defaults.

    Beside those of `quote_measures`: ``exact``, the share of quotes that are the document's text at their offsets
    (left out where there are none); ``quotes``; ``tokens`` and ``bytes`` of the response's JSON; ``calls`` that it
    took to see every quote; ``truncated``, whether a quote or the response was cut; ``in_budget``, whether calls and
    quote tokens keep to what the question allows; ``confidence`` of the best quote, 0 where there is none;
    ``empty``, whether there is none.

    Args:
        golden: the question.
        answer: of the first call.
        text_of: the text of a document.
        count: tokens of a text.
        calls: how many it took until no cursor was left.
    """
    quotes = answer.quotes
    measures = quote_measures(golden, quotes, count)
    if quotes:
        exact = [text_of(quote.doc_uri)[quote.start_char : quote.end_char] == quote.quote for quote in quotes]
        measures["exact"] = sum(exact) / len(exact)
    measures |= {
        "quotes": float(len(quotes)),
        "tokens": float(answer.budget.tokens),
        "bytes": float(answer.budget.bytes),
        "calls": float(calls),
        "truncated": float(answer.truncated),
        "confidence": max((quote.confidence for quote in quotes), default=0.0),
        "empty": float(not quotes),
    }
    if golden.max_tokens or golden.max_calls:
        cheap = not golden.max_tokens or measures["quote_tokens"] <= golden.max_tokens
        measures["in_budget"] = float(cheap and (not golden.max_calls or calls <= golden.max_calls))
    return measures


def within(quotes: Sequence[Quote], budget: int, count: CountTokens) -> list[Quote]:
    """Return the leading quotes that together have at most ``budget`` tokens."""
    taken, spent = [], 0
    for quote in quotes:
        spent += count(quote.quote)
        if spent > budget:
            break
        taken.append(quote)
    return taken


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return the area under the ROC curve: how often a positive value is above a negative one, ties counting half.

    Args:
        positive: confidences of answerable questions, at least one.
        negative: confidences of unanswerable ones, at least one.
    """
    above = sum((p > n) + (p == n) / 2 for p in positive for n in negative)
    return above / (len(positive) * len(negative))


def _normalised(text: str) -> str:
    """Return the words of a text, in a form in which case, punctuation and Markdown's marks make no difference.

    Open-domain question answering counts an answer as found where its words occur in a row in the text; so ``6`` is
    not found in ``1996``.
    """
    return f" {' '.join(_WORD.findall(unicodedata.normalize('NFKC', text).casefold()))} "


def _holds(texts: Sequence[str], answer: str) -> bool:
    wanted = _normalised(answer)
    return bool(wanted.strip()) and any(wanted in text for text in texts)


def _overlap(span: GoldSpan, quote: Quote) -> bool:
    return quote.doc_uri == span.doc_uri and quote.start_char < span.end_char and quote.end_char > span.start_char


def _covered(spans: Sequence[GoldSpan], quotes: Sequence[Quote]) -> float:
    """Return the share of the spans' characters that are in quotes; none counts twice."""
    wanted = inside = 0
    for uri in dict.fromkeys(span.doc_uri for span in spans):
        gold = [(span.start_char, span.end_char) for span in spans if span.doc_uri == uri]
        quoted = [(quote.start_char, quote.end_char) for quote in quotes if quote.doc_uri == uri]
        marks = sorted({place for ends in (*gold, *quoted) for place in ends})
        for start, end in pairwise(marks):
            if _any_holds(gold, start, end):
                wanted += end - start
                inside += (end - start) * _any_holds(quoted, start, end)
    return inside / wanted


def _any_holds(ranges: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    return any(first <= start and end <= last for first, last in ranges)


POINT_BUDGETS = (500, 1000, 2000)
"""Tokens of all quoted text together, for questions about the whole."""

MOST_POINTS = 100
"""Points to ask for: the tool's maximum, so that the budget alone cuts."""

MIN_OVERLAP = 0.5
"""A text states a point if it shares at least this part of the shorter of both with one of the point's spans. Less is a
neighbouring sentence; the whole would require a long sentence to be quoted to its last word."""


@dataclass(frozen=True, slots=True)
class QuotedText:
    """A text of an answer, its span, and its number of tokens."""

    doc_uri: str
    start_char: int
    end_char: int
    text: str
    tokens: int


def states(piece: QuotedText, span: GoldSpan) -> bool:
    """Return whether a piece and a span share at least `MIN_OVERLAP` of the shorter of both, in characters."""
    if piece.doc_uri != span.doc_uri:
        return False
    shared = min(piece.end_char, span.end_char) - max(piece.start_char, span.start_char)
    shorter = min(piece.end_char - piece.start_char, span.end_char - span.start_char)
    return shared > 0 and shared >= MIN_OVERLAP * shorter


def stated(point: GoldPoint, pieces: Iterable[QuotedText]) -> bool:
    """Return whether some piece states a point."""
    return any(states(piece, span) for piece in pieces for span in point.spans)


def filled(pieces: Iterable[QuotedText], budget: int) -> list[QuotedText]:
    """Return the pieces that fit into a budget, in order; one that does not fit whole is skipped."""
    taken: list[QuotedText] = []
    left = budget
    for piece in pieces:
        if piece.tokens <= left:
            taken.append(piece)
            left -= piece.tokens
    return taken


def point_measures(points: Sequence[GoldPoint], pieces: Sequence[QuotedText], budget: int) -> dict[str, float]:
    """Return measures of an answer within a budget.

    ``points@<budget>`` is the share of the gold points that some piece states, ``tokens@<budget>`` the tokens of all
    pieces, ``quotes@<budget>`` their number.

    Args:
        points: of the question, at least one.
        pieces: of the answer.
        budget: in tokens; it only names the measures.
    """
    return {
        f"points@{budget}": sum(stated(point, pieces) for point in points) / len(points),
        f"tokens@{budget}": float(sum(piece.tokens for piece in pieces)),
        f"quotes@{budget}": float(len(pieces)),
    }
