"""The content of the page as one JSON object: names and quotes are written once and referred to by number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphctx.export.options import ExportOptions, OnProgress
from graphctx.export.visible import (
    PairFacts,
    Relations,
    VisibleCommunity,
    VisibleEntity,
    relations_between,
    rows_of,
    visible_communities,
    visible_entities,
)
from graphctx.model.documents import has_file_lines
from graphctx.model.interrupt import checkpoint
from graphctx.retrieve.graph.view import GraphView
from graphctx.text.graphemes import cut_end, cut_start

_MAX_COMMUNITY_QUOTES = 6
_MAX_RELATED = 8
_MAX_ALIASES = 6
_MAX_NAME_CHARS = 200
"""Longest name on a page; the map shows only the beginning."""

_STEP = 200
"""Entities between two calls of progress."""

MAX_QUOTE_CHARS = 320
"""Longest quote: about four lines of a narrow column."""

_LEAD_IN = 80
"""Characters before a name far inside a long sentence or block of code."""

_SHORT_CHARS = 24
"""A shorter sentence is mostly a heading or a cell; it is quoted only if there is nothing longer."""


@dataclass(frozen=True, slots=True)
class PageContent:
    """The JSON object, the counts of its content, and a sentence for each limit that left something out."""

    data: dict[str, Any]
    counts: dict[str, int]
    left_out: list[str]


def page_data(view: GraphView, project_id: str, options: ExportOptions, on_progress: OnProgress) -> PageContent:
    """Return the content of the page.

    Entities are chosen by the number of units that name them, ties by id. A community without a chosen entity is left
    out.
    """
    every = visible_entities(view)
    whole_tree = visible_communities(view)
    shown = sorted(every, key=lambda entity: (-entity.n_units, -entity.n_mentions, entity.id))[: options.max_entities]
    shown.sort(key=lambda entity: entity.row)
    numbers = {entity.row: at for at, entity in enumerate(shown)}
    tree = [community for community in whole_tree if any(row in numbers for row in community.entities)]
    book = PageQuotes(view, frozenset(row for community in tree for row in community.points))
    communities = _communities(tree, numbers, book)
    entities = _entities(shown, book, options.max_quotes, on_progress)
    _place(entities, tree, numbers)
    _relate(entities, view, shown, numbers)
    documents, quotes = _quotes(view, book.all)
    n_documents = sum(view.sees_document(row) for row in range(len(view.tables.documents)))
    whole = {"documents": n_documents, "entities": len(every), "communities": len(whole_tree)}
    left_out = _left_out(whole, len(shown), len(tree), options)
    data = {
        "project": project_id,
        "snapshot": view.index.snapshot.id,
        "counts": whole,
        "leftOut": left_out,
        "narrowed": [
            *(f"tag {tag}" for tag in options.doc_tag),
            *([f"below {options.path_prefix}"] if options.path_prefix else []),
        ],
        "documents": documents,
        "quotes": quotes,
        "communities": communities,
        "entities": entities,
    }
    counts = {"documents": n_documents, "entities": len(shown), "communities": len(tree), "quotes": len(quotes)}
    return PageContent(data, counts, left_out)


def _left_out(whole: Mapping[str, int], entities: int, communities: int, options: ExportOptions) -> list[str]:
    """Return what the limits left out, in sentences."""
    sentences = []
    if entities < whole["entities"]:
        sentences.append(
            f"The {entities:,} names that most passages use are shown, of {whole['entities']:,} "
            f"(--max-entities {options.max_entities})."
        )
    if communities < whole["communities"]:
        sentences.append(f"{whole['communities'] - communities:,} communities without any of these names are left out.")
    return sentences


def _communities(
    tree: Sequence[VisibleCommunity], numbers: Mapping[int, int], book: PageQuotes
) -> list[dict[str, Any]]:
    places = {community.id: at for at, community in enumerate(tree)}
    return [
        _lean(
            {
                "id": community.id,
                "title": _short(community.title),
                "level": community.level,
                "parent": places.get(community.parent_id or "", -1),
                "entities": len(community.entities),
                "units": community.n_units,
                "key": [numbers[row] for row in community.key if row in numbers],
                "quotes": book.of_sentences(community.summary[:_MAX_COMMUNITY_QUOTES]),
                "phrased": list(community.phrased),
            }
        )
        for community in tree
    ]


def _entities(
    shown: Sequence[VisibleEntity], book: PageQuotes, most: int, on_progress: OnProgress
) -> list[dict[str, Any]]:
    found = []
    for done, entity in enumerate(shown, 1):
        found.append(
            {
                "id": entity.id,
                "name": _short(entity.name),
                "label": entity.label,
                "mentions": entity.n_mentions,
                "units": entity.n_units,
                "aliases": [_short(alias) for alias in entity.aliases[:_MAX_ALIASES]],
                "quotes": book.of_entity(entity, most),
            }
        )
        if done % _STEP == 0 or done == len(shown):
            checkpoint()
            on_progress("quotes", done, len(shown), "entities")
    return found


def _place(entities: list[dict[str, Any]], tree: Sequence[VisibleCommunity], numbers: Mapping[int, int]) -> None:
    """Set the deepest community of each entity; communities are sorted by level."""
    for at, community in enumerate(tree):
        for row in community.entities:
            if row in numbers:
                entities[numbers[row]]["community"] = at


def _relate(
    entities: list[dict[str, Any]], view: GraphView, shown: Sequence[VisibleEntity], numbers: Mapping[int, int]
) -> None:
    """Set the strongest relations of each entity, each with the predicate of a fact: ``[number, predicate]``."""
    facts = PairFacts(view)
    for at, others in _strongest(relations_between(view, rows_of(shown)), numbers).items():
        predicates = ([*map(_short, facts.predicates(shown[at].row, shown[other].row, 1))] for other in others)
        entities[at]["related"] = [[other, *found] for other, found in zip(others, predicates, strict=True)]
    for at, entity in enumerate(entities):
        entities[at] = _lean(entity)


def _strongest(relations: Relations, numbers: Mapping[int, int]) -> dict[int, list[int]]:
    found: dict[int, list[tuple[float, int]]] = {}
    for near, far, weight in relations:
        one, other = numbers[near], numbers[far]
        found.setdefault(one, []).append((-weight, other))
        found.setdefault(other, []).append((-weight, one))
    return {at: [other for _, other in sorted(pairs)[:_MAX_RELATED]] for at, pairs in found.items()}


def _quotes(view: GraphView, quotes: Sequence[PageQuote]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    rows = sorted({quote.document for quote in quotes})
    places = {row: at for at, row in enumerate(rows)}
    texts = [view.index.text_of(row) for row in rows]
    documents = [_lean({"id": text.id, "uri": text.uri, "title": _short(text.title)}) for text in texts]
    listed = [
        _lean(
            {
                "document": places[quote.document],
                "text": quote.text,
                "heading": quote.heading,
                "span": [quote.start_char, quote.end_char],
                "line": quote.line,
                "page": quote.page,
                "truncated": quote.truncated,
                "asis": quote.preformatted,
            }
        )
        for quote in quotes
    ]
    return documents, listed


def _lean(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that are not empty; 0 is not empty."""
    return {name: value for name, value in fields.items() if value or (value == 0 and value is not False)}


def _short(text: str) -> str:
    return text if len(text) <= _MAX_NAME_CHARS else text[: _MAX_NAME_CHARS - 1].rstrip() + "…"


@dataclass(frozen=True, slots=True)
class PageQuote:
    """A span of a document, ``text == document.text[start_char:end_char]``, with its citation.

    ``line`` is set if the file itself has that line, and ``page`` if the document has pages. ``preformatted`` marks
    code and tables, whose lines and spaces have a meaning.
    """

    document: int
    text: str
    heading: str
    start_char: int
    end_char: int
    line: int | None
    page: int | None
    truncated: bool
    preformatted: bool


@dataclass
class PageQuotes:
    """The quotes of a page, each once, numbered in the order of their first use.

    Attributes:
        view: the graph within a scope.
        points: rows of sentences that are points of communities; they are quoted first.
        all: the quotes by number.
    """

    view: GraphView
    points: frozenset[int]
    all: list[PageQuote] = field(default_factory=list)
    _known: dict[tuple[int, int, int], int] = field(default_factory=dict)

    def of_sentences(self, sentences: Iterable[int]) -> list[int]:
        """Return the numbers of the quotes of some sentence rows."""
        return [self._sentence(row) for row in sentences]

    def of_entity(self, entity: VisibleEntity, most: int) -> list[int]:
        """Return the numbers of at most ``most`` quotes that name an entity, at most one of each unit.

        Sentences that are points come first, then those of units that define it, then by the place of the name in the
        unit, then in reading order; short ones come last.
        """
        view, named = self.view, self.view.tables.mentions.by_sentence
        positions = named.of_entity[named.ptr[entity.row] : named.ptr[entity.row + 1]]
        if view.visible_mentions is not None:
            positions = positions[view.visible_mentions[positions]]
        if most < 1 or not len(positions):
            return []
        sentences, units = named.sentence[positions], named.unit[positions]
        pairs = view.pairs_of(entity.row)
        pair_units = view.walk.pair_unit[pairs]  # sorted
        place = np.minimum(np.searchsorted(pair_units, units), len(pairs) - 1)
        definition, prominence = view.walk.pair_definition[pairs[place]], view.walk.pair_place[pairs[place]]
        is_point = np.array([row in self.points for row in sentences.tolist()])
        short = view.walk.sentence_end[sentences] - view.walk.sentence_start[sentences] < _SHORT_CHARS
        order = np.lexsort((sentences, -prominence, -definition, ~is_point, short))
        first_of_units = np.unique(units[order], return_index=True)[1]
        chosen = order[np.sort(first_of_units)][:most]
        return [self._sentence(row, entity.row) for row in sentences[chosen].tolist()]

    def _sentence(self, row: int, entity: int | None = None) -> int:
        walk = self.view.walk
        unit = int(np.searchsorted(walk.unit_sentence, row, side="right")) - 1
        document = int(walk.unit_doc[unit])
        text = self.view.index.text_of(document).text
        start, end = int(walk.sentence_start[row]), int(walk.sentence_end[row])
        name_end = start if entity is None else self._named_at(unit, row, entity)[1]
        if name_end > start + MAX_QUOTE_CHARS and entity is not None:
            name_start = self._named_at(unit, row, entity)[0]
            start = cut_start(text, max(start, name_start - _LEAD_IN), name_start)
        start += len(text[start:end]) - len(text[start:end].lstrip())
        stop = end if end - start <= MAX_QUOTE_CHARS else cut_end(text, start, start + MAX_QUOTE_CHARS)
        stop = start + len(text[start:stop].rstrip())
        key = (document, start, stop)
        if key not in self._known:
            self._known[key] = len(self.all)
            self.all.append(self._quoted(unit, document, start, stop, truncated=stop < end))
        return self._known[key]

    def _named_at(self, unit: int, sentence: int, entity: int) -> tuple[int, int]:
        mentions = self.view.tables.mentions
        at = next(at for at in mentions.of(unit, entity) if mentions.sentence[at] == sentence)
        return int(mentions.start[at]), int(mentions.end[at])

    def _quoted(self, unit: int, row: int, start: int, end: int, *, truncated: bool) -> PageQuote:
        document, place = self.view.index.text_of(row), self.view.index.unit(unit)
        line = document.line(start) if has_file_lines(document.uri) else None
        text = document.text[start:end]
        return PageQuote(
            document=row,
            text=text,
            heading=place.heading,
            start_char=start,
            end_char=end,
            line=line,
            page=document.page(start),
            truncated=truncated,
            preformatted=place.kind in ("code", "table") or "```" in text,
        )
