"""reStructuredText. The text is the file's own, so that a quote is what its author wrote."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar

from graphctx.ingest.read.base import Metadata, Outline, ReadFile, make_document
from graphctx.ingest.read.dates import iso_date
from graphctx.ingest.read.decode import decode
from graphctx.ingest.read.lines import Lines, join_lists
from graphctx.ingest.read.rst_directives import Directive, indent_of, role_of
from graphctx.ingest.read.rst_links import find_links, link_targets, plain_title
from graphctx.ingest.read.slugs import Slugger
from graphctx.model.documents import Block, BlockKind, Heading

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*\s*")
_TARGET = re.compile(r"\.\. _(`[^`]+`|(?:[^:\\]|\\.)+):(?:\s|$)")
_EXPLICIT = re.compile(r"\s*\.\.(?:\s+|$)")
_LIST_MARK = re.compile(r"\s*(?:[-*+•‣⁃]|(?:\d{1,9}|#|[A-Za-z])[.)]|\((?:\d{1,9}|#|[A-Za-z])\))\s+(?=\S)")
_FIELD = re.compile(r"\s*:([^:\s][^:]*):(?:\s+(.*))?$")
_GRID = re.compile(r"\s*\+(?:[-=]+\+)+\s*")
_GRID_ROW = re.compile(r"\s*[+|].*")
_SIMPLE = re.compile(r"\s*=+(?:\s+=+)+\s*")
_DATE_FIELDS = ("updated", "last-updated", "modified", "date")
_NOT_IN_ID = re.compile(r"[\W_]+")
_MAX_LEVEL = 6


class RstReader:
    """Docutils and Sphinx sources, by lines: structure only, nothing is included or executed."""

    media_types: ClassVar[Mapping[str, str]] = {".rst": "text/x-rst", ".rest": "text/x-rst"}
    version: ClassVar[int] = 1

    def read(self, data: bytes, uri: str) -> ReadFile:
        """Read one document; see :class:`graphctx.ingest.read.base.DocumentReader`."""
        text = decode(data, uri)
        outline, metadata = parse_rst(text)
        return ReadFile((make_document(uri, "text/x-rst", text, outline, metadata),))


def parse_rst(text: str) -> tuple[Outline, Metadata]:
    """Find the structure of a normalised reStructuredText source, and what its opening fields say."""
    scan = _Scan(Lines(text))
    blocks = join_lists(text, scan.run())
    pieces = [(h.start_char, h.end_char) for h in scan.headings]
    pieces += [(b.start_char, b.end_char) for b in blocks if b.kind != "code"]
    targets = link_targets(text)
    links = [link for start, end in sorted(pieces) for link in find_links(text, start, end, targets)]
    dates = [iso_date(scan.fields[name]) for name in _DATE_FIELDS if name in scan.fields]
    tags = tuple(tag for part in scan.fields.get("tags", "").split(",") if (tag := part.strip()))
    metadata = Metadata("", tags, next((date for date in dates if date), None))
    return Outline(scan.headings, blocks, links), metadata


class _Scan:
    """One pass over the lines. ``_at`` is the next line to read."""

    def __init__(self, lines: Lines) -> None:
        self.headings: list[Heading] = []
        self.fields: dict[str, str] = {}
        self._lines = lines
        self._at = 0
        self._styles: list[tuple[str, bool]] = []  # adornments by level: the character, whether with an overline
        self._target: str | None = None  # an explicit target that waits for its heading
        self._slugger = Slugger()
        self._list: int | None = None  # indent of the list item that was last begun

    def run(self) -> Iterator[Block]:
        """Yield the blocks in order, and fill ``headings`` and ``fields``."""
        while self._at < len(self._lines):
            line = self._lines.lines[self._at]
            if not line.strip():
                self._at += 1
            elif not self._heading():
                yield from self._body(line)

    def _body(self, line: str) -> Iterator[Block]:
        target = _TARGET.match(line)
        if target:
            if not line[target.end() :].strip() and not target.group(1).startswith("_"):
                self._target = target.group(1).strip("`").replace("\\", "")
            self._skip_indented(0)
        elif _EXPLICIT.match(line):
            yield from self._explicit(line)
        elif _GRID.fullmatch(line):
            yield from self._run_of(lambda row: _GRID_ROW.fullmatch(row) is not None)
        elif _SIMPLE.fullmatch(line):
            yield from self._simple_table()
        elif line.lstrip().startswith(">>> "):
            yield from self._run_of(lambda row: bool(row.strip()), "code")
        else:
            yield from self._paragraph()

    def _heading(self) -> bool:
        """Take a section title with its adornment, if one stands here."""
        lines, at = self._lines.lines, self._at
        line = lines[at]
        over = _ADORNMENT.fullmatch(line)
        if over and at + 2 < len(lines):
            title, under = lines[at + 1].strip(), lines[at + 2].rstrip()
            if title and under == line.rstrip() and len(under) >= min(len(title), 4):
                self._add_heading(title, (under[0], True), at, at + 3)
                return True
        if over or line[:1].isspace() or at + 1 >= len(lines):
            return False
        under = lines[at + 1].rstrip()
        if not _ADORNMENT.fullmatch(under) or len(under) < min(len(line.strip()), 4):
            return False
        self._add_heading(line.strip(), (under[0], False), at, at + 2)
        return True

    def _add_heading(self, title: str, style: tuple[str, bool], first: int, last: int) -> None:
        if style not in self._styles:
            self._styles.append(style)
        shown = plain_title(title)
        slug = self._slugger.unique(_NOT_IN_ID.sub("-", shown.lower()).strip("-"))
        anchor = self._target or slug
        start, end = self._lines.span(first, last)
        if shown:
            level = min(self._styles.index(style) + 1, _MAX_LEVEL)
            self.headings.append(Heading(level, shown, anchor, start, end))
        self._at, self._target, self._list = last, None, None

    def _explicit(self, line: str) -> Iterator[Block]:
        """A directive, a footnote, a substitution or a comment."""
        first, indent, self._target = self._at, indent_of(line), None
        if self._list is not None and indent <= self._list:
            self._list = None
        directive = Directive.parse(line)
        role = role_of(directive)
        if role == "skip":
            self._skip_indented(indent)
        elif role == "flow":  # its body is text like any other
            self._at += 1
            while self._at < len(self._lines) and _FIELD.match(self._lines.lines[self._at]):
                self._at += 1
            yield from self._argument(directive, first)
        else:
            self._skip_indented(indent)
            body = first + 1
            while body < self._at and _FIELD.match(self._lines.lines[body]):
                body += 1
            yield from self._lines.block("table" if role == "table" else "code", body, self._at)

    def _argument(self, directive: Directive, number: int) -> Iterator[Block]:
        """The text on the directive's own line: a signature is code, anything else prose."""
        if directive.argument:
            line = self._lines.lines[number]
            start = self._lines.starts[number] + line.rindex(directive.argument)
            end = start + len(directive.argument)
            following = self._at
            while (
                directive.kind == "text"
                and following < len(self._lines)
                and self._lines.lines[following].strip()
                and indent_of(self._lines.lines[following]) > indent_of(line)
            ):
                following += 1
            if following > self._at:
                end = self._lines.span(number, following)[1]
                self._at = following
            yield Block("code" if directive.kind == "signature" else "prose", start, end)

    def _paragraph(self) -> Iterator[Block]:
        """A run of lines: prose, or the text of a list; then the literal block that it may announce."""
        first, self._target = self._at, None
        lines = self._lines.lines
        indent = indent_of(lines[first])
        mark = _LIST_MARK.match(lines[first])
        self._at += 1
        while self._at < len(lines) and lines[self._at].strip() and not self._interrupts(self._at):
            self._at += 1
        last_line = lines[self._at - 1]
        if mark or _FIELD.match(lines[first]):
            self._list = indent
        elif self._list is not None and indent <= self._list:
            self._list = None
        if (first == 0 or self._is_first_body(first)) and self._take_fields(first, self._at):
            return
        kind: BlockKind = "prose" if self._list is None else "list"
        if any(c.isalnum() for line in lines[first : self._at] for c in line):
            yield from self._lines.block(kind, first, self._at)
        if last_line.rstrip().endswith("::"):
            yield from self._literal(indent if mark else min(indent, indent_of(last_line)))

    def _is_first_body(self, first: int) -> bool:
        """Whether nothing but one title stands before this line: the place of the bibliographic fields."""
        return (
            len(self.headings) == 1
            and not self.fields
            and not self._lines.text[self.headings[0].end_char : self._lines.starts[first]].strip()
        )

    def _take_fields(self, first: int, last: int) -> bool:
        """Read a bibliographic field list; whether it was one."""
        matches = [_FIELD.match(line) for line in self._lines.lines[first:last]]
        if matches[0] is None or self._lines.lines[first][:1].isspace():
            return False
        for match in matches:
            if match:
                self.fields.setdefault(match.group(1).strip().lower(), (match.group(2) or "").strip())
        self._list = None
        return True

    def _literal(self, indent: int) -> Iterator[Block]:
        first = self._at
        while first < len(self._lines) and not self._lines.lines[first].strip():
            first += 1
        if first >= len(self._lines):
            return
        opening = self._lines.lines[first]
        if indent_of(opening) > indent:
            self._skip_indented(indent, first)
            yield from self._lines.block("code", first, self._at)
        elif opening[indent : indent + 1] == ">":  # a quoted literal block
            self._at = first
            yield from self._run_of(lambda row: bool(row.strip()), "code")

    def _interrupts(self, at: int) -> bool:
        """Whether a line in the middle of a run begins something of its own."""
        line = self._lines.lines[at]
        return line.lstrip().startswith(".. ") and _EXPLICIT.match(line) is not None

    def _run_of(self, belongs: Callable[[str], bool], kind: BlockKind = "table") -> Iterator[Block]:
        first = self._at
        while self._at < len(self._lines) and belongs(self._lines.lines[self._at]):
            self._at += 1
        yield from self._lines.block(kind, first, self._at)

    def _simple_table(self) -> Iterator[Block]:
        """From the first border to the last one before a blank line, or to the next blank line."""
        first = self._at
        borders = 0
        while self._at < len(self._lines):
            line = self._lines.lines[self._at]
            if _SIMPLE.fullmatch(line):
                borders += 1
            elif not line.strip() and (borders >= 3 or not self._has_border_below(borders)):
                break
            self._at += 1
            following = self._lines.lines[self._at] if self._at < len(self._lines) else ""
            if borders >= 2 and _SIMPLE.fullmatch(line) and not following.strip():
                break
        yield from self._lines.block("table", first, self._at)

    def _has_border_below(self, borders: int) -> bool:
        """Rows may be set apart by a blank line: the table goes on if its next border is near."""
        below = self._lines.lines[self._at + 1 : self._at + 200]
        return borders < 3 and any(_SIMPLE.fullmatch(line) for line in below)

    def _skip_indented(self, indent: int, first: int | None = None) -> None:
        """Move past the line at hand and all that is indented further than ``indent``."""
        self._at = at = self._at + 1 if first is None else first
        while at < len(self._lines):
            line = self._lines.lines[at]
            if line.strip():
                if indent_of(line) <= indent:
                    break
                self._at = at + 1
            at += 1
