"""reStructuredText. The text is the file's own, so that a quote is what its author wrote."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from graphctx.ingest.read.base import Metadata, Outline, ReadFile, Slugger, decode, make_document
from graphctx.ingest.read.front_matter import field_key, metadata_of, read_mail_header
from graphctx.ingest.read.lines import Lines, join_lists
from graphctx.model.documents import Block, BlockKind, Heading, Link
from graphctx.text.directives import role_of
from graphctx.text.readable import plain_title

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*\s*")
_TARGET = re.compile(r"\.\. _(`[^`]+`|(?:[^:\\]|\\.)+):(?:\s|$)")
_EXPLICIT = re.compile(r"\s*\.\.(?:\s+|$)")
_LIST_MARK = re.compile(r"\s*(?:[-*+•‣⁃]|(?:\d{1,9}|#|[A-Za-z])[.)]|\((?:\d{1,9}|#|[A-Za-z])\))\s+(?=\S)")
_FIELD = re.compile(r"\s*:([^:\s][^:]*):(?:\s+(.*))?$")
_GRID = re.compile(r"\s*\+(?:[-=]+\+)+\s*")
_GRID_ROW = re.compile(r"\s*[+|].*")
_SIMPLE = re.compile(r"\s*=+(?:\s+=+)+\s*")
_COMMENT_FIELD = re.compile(r"\.\. ([A-Za-z][\w-]{0,60})::? +(\S.*)$")  # the comments of Nikola, and `.. title::`
_VERSION = re.compile(r"v?\d+(?:\.\w+)*")  # of versionadded, without a word about what was added
_NOT_IN_ID = re.compile(r"[\W_]+")
_MAX_LEVEL = 6
_DIRECTIVE = re.compile(r"\s*\.\.\s+(?:\|[^|]*\|\s+)?([A-Za-z][\w.:+-]*?)\s?::(?:\s++(.*))?$")
_FOOTNOTE = re.compile(r"\s*\.\.\s+\[[^\]]{1,60}\]\s++(.*)$")
_DEFINITION = re.compile(r"^[ \t]*\.\. _(`[^`\n]+`|[^:\n]+):[ \t]+(\S+)[ \t]*$", re.MULTILINE)
_MARKUP = re.compile(
    r"``.+?``"  # a literal
    r"|:(?:[\w.+-]+:)?([\w.+-]+):`([^`]{1,1000})`"  # a role
    r"|`([^`]{1,1000})`__?"  # a phrase reference
    r"|(?<![\w`])([A-Za-z0-9](?:[\w.+-]{0,100}[A-Za-z0-9])?)_(?![\w`_])"  # a simple reference
    r"|<?(https?://[^\s<>`]{1,2000})",
    re.DOTALL,
)
_TARGETED = re.compile(r"\s*(.*?)\s*<([^<>]+)>\s*", re.DOTALL)


class RstReader:
    """Docutils and Sphinx sources, by lines: structure only, nothing is included or executed."""

    media_types: ClassVar[Mapping[str, str]] = {".rst": "text/x-rst", ".rest": "text/x-rst"}
    version: ClassVar[int] = 3

    def read(self, data: bytes, uri: str) -> ReadFile:
        """Read one document; see :class:`graphctx.ingest.read.base.DocumentReader`."""
        text, notes = decode(data, uri)
        outline, metadata = parse_rst(text)
        return ReadFile((make_document(uri, "text/x-rst", text, outline, metadata),), notes=notes)


def parse_rst(text: str) -> tuple[Outline, Metadata]:
    """Find the structure of a normalised reStructuredText source, and what its header states.

    The header is the opening field list, or lines of ``Key: value`` as in mail.
    """
    scan = _Scan(Lines(text))
    blocks = join_lists(text, scan.run())
    outline = Outline(scan.headings, blocks)
    targets = link_targets(text)
    outline.links = [link for start, end in outline.text_spans() for link in find_links(text, start, end, targets)]
    metadata = metadata_of(scan.fields)
    return outline, replace(metadata, title=plain_title(metadata.title))


class _Scan:
    """One pass over the lines. ``_at`` is the next line to read."""

    def __init__(self, lines: Lines) -> None:
        self.headings: list[Heading] = []
        first = next((n for n, line in enumerate(lines.lines) if line.strip() and not line.startswith("..")), 0)
        header = read_mail_header(lines.lines[first:])
        self.fields: dict[str, list[str]] = {key: list(values) for key, values in header.entries.items()}
        self._lines = lines
        self._at = first + header.n_lines if header.n_lines else 0
        self._opened = False  # whether text has begun: fields behind it are not the header's
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
                for block in self._body(line):
                    self._opened = True
                    yield block

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
        """Read a section title with its adornment, if this is one."""
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
        role, argument = _directive(line)
        if role == "skip":
            if (found := _COMMENT_FIELD.match(line)) and not self._opened:
                self._add_field(found.group(1), found.group(2))
            self._skip_indented(indent)
        elif role in ("code", "table"):
            self._skip_indented(indent)
            body = first + 1
            while body < self._at and _FIELD.match(self._lines.lines[body]):
                body += 1
            yield from self._lines.block("table" if role == "table" else "code", body, self._at)
        else:  # its body is text like any other
            self._at += 1
            while self._at < len(self._lines) and _FIELD.match(self._lines.lines[self._at]):
                self._at += 1
            # A name without a body ("setting:: TIMEOUT") is what others refer to, like a target.
            signature = role == "signature" and ("(" in argument or self._has_body(indent))
            if argument and ((role == "text" and not _VERSION.fullmatch(argument)) or signature):
                yield self._argument(role, argument, first)

    def _has_body(self, indent: int) -> bool:
        """Whether the next line with text is indented further."""
        lines = self._lines.lines
        at = next((at for at in range(self._at, len(lines)) if lines[at].strip()), None)
        return at is not None and indent_of(lines[at]) > indent

    def _argument(self, role: str, argument: str, number: int) -> Block:
        """The text on the directive's own line, and the lines that continue it: a signature is code."""
        lines = self._lines.lines
        start = self._lines.starts[number] + lines[number].rindex(argument)
        end = start + len(argument)
        following, indent = self._at, indent_of(lines[number])
        while (
            role == "text"
            and following < len(lines)
            and lines[following].strip()
            and indent_of(lines[following]) > indent
        ):
            following += 1
        if following > self._at:
            end = self._lines.span(number, following)[1]
            self._at = following
        return Block("code" if role == "signature" else "prose", start, end)

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
        if not self._opened and len(self.headings) <= 1 and self._take_fields(first, self._at):
            return
        kind: BlockKind = "prose" if self._list is None else "list"
        if any(c.isalnum() for line in lines[first : self._at] for c in line):
            yield from self._lines.block(kind, first, self._at)
        if last_line.rstrip().endswith("::"):
            yield from self._literal(indent if mark else min(indent, indent_of(last_line)))

    def _take_fields(self, first: int, last: int) -> bool:
        """Read a bibliographic field list; whether it was one."""
        if not _FIELD.match(self._lines.lines[first]):
            return False
        name, indent = "", indent_of(self._lines.lines[first])
        for line in self._lines.lines[first:last]:
            if (found := _FIELD.match(line)) is not None and indent_of(line) == indent:
                name = self._add_field(found.group(1), found.group(2) or "")
            else:
                self.fields[name][-1] = f"{self.fields[name][-1]} {line.strip()}".strip()
        self._list = None
        return True

    def _add_field(self, name: str, value: str) -> str:
        key = field_key(name)
        self.fields.setdefault(key, []).append(value.strip())
        return key

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


def _directive(line: str) -> tuple[str, str]:
    """What becomes of the body of an explicit markup line, and the text behind its name. A footnote is text."""
    line = line.rstrip()
    found = _DIRECTIVE.match(line)
    if found is None:
        footnote = _FOOTNOTE.match(line)
        return ("text", footnote.group(1)) if footnote else ("skip", "")
    if "|" in line.split("::")[0]:  # a substitution
        return "skip", ""
    return role_of(found.group(1)) or "signature", found.group(2) or ""


def indent_of(line: str) -> int:
    """The width of a line's indent; a tab goes to the next multiple of eight, as docutils counts."""
    body = line.lstrip()
    indent = line[: len(line) - len(body)]
    return len(indent.expandtabs(8)) if "\t" in indent else len(indent)


def link_targets(text: str) -> dict[str, str]:
    """The explicit targets that name a URL, by their normalised name."""
    return {_name(m.group(1)): m.group(2) for m in _DEFINITION.finditer(text) if not m.group(2).endswith("_")}


def find_links(text: str, start: int, end: int, targets: Mapping[str, str]) -> Iterator[Link]:
    """Find the links of ``text[start:end]``.

    A ``:doc:`` target is the document's path as written, a ``:ref:`` target is ``#label`` (a label may belong to
    another document), and a named reference is looked up in ``targets``.
    """
    for match in _MARKUP.finditer(text, start, end):
        role, role_text, phrase, simple, url = match.groups()
        if role in ("doc", "ref", "numref") and role_text:
            yield from _targeted(role_text, match.start(2), "" if role == "doc" else "#")
        elif phrase:
            embedded = _TARGETED.fullmatch(phrase)
            if embedded:
                yield from _targeted(phrase, match.start(3), "", targets)
            elif _name(phrase) in targets:
                yield Link(targets[_name(phrase)], match.start(3), match.end(3))
        elif simple and _name(simple) in targets:
            yield Link(targets[_name(simple)], match.start(4), match.end(4))
        elif url:
            shown = url.rstrip(".,;:!?)'\"")
            yield Link(shown, match.start(5), match.start(5) + len(shown))


def _targeted(body: str, at: int, prefix: str, targets: Mapping[str, str] | None = None) -> Iterator[Link]:
    """``label <target>``, or a target alone, which is its own label."""
    found = _TARGETED.fullmatch(body)
    label_start, label_end = (found.start(1), found.end(1)) if found and found.group(1) else (0, len(body))
    target = " ".join((found.group(2) if found else body).split())
    if targets and target.endswith("_"):
        target = targets.get(_name(target[:-1]), target)
    if target.strip() and label_start < label_end:
        yield Link(prefix + target, at + label_start, at + label_end)


def _name(name: str) -> str:
    return " ".join(name.strip("`").split()).casefold()
