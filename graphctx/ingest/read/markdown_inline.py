"""Inside a block of Markdown: the hyperlinks with the spans of their labels, and what of its HTML a reader sees."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from graphctx.model.documents import Link

MAX_LABEL_CHARS = 1000
"""A longer run between brackets is not a label."""

_TICKS = re.compile(r"`+")
_BRACKET = re.compile(r"\\.|[\[\]]", re.DOTALL)
_INLINE = re.compile(
    r"\(\s*+(?:<([^<>\n]{0,2000})>|([^\s()]{0,2000}(?:\([^\s()]{0,500}\)[^\s()]{0,500}){0,5}))"
    r"(?:\s++(?:\"[^\"]{0,1000}\"|'[^']{0,1000}'))?\s*+\)"
)
_REFERENCE = re.compile(r"\[([^\[\]]{0,1000})\]")
_AUTOLINK = re.compile(r"<(https?://[^\s<>]{1,2000})>")
_HTML_LINK = re.compile(r"<a\s[^<>]{0,500}?href=[\"']([^\"'<>]{1,2000})[\"'][^<>]{0,500}>", re.IGNORECASE)
_WIKI = re.compile(r"\[\[([^\[\]|\n]{1,300})(?:\|([^\[\]\n]{1,300}))?\]\]")

Resolve = Callable[[str], str | None]
"""Gives the target of a reference label, or ``None`` if the document defines no such label."""


def find_links(text: str, start: int, end: int, resolve: Resolve) -> Iterator[Link]:
    """Find the links of ``text[start:end]``, sorted by place; images and code spans are passed over."""
    if "[" not in text[start:end] and "<" not in text[start:end]:
        return
    source = _without_code(text[start:end])
    found = [*_bracketed(source, resolve), *_tagged(source)]
    for target, a, b in sorted(found, key=lambda f: (f[1], f[2], f[0])):
        label = source[a:b]
        a, b = a + len(label) - len(label.lstrip()), a + len(label.rstrip())
        if target and a < b and not label.lstrip().startswith("!["):
            yield Link(target, start + a, start + b)


def _bracketed(source: str, resolve: Resolve) -> Iterator[tuple[str, int, int]]:
    openers: list[int] = []
    consumed = 0
    for bracket in _BRACKET.finditer(source):
        at = bracket.start()
        if at < consumed or len(bracket.group()) > 1:
            continue
        if bracket.group() == "[":
            openers.append(at)
            wiki = _WIKI.match(source, at)
            if wiki:
                openers.pop()
                consumed = wiki.end()
                group = 2 if wiki.group(2) else 1
                yield wiki.group(1).strip(), wiki.start(group), wiki.end(group)
            continue
        if not openers:
            continue
        opener = openers.pop()
        image = opener > 0 and source[opener - 1] == "!"
        if at - opener > MAX_LABEL_CHARS:
            continue
        label = source[opener + 1 : at]
        inline, reference = _INLINE.match(source, at + 1), _REFERENCE.match(source, at + 1)
        target: str | None = None
        if inline:
            target, consumed = inline.group(1) or inline.group(2), inline.end()
        elif reference and (target := resolve(reference.group(1) or label)) is not None:
            consumed = reference.end()
        else:
            target = resolve(label)
        if target and not image:
            yield target, opener + 1, at


def _tagged(source: str) -> Iterator[tuple[str, int, int]]:
    if "<" not in source:
        return
    for match in _AUTOLINK.finditer(source):
        yield match.group(1), match.start(1), match.end(1)
    for match in _HTML_LINK.finditer(source):
        close = source.find("</a", match.end(), match.end() + MAX_LABEL_CHARS)
        if close > 0 and "<" not in source[match.end() : close]:
            yield match.group(1), match.end(), close


def _without_code(source: str) -> str:
    """Blank out code spans, but keep those inside a label readable as one."""
    if "`" not in source:
        return source
    runs = [(m.start(), m.end()) for m in _TICKS.finditer(source)]
    closers: dict[int, list[int]] = {}
    for number in range(len(runs) - 1, -1, -1):
        closers.setdefault(runs[number][1] - runs[number][0], []).append(number)
    pieces: list[str] = []
    at = number = 0
    while number < len(runs):
        start, end = runs[number]
        same = closers[end - start]
        while same and same[-1] <= number:
            same.pop()
        if same:
            close = same[-1]
            pieces += [source[at:end], "x" * (runs[close][0] - end)]
            at, number = runs[close][0], close + 1
        else:
            number += 1
    return "".join([*pieces, source[at:]])


MAX_CHECKED_CHARS = 100_000
"""A longer block counts as visible without a look: it keeps the work on hostile input bounded."""

_INVISIBLE = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(script|style|svg)\b.*?(?:</\1\s*>|\Z)"
    r"|</?[A-Za-z](?:\"[^\"]*\"|'[^']*'|[^<>\"'])*>"  # a tag
    r"|</?(?:[A-Za-z][^<>]*)?>"  # a tag with a lone quote in it, or the empty tag of JSX
    r"|!\[[^\[\]]*\](?:\([^()]*\)|\[[^\[\]]*\])(?:\{[^{}\n]*\})?"  # an image, with attributes
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
    shown = visible(_without_code(text), mdx=mdx)
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
