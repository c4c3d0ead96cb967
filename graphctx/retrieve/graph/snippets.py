"""One sentence that shows what a node or a relation is about: an exact span, cut where it is long."""

from __future__ import annotations

import numpy as np

from graphctx.model.graph import Snippet
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.graph.view import Key, View
from graphctx.store.walk import gather
from graphctx.text.graphemes import cut_end, cut_start

MAX_CHARS = 280
"""Longest snippet."""

_LEAD_IN = 80
"""What is shown before a name that stands far inside a long sentence or block of code."""


def snippet_of(view: View, key: Key) -> Snippet | None:
    """The snippet of a node: for an entity the sentence that names it, best in a home; else the first sentence."""
    match key.kind:
        case "entity":
            return _of_entity(view, key.row)
        case "unit":
            return _first(view, key.row)
        case "section":
            return _first_of(view, view.units_of_section(key.row))
        case _:
            units = view.tables.units.doc
            return _first_of(
                view, range(int(np.searchsorted(units, key.row)), int(np.searchsorted(units, key.row + 1)))
            )


def mention_snippet(view: View, unit: int, entity: int) -> Snippet | None:
    """The sentence in which a unit first names an entity."""
    for at in view.tables.mentions.of(unit, entity):
        return _naming(view, unit, at)
    return _first(view, unit)


def sentence_snippet(view: View, sentence: int, max_chars: int = MAX_CHARS) -> Snippet:
    """A sentence by its row, as much of it as a number of characters takes."""
    unit = int(np.searchsorted(view.walk.unit_sentence, sentence, side="right")) - 1
    return _span(view, unit, int(view.walk.sentence_start[sentence]), int(view.walk.sentence_end[sentence]), max_chars)


def related_snippet(view: View, one: int, other: int) -> Snippet | None:
    """The sentence of the first fact that joins two entities, else the first sentence that names both."""
    facts = view.tables.facts
    for fact in facts.between(one, other).tolist():
        unit = int(facts.unit[fact])
        if view.index.visible is None or view.index.visible[unit]:
            return _span(view, unit, int(facts.start[fact]), int(facts.end[fact]))
    both = np.intersect1d(_sentences_naming(view, one), _sentences_naming(view, other))
    for sentence in both[:1].tolist():
        return sentence_snippet(view, sentence)
    return None


def _sentences_naming(view: View, entity: int) -> Rows:
    named, seen = view.tables.mentions.named, view.seen_named
    at = named.of_entity[named.ptr[entity] : named.ptr[entity + 1]]
    rows: Rows = named.sentence[at if seen is None else at[seen[at]]]
    return rows


def _of_entity(view: View, entity: int) -> Snippet | None:
    """From the unit that is most about it, or names it in the best place, and that mentions it where one does."""
    pairs = view.pairs_of(entity)
    if not len(pairs):
        return None
    said = view.mention_counts(pairs) > 0
    best = np.lexsort((pairs, -view.walk.pair_place[pairs], -view.walk.pair_home[pairs], ~said))[0]
    return mention_snippet(view, int(view.walk.pair_unit[pairs[best]]), entity)


def _naming(view: View, unit: int, mention: int) -> Snippet:
    """The sentence of a mention, from shortly before it where it would be cut off."""
    mentions = view.tables.mentions
    sentence = int(mentions.sentence[mention])
    start, end = int(view.walk.sentence_start[sentence]), int(view.walk.sentence_end[sentence])
    if mentions.end[mention] > start + MAX_CHARS:
        text = view.index.text_of(int(view.walk.unit_doc[unit])).text
        start = cut_start(text, max(start, int(mentions.start[mention]) - _LEAD_IN), int(mentions.start[mention]))
    return _span(view, unit, start, end)


def _first_of(view: View, units: range) -> Snippet | None:
    return _first(view, units[0]) if units else None


def _first(view: View, unit: int) -> Snippet | None:
    sentences, _ = gather(view.walk.unit_sentence, np.array([unit]))
    return _sentence(view, unit, int(sentences[0])) if len(sentences) else None


def _sentence(view: View, unit: int, sentence: int) -> Snippet:
    return _span(view, unit, int(view.walk.sentence_start[sentence]), int(view.walk.sentence_end[sentence]))


def _span(view: View, unit: int, start: int, end: int, max_chars: int = MAX_CHARS) -> Snippet:
    place = view.index.unit(unit)
    document = view.index.text_of(place.doc_row)
    start += len(document.text[start:end]) - len(document.text[start:end].lstrip())
    if end - start > max_chars:
        end = cut_end(document.text, start, start + max_chars)
        end = start + len(document.text[start:end].rstrip())
    return Snippet(
        text=document.text[start:end],
        section_id=place.id,
        doc_uri=document.uri,
        start_char=start,
        end_char=end,
        line=document.line(start),
        page=document.page(start),
        anchor=place.anchor,
    )
