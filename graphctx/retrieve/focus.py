"""Where the quote of a span begins that is too long to be quoted whole: at the part that bears on the question."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from graphctx.model.requests import MAX_QUOTE_CHARS
from graphctx.retrieve.cite import Tokens, cut_span
from graphctx.retrieve.index import Scores

_CLAUSE_END = re.compile(r"(?<=[;:,.])\s+|(?<!\s)\s+(?=[(–—])")

_CHARS_PER_TOKEN = 3
"""A line with so many characters for each token of a quote rarely fits into one; English has about five."""


def focus(
    text: str,
    start: int,
    end: int,
    *,
    max_tokens: int,
    tokens: Tokens,
    cover: Callable[[list[str]], Scores],
    max_chars: int = MAX_QUOTE_CHARS,
) -> int:
    """Choose the line, or the clause of a long line, at which the quote of a span begins.

    Code is one span, as is a sentence that lists a hundred names, and the first lines or names are rarely the answer.

    Args:
        text: of the document.
        start, end: the span.
        max_tokens, max_chars: the longest quote.
        tokens: counts them.
        cover: how much of the question each of some texts holds.

    Returns:
        ``start`` where the span fits; else the start of the part from which on a quote of that length covers most of
        the question, part by part; ties go to the earliest.
    """
    first = cut_span(text, start, end, max_tokens, tokens, max_chars)
    if not first.truncated:
        return start
    parts = parts_of(text, start, end, max_tokens)
    values = np.concatenate([[0.0], np.cumsum(cover([text[a:b] for a, b in parts]))])
    best, best_value = start, -1.0
    for number, (at, _) in enumerate(parts):
        stop = cut_span(text, at, end, max_tokens, tokens, max_chars).end_char
        whole = sum(1 for _, part_end in parts[number:] if part_end <= stop)
        value = round(float(values[number + whole] - values[number]), 6)
        if value > best_value and stop - at >= (first.end_char - start) // 2:  # the last word of a line is no quote
            best, best_value = at, value
        if stop >= end:
            break  # a later start only loses parts
    return best


def parts_of(text: str, start: int, end: int, max_tokens: int) -> list[tuple[int, int]]:
    """The lines of a span that hold anything, without the white space around them, the long ones clause by clause.

    Args:
        text: of the document.
        start, end: the span.
        max_tokens: what one part should keep to; one without a boundary may be longer.
    """
    found = []
    at = start
    for line in text[start:end].split("\n"):
        first, last = at + len(line) - len(line.lstrip()), at + len(line.rstrip())
        at += len(line) + 1
        if last - first > max_tokens * _CHARS_PER_TOKEN:
            for gap in _CLAUSE_END.finditer(text, first, last):
                found.append((first, gap.start()))
                first = gap.end()
        if first < last:
            found.append((first, last))
    return found
