"""Fragments of spans that are too long to be quoted whole: their lines and clauses, and the best run of them."""

from __future__ import annotations

import re

import numpy as np

from graphctx.model.requests import MAX_QUOTE_CHARS
from graphctx.retrieve.cite import Cut, TokenCounter, cut_span
from graphctx.retrieve.coverage import text_coverage
from graphctx.retrieve.question import Question
from graphctx.text.sentences import links

_CLAUSE_END = re.compile(r"(?<=[;:,.])\s+|(?<!\s)\s+(?=[(–—])")

_CHARS_PER_TOKEN = 3
"""A line with this many characters for each token of a quote rarely fits into one; English has about five."""


def split_fragments(
    text: str, start: int, end: int, max_tokens: int, lines_only: bool = False
) -> list[tuple[int, int]]:
    """Return the spans of the non-blank lines of a span, long lines split at clauses, without surrounding white space.

    A link stays whole.

    Args:
        text: the document's text.
        start, end: the span.
        max_tokens: length that a fragment should keep to; one without a clause boundary may be longer.
        lines_only: whether lines stay whole, as those of code.
    """
    found: list[tuple[int, int]] = []
    whole = [] if lines_only else list(links(text, start, end))
    at, begun = start, -1
    for line in text[start:end].split("\n"):
        first, last = at + len(line) - len(line.lstrip()), at + len(line.rstrip())
        at += len(line) + 1
        if begun >= 0:
            first, begun = begun, -1
        if at <= end and any(low < at <= high for low, high in whole):
            begun = first
            continue
        if not lines_only and last - first > max_tokens * _CHARS_PER_TOKEN:
            for gap in _CLAUSE_END.finditer(text, first, last):
                if not any(low < gap.end() < high for low, high in whole):
                    found.append((first, gap.start()))
                    first = gap.end()
        if first < last:
            found.append((first, last))
    return found


def best_fragments(
    question: Question,
    text: str,
    span: tuple[int, int],
    max_tokens: int,
    tokens: TokenCounter,
    max_chars: int = MAX_QUOTE_CHARS,
) -> Cut:
    """Cut a span to its consecutive fragments that cover most of the question; all of it where it fits.

    Code is one span, as is a sentence that lists a hundred names, and the first lines or names are rarely the answer.
    """
    start, end = span
    at = _best_start(question, text, start, end, max_tokens, tokens, max_chars)
    cut = cut_span(text, at, end, max_tokens, tokens, max_chars)
    return Cut(cut.start_char, cut.end_char, cut.truncated or at > start)


def _best_start(
    question: Question,
    text: str,
    start: int,
    end: int,
    max_tokens: int,
    tokens: TokenCounter,
    max_chars: int,
) -> int:
    """The start of the fragment from which on a quote covers most of the question; ties go to the earliest."""
    first = cut_span(text, start, end, max_tokens, tokens, max_chars)
    if not first.truncated:
        return start
    fragments = split_fragments(text, start, end, max_tokens)
    coverage = text_coverage(question, [text[a:b] for a, b in fragments])
    total = np.concatenate([[0.0], np.cumsum(coverage)])
    best, best_value = start, -1.0
    for number, (at, _) in enumerate(fragments):
        stop = cut_span(text, at, end, max_tokens, tokens, max_chars).end_char
        whole = sum(1 for _, fragment_end in fragments[number:] if fragment_end <= stop)
        value = round(float(total[number + whole] - total[number]), 6)
        if value > best_value and stop - at >= (first.end_char - start) // 2:  # the last word of a line is not a quote
            best, best_value = at, value
        if stop >= end:
            break  # a later start only loses fragments
    return best
