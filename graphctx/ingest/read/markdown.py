"""Markdown and MDX. The text is the file's own, so that a quote is what its author wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from graphctx.ingest.read.base import Metadata, Outline, ReadFile, Slugger, decode, make_document, suffix_of
from graphctx.ingest.read.front_matter import read_front_matter
from graphctx.ingest.read.lines import Lines, join_lists
from graphctx.ingest.read.markdown_inline import Resolve, bare_span, find_links, unwrapped_span, visible_span
from graphctx.ingest.read.markdown_source import MYST_LABEL, mask
from graphctx.model.documents import Block, BlockKind, Heading
from graphctx.text.sentences import trim

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_TITLE_CHARS = 1000
"""A longer heading keeps its markup."""

_ATTRIBUTES = re.compile(r"(?<!\s)\s*+\{:?\s*[#.][^{}]*\}\s*$")
_ATTRIBUTE_ID = re.compile(r"\{[^{}]*#([\w:.-]+)")
_ANCHOR_TAG = re.compile(r"<a\s[^<>]{0,300}?\b(?:id|name)=[\"']([^\"'<>]+)[\"'][^<>]{0,300}>", re.IGNORECASE)
_HTML_HEADING = re.compile(r"<h([1-6])\b([^<>]{0,500})>(.{0,1000}?)</h\1\s*>", re.IGNORECASE | re.DOTALL)
_HTML_ID = re.compile(r"\bid=[\"']([^\"'<>]+)[\"']", re.IGNORECASE)
_INLINE_MARKUP = re.compile(r"[^\w\s.,:;()'\"?/-]|_")
_TAG = re.compile(r"<[^<>]*>")
_INCLUDES_ONLY = re.compile(r"(?:\s*+(?>\{\{#.*\}\}|--8<--.*))++\s*+")
_QUOTE_MARKS = re.compile(r"[> \t]*(?:#{1,6}[ \t]+)?")


class MarkdownReader:
    """CommonMark with tables, front matter and the directives of the common site generators."""

    media_types: ClassVar[Mapping[str, str]] = {
        ".md": "text/markdown",
        ".markdown": "text/markdown",
        ".mdx": "text/mdx",
    }
    version: ClassVar[int] = 5

    def read(self, data: bytes, uri: str) -> ReadFile:
        """Read one document; see :class:`graphctx.ingest.read.base.DocumentReader`."""
        text, notes = decode(data, uri)
        media_type = self.media_types.get(suffix_of(uri), "text/markdown")
        outline, metadata = parse_markdown(text, mdx=media_type == "text/mdx")
        return ReadFile((make_document(uri, media_type, text, outline, metadata),), notes=notes)


def parse_markdown(text: str, *, mdx: bool = False) -> tuple[Outline, Metadata]:
    """Find the structure of a normalised Markdown text, and what its front matter says.

    Args:
        text: the normalised source.
        mdx: whether JSX and JavaScript statements may occur, and indented code may not.
    """
    lines = Lines(text)
    front = read_front_matter(lines.lines)
    masked = [""] * front.n_lines + mask(lines.lines[front.n_lines :], mdx=mdx)
    env: dict[str, Any] = {}
    tokens = _parser(mdx).parse("\n".join(masked), env)
    walk = _Walk(lines, masked, tokens, mdx)
    outline = Outline(walk.headings, [], [])
    outline.blocks = join_lists(text, sorted(walk.run(), key=lambda b: (b.start_char, b.end_char)))
    resolve = _resolver(env.get("references", {}))
    outline.links = [link for start, end in outline.text_spans() for link in find_links(text, start, end, resolve)]
    return outline, front.metadata


class _Walk:
    """Turns the parser's block tokens into headings and blocks."""

    def __init__(self, lines: Lines, masked: Sequence[str], tokens: Sequence[Token], mdx: bool) -> None:
        self.headings: list[Heading] = []
        self._lines, self._masked, self._tokens, self._mdx = lines, masked, tokens, mdx
        self._slugger = Slugger()
        self._end = 0  # of the last block, so that a container's lines are yielded once

    def run(self) -> Iterator[Block]:
        """Yield the blocks in order, and fill ``headings``."""
        lists = 0
        for number, token in enumerate(self._tokens):
            if token.type in ("bullet_list_open", "ordered_list_open"):
                lists += 1
            elif token.type in ("bullet_list_close", "ordered_list_close"):
                lists -= 1
            elif token.map is not None:
                first, last = token.map
                for block in self._blocks(token, number, first, min(last, len(self._lines)), lists > 0):
                    if block.start_char >= self._end:
                        self._end = block.end_char
                        yield block

    def _blocks(self, token: Token, number: int, first: int, last: int, listed: bool) -> Iterator[Block]:
        text_kind: BlockKind = "list" if listed else "prose"
        if token.type in ("fence", "code_block"):
            if token.content.strip() and not _INCLUDES_ONLY.fullmatch(token.content):
                yield from self._lines.block("code", first, last)
        elif token.type == "table_open":
            yield from self._lines.block("table", first, last)
        elif token.type == "html_block":
            yield from self._html(first, last, text_kind)
        elif token.type == "heading_open":
            content = self._tokens[number + 1].content
            if token.level == 0:
                self._heading(token, content, first, last)
            else:  # inside a quotation or a list: text, though it uses up a slug
                self._slugger.slug(_plain(content))
                yield from self._text(first, last, text_kind)
        elif token.type == "paragraph_open":
            yield from self._text(first, last, text_kind)

    def _text(self, first: int, last: int, kind: BlockKind) -> Iterator[Block]:
        """The visible lines of a paragraph; masked lines at its ends are left out."""
        while first < last and not self._masked[first].strip():
            first += 1
        if first >= last:
            return
        start, end = self._lines.span(first, last)
        text = self._lines.text
        a, b = visible_span(text[start:end], mdx=self._mdx)
        start, end = trim(text, start + a, start + b)
        a, b = unwrapped_span(text[start:end])
        start, end = trim(text, start + a, start + b)
        if kind == "prose" and start < end:
            marks = _QUOTE_MARKS.match(text, start, end)
            start = marks.end() if marks else start
        if start < end:
            yield Block(kind, start, end)

    def _html(self, first: int, last: int, kind: BlockKind) -> Iterator[Block]:
        start, end = self._lines.span(first, last)
        text = self._lines.text
        at = start
        for match in _HTML_HEADING.finditer(text, start, end):
            title = _plain(_TAG.sub("", match.group(3)))
            if not title:
                continue
            yield from self._html_text(at, match.start(), kind)
            at = match.end()
            stated = _HTML_ID.search(match.group(2))
            anchor = stated.group(1) if stated else self._slugger.slug(title)
            self.headings.append(Heading(int(match.group(1)), title, anchor, match.start(), match.end()))
        yield from self._html_text(at, end, kind)

    def _html_text(self, start: int, end: int, kind: BlockKind) -> Iterator[Block]:
        source = self._lines.text[start:end]
        a, b = visible_span(source, mdx=self._mdx)
        if a == b:
            return
        opening = source.lstrip()[:6].lower()
        if opening.startswith("<pre") or opening == "<table":
            a, b = trim(source, 0, len(source))
            kind = "code" if opening.startswith("<pre") else "table"
        else:
            inner = source[a:b]
            c, d = bare_span(inner)
            a, b = a + c, a + d
        yield Block(kind, start + a, start + b)

    def _heading(self, token: Token, content: str, first: int, last: int) -> None:
        start, end = self._lines.span(first, last)
        anchor = None
        attributes = _ATTRIBUTES.search(content)
        if attributes:
            stated = _ATTRIBUTE_ID.search(attributes.group())
            anchor = stated.group(1) if stated else None
            content = content[: attributes.start()]
        before = self._lines.lines[first - 1] if first else ""
        above = next((line for line in reversed(self._lines.lines[max(0, first - 2) : first]) if line.strip()), "")
        if anchor is None and (label := MYST_LABEL.fullmatch(above.strip())):
            anchor = label.group(1)
        for place in (content, before if not _TAG.sub("", before).strip() else ""):
            tag = _ANCHOR_TAG.search(place)
            anchor = anchor or (tag.group(1) if tag else None)
        title = _plain(content)
        slug = self._slugger.slug(title)
        if title:
            self.headings.append(Heading(int(token.tag[1:]), title, anchor or slug, start, end))


def _plain(content: str) -> str:
    """A heading's text without its markup, on one line."""
    if len(content) <= MAX_TITLE_CHARS and _INLINE_MARKUP.search(content):
        tokens = _inline_parser().parseInline(content)
        content = "".join(
            " " if child.type in ("softbreak", "hardbreak") else child.content
            for child in (tokens[0].children or [])
            if child.type != "html_inline"
        )
    return " ".join(content.split())


def _resolver(references: dict[str, dict[str, str]]) -> Resolve:
    from markdown_it.common.utils import normalizeReference

    def resolve(label: str) -> str | None:
        if not references:
            return None
        found = references.get(normalizeReference(label))
        return found["href"] if found else None

    return resolve


@lru_cache(maxsize=2)
def _parser(mdx: bool) -> MarkdownIt:
    """Blocks only: inline tokens have no source positions, so links are found by our own scan."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])
    return parser.disable("code") if mdx else parser


@lru_cache(maxsize=1)
def _inline_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")
