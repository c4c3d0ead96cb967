"""Finds the prose of a unit: the segments that are parsed, with their markup masked.

Markup is masked, not removed: the parser sees prose, and every offset stays what it was.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from graphctx.model.documents import BlockKind, Document, TextUnit

MAX_CODE_SPAN_CHARS = 60
"""A longer back-ticked span is a snippet, not a name."""

_HTML_TAGS = (
    "a|abbr|b|blockquote|br|caption|center|code|dd|del|details|dfn|div|dl|dt|em|figure|font|h[1-6]|hr|i|img|ins|kbd|"
    "li|mark|ol|p|pre|s|samp|section|small|span|strong|sub|summary|sup|table|tbody|td|th|thead|tr|tt|u|ul|var|video"
)
_CODE_SPAN = re.compile(r"(?<!`)(`{1,2})(?!`)([^`\n]+(?:\n(?!\s*\n)[^`\n]+)*)\1(?!`)")

_LINKED = re.compile(r"([^<>]*[^<>\s])\s*<[^<>]+>")
"""What is between the back ticks of a reStructuredText link or role: its label and its target."""

_ROLE = re.compile(r":([a-z][\w.:+-]{0,60}):$")
_PROSE_ROLES = frozenset("abbr any doc numref ref std:doc std:ref term".split())
"""Roles of reStructuredText whose label is prose."""

# Each pattern masks its whole match, or only its groups where it has any.
_MASKED = tuple(
    re.compile(pattern, flags)
    for pattern, flags in (
        (r"\\(?=[^\w\s])", 0),
        (r"<!--.*?-->", re.DOTALL),
        (rf"</?(?:{_HTML_TAGS})(?:\s[^<>]*)?/?>", re.IGNORECASE),
        (r"(?<!\w)</?[A-Za-z][\w-]*(?:\s+[\w:-]+=[^<>]*)?/?>", 0),
        (r"\{\{[^{}\n]*\}\}", 0),
        (r"(?m)^[ \t]*\[[^\]\n]+\]:[ \t]*\S.*$", 0),  # a link definition
        (r"(!?\[)[^\[\]]{0,300}(\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"\n]*\")?\))", 0),
        (r"(\[)[^\[\]]{1,300}(\]\[[^\[\]\n]*\])", 0),
        (r"\[\^[^\[\]\s]+\]:?", 0),  # a footnote mark
        (r"(?<![\w\]])(\[)(?=[^\[\]\n]*\w)[^\[\]]{1,300}(\])(?![\w(])", 0),
        (r"\{[#.:][^{}\n]*\}", 0),  # attributes of a heading or an element
        (r"&(?:[A-Za-z]{2,8}|#\d{1,6});", 0),  # a character by its name
        (r"(\{[a-z][\w:.+-]{0,60}\})(?=`|\x00)", 0),  # a role of MyST
        (r"(?<!\w)(:[a-z][\w.:-]{0,100}:)(?=`|\s*\x00)", 0),  # a reStructuredText role
        (r"<?\b[a-z][a-z0-9+.-]{0,30}://[^\s<>\"')\]]+>?", re.IGNORECASE),
        (r"(?m)^[ \t]*(#{1,6}|(?:>[ \t]?)+)(?=\s|\S)", 0),
        (r"(?m)^[ \t]*(?:[/:!]{3,}|={3,}|-{3,}|~{3,}|\*{3,}|`{3,}).*$", 0),
        (r"(?<!\w)\*{1,3}(?=\S)|(?<=\S)\*{1,3}(?!\w)|~~", 0),
        (r"(?<!\w)(_)(?=[^\s_])[^_]{1,200}(?<=\S)(_)(?!\w)", 0),
        (r"(?<!\w)(__)(?=\S)(?=[^_\n]*[^a-z_\n])[^_\n]+(__)(?!\w)", 0),  # but not a dunder name
        (r"(?<=\x00)_{1,2}(?!\w)", 0),  # the tail of a reStructuredText link
        (r"(?m)^(?=[ \t|:+-]+$)(?=.*---).+$", 0),
        (r"\|", 0),
    )
)


@dataclass(frozen=True, slots=True)
class Masked:
    """A text with its markup blanked out.

    Attributes:
        text: as long as the source; markup characters are spaces, everything else is unchanged.
        code: spans ``(start, end)`` of back-ticked code without its back ticks, in order.
    """

    text: str
    code: tuple[tuple[int, int], ...]


def mask_markup(text: str) -> Masked:
    """Blank out the inline markup of Markdown, HTML and reStructuredText.

    Labels of links and the words inside emphasis stay; targets, tags, comments, bare URLs and table bars go.
    Text between back ticks is left as it is.

    Returns:
        A string of the same length, and the code spans.
    """
    if not any(mark in text for mark in "`*_<[{|~#>\\:/=-&"):
        return Masked(text, ())
    chars = list(text)
    code = []
    hidden = list(text)  # what the patterns see: code spans are opaque
    for match in _CODE_SPAN.finditer(text):
        start, end = match.span(2)
        if "''" in match.group(2):  # quotes in the manner of TeX
            continue
        while start < end and text[start].isspace():
            start += 1
        while end > start and text[end - 1].isspace():
            end -= 1
        if start == end:
            continue
        role = _ROLE.search(text, max(0, match.start() - 64), match.start())
        label = _LINKED.fullmatch(text, start, end) if role or text.startswith("_", match.end()) else None
        if label:
            end = label.end(1)
        elif role and text[start] in "~!":  # Sphinx shows the last part of "~celery.group"
            start = max(start, text.rfind(".", start, end) if text[start] == "~" else start) + 1
        prose = label and (role is None or role[1] in _PROSE_ROLES)
        if not prose:
            code.append((start, end))
        for at in range(match.start(), match.end()):
            if not start <= at < end:
                hidden[at], chars[at] = "\x00", " " if text[at] != "\n" else "\n"
            elif not prose:
                hidden[at] = "\x00"
    seen = "".join(hidden)
    for pattern in _MASKED:
        changed = False
        for match in pattern.finditer(seen):
            groups = range(1, pattern.groups + 1) if pattern.groups else (0,)
            for group in groups:
                for at in range(*match.span(group)):
                    if hidden[at] != "\x00":
                        hidden[at] = chars[at] = " " if hidden[at] != "\n" else "\n"
                        changed = True
        if changed:
            seen = "".join(hidden)
    return Masked("".join(chars), tuple(code))


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of text that is parsed as one sentence: a sentence, or a cell of a table row.

    ``text`` is masked and as long as the source; ``start`` is its offset in the document; ``code`` are the spans of
    back-ticked code inside ``text``; ``breaks`` are the offsets in ``text`` where the layout starts something else,
    so that no name reaches across.
    """

    sentence: int
    text: str
    start: int
    code: tuple[tuple[int, int], ...]
    breaks: tuple[int, ...] = ()


_GAP = re.compile(r"(?<=[^\s.:!?])(?:[ ]{2,}|[ ]*\t\s*)(?=\S)")
"""Columns of plain text; after the end of a sentence two blanks are a habit of typists."""

_LINE_START = re.compile(r"\n([ ]*)(?=\S)")
_INDENT = re.compile(r"[ ]*(?:(?:[-*•+]|\d+[.)])[ ]+)?")
_DEEPER = 2
"""A line indented this much deeper describes the line above it: a term and its definition."""


def sentence_kinds(document: Document, unit: TextUnit) -> list[BlockKind]:
    """The kind of each sentence of a unit: a unit of mixed blocks holds sentences of prose and whole code blocks."""
    if unit.kind in ("code", "table") or not document.blocks:
        return [unit.kind] * len(unit.sentences)
    starts = [block.start_char for block in document.blocks]
    kinds: list[BlockKind] = []
    for sentence in unit.sentences:
        at = bisect_right(starts, sentence.start_char) - 1
        inside = at >= 0 and sentence.start_char < document.blocks[at].end_char
        kinds.append(document.blocks[at].kind if inside else unit.kind)
    return kinds


def segments_of(document: Document, unit: TextUnit) -> list[Segment]:
    """The segments of a unit in order; code has none."""
    kinds = sentence_kinds(document, unit)
    if all(kind == "code" for kind in kinds):
        return []
    text = document.text[unit.start_char : unit.end_char]
    for sentence, kind in zip(unit.sentences, kinds, strict=True):
        if kind == "code":  # its stars and underscores must not pair up with those of the prose
            start, end = sentence.start_char - unit.start_char, sentence.end_char - unit.start_char
            text = text[:start] + "\n" * (end - start) + text[end:]
    masked = mask_markup(text)
    breaks = layout_breaks(text, masked.text)
    segments = []
    for number, (sentence, kind) in enumerate(zip(unit.sentences, kinds, strict=True)):
        if kind == "code":
            continue
        start, end = sentence.start_char - unit.start_char, sentence.end_char - unit.start_char
        for first, last in _cells(text, start, end) if kind == "table" else ((start, end),):
            code = tuple((a - first, b - first) for a, b in masked.code if first <= a and b <= last)
            inside = breaks[bisect_left(breaks, first) : bisect_left(breaks, last)]
            segments.append(
                Segment(
                    number,
                    masked.text[first:last],
                    unit.start_char + first,
                    code,
                    tuple(at - first for at in inside),
                )
            )
    return segments


def layout_breaks(text: str, masked: str) -> list[int]:
    """Where the layout of plain text starts something else: in a column, or in the line below a term.

    A line that hangs below the column or the bullet of the line before it continues it.

    Args:
        text: as it is written; gaps that only masking leaves are no columns.
        masked: as long as ``text``, with markup blanked out.

    Returns:
        Offsets of the first character after each break, sorted.
    """
    gaps = [match.end() for match in _GAP.finditer(text)]
    found = set(gaps)
    for match in _LINE_START.finditer(text):
        start = text.rfind("\n", 0, match.start()) + 1
        if not masked[start : match.start()].strip():
            continue  # a blank line, or one of markup only, ends a sentence anyway
        columns = [gap - start for gap in gaps[bisect_left(gaps, start) : bisect_left(gaps, match.start())]]
        indent = _INDENT.match(text, start)
        hangs = len(match.group(1))
        if hangs not in columns and (columns or (indent and hangs >= indent.end() - start + _DEEPER)):
            found.add(match.end())
    return sorted(found)


def _cells(text: str, start: int, end: int) -> list[tuple[int, int]]:
    cells = []
    at = start
    while at < end:
        bar = text.find("|", at, end)
        stop = end if bar == -1 else bar
        if text[at:stop].strip():
            cells.append((at, stop))
        at = stop + 1
    return cells
