"""Cutting a text to a number of tokens, from its start or its end, at a word's boundary if it has one."""

from __future__ import annotations

from dataclasses import dataclass

from graphctx.model.budgets import CapReason, CountTokens

_CHARS_PER_TOKEN = 12  # how much of a long text is counted at first; English has about five


@dataclass(frozen=True, slots=True)
class Clip:
    """How many characters stay, and what cut off the others, if any were."""

    length: int
    cut: CapReason | None


def clip_end(text: str, max_tokens: int, max_bytes: int, count: CountTokens) -> Clip:
    """Keep the start of a text within both limits.

    At least one character stays whatever the limits, so that reading on always gets on.
    """
    whole = len(text.encode("utf-8", "surrogatepass")[:max_bytes].decode("utf-8", "ignore"))
    whole = min(len(text), max(1, whole))
    cut: CapReason | None = "byte_cap" if whole < len(text) else None
    fits = whole
    window = max(64, max_tokens * _CHARS_PER_TOKEN)
    while window < whole and count(text[:window]) <= max_tokens:
        window *= 4
    window = min(window, whole)
    if count(text[:window]) > max_tokens:
        cut = "token_cap"
        fits, too_long = 1, window
        while too_long - fits > 1:
            middle = (fits + too_long) // 2
            if count(text[:middle]) <= max_tokens:
                fits = middle
            else:
                too_long = middle
    if cut is None or text[fits].isspace():
        return Clip(fits, cut)
    boundary = max(text.rfind(space, 0, fits) for space in " \n\t") + 1
    return Clip(boundary if boundary > fits // 2 else fits, cut)


def clip_start(text: str, max_tokens: int, max_bytes: int, count: CountTokens) -> Clip:
    """Keep the end of a text within both limits; nothing if ``max_tokens`` is 0."""
    if max_tokens <= 0 or not text:
        return Clip(0, "token_cap" if text else None)
    clip = clip_end(text[::-1], max_tokens, max_bytes, lambda part: count(part[::-1]))
    kept = text[len(text) - clip.length :]
    return Clip(len(kept.lstrip()) if clip.cut else clip.length, clip.cut)
