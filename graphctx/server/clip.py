"""Cut a text to a number of tokens and bytes, at its end or its start, between graphemes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from graphctx.model.budgets import CapReason, CountTokens
from graphctx.model.interrupt import checkpoint
from graphctx.nlp.tokens import encodable
from graphctx.text.graphemes import cut_end, cut_start

_CHARS_PER_TOKEN = 12  # how much of a long text is counted at first; English has about five


@dataclass(frozen=True, slots=True)
class Clip:
    """How many characters are kept, and the limit that cut off the others, if any were."""

    length: int
    cut: CapReason | None


def clip_end(text: str, max_tokens: int, max_bytes: int, count: CountTokens) -> Clip:
    """Keep the start of a text within both limits; nothing of it if its first grapheme exceeds them."""
    reach = len(encodable(text).encode()[:max_bytes].decode("utf-8", "ignore"))
    fits = _most(reach, max_tokens, lambda n: count(text[:n]) <= max_tokens)
    cut: CapReason | None = None if fits == len(text) else "byte_cap" if fits == reach else "token_cap"
    length = cut_end(text, 0, fits)
    while length and count(text[:length]) > max_tokens:  # a word that is cut can be more tokens
        length = cut_end(text, 0, length - 1)
    return Clip(length, cut)


def clip_start(text: str, max_tokens: int, max_bytes: int, count: CountTokens) -> Clip:
    """Keep the end of a text within both limits, without leading white space if it is cut."""
    size = len(text)
    encoded = encodable(text).encode()
    reach = len(encoded[max(0, len(encoded) - max_bytes) :].decode("utf-8", "ignore"))
    fits = _most(reach, max_tokens, lambda n: count(text[size - n :]) <= max_tokens)
    if fits == size:
        return Clip(size, None)
    start = cut_start(text, size - fits, size)
    while start < size and (text[start].isspace() or count(text[start:]) > max_tokens):
        start = cut_start(text, start + 1, size)
    return Clip(size - start, "byte_cap" if fits == reach else "token_cap")


def _most(limit: int, max_tokens: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number of characters up to ``limit`` that fits, looking at little more than that."""
    low, high = 0, max(64, max_tokens * _CHARS_PER_TOKEN)
    while high < limit and fits(high):
        checkpoint()
        low, high = high, high * 4
    if high >= limit:
        if fits(limit):
            return limit
        high = limit
    while high - low > 1:
        checkpoint()
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
