"""The entities, communities and relations that an export may show: those within its scope."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from graphctx.model.interrupt import checkpoint
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.graph.communities import CommunityIndex
from graphctx.retrieve.graph.edges import MAX_MENTIONS, MAX_SENTENCES, related
from graphctx.retrieve.graph.nodes import node_fields
from graphctx.retrieve.graph.view import GraphView
from graphctx.store.communities import read_phrased

_KEY_ENTITIES = 10
"""As many as a snapshot holds of each community."""

_MAX_PREDICATES = 10
"""Of one relation, the most frequent first."""

_ALL = 2**31 - 1
_BATCH_MENTIONS = MAX_MENTIONS - MAX_SENTENCES
"""Mentions that are read in one batch within a scope: with one entity more it is still below the limit of a batch."""


@dataclass(frozen=True, slots=True)
class VisibleEntity:
    """An entity with the names and counts that graph.describe returns within the same scope."""

    row: int
    id: str
    name: str
    aliases: tuple[str, ...]
    label: str
    n_mentions: int
    n_units: int


def visible_entities(view: GraphView) -> list[VisibleEntity]:
    """Return the entities that a visible text names, in the order of their rows, which is that of their ids."""
    n_units = np.diff(view.walk.entity_ptr).tolist()
    if view.whole:  # the table has everything, and is much faster than a request for each entity
        table = view.index.snapshot.table("entities", ["id", "name", "aliases", "label", "n_mentions"])
        return [
            VisibleEntity(row, **{**fields, "aliases": tuple(fields["aliases"])}, n_units=n_units[row])
            for row, fields in enumerate(table.to_pylist())
            if n_units[row]
        ]
    found = []
    for row in np.flatnonzero(n_units).tolist():
        checkpoint()
        if len(view.naming_pairs(row)):
            fields = node_fields(view, view.key("entity", row))
            names = ("id", "name", "label", "n_mentions", "n_units")
            found.append(VisibleEntity(row, aliases=tuple(fields["aliases"]), **{name: fields[name] for name in names}))
    return found


def rows_of(entities: Sequence[VisibleEntity]) -> Rows:
    """Return the rows of some entities, int64."""
    return np.array([entity.row for entity in entities], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class VisibleCommunity:
    """A community.

    Attributes:
        entities: rows, in the order of their ids.
        key: rows of the characteristic ones, the best first.
        n_units: how many visible units belong to it.
        points: rows of sentences, the best first; ``summary`` has those that are its summary.
        phrased: a language model's sentences for it, if there are any and everything they rest on is visible.
    """

    id: str
    level: int
    parent_id: str | None
    title: str
    entities: tuple[int, ...]
    key: tuple[int, ...]
    n_units: int
    points: tuple[int, ...]
    summary: tuple[int, ...]
    phrased: tuple[str, ...]


def visible_communities(view: GraphView) -> list[VisibleCommunity]:
    """Return the communities with a visible entity, by level and id."""
    index = CommunityIndex(view)
    hierarchy = index.hierarchy
    found = []
    for row in np.flatnonzero(index.visible).tolist():
        checkpoint()
        parent = int(hierarchy.parent[row])
        phrased = read_phrased(hierarchy.phrased(row))
        found.append(
            VisibleCommunity(
                id=hierarchy.id(row),
                level=int(hierarchy.level[row]),
                parent_id=hierarchy.id(parent) if parent >= 0 else None,
                title=index.title(row),
                entities=tuple(index.members(row).tolist()),
                key=tuple(entity for entity, _ in index.key_entities(row, _KEY_ENTITIES)),
                n_units=index.n_units(row),
                points=tuple(index.points(row).tolist()),
                summary=tuple(index.summary(row).tolist()),
                phrased=tuple(one.text for one in phrased) if phrased and index.as_summarised(row) else (),
            )
        )
    return found


@dataclass(frozen=True, slots=True)
class Relations:
    """Pairs of related entities: rows ``near`` < ``far``, sorted by both; ``weight`` is float64."""

    near: Rows
    far: Rows
    weight: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.near)

    def __iter__(self) -> Iterator[tuple[int, int, float]]:
        return zip(self.near.tolist(), self.far.tolist(), self.weight.tolist(), strict=True)


def relations_between(view: GraphView, entities: Rows) -> Relations:
    """Return the visible relations between some entities, whose rows are sorted."""
    if view.whole:
        table = view.index.snapshot.table("related", ["source_row", "target_row", "weight"])
        source, target, strength = (column.to_numpy() for column in table.columns)
        parts = [(source.astype(np.int64), target.astype(np.int64), strength.astype(np.float64))]
    else:
        parts = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
        mentions = np.minimum(view.occurrences[0][entities], MAX_SENTENCES)
        batch = np.cumsum(mentions) // _BATCH_MENTIONS
        for rows in np.split(entities, np.flatnonzero(np.diff(batch)) + 1):
            checkpoint()
            near, far, weight = related(view, rows, _ALL)
            once = near < far  # both ends return the same pair
            parts.append((near[once], far[once], weight[once]))
    near, far, weight = (np.concatenate([part[at] for part in parts]) for at in range(3))
    kept = np.flatnonzero(np.isin(near, entities) & np.isin(far, entities))
    order = kept[np.lexsort((far[kept], near[kept]))]
    return Relations(near[order], far[order], weight[order])


class PairFacts:
    """The visible facts about pairs of entities."""

    def __init__(self, view: GraphView) -> None:
        self._view = view

    def count(self, one: int, other: int) -> int:
        """Return how many facts join two entities."""
        return len(self._by_pair.get((min(one, other), max(one, other)), ()))

    def predicates(self, near: int, far: int, most: int = _MAX_PREDICATES) -> list[str]:
        """Return the predicates of facts about two entities, after an arrow: → if ``near`` is the subject, else ←.

        The most frequent ones come first, ties by the alphabet.
        """
        pair = (min(near, far), max(near, far))
        found = Counter((self._subject[row] == near, self._predicates[row]) for row in self._by_pair.get(pair, ()))
        ordered = sorted(found, key=lambda one: (-found[one], one[1], not one[0]))[:most]
        return [f"{'→' if outward else '←'} {predicate}" for outward, predicate in ordered]

    @cached_property
    def _by_pair(self) -> dict[tuple[int, int], list[int]]:
        facts, visible = self._view.tables.facts, self._view.index.visible
        found: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
        rows = np.arange(len(facts.subject)) if visible is None else np.flatnonzero(visible[facts.unit])
        low, high = np.minimum(facts.subject, facts.object), np.maximum(facts.subject, facts.object)
        for row, one, other in zip(rows.tolist(), low[rows].tolist(), high[rows].tolist(), strict=True):
            found[one, other].append(row)
        return found

    @cached_property
    def _subject(self) -> list[int]:
        subjects: list[int] = self._view.tables.facts.subject.tolist()
        return subjects

    @cached_property
    def _predicates(self) -> list[str]:
        table = self._view.index.snapshot.table("facts", ["predicate"])
        return [" ".join(text.split()) for text in table["predicate"].to_pylist()]
