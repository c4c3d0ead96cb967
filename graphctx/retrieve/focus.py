"""Where the quote of a block begins that is too long to be quoted whole: at the lines that bear on the question."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from graphctx.model.answers import MAX_QUOTE_CHARS
from graphctx.retrieve.cite import Tokens, cut_span
from graphctx.retrieve.index import Scores


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
    """Choose the line of a span at which its quote begins.

    Code and long tables are one span each, and their first lines are rarely the answer.

    Args:
        text: of the document.
        start, end: the span.
        max_tokens, max_chars: the longest quote.
        tokens: counts them.
        cover: how much of the question each of some texts holds.

    Returns:
        ``start`` where the span fits or is one line; else the start of the line from which on a quote of that length
        covers most of the question, line by line; ties go to the earliest.
    """
    if not cut_span(text, start, end, max_tokens, tokens, max_chars).truncated:
        return start
    lines = _lines(text, start, end)
    values = np.concatenate([[0.0], np.cumsum(cover([text[a:b] for a, b in lines]))])
    best, best_value = start, -1.0
    for number, (at, _) in enumerate(lines):
        stop = cut_span(text, at, end, max_tokens, tokens, max_chars).end_char
        whole = sum(1 for _, line_end in lines[number:] if line_end <= stop)
        value = round(float(values[number + whole] - values[number]), 6)
        if value > best_value:
            best, best_value = at, value
        if stop >= end:
            break  # a later start only loses lines
    return best


def _lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The lines of a span that hold anything, each from its first character that is no white space."""
    found = []
    at = start
    for line in text[start:end].split("\n"):
        if line.strip():
            found.append((at + len(line) - len(line.lstrip()), at + len(line.rstrip())))
        at += len(line) + 1
    return found
