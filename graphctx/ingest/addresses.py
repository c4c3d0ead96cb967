"""Hyperlinks inside the corpus: which document, and which of its units, a link means, and what it calls it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from graphctx.ingest.corpus import Corpus
from graphctx.ingest.definitions import Definition, usable
from graphctx.ingest.sources import encoded
from graphctx.model.documents import Document
from graphctx.text.names import is_nameable, normalise_name

LINK_TEXT = 0.3
"""One author's name for the target; ``LINK_TEXT_AGREED`` where documents agree on it."""

LINK_TEXT_AGREED = 0.5
MAX_LABEL_WORDS = 6
MAX_LABEL_TARGETS = 2
"""A label that leads to more places names none of them."""

_GENERIC = frozenset(
    "here this that link page docs doc documentation guide section chapter example examples details more next previous "
    "above below see overview introduction readme source reference home index table contents article issue".split()
)
_PAGE_SUFFIXES = (".html", ".htm")
_FOLDER_PAGES = ("index", "README", "_index")


class Addresses:
    """Finds the document that a link means: its very URI, or the source that a site makes the linked page from.

    Sites link to ``guide.html``, ``guide`` or ``guide/`` where the source is ``guide.md`` or ``guide/index.md``, and
    from the root of the site, wherever in the corpus that is.
    """

    def __init__(self, uris: Sequence[str]) -> None:
        """Build from the documents' URIs, in row order."""
        self._rows = {uri: row for row, uri in enumerate(uris)}
        self._sources: dict[str, int | None] = {}
        self._ends: dict[str, int | None] = {}
        self._source_ends: dict[str, int | None] = {}
        for row, uri in enumerate(uris):
            if "#" not in uri:
                stem = _stem(uri)
                _enter(self._sources, [stem], row)
                _enter(self._ends, _endings(uri), row)
                _enter(self._source_ends, _endings(stem), row)

    def row(self, uri: str) -> int | None:
        """The row of the document at a URI, or ``None``."""
        known = self._rows.get(uri)
        return _of_page(self._sources, uri) if known is None else known

    def row_below_a_root(self, path: str) -> int | None:
        """The row of the only document whose URI ends with a path of at least two parts, or ``None``."""
        if "/" not in path:
            return None
        path = str(PurePosixPath(path))
        known = self._ends.get(path)
        return _of_page(self._source_ends, path) if known is None else known

    def target(self, document: Document, link: str) -> int | None:
        """The row of the document that a link leads to, ``None`` where that is outside of the corpus."""
        try:
            parts = urlsplit(link)
        except ValueError:
            return None
        if parts.scheme or parts.netloc or not parts.path:
            return None
        path = encoded(unquote(parts.path))
        if path.startswith("/"):
            return self.row_below_a_root(path.strip("/"))
        uri = _joined(document.uri, path)
        return None if uri is None else self.row(uri)


def link_definitions(corpus: Corpus, addresses: Addresses) -> list[Definition]:
    """The labels of links as weak definitions of what they lead to, sorted by unit and name.

    A label names its target where it is specific and leads to few places. The more documents use it, the better.
    """
    users: dict[tuple[str, int], set[int]] = defaultdict(set)
    surface: dict[str, str] = {}
    anchors: dict[int, dict[str, int]] = {}
    for number, document in enumerate(corpus.documents):
        for link in document.links:
            label = " ".join(document.text[link.start_char : link.end_char].split()).strip("`*_[]() ")
            key = normalise_name(label)
            row = _target_unit(corpus, addresses, number, link.target, anchors) if _is_label(label, key) else None
            if row is not None:
                users[key, row].add(number)
                surface.setdefault(key, label)
    targets: dict[str, int] = defaultdict(int)
    for key, _ in users:
        targets[key] += 1
    return [
        Definition(key, surface[key], row, LINK_TEXT_AGREED if len(users[key, row]) > 1 else LINK_TEXT, own=False)
        for key, row in sorted(users, key=lambda at: (at[1], at[0]))
        if targets[key] <= MAX_LABEL_TARGETS
    ]


def _is_label(label: str, key: str) -> bool:
    words = key.split()
    return (
        usable(key)
        and is_nameable(key)
        and len(words) <= MAX_LABEL_WORDS
        and not set(words) <= _GENERIC
        and ("/" not in label)
    )


def _target_unit(
    corpus: Corpus, addresses: Addresses, number: int, link: str, anchors: dict[int, dict[str, int]]
) -> int | None:
    """The row of the first unit of the section, or of the document, that a link leads to; ``anchors`` is filled."""
    path, _, anchor = link.partition("#")
    target = addresses.target(corpus.documents[number], path) if path else number
    if target is None or (target == number and not anchor) or not corpus.units_of(target):
        return None
    if not anchor:
        return corpus.first_unit[target]
    if target not in anchors:
        anchors[target] = _anchors(corpus, target)
    return anchors[target].get(anchor)


def _anchors(corpus: Corpus, number: int) -> dict[str, int]:
    """The row of the first unit below each anchor of a document."""
    named = {section.id: section.anchor for section in corpus.sections_of(number) if section.anchor}
    rows: dict[str, int] = {}
    for row, unit in enumerate(corpus.units_of(number), corpus.first_unit[number]):
        if unit.section_id in named:
            rows.setdefault(named[unit.section_id], row)
    return rows


def _joined(uri: str, path: str) -> str | None:
    """The URI that a relative path leads to from a document, or ``None`` where it leads above all sources."""
    stack = uri.split("/")[:-1]
    for part in path.split("/"):
        if part == "..":
            if not stack:
                return None
            stack.pop()
        elif part not in ("", "."):
            stack.append(part)
    return "/".join(stack)


def _of_page(places: dict[str, int | None], path: str) -> int | None:
    """The row of the source of a page. A dot may belong to its name (``release-1.2``): only what a page ends with is
    cut, and the whole name goes first."""
    stems = [path, *(path.removesuffix(suffix) for suffix in _PAGE_SUFFIXES if path.endswith(suffix))]
    tried = [place for stem in stems for place in (stem, *(f"{stem}/{name}" for name in _FOLDER_PAGES))]
    return next((row for place in tried if (row := places.get(place)) is not None), None)


def _enter(places: dict[str, int | None], names: Sequence[str], row: int) -> None:
    """Note the row of different places; of two sources of one place neither is meant."""
    for name in names:
        places[name] = None if name in places else row


def _endings(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[at:]) for at in range(len(parts))]


def _stem(uri: str) -> str:
    path = PurePosixPath(uri)
    return str(path.with_suffix("")) if path.name else ""
