"""Where entities are named: mentions by unit and entity, and by sentence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from graphctx.retrieve.arrays import Rows
from graphctx.store.walk import pointers


@dataclass(frozen=True, slots=True)
class Named:
    """Distinct pairs of a sentence and an entity that it names, sorted.

    Attributes:
        sentence, entity, unit: rows.
        of_entity, ptr: the positions of the pairs of each entity.
    """

    sentence: Rows
    entity: Rows
    unit: Rows
    of_entity: Rows
    ptr: npt.NDArray[np.int32]


class Mentions:
    """All mentions of a snapshot, in reading order within each pair of unit and entity.

    Attributes:
        start, end: spans in the document's text.
        sentence: sentence rows.
    """

    def __init__(self, unit: Rows, sentence: Rows, entity: Rows, start: Rows, end: Rows, *, n_entities: int) -> None:
        self._width = max(n_entities, 1)
        key = unit * self._width + entity
        order = np.argsort(key, kind="stable")
        self._key = key[order]
        self.start, self.end, self.sentence = start[order], end[order], sentence[order]

    @cached_property
    def named(self) -> Named:
        """Which sentences name which entities."""
        unit, entity = np.divmod(self._key, self._width)
        pairs = np.unique(self.sentence * self._width + entity)
        unit_of = np.zeros(int(self.sentence.max(initial=-1)) + 1, dtype=np.int64)
        unit_of[self.sentence] = unit
        sentences, entities = np.divmod(pairs, self._width)
        of_entity = np.argsort(entities, kind="stable")
        return Named(sentences, entities, unit_of[sentences], of_entity, pointers(entities[of_entity], self._width))

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
