"""HTML inside Markdown: what of it a reader sees."""

from __future__ import annotations

import re

MAX_CHECKED_CHARS = 100_000
"""A longer block counts as visible without a look: it keeps the work on hostile input bounded."""

_INVISIBLE = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(script|style|svg)\b.*?(?:</\1\s*>|\Z)"
    r"|</?[A-Za-z](?:\"[^\"]*\"|'[^']*'|[^<>\"'])*>"  # a tag
    r"|</?(?:[A-Za-z][^<>]*)?>"  # a tag with a lone quote in it, or the empty tag of JSX
    r"|!\[[^\[\]]*\](?:\([^()]*\)|\[[^\[\]]*\])"  # an image
    r"|\]\([^()]*\)",  # the target of a link
    re.DOTALL | re.IGNORECASE,
)
_EXPRESSION = re.compile(r"\{[^{}]*\}")
_OPENING = re.compile(r"<([A-Za-z][\w.-]*+)(?:\"[^\"]*\"|'[^']*'|[^<>\"'])*+>")
_WORD = re.compile(r"\w")
_SUSPECT = re.compile(r"[<!{]")


def visible(text: str, *, mdx: bool) -> str:
    """The text with tags, comments, images and link targets blanked out, its line ends and length kept."""
    if len(text) > MAX_CHECKED_CHARS or not _SUSPECT.search(text):
        return text
    shown = _INVISIBLE.sub(_blank, text)
    return _EXPRESSION.sub(_blank, shown) if mdx else shown


def visible_span(text: str, *, mdx: bool) -> tuple[int, int]:
    """The span from the first to the last line with a visible word, in characters; empty if there is none."""
    shown = visible(text, mdx=mdx)
    first = _WORD.search(shown)
    if first is None:
        return 0, 0
    start = text.rfind("\n", 0, first.start()) + 1
    last = len(shown)
    while not _WORD.search(shown, shown.rfind("\n", 0, last) + 1, last):
        last = shown.rfind("\n", 0, last)
    return start, last


def unwrapped_span(text: str) -> tuple[int, int]:
    """The span of a paragraph without the one element that wraps the whole of it, if one does."""
    opening = _OPENING.match(text)
    if not opening or not text.endswith(">"):
        return 0, len(text)
    close = text.find(f"</{opening.group(1)}", opening.end())
    if close < 0 or text.find(">", close) != len(text) - 1:
        return 0, len(text)
    return opening.end(), close


def bare_span(text: str) -> tuple[int, int]:
    """The span of a raw HTML block without the tags around its first and behind its last visible character."""
    shown = visible(text, mdx=False)
    return len(shown) - len(shown.lstrip()), len(shown.rstrip())


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match.group())
