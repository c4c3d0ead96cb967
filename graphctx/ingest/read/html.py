"""HTML: what a reader of the page would read, with its block structure; menus, scripts and hidden parts left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar

from graphctx.errors import InvalidArgument
from graphctx.ingest.read.base import Metadata, Outline, ReadFile, decode, iso_date, make_document
from graphctx.ingest.read.canvas import Canvas
from graphctx.text.normalise import normalise

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

MAX_DEPTH = 5000
"""Depth of nested elements that a page may have; the time to build the tree is quadratic in it."""

_NESTING = re.compile(
    r"<(/?)(?:div|span|section|article|main|table|ul|ol|dl|blockquote|form|details|figure|center|font|code|small|big"
    r"|strong|em|tt|b|i|u|s)\b",
    re.IGNORECASE,
)
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_CHARSET_BYTES = 1024  # a declaration is within the first 1024 bytes (HTML standard, 4.2.5.5)
_DATES = (
    "meta[property='article:modified_time']",
    "meta[name='last-modified']",
    "meta[name='dcterms.modified']",
    "meta[name='date']",
)


class HtmlReader:
    """HTML pages; ``main`` or the only ``article`` if there is one, else the body."""

    media_types: ClassVar[Mapping[str, str]] = {".html": "text/html", ".htm": "text/html", ".xhtml": "text/html"}
    version: ClassVar[int] = 3

    def read(self, data: bytes, uri: str) -> ReadFile:
        """Read one document; see :class:`graphctx.ingest.read.base.DocumentReader`."""
        declared = _CHARSET.search(data[:_CHARSET_BYTES])
        source, notes = decode(data, uri, declared.group(1).decode("ascii") if declared else "")
        _refuse_bottomless(source, uri)
        text, outline, metadata = parse_html(source)
        return ReadFile((make_document(uri, "text/html", text, outline, metadata),), notes=notes)


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
    """The title is the page's main heading if the head's title only adds a site name to it."""
    node = tree.css_first("head > title")
    title = normalise(" ".join((node.text() if node else "").split()))
    heading = next((h.title for h in outline.headings if h.level == 1), "") or _first_h1(tree)
    if heading and heading.casefold() in title.casefold():
        title = heading
    stated = (tree.css_first(selector) for selector in _DATES)
    dates = (iso_date(str(node.attributes.get("content") or "")) for node in stated if node)
    return Metadata(title or heading, (), next((d for d in dates if d), None))


def _first_h1(tree: LexborHTMLParser) -> str:
    """The main heading of a page that has it outside of its main part."""
    node = tree.css_first("h1")
    return normalise(" ".join("".join(heading_text(node)).replace("`", "").split())) if node else ""


_DROPPED = frozenset(
    "script style noscript template nav footer aside head svg math iframe object embed canvas audio video map "
    "button select option input textarea datalist dialog progress meter".split()
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset(
    "address article blockquote body center dd details div dl dt fieldset figcaption figure form header hgroup hr "
    "html legend main p section summary search tbody thead tfoot tr td th caption table".split()
)
_LISTS = frozenset(("ul", "ol", "menu", "dir"))
_CODE = frozenset(("code", "kbd", "samp", "tt"))
_DROPPED_ROLES = frozenset(("navigation", "search", "contentinfo", "banner"))
_NAVIGATION = frozenset(
    "breadcrumb breadcrumbs nav-panel navbar navfooter navheader navigation navpath pager pagination prev-next related "
    "rst-footer-buttons sphinxsidebar toc wy-nav-side".split()
)
"""Classes of what leads to other pages, as the usual generators of manuals write them."""
_PERMALINK = re.compile(r"\b(?:headerlink|header-anchor|anchor-link|anchorjs-link|hash-link|permalink)\b")
_PERMALINK_TEXTS = frozenset(("¶", "#", "🔗", "§"))
_HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_LAYOUT = "table, h1, h2, h3, h4, pre"  # a table around one of these arranges the page and holds no data

MAX_LIST_INDENT = 16
"""Lists nested deeper than this are not indented any further, in characters."""


class HtmlWalk:
    """Writes one page, or one part of it, to a canvas."""

    def __init__(self) -> None:
        self._canvas = Canvas()
        self._lists: list[int] = []  # open lists: the next number, or -1 for bullets
        self._table = 0  # depth of data tables
        self._cells = 0  # of the row so far
        self._ticks: list[bool] = []  # open code spans: whether a closing back-tick is due
        self._section_id: str | None = None
        self._around_layout: set[int] = set()  # elements around what a table of data does not hold

    def run(self, root: LexborNode) -> tuple[str, Outline]:
        """The text below ``root`` and its structure; the text is empty if nothing is visible."""
        self._around_layout = _around(root.css(_LAYOUT))
        node: LexborNode | None = root
        while node is not None:
            descends = self._enter(node)
            child = node.child if descends else None
            if child is not None:
                node = child
                continue
            while node is not None:
                if descends:
                    self._leave(node)
                if node.mem_id == root.mem_id:
                    node = None
                    break
                following = node.next
                if following is not None:
                    node = following
                    break
                node, descends = node.parent, True
        return self._canvas.finish()

    def _enter(self, node: LexborNode) -> bool:
        """Write the start of a node; return whether to go on to its children and then to leave it."""
        if node.is_text_node:
            self._canvas.write(node.text_content or "")
            return False
        tag = node.tag or ""
        if not node.is_element_node:
            return node.is_document_node
        if tag in _DROPPED or _is_hidden(node, tag):
            return False
        if tag in _HEADINGS:
            return self._heading(node, tag)
        if tag == "pre":
            return self._pre(node)
        if tag == "br":
            self._break()
        elif tag in _LISTS:
            self._open_list(node, tag)
        elif tag == "li":
            self._open_item(node)
        elif tag == "a":
            self._canvas.open_link(_target(node))
        elif tag in _CODE:
            self._open_code(node)
        elif tag == "table":
            self._open_table(node)
        elif self._table and tag in ("tr", "td", "th", "caption"):
            self._open_cell(tag)
        elif tag in _BLOCKS:
            self._open_block(node, tag)
        return True

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in _LISTS:
            if not self._table and self._lists:
                self._lists.pop()
                self._begin()
        elif tag == "a":
            self._canvas.close_link()
        elif tag in _CODE:
            if self._ticks.pop():
                self._canvas.write("`")
        elif tag == "table":
            self._table = max(0, self._table - 1)
            self._begin()
        elif tag in _BLOCKS and not self._table:
            if tag == "dt" and node.text().strip():
                self._canvas.end_term()
            self._begin()

    def _begin(self) -> None:
        """Begin the block that running text here belongs to."""
        if self._table:
            self._canvas.write(" ")
        elif self._lists:
            self._canvas.line(self._indent())
        else:
            self._canvas.open("prose")

    def _break(self) -> None:
        if self._table:
            self._canvas.write(" ")
        else:
            self._canvas.line(self._indent() if self._lists else "")

    def _indent(self) -> str:
        return " " * min(2 * len(self._lists), MAX_LIST_INDENT)

    def _open_block(self, node: LexborNode, tag: str) -> None:
        if tag == "section" or (tag == "div" and "section" in (node.attributes.get("class") or "").split()):
            self._section_id = node.attributes.get("id") or None
        if self._table or not (self._lists and self._fresh_item):
            self._begin()

    def _open_list(self, node: LexborNode, tag: str) -> None:
        if self._table:
            return
        if not self._lists:
            self._canvas.open("list")
        start = str(node.attributes.get("start") or "1") if tag == "ol" else ""
        self._lists.append((int(start) if start.isdecimal() and len(start) < 9 else 1) if tag == "ol" else -1)

    def _open_item(self, node: LexborNode) -> None:
        if self._table:
            self._canvas.write(" ")
            return
        if not self._lists:
            self._canvas.open("list")
            self._canvas.line("- ")
            return
        number = self._lists[-1]
        indent = " " * min(2 * (len(self._lists) - 1), MAX_LIST_INDENT)
        self._canvas.line(f"{indent}- " if number < 0 else f"{indent}{number}. ")
        self._lists[-1] = number + 1 if number >= 0 else number

    @property
    def _fresh_item(self) -> bool:
        """Whether the marker of a list item was the last thing written: its paragraph goes on that line."""
        return self._canvas.lead.strip() != ""

    def _open_table(self, node: LexborNode) -> None:
        if self._table or node.attributes.get("role") == "presentation" or node.mem_id in self._around_layout:
            self._begin()
            self._table += bool(self._table)
            return
        self._canvas.open("table")
        self._table, self._cells = 1, 0

    def _open_cell(self, tag: str) -> None:
        if tag in ("tr", "caption"):
            self._canvas.line()
            self._cells = 0
            return
        if self._cells:
            self._canvas.separate()
        self._cells += 1

    def _open_code(self, node: LexborNode) -> None:
        text = "" if self._ticks else node.text().strip()  # only the outermost: this keeps the walk linear
        ticked = bool(text) and "`" not in text and "\n" not in text
        self._ticks.append(ticked)
        if ticked:
            self._canvas.write("`")

    def _heading(self, node: LexborNode, tag: str) -> bool:
        if self._table:
            return True
        title = "".join(heading_text(node))
        self._canvas.heading(_HEADINGS[tag], title, _anchor(node) or self._section_id)
        self._section_id = None
        self._resume()
        return False

    def _pre(self, node: LexborNode) -> bool:
        if self._table:
            return True
        self._canvas.open("code")
        self._canvas.write_verbatim(node.text())
        self._resume()
        return False

    def _resume(self) -> None:
        self._canvas.open("list" if self._lists else "prose")
        if self._lists:
            self._canvas.line(self._indent())


def _is_hidden(node: LexborNode, tag: str) -> bool:
    attributes = node.attributes
    if not attributes:
        return False
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    if (attributes.get("role") or "") in _DROPPED_ROLES or _HIDING.search(attributes.get("style") or ""):
        return True
    classes = attributes.get("class") or ""
    if tag in ("div", "table", "ul", "ol", "p") and not _NAVIGATION.isdisjoint(classes.casefold().split()):
        return True
    return tag == "a" and _PERMALINK.search(classes) is not None


def _around(nodes: Iterable[LexborNode]) -> set[int]:
    """The ancestors of some elements, each visited once."""
    found: set[int] = set()
    for node in nodes:
        parent = node.parent
        while parent is not None and parent.mem_id not in found:
            found.add(parent.mem_id)
            parent = parent.parent
    return found


def _target(link: LexborNode) -> str:
    target = (link.attributes.get("href") or "").strip()
    return "" if target.lower().startswith(("javascript:", "data:")) else target


def _anchor(heading: LexborNode) -> str | None:
    """The heading's own id, else the first id or name inside it."""
    own = heading.attributes.get("id")
    if own:
        return own
    for inner in heading.css("[id], a[name]"):
        stated = inner.attributes.get("id") or inner.attributes.get("name")
        if stated:
            return stated
    return None


def heading_text(heading: LexborNode) -> list[str]:
    """The visible text of a heading, code in back-ticks, permalinks left out."""
    pieces: list[str] = []
    within = {heading.mem_id: (False, False, False)}  # of each element: hidden, code, a link
    for node in heading.traverse(include_text=True):
        parent = node.parent
        hidden, code, link = within.get(parent.mem_id, (False, False, False)) if parent is not None else (False,) * 3
        if node.is_text_node:
            text = node.text_content or ""
            if not hidden and not (link and text.strip() in _PERMALINK_TEXTS):
                pieces.append(f"`{text}`" if code and text.strip() and "`" not in text else text)
            continue
        pieces.append(" " if node.tag == "br" else "")
        if node.mem_id != heading.mem_id:
            tag = node.tag or ""
            hidden = hidden or tag in _DROPPED or _is_hidden(node, tag)
            within[node.mem_id] = (hidden, code or tag in _CODE, link or tag == "a")
    return pieces
