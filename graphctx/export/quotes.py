"""Quotes of a page: exact spans of documents with their place, each written once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from graphctx.export.communities import SeenCommunity
from graphctx.export.seen import SeenEntity
from graphctx.model.documents import has_file_lines
from graphctx.retrieve.graph.view import GraphView
from graphctx.text.graphemes import cut_end, cut_start

MAX_CHARS = 320
"""Longest quote: about four lines of a narrow column."""

_LEAD_IN = 80
"""What is shown before a name that stands far inside a long sentence or block of code."""

_LEAST_CHARS = 24
"""A shorter sentence is mostly a heading or a cell, and is quoted where there is nothing longer."""


@dataclass(frozen=True, slots=True)
class Quoted:
    """A span of a document, ``text == document.text[start_char:end_char]``, with what is cited of its place.

    ``line`` is told where the file itself has that line; ``page`` where the document has pages. ``as_it_is``
    where its lines and spaces have a meaning: code and tables.
    """

    document: int
    text: str
    heading: str
    start_char: int
    end_char: int
    line: int | None
    page: int | None
    truncated: bool
    as_it_is: bool


@dataclass
class QuoteBook:
    """The quotes of a page, in the order in which they were asked for; ``all`` has each once.

    Attributes:
        view: what may be seen.
        points: sentence rows that are points of communities: they stand alone, and are quoted first.
    """

    view: GraphView
    points: frozenset[int]
    all: list[Quoted] = field(default_factory=list)
    _known: dict[tuple[int, int, int], int] = field(default_factory=dict)

    @classmethod
    def of(cls, view: GraphView, communities: Iterable[SeenCommunity]) -> QuoteBook:
        """An empty book that knows the points of some communities."""
        return cls(view, frozenset(row for community in communities for row in community.points))

    def of_sentences(self, sentences: Iterable[int]) -> list[int]:
        """The numbers of the quotes of some sentence rows."""
        return [self._sentence(row) for row in sentences]

    def of_entity(self, entity: SeenEntity, most: int) -> list[int]:
        """The numbers of the quotes that name an entity, at most one of each unit.

        First sentences that are points, then of units that are about it, then by where the unit names it, then in
        reading order; short ones last.
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
        short = view.walk.sentence_end[sentences] - view.walk.sentence_start[sentences] < _LEAST_CHARS
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
        if name_end > start + MAX_CHARS and entity is not None:
            name_start = self._named_at(unit, row, entity)[0]
            start = cut_start(text, max(start, name_start - _LEAD_IN), name_start)
        start += len(text[start:end]) - len(text[start:end].lstrip())
        stop = end if end - start <= MAX_CHARS else cut_end(text, start, start + MAX_CHARS)
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

    def _quoted(self, unit: int, row: int, start: int, end: int, *, truncated: bool) -> Quoted:
        document, place = self.view.index.text_of(row), self.view.index.unit(unit)
        line = document.line(start) if has_file_lines(document.uri) else None
        text = document.text[start:end]
        return Quoted(
            document=row,
            text=text,
            heading=place.heading,
            start_char=start,
            end_char=end,
            line=line,
            page=document.page(start),
            truncated=truncated,
            as_it_is=place.kind in ("code", "table") or "```" in text,
        )
