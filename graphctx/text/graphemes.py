"""Where a text may be cut: between graphemes, which a reader takes for one character, preferably between words.

Graphemes are the extended grapheme clusters of Unicode Standard Annex 29, as the package ``regex`` finds them: a letter
with its marks, an emoji sequence, a flag, a syllable of conjoining Hangul, CR with LF. Offsets count code points. Any
string will do, one with lone surrogates or null characters too.
"""

from __future__ import annotations

import unicodedata

import regex

MAX_GRAPHEME_CHARS = 64
"""A cluster that goes on further is cut between code points, or a million marks on one letter could never be cut. Text
in Stream-Safe Text Format (Unicode Standard Annex 15) has at most 30 marks in a row; emoji sequences stay below 20."""

_CLUSTER = regex.compile(r"\X")
_SPACES = " \n\t"


def is_boundary(text: str, at: int) -> bool:
    """Whether ``text[:at]`` and ``text[at:]`` share no grapheme."""
    if at <= 0 or at >= len(text):
        return True
    if text[at - 1].isascii() and text[at].isascii():
        return text[at - 1 : at + 1] != "\r\n"
    # The match begins within the cluster and looks at what is before it by itself.
    match = _CLUSTER.match(text, at - 1, at + 1)
    return match is None or match.end() == at


def floor(text: str, at: int) -> int:
    """The nearest boundary at or before ``at``; ``at`` itself where that is further than `MAX_GRAPHEME_CHARS`."""
    at = min(max(at, 0), len(text))
    for place in range(at, max(at - MAX_GRAPHEME_CHARS, -1), -1):
        if is_boundary(text, place):
            return place
    return at


def ceil(text: str, at: int) -> int:
    """The nearest boundary at or after ``at``; ``at`` itself where that is further than `MAX_GRAPHEME_CHARS`."""
    at = min(max(at, 0), len(text))
    for place in range(at, min(at + MAX_GRAPHEME_CHARS, len(text) + 1)):
        if is_boundary(text, place):
            return place
    return at


def cut_end(text: str, start: int, at: int) -> int:
    """Where to end a piece that starts at ``start`` and may go on up to ``at``.

    Returns:
        ``at`` where a word ends there; else the end of white space before it, if that leaves half of the piece or more;
        else the last boundary before it; ``start`` if the first grapheme does not fit.
    """
    if at >= len(text):
        return len(text)
    if _splits_word(text, at):
        gap = max(text.rfind(space, start, at) for space in _SPACES) + 1
        if gap > start + (at - start) // 2:
            at = gap
    return max(start, floor(text, at))


def cut_start(text: str, at: int, end: int) -> int:
    """Where to start a piece that ends at ``end`` and may begin at ``at``.

    Returns:
        ``at`` where a word starts there; else the end of the word that it would split, if that leaves half of the piece
        or more; else the next boundary; ``end`` if the last grapheme does not fit.
    """
    if at <= 0:
        return 0
    rest, half = at, end - (end - at) // 2
    while rest < half and _splits_word(text, rest):
        rest += 1
    return min(end, ceil(text, at if rest >= half else rest))


def first_end(text: str, start: int) -> int:
    """The end of the grapheme at ``start``: the least that a piece can hold."""
    return min(len(text), ceil(text, start + 1))


def _splits_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and _of_word(text[at - 1]) and _of_word(text[at])


def _of_word(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char).startswith("M")
