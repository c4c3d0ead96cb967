"""AsciiDoc: the text is the file's own; sections, blocks, tables and links by the marks of the language."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import ClassVar

from graphctx.ingest.read.base import Metadata, Outline, ReadFile, Slugger, decode, iso_date, make_document
from graphctx.ingest.read.lines import Lines, join_lists
from graphctx.model.documents import Block, BlockKind, Heading, Link

_HEADING = re.compile(r"(={1,6})[ \t]+(\S.*)")
_ATTRIBUTE = re.compile(r":!?([\w-]+)!?:(?:[ \t]+(.*))?")
_ANCHOR = re.compile(r"\[\[([^\],]+)(?:,[^\]]*)?\]\]|\[#([^\],.%]+)(?:[,.%][^\]]*)?\]")
_ATTRIBUTES = re.compile(r"\[[^\]]*\][ \t]*")
_DELIMITER = re.compile(r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|/{4,}|\+{4,}|-{2}|`{3}.*+|[|!,:]={3,})[ \t]*")
_ITEM = re.compile(r"\s*(?:\*{1,5}|-|\.{1,5}|\d+\.)[ \t]+\S|\S.*?(?:::{1,3}|;;)(?:[ \t]|$)")
_DIRECTIVE = re.compile(r"(?:include|image|ifdef|ifndef|ifeval|endif|toc)::[^\s\[]*\[.*\][ \t]*")
_MACRO = re.compile(  # lengths are bounded, so that what never ends takes no more time than other text
    r"(?:link:|xref:|(?=https?://))([^\s\[\]]{1,1000})\[([^\]\n]{1,500})\]"
    r"|<<([^<,>\n]{1,500}),[ \t]{0,20}([^<>\n]{1,500})>>"
)
_CODE = ("-", ".", "`", "+")
_DATE_KEYS = ("revdate", "last-update", "docdate", "date")


class AsciiDocReader:
    """AsciiDoc articles and pages of Antora."""

    media_types: ClassVar[Mapping[str, str]] = {".adoc": "text/asciidoc", ".asciidoc": "text/asciidoc"}
    version: ClassVar[int] = 1

    def read(self, data: bytes, uri: str) -> ReadFile:
        """Read one document; see :class:`graphctx.ingest.read.base.DocumentReader`."""
        text, notes = decode(data, uri)
        outline, metadata = parse_asciidoc(text)
        return ReadFile((make_document(uri, "text/asciidoc", text, outline, metadata),), notes=notes)


def parse_asciidoc(text: str) -> tuple[Outline, Metadata]:
    """Find the structure of a normalised AsciiDoc text, and what its header says."""
    lines, outline, slugger = Lines(text), Outline(), Slugger()
    attributes: dict[str, str] = {}
    anchor: str | None = None
    blocks: list[Block] = []
    first, number = 0, 0
    places: dict[str, list[int]] = {}  # of the lines that may close a block; of headings as ""
    for place, line in enumerate(lines.lines):
        if _DELIMITER.fullmatch(line) or _HEADING.match(line):
            places.setdefault("" if _HEADING.match(line) else line.rstrip(), []).append(place)
    while number < len(lines):
        line = lines.lines[number]
        heading, delimiter = _HEADING.fullmatch(line.rstrip()), _DELIMITER.fullmatch(line)
        named, attribute = _ANCHOR.fullmatch(line.strip()), _ATTRIBUTE.fullmatch(line)
        if not (heading or delimiter or named or attribute or _is_mark(line)) and line.strip():
            number += 1
            continue
        blocks += _paragraph(lines, first, number)
        if heading:
            start, end = lines.span(number, number + 1)
            title = _without_closing(heading.group(2))
            slug = slugger.unique(anchor) if anchor else slugger.slug(title)
            outline.headings.append(Heading(len(heading.group(1)), title, slug, start, end))
            anchor = None
            number += 1
            if len(heading.group(1)) == 1 and not blocks:  # authors and revision stand right below the title
                rest = takewhile(lambda line: line.strip() and not _ATTRIBUTE.fullmatch(line), lines.lines[number:])
                number += sum(1 for _ in rest)
        elif delimiter:
            last = _end_of(lines, number, places)
            blocks += _delimited(lines, number, last)
            number = last + 1
        else:
            if named:
                anchor = named.group(1) or named.group(2)
            elif attribute:
                attributes.setdefault(attribute.group(1), (attribute.group(2) or "").strip())
            number += 1
        first = number
    blocks += _paragraph(lines, first, len(lines))
    outline.blocks = join_lists(text, blocks)
    outline.links = [link for start, end in outline.text_spans() for link in _links(text, start, end)]
    dates = [date for key in _DATE_KEYS if (date := iso_date(attributes.get(key, "")))]
    tags = [tag.strip() for key in ("keywords", "page-tags", "tags") for tag in attributes.get(key, "").split(",")]
    return outline, Metadata("", tuple(filter(None, tags)), next(iter(dates), None))


def _is_mark(line: str) -> bool:
    """Whether a line is about the text and not part of it: attributes of a block, a comment, a directive, a join."""
    comment = line.startswith("//") and not line.startswith("////")
    return bool(comment or _ATTRIBUTES.fullmatch(line) or _DIRECTIVE.fullmatch(line) or line.strip() == "+")


def _without_closing(title: str) -> str:
    """Return a title without the marks that mirror those before it."""
    bare = title.rstrip("=")
    return bare.rstrip() if bare.endswith((" ", "\t")) else title


def _end_of(lines: Lines, first: int, places: Mapping[str, list[int]]) -> int:
    """Return the line that closes a delimited block; of one never closed, the line before the next heading."""
    mark = lines.lines[first].rstrip()
    closings, headings = places.get("```" if mark.startswith("```") else mark, []), places.get("", [])
    at, after = bisect_right(closings, first), bisect_right(headings, first)
    if at < len(closings):
        return closings[at]
    return headings[after] - 1 if after < len(headings) else len(lines) - 1


def _delimited(lines: Lines, first: int, last: int) -> Iterator[Block]:
    """Yield the blocks of a delimited block: code and tables whole, comments not, others by paragraphs."""
    mark = lines.lines[first]
    if mark.startswith("////"):
        return
    closed = lines.lines[last].rstrip() in (mark.rstrip(), "```")
    inside = (first + 1, last if closed else last + 1)
    if mark.rstrip() != "--" and mark[0] in _CODE:
        yield from lines.block("code", *inside)
    elif mark[1:].startswith("==="):
        yield from lines.block("table" if mark[0] != "=" else "prose", *inside)
    else:
        yield from _paragraph(lines, *inside)


def _paragraph(lines: Lines, first: int, last: int) -> Iterator[Block]:
    """Yield the blocks of a run of lines: one at each blank line, lists as such, indented lines as code."""
    while first < last:
        end = next((number for number in range(first, last) if not lines.lines[number].strip()), last)
        if first < end:
            run = lines.lines[first:end]
            begun = next((number for number, line in enumerate(run) if _ITEM.match(line)), len(run))
            title = run[0].startswith(".") and not run[0].startswith("..") and not _ITEM.match(run[0])
            kind: BlockKind = "code" if all(line[:1] in (" ", "\t") for line in run) and begun else "prose"
            yield from lines.block(kind, first + title, first + begun)
            yield from lines.block("list", first + begun, end)
        first = end + 1


def _links(text: str, start: int, end: int) -> Iterator[Link]:
    for found in _MACRO.finditer(text, start, end):
        target, group = (found.group(1), 2) if found.group(1) else (f"#{found.group(3).strip()}", 4)
        yield Link(target, found.start(group), found.end(group))
