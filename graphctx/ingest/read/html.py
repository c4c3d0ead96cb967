"""HTML: what a reader of the page would read, with its block structure; menus, scripts and hidden parts left out."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from graphctx.errors import InvalidArgument
from graphctx.ingest.read.base import Metadata, Outline, ReadFile, make_document
from graphctx.ingest.read.dates import iso_date
from graphctx.ingest.read.decode import decode, refuse_binary
from graphctx.ingest.read.html_walk import HtmlWalk, heading_text
from graphctx.text.normalise import normalise

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

MAX_DEPTH = 5000
"""Elements inside each other that a page may have; building the tree takes time quadratic in this."""

_NESTING = re.compile(
    r"<(/?)(?:div|span|section|article|main|table|ul|ol|dl|blockquote|form|details|figure|center|font|code|small|big"
    r"|strong|em|tt|b|i|u|s)\b",
    re.IGNORECASE,
)
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_CHARSET_BYTES = 1024  # a declaration stands within the first 1024 bytes (HTML standard, 4.2.5.5)
_DATES = (
    "meta[property='article:modified_time']",
    "meta[name='last-modified']",
    "meta[name='dcterms.modified']",
    "meta[name='date']",
)


class HtmlReader:
    """HTML pages; ``main`` or the only ``article`` if there is one, else the body."""

    media_types: ClassVar[Mapping[str, str]] = {".html": "text/html", ".htm": "text/html", ".xhtml": "text/html"}
    version: ClassVar[int] = 1

    def read(self, data: bytes, uri: str) -> ReadFile:
        """Read one document; see :class:`graphctx.ingest.read.base.DocumentReader`."""
        source = _decode(data, uri)
        _refuse_bottomless(source, uri)
        text, outline, metadata = parse_html(source)
        return ReadFile((make_document(uri, "text/html", text, outline, metadata),))


def _refuse_bottomless(source: str, uri: str) -> None:
    depth = 0
    for tag in _NESTING.finditer(source):
        depth = max(0, depth - 1) if tag.group(1) else depth + 1
        if depth > MAX_DEPTH:
            raise InvalidArgument(
                f"{uri} nests more than {MAX_DEPTH} elements at character {tag.start()}: no page does.",
                uri=uri,
                char=tag.start(),
            )


def parse_html(source: str) -> tuple[str, Outline, Metadata]:
    """Render a page as text.

    Args:
        source: the normalised HTML source.

    Returns:
        The normalised text, its structure, and what the page's head says.
    """
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(source)
    text, outline = "", Outline()
    for root in _roots(tree):
        text, outline = HtmlWalk().run(root)
        if text:
            break
    return text, outline, _metadata(tree, outline)


def _roots(tree: LexborHTMLParser) -> list[LexborNode]:
    """Where the content may be, the likeliest place first."""
    articles = tree.css("article")
    named = [tree.css_first("main"), tree.css_first("[role=main]"), articles[0] if len(articles) == 1 else None]
    return [node for node in (*named, tree.body, tree.root) if node is not None]


def _metadata(tree: LexborHTMLParser, outline: Outline) -> Metadata:
    """The title is the page's main heading where the head's title only adds a site name to it."""
    node = tree.css_first("head > title")
    title = normalise(" ".join((node.text() if node else "").split()))
    heading = next((h.title for h in outline.headings if h.level == 1), "") or _first_h1(tree)
    if heading and heading.casefold() in title.casefold():
        title = heading
    stated = (tree.css_first(selector) for selector in _DATES)
    dates = (iso_date(str(node.attributes.get("content") or "")) for node in stated if node)
    return Metadata(title or heading, (), next((d for d in dates if d), None))


def _first_h1(tree: LexborHTMLParser) -> str:
    """The title of a page whose main heading stands outside of its main part."""
    node = tree.css_first("h1")
    return normalise(" ".join("".join(heading_text(node)).replace("`", "").split())) if node else ""


def _decode(data: bytes, uri: str) -> str:
    """UTF-8, UTF-16 by its mark, or the encoding that the page itself declares."""
    try:
        return decode(data, uri)
    except InvalidArgument:
        refuse_binary(data, uri)
        declared = _CHARSET.search(data[:_CHARSET_BYTES])
        name = declared.group(1).decode("ascii") if declared else "utf-8"
        try:
            codec = codecs.lookup(name)
            if codec.name == "utf-8" or not codec._is_text_encoding:
                raise
            return normalise(data.decode(codec.name))
        except (LookupError, ValueError):
            pass
        raise
