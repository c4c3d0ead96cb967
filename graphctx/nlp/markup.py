"""Markup is masked, not removed: the parser sees prose, and every offset stays what it was."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_CODE_SPAN_CHARS = 60
"""A longer back-ticked span is a snippet, not a name."""

_HTML_TAGS = (
    "a|abbr|b|blockquote|br|caption|center|code|dd|del|details|dfn|div|dl|dt|em|figure|font|h[1-6]|hr|i|img|ins|kbd|"
    "li|mark|ol|p|pre|s|samp|section|small|span|strong|sub|summary|sup|table|tbody|td|th|thead|tr|tt|u|ul|var|video"
)
_CODE_SPAN = re.compile(r"(?<!`)(`{1,2})(?!`)([^`\n]+(?:\n(?!\s*\n)[^`\n]+)*)\1(?!`)")

_LINKED = re.compile(r"([^<>]*[^<>\s])\s*<[^<>\s]+>")
"""What stands between the back ticks of a reStructuredText link: its label and its target."""

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
    What stands between back ticks is left as it is, whatever it looks like.

    Args:
        text: prose as it stands in a document.

    Returns:
        A string of the same length, and the code spans.
    """
    if not any(mark in text for mark in "`*_<[{|~#>\\:/=-"):
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
        label = _LINKED.fullmatch(text, start, end) if text.startswith("_", match.end()) else None
        if label:
            end = label.end(1)  # prose, not code
        else:
            code.append((start, end))
        for at in range(match.start(), match.end()):
            if not start <= at < end:
                hidden[at], chars[at] = "\x00", " " if text[at] != "\n" else "\n"
            elif not label:
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
