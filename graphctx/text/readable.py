"""Spans of documents as a person reads them: links as their text, paragraphs on one line, code and tables as they are.

The exact span is in the JSON.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from itertools import takewhile
from pathlib import PurePosixPath

from graphctx.text.directives import role_of

_RST = frozenset((".rst", ".rest"))
_MARKDOWN = frozenset((".md", ".markdown", ".mdx"))
_HARD_WRAPPED = frozenset((".txt", ".text", ".pdf"))
_EXTRACTED = frozenset((".html", ".htm", ".docx"))

_MAX_WRAPPED_CHARS = 200
"""Text that is wrapped by hand, and a line of a page, is not longer."""

_CODE_INDENT = 4

_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,9}[.)])\s+(?=\S)")
_HEADING = re.compile(r"#{1,6}\s+(?=\S)")
_ROW = re.compile(r"\s*\|")
_COLUMNS = re.compile(r"\S\s{3,}\S")
_RULE = re.compile(r"[\s|:+=~^\"*#-]*")
_INLINE = re.compile(
    r"(?P<code>(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))"
    r"|(?<!\w)!?\[(?P<link>(?:[^\[\]`]|`[^`]*`|!?\[[^\[\]]*\](?:\([^()]*\))?)+)\]"
    r"(?:\((?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\])"
    r"|<(?P<url>https?://[^\s<>]+)>"
    r"|(?P<tag></?(?:a|b|br|code|div|em|i|img|kbd|p|span|strong|sub|sup)(?:\s[^<>]*)?/?>|<!--.*?-->)"
    r"|\*\*(?=\S)(?P<bold>.+?)(?<=\S)\*\*"
    r"|(?<![\w*])\*(?=[^\s*])(?P<italic>[^*]+)(?<=\S)\*(?![\w*])"
    r"|(?<!\w)_(?=[^\s_])(?P<underlined>[^_]+)(?<=\S)_(?!\w)"
    r"|\{[a-z][\w:.+-]*\}(?=`)"  # a role of MyST
    r"|\[\]\(#?(?P<target>[^()\s]+)\)"  # and what it refers to without a label
    r"|\\(?P<escaped>[!-/:-@\[-`{-~])",
    re.DOTALL,
)
_DIRECTIVE = re.compile(r"\s*+\.\.\s++(?:_.*+|([A-Za-z][\w.+-]*+(?::[\w.+-]++)?)\s?::(.*+))")
_CODE_LINE = re.compile(
    r"\s*(?:[@#$]|>>>|\.\.\.|[)\]}]|[\w.]+\(|[\w.\[\]'\"]+\s*=\s|['\"]\w+['\"]\s*:\s|(?:from|import|return|raise|yield|await)\s"
    r"|(?:class|def|if|elif|else|for|while|with|try|except|finally)\b.*:\s*$)"
)
_TITLE_MARKUP = re.compile(
    r"``(.+?)``|(?::[\w.+-]+){1,2}:`([^`<]*?)\s*(?:<[^<>`]*>)?`|`([^`<]+?)\s*(?:<[^<>`]*>)?`_{0,2}"
    r"|\*\*(.+?)\*\*|\*(.+?)\*"
)

MAX_TITLE_CHARS = 1000
"""A longer title is a paragraph that was underlined; its markup stays."""


def readable(text: str, uri: str) -> list[str]:
    """Return the lines of a span for a person.

    Line breaks within a paragraph and runs of spaces become one space, and the markup of links, emphasis and tables is
    left out. Code, and all of a file of code, stays as it is.

    Args:
        text: the span.
        uri: of its document; the suffix says how it is written.

    Example:
        >>> readable("See [the\\nguide](g.md).\\n\\n- a  b", "x.md")
        ['See the guide.', '', '- a b']
    """
    suffix = PurePosixPath(uri).suffix.lower()
    markdown, rst = suffix in _MARKDOWN, suffix in _RST
    lines = text.split("\n")
    if not (markdown or rst or "#" in uri or suffix in _HARD_WRAPPED or suffix in _EXTRACTED):
        return lines
    widest = max(map(len, lines))
    wrapped = suffix in _HARD_WRAPPED and widest <= _MAX_WRAPPED_CHARS
    found: list[tuple[bool, str]] = []  # whether it is code, and a line
    if (markdown or rst) and _is_code(lines, indented=rst):
        deeper = (
            " " * _CODE_INDENT if lines[0].rstrip().endswith((":", "(", "[", "{")) and lines[1][:1].isspace() else ""
        )
        below = textwrap.indent(textwrap.dedent("\n".join(lines[1:])), deeper)
        return textwrap.indent(f"{lines[0]}\n{below}", " " * _CODE_INDENT).split("\n")
    fenced = markdown and _starts_in_code(lines)
    open_ = listed = False  # open_: whether the last line goes on if the next one is prose
    code = False  # whether the paragraph of the last line is a block of code by its indent
    announced = -1  # of reStructuredText: the indent of the line that announces code; what is indented further is code
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        announced = announced if indent > announced or not line.strip() else -1
        if not line.strip() or not indent:
            code = False
        elif not code and not open_ and not listed and not fenced:
            of_rst = rst and _share_of_code(_paragraph(lines[number:])) > 0.5
            code = of_rst or (markdown and indent >= _CODE_INDENT)
        if markdown and _FENCE.match(line):
            fenced, open_ = not fenced, False
        elif fenced:
            found.append((True, " " * _CODE_INDENT + line))
        elif not line.strip():
            found += [(False, "")] if found and found[-1][1] else []
            open_ = False
        elif rst and (directive := _DIRECTIVE.fullmatch(line)) is not None:
            announced = indent if role_of(directive[1] or "") == "code" else -1
            if announced < 0 and (directive[2] or "").strip():
                found.append((False, directive[2].strip()))
            open_ = False
        elif code or (rst and 0 <= announced < indent):
            found.append((True, line))
        elif (markdown or rst) and len(line.strip()) > 1 and _RULE.fullmatch(line):
            open_ = False
        elif markdown and _ROW.match(line):
            found.append((False, " | ".join(cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|")))))
            open_ = False
        elif _ITEM.match(line) or (markdown and _HEADING.match(line)):
            listed = not line.startswith("#")
            found.append((False, _HEADING.sub("", line, count=1) if markdown else line))
            open_ = listed
        elif _COLUMNS.search(line.strip()):
            found.append((False, re.sub(r"(?<=\S)\s{3,}", "\t", line)))
            open_ = False
        elif open_ and (markdown or rst or (wrapped and _goes_on(lines[number - 1], line, widest))):
            found[-1] = (False, f"{found[-1][1]} {_unquoted(line, markdown)}")
        else:
            listed = listed and indent > 0
            found.append((False, _unquoted(line, markdown) if not listed else line))
            open_ = True
        if rst and announced < 0 and line.rstrip().endswith("::") and not _DIRECTIVE.fullmatch(line):
            announced = indent
    shown = [line if verbatim else _plain(line, markdown, rst) for verbatim, line in found]
    return shown if any(shown) else lines


def plain_title(title: str) -> str:
    """Return a title of reStructuredText without its inline markup."""
    if len(title) > MAX_TITLE_CHARS:
        return " ".join(title.split())
    shown = _TITLE_MARKUP.sub(lambda m: next((g for g in m.groups() if g is not None), ""), title)
    return " ".join(re.sub(r"\\(.)", r"\1", shown).split())


def hanging_indent(line: str) -> str:
    """Return the spaces below which the continuation of a line stands: behind the bullet of a list item."""
    item = _ITEM.match(line)
    return " " * (item.end() if item else len(line) - len(line.lstrip()))


def _is_code(lines: Sequence[str], *, indented: bool) -> bool:
    """Whether lines are from inside a block of code, without what sets it apart.

    Args:
        lines: of a span, whose first one has lost its indent.
        indented: whether code is set apart by its indent alone.
    """
    below = [line for line in lines[1:] if line.strip()]
    if lines[0][:1].isspace() or not below or (indented and not all(line[0].isspace() for line in below)):
        return False
    if _CODE_LINE.match(lines[0]) is None or any(map(_is_marked, lines)):
        return False
    return _share_of_code((lines[0], *below)) > 0.5


def _is_marked(line: str) -> bool:
    """Whether a line is an item, a heading, a row, a fence or a directive."""
    found = (_ITEM.match(line), _HEADING.match(line), _ROW.match(line), _FENCE.match(line), _DIRECTIVE.match(line))
    return any(one is not None for one in found)


def _paragraph(lines: Sequence[str]) -> list[str]:
    """Return the lines up to the first blank one."""
    return list(takewhile(str.strip, lines))


def _share_of_code(lines: Sequence[str]) -> float:
    return sum(_CODE_LINE.match(line) is not None for line in lines) / len(lines)


def _starts_in_code(lines: Sequence[str]) -> bool:
    """Whether the first fence closes a block: it has no language, no other one closes it, and no code follows it."""
    fences = [number for number, line in enumerate(lines) if _FENCE.match(line)]
    if len(fences) % 2 == 0 or lines[fences[0]].strip().strip("`~"):
        return False
    return not "".join(lines[fences[0] + 1 : fences[0] + 2]).strip()


def _goes_on(line: str, following: str, widest: int) -> bool:
    """Whether a line of hand-wrapped text goes on: in lower case, or with a word for which there was no space."""
    first = following.split()[0]
    return first[0].islower() or len(line) + 1 + len(first) > widest


def _unquoted(line: str, markdown: bool) -> str:
    return re.sub(r"^\s*(?:>\s?)+", "", line).strip() if markdown else line.strip()


def _plain(line: str, markdown: bool, rst: bool) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    body = line.strip()
    body = _INLINE.sub(_without_markup, body) if markdown else plain_title(body) if rst else body
    return indent + re.sub(r"\s+", lambda gap: "  " if "\t" in gap[0] else " ", body)


def _without_markup(found: re.Match[str]) -> str:
    inner = found["link"] or found["bold"] or found["italic"] or found["underlined"]
    if inner is not None:
        return _INLINE.sub(_without_markup, inner)
    if (found["tag"] or "").startswith("<sup"):
        return "^"
    return found["code"] or found["url"] or found["target"] or found["escaped"] or ""
