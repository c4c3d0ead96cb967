"""Quotes and previews: exact spans with their citation and the text around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from graphctx.model.answers import Quote
from graphctx.model.requests import MAX_QUOTE_CHARS
from graphctx.retrieve.documents import DocumentText
from graphctx.retrieve.index import SearchIndex
from graphctx.text.graphemes import ceil, cut_end, cut_start, first_end
from graphctx.text.sentences import MAX_LINK_CHARS, links


class TokenCounter(Protocol):
    """The token counter that budgets are measured with."""

    def count(self, text: str) -> int:
        """The number of tokens of a text."""

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """The number of tokens of each text; faster than one call for each."""

    def clip(self, text: str, max_tokens: int) -> int:
        """The end of the longest prefix with at most this many tokens, cut between tokens and graphemes."""

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """The span of each token."""


_CHARS_PER_TOKEN = 6
"""Most tokens of prose are shorter, with the white space beside them."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A span after its limits were applied.

    Attributes:
        start_char, end_char: offsets in the document.
        truncated: whether it is shorter than it was.
        continues: the list or table that it ends in and that goes on; empty otherwise.
    """

    start_char: int
    end_char: int
    truncated: bool
    continues: Literal["", "list", "table"] = ""


def cut_span(
    text: str, start: int, end: int, max_tokens: int, tokens: TokenCounter, max_chars: int = MAX_QUOTE_CHARS
) -> Cut:
    """Shorten a span from its end to a number of tokens and characters, at the end of a word where there is one.

    A link goes whole, unless it is most of the span. The first grapheme is always kept, even where it alone has more
    tokens.
    """
    limit = min(end, start + max_chars)
    stop = start + tokens.clip(text[start:limit], max_tokens)
    if stop >= end:
        return Cut(start, end, False)
    stop = max(_before_link(text, start, cut_end(text, start, stop)), min(first_end(text, start), limit))
    while stop > start + 1 and text[stop - 1].isspace():
        stop -= 1
    return Cut(start, stop, stop < end)


def _before_link(text: str, start: int, stop: int) -> int:
    """Return the start of the link that an end would cut, or the end itself: if it cuts none, or half would be lost."""
    reach = (max(start, stop - MAX_LINK_CHARS), stop + MAX_LINK_CHARS)
    cut = next((first for first, last in links(text, *reach) if first < stop < last), start)
    return cut if cut > start + (stop - start) // 2 else stop


def around(
    document: DocumentText,
    start: int,
    end: int,
    n_tokens: int,
    tokens: TokenCounter,
    within: tuple[int, int] | None = None,
) -> tuple[str, str]:
    """Return the text before and after a span, up to ``n_tokens`` each: exact, contiguous with the span.

    White space at its far ends is left out.

    Args:
        document: the document of the span.
        start, end: the span.
        n_tokens: most tokens of each side.
        tokens: counts tokens.
        within: bounds of the text to take from; the document by default.
    """
    if n_tokens <= 0:
        return "", ""
    text = document.text
    low, high = within or (0, len(text))
    reach = n_tokens * _CHARS_PER_TOKEN
    while True:
        first, last = ceil(text, max(low, start - reach)), cut_end(text, end, min(high, end + reach))
        before, after = tokens.offsets(text[first:start]), tokens.offsets(text[end:last])
        if (len(before) > n_tokens or start - reach <= low) and (len(after) > n_tokens or end + reach >= high):
            break
        reach *= 2
    if len(before) > n_tokens:
        outside, inside = before[-n_tokens - 1][0], before[-n_tokens][0]
        first = cut_start(text, first + inside, start)
        # The rest of a word can be more tokens than in the word, and one character can be two tokens.
        exact = outside < inside and text[first - 1].isspace()
        while not exact and tokens.count(text[first:start]) > n_tokens:
            first = cut_start(text, first + 1, start)
    if len(after) > n_tokens:
        at = end + after[n_tokens][0]
        exact = text[at - 1].isspace()
        last = at if exact else cut_end(text, end, end + tokens.clip(text[end:last], n_tokens))
    left = text[first:start].lstrip()
    return text[ceil(text, start - len(left)) : start], text[end : max(last, end)].rstrip()


def quote(
    index: SearchIndex, unit_row: int, cut: Cut, context_tokens: int, confidence: float, tokens: TokenCounter
) -> Quote:
    """Return the quote of a span of a unit's document, with its citation."""
    unit = index.unit(unit_row)
    document = index.text_of(unit.doc_row)
    passage = (unit.start_char, unit.end_char)
    before, after = around(document, cut.start_char, cut.end_char, context_tokens, tokens, passage)
    return Quote(
        quote=document.text[cut.start_char : cut.end_char],
        doc_uri=document.uri,
        section_id=unit.id,
        title=document.title,
        heading=unit.heading,
        start_char=cut.start_char,
        end_char=cut.end_char,
        line=document.line(cut.start_char),
        page=document.page(cut.start_char),
        anchor=unit.anchor,
        context_before=before,
        context_after=after,
        confidence=confidence,
        truncated=cut.truncated,
        continues=cut.continues,
    )


def preview_span(spans: Sequence[tuple[int, int]], values: Sequence[float], max_chars: int) -> tuple[int, int]:
    """Return the span of one to three consecutive sentences around the best one.

    Args:
        spans: spans of the sentences of a unit, in order.
        values: how well each fits.
        max_chars: longest preview.

    Returns:
        Start and end. Only a single sentence is ever longer than ``max_chars``.
    """
    best = min(range(len(spans)), key=lambda at: (-values[at], at))
    first = last = best
    while last - first < 2:
        options = [
            (values[at], -at, low, high)
            for at, low, high in ((first - 1, first - 1, last), (last + 1, first, last + 1))
            if 0 <= at < len(spans) and spans[high][1] - spans[low][0] <= max_chars
        ]
        if not options:
            break
        _, _, first, last = max(options)
    return spans[first][0], spans[last][1]
