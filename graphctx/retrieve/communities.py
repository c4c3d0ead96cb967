"""The hierarchy of communities of a snapshot, and what a scope leaves of it.

This is the one place that says which communities there are for a request, how large they are, what they are called and
what they say: `graph.communities`, global search and the resources all ask here. What lies outside the scope counts for
nothing: a community of which nothing is named within does not exist, a title is made of names that the scope's
documents write, and points are sentences of theirs. Which entities belong together, and which names and sentences are
the best, was settled once for the whole corpus and stays so.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from graphctx.errors import InvalidArgument
from graphctx.model.interrupt import checkpoint
from graphctx.retrieve.graph.columns import Identified, rows_of
from graphctx.retrieve.graph.names import names_of
from graphctx.retrieve.graph.view import TITLE_PLACE, View
from graphctx.retrieve.index import Rows, SearchIndex
from graphctx.store.schema import COMMUNITIES
from graphctx.store.snapshot import Snapshot
from graphctx.store.walk import pointers
from graphctx.text.names import normalise_name, singular_of

Mask = npt.NDArray[np.bool_]

_KEPT = ["title", "key_fact_ids", "phrased", "formerly"]
_COLUMNS = [
    *("id", "level", "parent_id", "entity_ids", "n_units", "key_entity_ids", "point_rows", "summary_rows"),
    *_KEPT,
]

TITLE_NAMES = 3
TITLE_CHARS = 60
"""A title that is longer with a third name has two; as at ingest."""

MAX_POINTS = 40
"""Points of a community within a scope; as many as it has in all."""


@dataclass(frozen=True, slots=True)
class Lists:
    """A list of rows for each community: those of ``c`` are ``value[ptr[c]:ptr[c + 1]]``."""

    ptr: Rows
    value: Rows

    @classmethod
    def of(cls, column: pa.ChunkedArray, ids: pa.Array | None = None) -> Lists:
        """Take a column of lists, of row numbers or, with ``ids``, of ids whose rows are wanted."""
        lists = column.combine_chunks()
        inside = lists.flatten()
        sizes = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
        value = inside if ids is None else pc.index_in(inside, ids)
        return cls(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), rows_of(value))

    def __getitem__(self, row: int) -> Rows:
        """The list of one community."""
        found: Rows = self.value[self.ptr[row] : self.ptr[row + 1]]
        return found

    @property
    def owner(self) -> Rows:
        """The community of each value."""
        return np.repeat(np.arange(len(self.ptr) - 1), np.diff(self.ptr))


class Hierarchy(Identified):
    """All communities of a snapshot, C of them, sorted by level and id. Thread-safe; what is read is read once.

    A snapshot of an older version, whose communities have no summaries, has none here.

    Attributes:
        level: int64 [C], 0 at the root.
        parent: int64 [C], -1 of a root.
        child: the rows of the children of each, in order.
        entities: the entity rows of each.
        key_entities, key_facts: entity and fact rows, at most 10 each, the best first.
        points, summary: sentence rows, at most 40 and 8, the best first.
        n_units: int64 [C], in the whole snapshot.
    """

    def __init__(self, snapshot: Snapshot, entity_ids: pa.Array) -> None:
        """Read the table.

        Args:
            snapshot: whose communities.
            entity_ids: by row.
        """
        table = _read(snapshot)
        super().__init__(table["id"].combine_chunks())
        self._snapshot = snapshot
        self._table = table.select(_KEPT)
        self._n_entities = len(entity_ids)
        self._lock = threading.Lock()
        self._counted: WeakKeyDictionary[SearchIndex, Counted] = WeakKeyDictionary()
        self.level = rows_of(table["level"])
        self.parent = rows_of(pc.fill_null(pc.index_in(table["parent_id"], self.ids), -1))
        below = np.flatnonzero(self.parent >= 0)
        below = below[np.argsort(self.parent[below], kind="stable")]
        self.child = Lists(pointers(self.parent[below], len(self.ids)).astype(np.int64), below)
        self.entities = Lists.of(table["entity_ids"], entity_ids)
        self.key_entities = Lists.of(table["key_entity_ids"], entity_ids)
        self.points = Lists.of(table["point_rows"])
        self.summary = Lists.of(table["summary_rows"])
        self.n_units = rows_of(table["n_units"])

    @cached_property
    def key_facts(self) -> Lists:
        """The rows of the key facts of each community."""
        return Lists.of(self._table["key_fact_ids"], self._snapshot.table("facts", ["id"])["id"].combine_chunks())

    @cached_property
    def finest(self) -> Rows:
        """The finest community of each entity, -1 of one that is in none, int64 [E]."""
        finest = np.full(self._n_entities, -1, dtype=np.int64)
        finest[self.entities.value] = self.entities.owner  # sorted by level: of several the last one stays
        return finest

    @cached_property
    def titles(self) -> list[str]:
        """The title of each in the whole snapshot."""
        found: list[str] = self._table["title"].to_pylist()
        return found

    def phrased(self, row: int) -> str | None:
        """The column ``phrased``, as `graphctx.store.phrased` reads it."""
        value: str | None = self._table["phrased"][row].as_py()
        return value

    def formerly(self, row: int) -> list[str]:
        """The ids that a community had in earlier snapshots."""
        found: list[str] = self._table["formerly"][row].as_py()
        return found

    @cached_property
    def heirs(self) -> dict[str, int]:
        """The row to which each former id leads."""
        return {former: row for row, ids in enumerate(self._table["formerly"].to_pylist()) for former in ids}

    def within(self, view: View) -> Communities:
        """What a request may see of them; what is counted for its scope is kept as long as the scope's index is."""
        with self._lock:
            counted = self._counted.get(view.index)
        if counted is None:
            counted = Counted.of(view, self)
            with self._lock:
                counted = self._counted.setdefault(view.index, counted)
        return Communities(view, self, counted)


class Counted:
    """The sizes of all communities within one scope; it holds no index, or none would ever be let go.

    Attributes:
        naming: int64 [E], in how many of the units that may be seen each entity is named.
        n_entities: int64 [C], the members that are named there.
        titles: those that were made so far.
        units: int64 [C] by level, made when they are asked for.
    """

    def __init__(self, naming: Rows, n_entities: Rows) -> None:
        self.naming = naming
        self.n_entities = n_entities
        self.titles: dict[int, str] = {}
        self.units: dict[int, Rows] = {}

    @classmethod
    def of(cls, view: View, hierarchy: Hierarchy) -> Counted:
        """Count what may be seen."""
        pairs = _named_pairs(view)
        naming = np.bincount(view.walk.pair_entity[pairs], minlength=view.walk.n_entities).astype(np.int64)
        members = hierarchy.entities
        seen = np.ones(len(members.value), bool) if view.whole else naming[members.value] > 0
        return cls(naming, np.bincount(members.owner[seen], minlength=len(hierarchy)).astype(np.int64))


class Communities:
    """The communities that a request may see. All rows are those of the `hierarchy`."""

    def __init__(self, view: View, hierarchy: Hierarchy, counted: Counted) -> None:
        """Use `Hierarchy.within` instead."""
        self.view = view
        self.hierarchy = hierarchy
        self._counted = counted

    @property
    def n_entities(self) -> Rows:
        """How many members of each are named within the scope, [C]."""
        return self._counted.n_entities

    @cached_property
    def seen(self) -> Mask:
        """Which of them there are, bool [C]."""
        return self.n_entities > 0

    def row(self, community_id: str) -> int | None:
        """The row of an id, or of the community that goes on as a former one; ``None`` where there is none in scope."""
        row = self.hierarchy.row(community_id)
        row = self.hierarchy.heirs.get(community_id) if row is None else row
        return row if row is not None and self.seen[row] else None

    def ordered(self, rows: Rows) -> Rows:
        """Those of some communities that may be seen, the largest first, then by id."""
        rows = rows[self.seen[rows]]
        ordered: Rows = rows[np.lexsort((self.hierarchy.rank[rows], -self.n_entities[rows]))]
        return ordered

    def roots(self) -> Rows:
        """The communities of the root level, in order."""
        return self.ordered(np.flatnonzero(self.hierarchy.level == 0))

    def children(self, row: int) -> Rows:
        """The communities directly below one, in order."""
        return self.ordered(self.hierarchy.child[row])

    def holding(self, entity: int) -> Rows:
        """The communities of an entity, the broadest first."""
        members = self.hierarchy.entities
        rows = members.owner[members.value == entity]
        rows = rows[self.seen[rows]]
        found: Rows = rows[np.argsort(self.hierarchy.level[rows], kind="stable")]
        return found

    def members(self, row: int) -> Rows:
        """The entities of a community that are named within the scope, by row."""
        rows = self.hierarchy.entities[row]
        found: Rows = rows if self.view.whole else rows[self._counted.naming[rows] > 0]
        return found

    def n_units(self, row: int) -> int:
        """The units within the scope that treat of a community (as at ingest: they name two of its entities, or one
        that they are about; where none does, those that name one).
        """
        if self.view.whole:
            return int(self.hierarchy.n_units[row])
        level = int(self.hierarchy.level[row])
        if level not in self._counted.units:
            self._counted.units[level] = treating_units(self.view, self.hierarchy, level)
        return int(self._counted.units[level][row])

    def title(self, row: int) -> str:
        """The title of a community: the names that are most characteristic of it, of those that may be seen."""
        if self.view.whole:
            return self.hierarchy.titles[row]
        titles = self._counted.titles
        if row not in titles:
            titles[row] = title_of(name for _, name in self._named(self._for_titles(row)))
        return titles[row]

    def key_entities(self, row: int, most: int) -> list[tuple[int, str]]:
        """Rows and names of the entities that are most characteristic of a community, the best first."""
        found: list[tuple[int, str]] = []
        for entity, name in self._named(self._by_character(row)):
            if len(found) == most:
                break
            found.append((entity, name))
        return found

    def key_facts(self, row: int) -> Rows:
        """The rows of its key facts that may be seen, the best first."""
        facts = self.hierarchy.key_facts[row]
        visible = self.view.index.visible
        found: Rows = facts if visible is None else facts[visible[self.view.tables.facts.unit[facts]]]
        return found

    def points(self, row: int) -> Rows:
        """The sentences that say most of a community, by row, the best first: its own that may be seen.

        Within a scope those of the communities below follow, the best of each first: of a broad community the best
        sentences of all may lie outside.
        """
        own = self._visible(self.hierarchy.points[row])
        if self.view.whole:
            return own
        waiting = self.hierarchy.child[row].tolist()
        below: list[Rows] = []
        while waiting:
            at = waiting.pop(0)
            rows = self._visible(self.hierarchy.points[at])
            below.append(np.stack([np.arange(len(rows)), np.full(len(rows), len(below)), rows]))
            waiting += self.hierarchy.child[at].tolist()
        if below:
            place, turn, rows = np.concatenate(below, axis=1)
            own = np.concatenate([own, rows[np.lexsort((turn, place))]])
        _, first = np.unique(own, return_index=True)
        found: Rows = own[np.sort(first)[:MAX_POINTS]]
        return found

    def summary(self, row: int) -> Rows:
        """The sentences of its summary, by row, the best first; within a scope as many of its points instead."""
        if self.view.whole:
            return self.hierarchy.summary[row]
        return self.points(row)[: len(self.hierarchy.summary[row])]

    def as_summarised(self, row: int) -> bool:
        """Whether all that the summary was made of may be seen: a language model's words for it mix everything."""
        if self.view.whole:
            return True
        summary, keys = self.hierarchy.summary[row], self.hierarchy.key_entities[row]
        called = dict(self._named(keys.tolist()))
        return (
            len(self._visible(summary)) == len(summary)
            and len(self.key_facts(row)) == len(self.hierarchy.key_facts[row])
            and all(called.get(entity) == self._name(entity) for entity in keys.tolist())
            and self.title(row) == self.hierarchy.titles[row]
        )

    def unit_of(self, sentence: int) -> int:
        """The unit of a sentence."""
        return int(np.searchsorted(self.view.walk.unit_sentence, sentence, side="right")) - 1

    def _visible(self, sentences: Rows) -> Rows:
        visible = self.view.index.visible
        if visible is None:
            return sentences
        units = np.searchsorted(self.view.walk.unit_sentence, sentences, side="right") - 1
        found: Rows = sentences[visible[units]]
        return found

    def _by_character(self, row: int) -> Iterator[int]:
        """The members within the scope: the key entities in their order, then those that most units name."""
        members = self.members(row)
        inside = set(members.tolist())
        keys = [entity for entity in self.hierarchy.key_entities[row].tolist() if entity in inside]
        yield from keys
        others = np.setdiff1d(members, np.array(keys, dtype=np.int64))
        yield from others[np.argsort(-self._counted.naming[others], kind="stable")].tolist()

    def _for_titles(self, row: int) -> Iterator[int]:
        """The members within the scope, those first that give the community its title in the whole snapshot."""
        parts = self.hierarchy.titles[row].split(", ")
        members = self.members(row)
        names = self.view.tables.entities.names.take(pa.array(members)).to_pylist()
        at = {" ".join(name.split()): entity for name, entity in zip(names, members.tolist(), strict=True)}
        titled = [at[part] for part in parts if part in at]
        yield from titled
        if len(titled) < len(parts):
            yield from (entity for entity in self._by_character(row) if entity not in titled)

    def _named(self, entities: Iterable[int]) -> Iterator[tuple[int, str]]:
        for entity in entities:
            checkpoint()
            names = names_of(self.view, entity)
            if names is not None:
                yield entity, " ".join(names.name.split())

    def _name(self, entity: int) -> str:
        return " ".join(self.view.tables.entities.names[entity].as_py().split())


def title_of(names: Iterable[str]) -> str:
    """Two or three of some names, the first that are no part of one another; one where there is no other."""
    chosen: list[str] = []
    keys: list[set[str]] = []
    first = ""
    for name in names:
        first = first or name
        key = {singular_of(word) for word in normalise_name(name).split()}
        if not key or any(key <= other or other <= key for other in keys):
            continue
        if len(chosen) == TITLE_NAMES - 1 and len(", ".join([*chosen, name])) > TITLE_CHARS:
            break
        chosen.append(name)
        keys.append(key)
        if len(chosen) == TITLE_NAMES:
            break
    return ", ".join(chosen) or first


def treating_units(view: View, hierarchy: Hierarchy, level: int) -> Rows:
    """How many units that may be seen treat of each community of a level; 0 for those of other levels, int64 [C]."""
    walk, count = view.walk, len(hierarchy)
    members = hierarchy.entities
    here = hierarchy.level[members.owner] == level
    owner = np.full(walk.n_entities, -1, dtype=np.int64)
    owner[members.value[here]] = members.owner[here]
    n_units = max(walk.n_units, 1)

    def keys_of(unit: npt.NDArray[np.integer], entity: npt.NDArray[np.integer]) -> Rows:
        kept = owner[entity] >= 0
        keys: Rows = owner[entity[kept]] * n_units + unit[kept].astype(np.int64)
        return keys

    mentioned = np.flatnonzero(_mentions(view) > 0)
    keys, distinct = np.unique(
        keys_of(walk.pair_unit[mentioned], walk.pair_entity[mentioned].astype(np.int64)), return_counts=True
    )
    home_entity = np.repeat(np.arange(walk.n_entities), np.diff(walk.home_ptr))
    treats = (distinct >= 2) | np.isin(keys, keys_of(walk.home_unit, home_entity))
    having = np.bincount(keys[treats] // n_units, minlength=count)
    treats |= having[keys // n_units] == 0
    return np.bincount(keys[treats] // n_units, minlength=count).astype(np.int64)


def _mentions(view: View) -> npt.NDArray[np.integer]:
    """How often the unit of each pair that may be seen mentions its entity."""
    walk = view.walk
    if len(walk.pair_mentions) == len(walk.pair_unit):
        return walk.pair_mentions
    return view.mention_counts(np.arange(len(walk.pair_unit)))


def _named_pairs(view: View) -> Mask:
    """The pairs whose unit names its entity, as `View.naming_pairs` tells them, bool [P]."""
    if view.whole:
        return np.ones(len(view.walk.pair_unit), dtype=bool)
    named: Mask = (_mentions(view) > 0) | (view.walk.pair_place > TITLE_PLACE)
    return named


def _read(snapshot: Snapshot) -> pa.Table:
    try:
        return snapshot.table("communities", _COLUMNS).combine_chunks()
    except InvalidArgument:  # of an older version: without summaries, or without the table
        return COMMUNITIES.empty_table().select(_COLUMNS)
