"""Defined terms: the terms and identifiers that open a line of a text and are explained there.

Glossaries, option lists, API references and tables give a term, then its explanation. The term is recognised by its
markup (bold, code, a table's first cell, a definition list), never by a bare colon: "Anna: see you at nine" defines
nobody. Marks count where they are marks: nothing in code is bold or a cell, and bold is read in languages that have it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from functools import cached_property

from graphctx.model.documents import Document, TextUnit

BOLD_TERM = 0.7
"""``**Term**: …``: as clear as code in a heading."""

LISTED_TERM = 0.7
"""An entry of a definition list."""

CODE_TERM = 0.6
"""A code span that opens a list item, a table row or a paragraph: often an example of something else."""

CELL_TERM = 0.5
"""The plain first cell of a table row: many tables list facts, not terms."""

LABELS = frozenset(
    "answer answers attention caution danger default error example examples hint important info note notes "
    "question result returns see summary tip todo usage warning".split()
)
"""Labels that open a line in bold and are not terms: the admonitions of docutils, and similar words."""

MAX_TERM_WORDS = 6
_MIN_DEFINITION_WORDS = 3

_BULLET = r"[ \t>]*(?:(?:[-*+•‣◦]|\d{1,3}[.)])[ \t]+)?"
_DASH = r"(?:\s+[-–—]+\s|:)"
_BOLD = re.compile(
    rf"(?m)^{_BULLET}(?P<mark>\*\*|__)(?P<name>[^*_\n][^*\n]{{0,80}}?)(?P<inner>[:.]?)(?P=mark)(?P<outer>{_DASH}|\.\s)?"
)
_CODE = re.compile(
    r"(?m)^[ \t>]*(?P<bullet>(?:[-*+•‣◦]|\d{1,3}[.)])[ \t]+)?(?:\*\*)?`+(?P<name>[^`\n]{1,80})`+(?:\*\*)?"
)
_AFTER_CODE = re.compile(r"(?:,? (?:or|and) `[^`\n]+`|, `[^`\n]+`)*\s*(?:[:=(]|[-–—]+\s|\.\s|\n[ \t]+\S|(?=[a-z]+s\b))")
_MARKDOWN_TERM = re.compile(r"(?m)^(?P<name>\S[^\n]{0,80})\n\n?:[ \t]+(?=\S)")
_RST_TERM = re.compile(r"(?m)^(?P<name>\S[^\n]{0,80})\n(?: {2,8}|\t)(?=\S)")
_WITH_BOLD = frozenset(("text/markdown", "text/mdx", "text/x-rst"))
_DEFINITION_LISTS = {"text/x-rst": _RST_TERM, "text/markdown": _MARKDOWN_TERM, "text/mdx": _MARKDOWN_TERM}
_DIRECTIVE = re.compile(
    r"(?m)^[ \t]*\.\. (?:[a-z]+:)?(?:function|method|class|data|attribute|option|envvar|confval|setting|exception"
    r"|module|macro|type|decorator|property|describe|object)::[ \t]+(?P<name>\S[^\n]{0,120})$"
)
_IDENTIFIER = re.compile(r"(?P<name>-{1,2}[A-Za-z][\w-]*|[A-Za-z_$@][\w.:$-]*\w|[A-Za-z])\s*(?:[(\[{=<:].*)?")
_FLAG = re.compile(r"(?:-\w,\s*)?(?P<name>--?[A-Za-z][\w-]*)(?:[ =\[].*)?")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_RULE = re.compile(r"[\s|:+=-]*")
_HIDDEN = "\0"
_CODE_CHARACTER = re.compile(r"[^\n]")


class DefinedTerms:
    """The definitions in one document.

    Attributes:
        document: as it was read, with its blocks.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self._bold = document.media_type in _WITH_BOLD
        self._tables = [block for block in document.blocks if block.kind == "table"]

    def of(self, unit: TextUnit) -> Iterator[tuple[str, float, bool]]:
        """Yield the names that a unit explains, with their values in 0..1 and whether they are written as code.

        A name may come more than once.
        """
        document = self.document
        start = document.text.rfind("\n", 0, unit.start_char) + 1  # a unit begins after its bullet or directive
        written, text = document.text[start : unit.end_char], self._outside_code[start : unit.end_char]
        if self._bold and ("**" in text or "__" in text):
            names = (name for name in _bold(text) if name not in self._labels)
            yield from ((name.strip("`"), BOLD_TERM, name.startswith("`")) for name in names)
        if "`" in text:
            yield from ((name, value, True) for name, value in _code(text))
        if document.media_type == "text/x-rst":  # the arguments of directives are code, the directives are not
            for match in _DIRECTIVE.finditer(written):
                if text[match.start()] != _HIDDEN:
                    yield identifier_of(match["name"]), LISTED_TERM, True
        yield from _listed(document.media_type, text)
        first = bisect_left(self._tables, start, key=lambda block: block.end_char)
        for table in self._tables[first:]:
            if table.start_char >= unit.end_char:
                break
            yield from _cells(document.text[max(start, table.start_char) : min(unit.end_char, table.end_char)])

    @cached_property
    def _outside_code(self) -> str:
        """The document's text, as long as it is, with code hidden."""
        pieces, at = [], 0
        for block in self.document.blocks:
            if block.kind == "code":
                code = self.document.text[block.start_char : block.end_char]
                pieces += [self.document.text[at : block.start_char], _CODE_CHARACTER.sub(_HIDDEN, code)]
                at = block.end_char
        return "".join([*pieces, self.document.text[at:]])

    @cached_property
    def _labels(self) -> frozenset[str]:
        """What opens several lines in bold: a term is explained once, so it is a speaker or a label."""
        return frozenset(name for name, times in Counter(_bold(self._outside_code)).items() if times > 1)


def identifier_of(code: str) -> str:
    """The name in a piece of code: a flag without its value, a function without its arguments.

    ``--tail`` of ``--tail N``, ``open`` of ``open(path)``, ``helm install`` as it is; nothing of a longer expression.
    """
    code = code.strip().strip("`")
    flag = _FLAG.fullmatch(code)
    if flag:
        return flag["name"]
    whole = _IDENTIFIER.fullmatch(code)
    if whole:
        return whole["name"].rstrip(":")
    return code if len(code.split()) <= 3 and re.fullmatch(r"[\w][\w .:/-]*", code) else ""


def _bold(text: str) -> Iterator[str]:
    for match in _BOLD.finditer(text):
        name = match["name"]
        if (match["inner"] or match["outer"]) and name.strip("`").casefold() not in LABELS and _is_term(name):
            yield name


def _code(text: str) -> Iterator[tuple[str, float]]:
    for match in _CODE.finditer(text):
        between = match["name"] != match["name"].strip()  # text between two literals
        name = "" if between else identifier_of(match["name"])
        if name and _AFTER_CODE.match(text, match.end()):
            yield name, CODE_TERM


def _listed(media_type: str, text: str) -> Iterator[tuple[str, float, bool]]:
    """Entries of definition lists."""
    form = _DEFINITION_LISTS.get(media_type)
    for match in form.finditer(text) if form else ():
        name = match["name"].strip("`*_ ")
        if _is_term(name) and name[-1] not in ".:;,?!|" and name[0] not in ".-*+#|>":
            yield name, LISTED_TERM, match["name"].startswith("`")


def _cells(text: str) -> Iterator[tuple[str, float, bool]]:
    """The first cells of table rows; the row above a rule is the header."""
    lines = text.split("\n")
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) < 2 or _RULE.fullmatch(line) or (below and "-" in below and _RULE.fullmatch(below)):
            continue
        first = cells[0]
        code = re.fullmatch(r"\**`([^`]+)`\**", first)
        if code:
            name = identifier_of(code[1])
            if name:
                yield name, CODE_TERM, True
        elif _is_term(first) and sum(len(cell.split()) for cell in cells[1:]) >= _MIN_DEFINITION_WORDS:
            yield re.sub(r"[*`]|\[([^\]]{0,1000})\]\([^)]{0,1000}\)", r"\1", first), CELL_TERM, "`" in first


def _is_term(name: str) -> bool:
    return len(name.split()) <= MAX_TERM_WORDS and _LETTERS.search(name) is not None
