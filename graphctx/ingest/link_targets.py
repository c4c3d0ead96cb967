"""Link targets: the documents of the corpus, and their units, that hyperlinks lead to."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from graphctx.ingest.corpus import Corpus
from graphctx.ingest.definitions import Definition, find_definitions, usable
from graphctx.ingest.name_keys import name_key
from graphctx.ingest.sources import encoded
from graphctx.model.documents import Document

LINK_TEXT = 0.3
"""One author's name for the target; ``LINK_TEXT_AGREED`` if documents agree on it."""

LINK_TEXT_AGREED = 0.5
MAX_LABEL_WORDS = 6
MAX_DEFINITIONS = 3
"""A term that more documents define is a common label ("Note:", ``--help``) and is ignored."""

MAX_LABEL_TARGETS = 2
"""A label that leads to more places names none of them."""

_GENERIC = frozenset(
    "here this that link page docs doc documentation guide section chapter example examples details more next previous "
    "above below see overview introduction readme source reference home index table contents article issue".split()
)
_PAGE_SUFFIXES = (".html", ".htm")
_FOLDER_PAGES = ("index", "README", "_index")


class LinkTargets:
    """Finds the document that a link leads to: the one with its URI, or the source of the linked page.

    Sites link to ``guide.html``, ``guide`` or ``guide/`` where the source is ``guide.md`` or ``guide/index.md``, and
    from the root of the site, wherever in the corpus that is.

    Args:
        uris: of the documents, in row order.
    """

    def __init__(self, uris: Sequence[str]) -> None:
        self._rows = {uri: row for row, uri in enumerate(uris)}
        self._stems: dict[str, int | None] = {}
        self._endings: dict[str, int | None] = {}
        self._stem_endings: dict[str, int | None] = {}
        for row, uri in enumerate(uris):
            if "#" not in uri:
                stem = str(PurePosixPath(uri).with_suffix("")) if PurePosixPath(uri).name else ""
                _add(self._stems, [stem], row)
                _add(self._endings, _endings(uri), row)
                _add(self._stem_endings, _endings(stem), row)

    def target(self, document: Document, link: str) -> int | None:
        """Return the row of the document that a link leads to, ``None`` if that is outside of the corpus."""
        try:
            parts = urlsplit(link)
        except ValueError:
            return None
        if parts.scheme or parts.netloc or not parts.path:
            return None
        path = encoded(unquote(parts.path))
        if not path.startswith("/"):
            uri = _joined(document.uri, path)
            return None if uri is None else self._rows.get(uri, _source_of(self._stems, uri))
        path = str(PurePosixPath(path.strip("/")))
        if "/" not in path:  # too short to tell where the root of the site is
            return None
        row = self._endings.get(path)
        return _source_of(self._stem_endings, path) if row is None else row


def link_definitions(corpus: Corpus, targets: LinkTargets) -> list[Definition]:
    """Return the labels of links as weak definitions of what they lead to, sorted by unit and name.

    A label defines its target if it is specific and leads to few places. The more documents use it, the better.
    """

    @cache
    def anchors(row: int) -> dict[str, int]:
        """The first unit below each anchor of a document."""
        anchor_of = {section.id: section.anchor for section in corpus.sections_of(row)}
        units = list(enumerate(corpus.units_of(row), corpus.first_unit[row]))
        return {anchor: at for at, unit in reversed(units) if (anchor := anchor_of[unit.section_id])}

    def unit_of(row: int, link: str) -> int | None:
        """The first unit of the section, or of the other document, that a link of a document leads to."""
        path, _, anchor = link.partition("#")
        target = targets.target(corpus.documents[row], path) if path else row
        if target is None or (target == row and not anchor) or not corpus.units_of(target):
            return None
        return anchors(target).get(anchor) if anchor else corpus.first_unit[target]

    users: dict[tuple[int, str], set[int]] = defaultdict(set)
    surface: dict[str, str] = {}
    for row, document in enumerate(corpus.documents):
        for link in document.links:
            label = " ".join(document.text[link.start_char : link.end_char].split()).strip("`*_[]() ")
            key = name_key(label, code=document.text[link.start_char : link.end_char].startswith("`"))
            if _is_specific(label, key) and (unit := unit_of(row, link.target)) is not None:
                users[unit, key].add(row)
                surface.setdefault(key, label)
    places = Counter(key for _, key in users)
    return [
        Definition(key, surface[key], unit, LINK_TEXT_AGREED if len(users[unit, key]) > 1 else LINK_TEXT, own=False)
        for unit, key in sorted(users)
        if places[key] <= MAX_LABEL_TARGETS
    ]


def corpus_definitions(corpus: Corpus) -> list[Definition]:
    """Return all definitions of a corpus, labels of links included, without terms that many documents define."""
    definitions: list[Definition] = []
    definers: dict[str, set[int]] = defaultdict(set)
    for row, document in enumerate(corpus.documents):
        sections, units = corpus.sections_of(row), corpus.units_of(row)
        for definition in find_definitions(document, sections, units, corpus.first_unit[row]):
            definitions.append(definition)
            if not definition.own:
                definers[definition.key].add(row)
    kept = [one for one in definitions if one.own or len(definers[one.key]) <= MAX_DEFINITIONS]
    return kept + link_definitions(corpus, LinkTargets([document.uri for document in corpus.documents]))


def _is_specific(label: str, key: str) -> bool:
    words = key.split()
    return usable(key) and len(words) <= MAX_LABEL_WORDS and not set(words) <= _GENERIC and "/" not in label


def _joined(uri: str, path: str) -> str | None:
    """The URI that a relative path leads to from a document, or ``None`` if it leads above all sources."""
    stack = uri.split("/")[:-1]
    for part in path.split("/"):
        if part == "..":
            if not stack:
                return None
            stack.pop()
        elif part not in ("", "."):
            stack.append(part)
    return "/".join(stack)


def _source_of(rows: dict[str, int | None], path: str) -> int | None:
    """The row of the source of a page. A dot may belong to its name ("release-1.2"), so the whole name goes first."""
    stems = [path, *(path.removesuffix(suffix) for suffix in _PAGE_SUFFIXES if path.endswith(suffix))]
    pages = (page for stem in stems for page in (stem, *(f"{stem}/{name}" for name in _FOLDER_PAGES)))
    return next((row for page in pages if (row := rows.get(page)) is not None), None)


def _add(rows: dict[str, int | None], names: Sequence[str], row: int) -> None:
    """Add a row under different names; a name of two rows leads to neither."""
    for name in names:
        rows[name] = None if name in rows else row


def _endings(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[at:]) for at in range(len(parts))]
