"""What an entity is called by what may be seen.

In a whole snapshot that is its name and its aliases. Within a scope it is what documents write that may be seen, the
most frequent first: a name that stands outside only is told by nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from graphctx.retrieve.graph.view import TITLE_PLACE, View
from graphctx.text.names import normalise_name

MAX_NAMING = 64
"""Mentions that are read to find what an entity is called within a scope."""

MAX_ALIASES = 10
"""Other names that are told."""

MAX_MATCHED = 1_000
"""Mentions that are read to find out whether one name is among them."""


@dataclass(frozen=True, slots=True)
class Names:
    """What an entity is called: the name, and others."""

    name: str
    aliases: tuple[str, ...]


def names_of(view: View, entity: int) -> Names | None:
    """The names of an entity; ``None`` where nothing names it that may be seen."""
    if view.whole:
        if not len(view.pairs_of(entity)):
            return None
        name, *aliases = view.tables.entities.surfaces(entity)
        return Names(name, tuple(aliases[:MAX_ALIASES]))
    counted: Counter[str] = Counter()
    for at, surface in enumerate(_written(view, entity)):
        counted[surface] += 1
        if at + 1 == MAX_NAMING:
            break
    ordered = sorted(counted, key=lambda surface: (-counted[surface], -len(surface), surface))
    return Names(ordered[0], tuple(ordered[1 : 1 + MAX_ALIASES])) if ordered else None


def is_called(view: View, entity: int, key: str) -> bool:
    """Whether what may be seen calls an entity by a name, given as `normalise_name` makes it."""
    if view.whole:
        return bool(len(view.pairs_of(entity)))
    for at, surface in enumerate(_written(view, entity)):
        if normalise_name(surface) == key:
            return True
        if at == MAX_MATCHED:
            break
    return False


def _written(view: View, entity: int) -> Iterator[str]:
    """The surfaces of an entity in reading order: mentions first, then titles, headings and files' names."""
    pairs = view.pairs_of(entity)
    counts = view.mention_counts(pairs)
    mentions = view.tables.mentions
    for unit in view.walk.pair_unit[pairs[counts > 0]].tolist():
        text = view.index.text_of(int(view.walk.unit_doc[unit])).text
        for at in mentions.of(unit, entity):
            yield " ".join(text[mentions.start[at] : mentions.end[at]].split())
    known = view.tables.entities.surfaces(entity)
    for pair in pairs[counts == 0].tolist():
        surface = _above(view, int(view.walk.pair_unit[pair]), known, titled=view.walk.pair_place[pair] > TITLE_PLACE)
        if surface is not None:
            yield surface


def _above(view: View, unit: int, known: list[str], *, titled: bool) -> str | None:
    """How the title, a heading or the file's name of a unit names an entity, if they do.

    Another document's link may give a unit a name too; that is not looked at, as that document may be outside.
    """
    place = view.index.unit(unit)
    document = view.tables.documents
    title, uri = str(document.titles[place.doc_row]), str(document.uris[place.doc_row])
    texts = [title, *reversed(place.heading.split(" › ")), uri.rpartition("/")[2]]
    for text in texts:
        folded = text.casefold()
        for surface in known:
            at = folded.find(surface.casefold())
            if at >= 0:
                found = text[at : at + len(surface)]
                return found if found.casefold() == surface.casefold() else text
    keys = {normalise_name(surface) for surface in known}
    for text in texts:
        if normalise_name(text) in keys:
            return text
    return title if titled else None
