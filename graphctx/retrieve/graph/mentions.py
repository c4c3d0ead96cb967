"""Where entities are named: mentions by unit and entity, and by sentence."""

from __future__ import annotations

import numpy as np

from graphctx.retrieve.index import Rows
from graphctx.store.walk import pointers


class Mentions:
    """All mentions of a snapshot, in reading order within each pair of unit and entity.

    Attributes:
        start, end: spans in the document's text.
        sentence: sentence rows.
        named_sentence, named_entity: distinct pairs, sorted: which sentence names which entity.
        named_unit: the unit of each of those pairs.
        of_entity, entity_ptr: the positions of the pairs that hold an entity.
    """

    def __init__(self, unit: Rows, sentence: Rows, entity: Rows, start: Rows, end: Rows, *, n_entities: int) -> None:
        self._width = max(n_entities, 1)
        key = unit * self._width + entity
        order = np.argsort(key, kind="stable")
        self._key = key[order]
        self.start, self.end, self.sentence = start[order], end[order], sentence[order]
        named = np.unique(sentence * self._width + entity)
        self.named_sentence, self.named_entity = named // self._width, named % self._width
        unit_of = np.zeros(int(sentence.max(initial=-1)) + 1, dtype=np.int64)
        unit_of[sentence] = unit
        self.named_unit = unit_of[self.named_sentence]
        self.of_entity = np.argsort(self.named_entity, kind="stable")
        self.entity_ptr = pointers(self.named_entity[self.of_entity], n_entities)

    def counts(self, unit: Rows, entity: Rows) -> Rows:
        """How often each unit mentions the entity beside it."""
        first, last = self._bounds(unit, entity)
        return (last - first).astype(np.int64)

    def of(self, unit: int, entity: int) -> range:
        """The positions of a unit's mentions of an entity."""
        first, last = self._bounds(np.array([unit]), np.array([entity]))
        return range(int(first[0]), int(last[0]))

    def _bounds(self, unit: Rows, entity: Rows) -> tuple[Rows, Rows]:
        key = unit.astype(np.int64) * self._width + entity
        return np.searchsorted(self._key, key), np.searchsorted(self._key, key, side="right")
