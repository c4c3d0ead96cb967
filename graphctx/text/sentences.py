"""Sentences by rule: exact, fast, the same on every machine.

A sentence here is the smallest thing worth quoting: a sentence of prose, a list item's sentence, a table row, a
code block. Spans are half open, in code points, trimmed of white space, in order, and never overlap.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from graphctx.model.documents import BlockKind

Span = tuple[int, int]

MAX_SENTENCE_CHARS = 1000
"""A longer run without a boundary is cut at white space: no reader wants such a quote, and it keeps the work on
a file without punctuation bounded."""

WRAPPED_LINE_CHARS = 120
"""Hard-wrapped prose rarely has longer lines, links apart; where there is one, a line break ends a sentence unless the
next line goes on in lower case, or the block reads as wrapped at a greater width."""

MAX_WRAP_CHARS = 200
"""Nobody wraps at a greater width."""

_WRAP_SLACK = 0.75
"""A wrapped line and the word that did not fit into it fill at least this share of the width: links leave gaps."""

MAX_LINK_CHARS = 500
"""A link that is longer than about this much counts as text."""

_LINK = re.compile(r"!?\[[^\[\]]{0,200}\](?:\([^()\n]{0,300}\)|\[[^\[\]]{0,200}\])|https?://[^\s()<>\[\]]{1,300}")

_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st sr jr vs etc eg ie cf al fig figs eq sec ch vol no nos pp ed eds rev inc ltd co corp bros "
    "dept est approx ca gen col lt sgt capt cmdr adm gov sen rep hon pres mt ft ave blvd rd jan feb mar apr jun jul "
    "aug sep sept oct nov dec mon tue wed thu fri sat sun e.g i.e a.m p.m u.s u.k u.n d.c ph.d b.c a.d viz resp".split()
)
_SENTENCE_INITIAL_ABBREVIATIONS = frozenset("etc a.m p.m u.s u.k u.n d.c ph.d b.c a.d inc ltd co corp jr sr al".split())
"""These may also end a sentence: before a capital they do."""

_TERMINATOR = re.compile(
    r"(?P<tag><[A-Za-z](?=[^<>]*=[\"'])[^<>]*+>)"  # an attribute may hold a full stop
    r"|(?<![.!?…।؟])[.!?…।؟]++[\"'”’»)\]*_`]*+(?=\s)"  # possessive, from a run's start: a file of dots stays linear
    r"|[。！？｡]+[」』）”’\"]*"  # scripts without spaces
)
_LINE_BREAK = re.compile(r"\n+")
_BLANK_LINE = re.compile(r"\n[ \t]*\n\s*")
_BULLET = re.compile(r"(?m)^[ \t>]*(?:[-*+•‣◦]|\d{1,3}[.)]|[a-z][.)]|[A-Z]\))[ \t]+(?=\S)")
_LONG_LINE_BREAK = re.compile(r"\n+(?![ \t]*[(a-zß-öø-ÿ])")
_SPEAKER = re.compile(r"[A-Z][\w.'’ -]{0,40}: ")
_SPEAKER_BREAK = re.compile(rf"\n(?={_SPEAKER.pattern})")
_LINK_TARGET = re.compile(r"(?<=\])(?:\([^)\]\n]*+\)|\[[^\]\n]*+\])|https?://\S++|</?[A-Za-z][^<>\n]*+>")
_ENDED_LINE = re.compile(r"[.!?…:;।؟。！？][\"'”’»)\]*_`]*\s*$")
_GRID_BORDER = re.compile(r"(?m)^[ \t]*+\+(?:[-=]++\+)++[ \t]*+$")
"""Between the rows of a grid table of reStructuredText, which may have several lines each."""
_TABLE_RULE = re.compile(r"[\s|:+=-]*")
_NO_BREAK = re.compile(r"(?!)")
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘]+$")


def split_sentences(text: str, kind: BlockKind = "prose") -> list[Span]:
    """Split the text of one block into sentences.

    Args:
        text: the block's text.
        kind: ``prose`` and ``list`` are split into sentences, ``table`` into rows, those of a grid whole; ``code``
            stays whole up to ``MAX_SENTENCE_CHARS`` and is then cut at blank lines and lines.
    """
    if kind == "code":
        pieces: Iterator[Span] = iter([(0, len(text))])
    elif kind == "table":
        rows = _cut(text, _GRID_BORDER if _GRID_BORDER.match(text) else _LINE_BREAK, 0, len(text))
        pieces = (row for row in rows if not _is_rule(text, row))
    else:
        pieces = _prose(text)
    spans: list[Span] = []
    for start, end in pieces:
        start, end = trim(text, start, end)
        if start < end:
            spans.extend(_bounded(text, start, end))
    return spans


def links(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the spans of Markdown links and bare addresses in a part of a text.

    >>> [*links("See [the guide](guide.md) or https://example.org", 0, 48)]
    [(4, 25), (29, 48)]
    """
    return (link.span() for link in _LINK.finditer(text, start, end))


def marker_start(text: str, start: int) -> int:
    """Return where the bullet or number before a span begins, or the start of the span where its line has none.

    >>> marker_start("Steps:\\n 2. Open the gate.", 11)
    8
    """
    line = text.rfind("\n", 0, start) + 1
    match = _BULLET.match(text, line, start + 1)
    if match is None or match.end() != start or not _opens_item(text, match):
        return start
    return line + len(match.group()) - len(match.group().lstrip(" \t>"))


def _is_rule(text: str, row: Span) -> bool:
    return _TABLE_RULE.fullmatch(text, *row) is not None


def _prose(text: str) -> Iterator[Span]:
    for start, end in _cut(text, _BLANK_LINE, 0, len(text)):
        for item_start, item_end in _items(text, start, end):
            for line_start, line_end in _cut(text, _inner_break(text, item_start, item_end), item_start, item_end):
                yield from _by_terminator(text, line_start, line_end)


def _inner_break(text: str, start: int, end: int) -> re.Pattern[str]:
    """Return the line breaks that end a sentence without a full stop."""
    if not _is_wrapped(_LINK_TARGET.sub("", text[start:end]).split("\n")):
        return _LONG_LINE_BREAK
    speaks = _SPEAKER.match(text, start, end) or len(_SPEAKER_BREAK.findall(text, start, end)) > 1
    return _SPEAKER_BREAK if speaks else _NO_BREAK


def _is_wrapped(lines: list[str]) -> bool:
    """Whether the lines of a block are one text that was broken to a width."""
    width = max(map(len, lines))
    if width <= WRAPPED_LINE_CHARS:
        return True
    filled = all(
        len(line) + 1 + len(after.split(maxsplit=1)[0]) >= _WRAP_SLACK * width
        for line, after in pairwise(lines)
        if after.strip()
    )
    return width <= MAX_WRAP_CHARS and filled and any(line[:1].islower() for line in lines[1:])


def _items(text: str, start: int, end: int) -> Iterator[Span]:
    """Split at bullets; the marker belongs to no item."""
    at = start
    for match in _BULLET.finditer(text, start, end):
        if _opens_item(text, match):
            if at < match.start():
                yield at, match.start()
            at = match.end()
    if at < end:
        yield at, end


def _opens_item(text: str, match: re.Match[str]) -> bool:
    """Whether a marker opens an item: the number that ends a sentence may stand first in a wrapped line."""
    marker = match.group().strip(" \t>")
    if not marker[0].isalnum() or marker[:-1] in "01aA":
        return True
    line = text.rfind("\n", 0, max(match.start() - 1, 0)) + 1
    before = text[line : max(match.start() - 1, 0)]
    indent = len(match.group()) - len(match.group().lstrip(" \t>"))
    return (
        not before.strip()
        or (line > 0 and len(before) - len(before.lstrip(" \t>")) != indent)
        or _ENDED_LINE.search(before) is not None
        or _BULLET.match(before) is not None
    )


def _by_terminator(text: str, start: int, end: int) -> Iterator[Span]:
    at = start
    for match in _TERMINATOR.finditer(text, start, end):
        if match["tag"] is None and _ends_sentence(text, at, match, end):
            yield at, match.end()
            at = match.end()
    if at < end:
        yield at, end


def _ends_sentence(text: str, start: int, match: re.Match[str], end: int) -> bool:
    following = match.end()
    while following < end and text[following].isspace():
        following += 1
    if following >= end:
        return True
    after = text[following]
    if after.islower():
        return False
    if match.group()[0] != "." or match.group().startswith(".."):
        return True
    found = _LAST_WORD.search(text, max(start, match.start() - 40), match.start())
    if found is None:
        return True
    word = found.group()
    if len(word) == 1 and word.isupper():  # an initial: "J. Smith"
        return False
    folded = word.casefold()
    if folded in _ABBREVIATIONS:
        return folded in _SENTENCE_INITIAL_ABBREVIATIONS and after.isupper()
    return True


def _cut(text: str, separator: re.Pattern[str], start: int, end: int) -> Iterator[Span]:
    at = start
    for match in separator.finditer(text, start, end):
        if at < match.start():
            yield at, match.start()
        at = match.end()
    if at < end:
        yield at, end


def trim(text: str, start: int, end: int) -> Span:
    """Shrink a span until it neither starts nor ends with white space; a blank span becomes empty."""
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    return (start, start) if left == len(piece) else (start + left, start + len(piece.rstrip()))


def _bounded(text: str, start: int, end: int) -> Iterator[Span]:
    """Cut what is too long at the last line end, then white space, then anywhere before the bound."""
    while end - start > MAX_SENTENCE_CHARS:
        limit = start + MAX_SENTENCE_CHARS
        cut = text.rfind("\n", start + MAX_SENTENCE_CHARS // 2, limit)
        if cut == -1:
            cut = next((i for i in range(limit, start + MAX_SENTENCE_CHARS // 2, -1) if text[i - 1].isspace()), limit)
        first, last = trim(text, start, cut)
        if first < last:
            yield first, last
        start, end = trim(text, cut, end)
    if start < end:
        yield start, end
