"""Evidence spans by lexical overlap: the deterministic algorithm of the ``kb.*`` tool design, section 4.6.1."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MIN_TOKEN_CHARS = 3
"""Shorter question tokens are dropped (section 4.6.1, step 1)."""

_FENCE = re.compile(r"(?ms)^[ \t]*```.*?(?:^[ \t]*```[ \t]*$|\Z)")
_BOUNDARY = re.compile(
    r"\n[ \t]*\n\s*"  # a blank line
    r"|(?<=[.?!])\s+"  # sentence-ending punctuation before white space
    r"|\n(?=[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+\S)"  # a bullet
)
_BULLET_MARK = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+(?=\S)")
_NUMBER_MARK = re.compile(r"\s*\d{1,3}\.")
_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class ScoredSpan:
    """A span of a passage and its lexical score in 0..1."""

    passage: int
    start_char: int
    end_char: int
    score: float


def question_tokens(question: str) -> tuple[str, ...]:
    """The question's distinct tokens: lower case, split at non-alphanumerics, at least three characters."""
    tokens = _NOT_ALPHANUMERIC.split(question.lower())
    return tuple(dict.fromkeys(token for token in tokens if len(token) >= MIN_TOKEN_CHARS))


def split_spans(text: str) -> list[tuple[int, int]]:
    """Split a passage into spans: fenced code whole, the rest at blank lines, bullets and sentence ends."""
    spans: list[tuple[int, int]] = []
    at = 0
    for fence in _FENCE.finditer(text):
        spans.extend(_split_prose(text, at, fence.start()))
        spans.extend(_trimmed(text, fence.start(), fence.end()))
        at = fence.end()
    spans.extend(_split_prose(text, at, len(text)))
    return spans


def overlap(tokens: Sequence[str], span: str) -> float:
    """The share of the question's tokens that occur in the span, without regard to case."""
    folded = span.lower()
    return sum(token in folded for token in tokens) / max(1, len(tokens))


def best_spans(question: str, passages: Sequence[str], limit: int) -> list[ScoredSpan]:
    """Rank the spans of all passages by overlap with the question.

    Ties go to the shorter span, then the earlier position, then the earlier passage. Spans that share no token
    with the question are left out.

    Args:
        question: as the user wrote it.
        passages: the texts to quote from, in rank order.
        limit: at most this many spans.
    """
    tokens = question_tokens(question)
    scored = [
        ScoredSpan(number, start, end, score)
        for number, passage in enumerate(passages)
        for start, end in split_spans(passage)
        if (score := overlap(tokens, passage[start:end])) > 0
    ]
    scored.sort(key=lambda s: (-s.score, s.end_char - s.start_char, s.start_char, s.passage))
    return scored[:limit]


def _split_prose(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for boundary in _BOUNDARY.finditer(text, start, end):
        if _NUMBER_MARK.fullmatch(text, at, boundary.start()):  # the dot of "1. First" ends no sentence
            continue
        yield from _trimmed(text, at, boundary.start())
        at = boundary.end()
    yield from _trimmed(text, at, end)


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    mark = _BULLET_MARK.match(text, start, end)
    if mark:
        start = mark.end()
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield start, end
