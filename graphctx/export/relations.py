"""The edges between entities as far as they may be seen, with what facts say of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from graphctx.model.interrupt import checkpoint
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.graph.edges import MAX_MENTIONS, MAX_SENTENCES, related
from graphctx.retrieve.graph.view import GraphView

MAX_PREDICATES = 10
"""Of one edge, the most frequent first."""

_ALL = 2**31 - 1
_TOGETHER = MAX_MENTIONS - MAX_SENTENCES
"""Namings that are looked at in one step within a scope: with one entity more it is still below that step's limit."""


@dataclass(frozen=True, slots=True)
class Edges:
    """Edges of rows ``near`` < ``far``, sorted by both; ``weight`` is float64."""

    near: Rows
    far: Rows
    weight: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.near)


def edges_between(view: GraphView, entities: Rows) -> Edges:
    """The edges between some entities.

    Args:
        view: what may be seen.
        entities: rows, sorted.
    """
    parts = list(_whole(view) if view.whole else _within(view, entities))
    near, far, weight = (np.concatenate([part[at] for part in parts]) for at in range(3))
    kept = np.isin(near, entities) & np.isin(far, entities)
    near, far, weight = near[kept], far[kept], weight[kept]
    order = np.lexsort((far, near))
    return Edges(near[order], far[order], weight[order])


def _whole(view: GraphView) -> Iterator[tuple[Rows, Rows, npt.NDArray[np.float64]]]:
    table = view.index.snapshot.table("related", ["source_row", "target_row", "weight"])
    source, target, weight = (column.to_numpy() for column in table.columns)
    yield source.astype(np.int64), target.astype(np.int64), weight.astype(np.float64)


def _within(view: GraphView, entities: Rows) -> Iterator[tuple[Rows, Rows, npt.NDArray[np.float64]]]:
    yield np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    namings = np.minimum(view.occurrences[0][entities], MAX_SENTENCES)
    step = np.cumsum(namings) // _TOGETHER
    for some in np.split(entities, np.flatnonzero(np.diff(step)) + 1):
        checkpoint()
        near, far, weight = related(view, some, _ALL)
        once = near < far  # each edge comes from either end
        yield near[once], far[once], weight[once]


class Said:
    """What facts that may be seen say of pairs of entities."""

    def __init__(self, view: GraphView) -> None:
        """Read nothing yet."""
        self._view = view

    def facts(self, one: int, other: int) -> int:
        """How many facts join two entities."""
        return len(self._by_pair.get((min(one, other), max(one, other)), ()))

    def predicates(self, near: int, far: int, most: int = MAX_PREDICATES) -> list[tuple[bool, str]]:
        """What facts say of two entities: whether ``near`` is the subject, and the predicate. The most frequent first,
        ties in the order of letters.
        """
        pair = (min(near, far), max(near, far))
        said = Counter((self._subject[row] == near, self._predicates[row]) for row in self._by_pair.get(pair, ()))
        return sorted(said, key=lambda one: (-said[one], one[1], not one[0]))[:most]

    @cached_property
    def _by_pair(self) -> dict[tuple[int, int], Sequence[int]]:
        facts, visible = self._view.tables.facts, self._view.index.visible
        found: dict[tuple[int, int], list[int]] = {}
        rows = np.arange(len(facts.subject)) if visible is None else np.flatnonzero(visible[facts.unit])
        low, high = np.minimum(facts.subject, facts.object), np.maximum(facts.subject, facts.object)
        for row, one, other in zip(rows.tolist(), low[rows].tolist(), high[rows].tolist(), strict=True):
            found.setdefault((one, other), []).append(row)
        return dict(found)

    @cached_property
    def _subject(self) -> list[int]:
        subjects: list[int] = self._view.tables.facts.subject.tolist()
        return subjects

    @cached_property
    def _predicates(self) -> list[str]:
        table = self._view.index.snapshot.table("facts", ["predicate"])
        return [" ".join(text.split()) for text in table["predicate"].to_pylist()]
