"""The communities within a scope: which there are, how large they are, and their titles, members and sentences.

`graph.communities`, global search, completion, resources and exports all ask here. A community none of whose entities
is named within the scope is left out; its title and its sentences come from the scope's documents. The hierarchy
itself, and which names and sentences are the best, come from the whole snapshot.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from graphctx.model.interrupt import checkpoint
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.graph.columns import CommunityHierarchy
from graphctx.retrieve.graph.view import GraphView, Mask
from graphctx.retrieve.index import SearchIndex
from graphctx.store.walk import gather
from graphctx.text.names import TITLE_NAMES, says_nothing_beside, shown_heading, shown_name, title_words, too_long

MAX_POINTS = 40
"""Sentences of a community within a scope, as many as the snapshot has of one."""

MAIN_DOCUMENTS = 3
"""Documents that are named of a community."""

MAX_DESCENDANTS = 1_000
"""Communities below one whose sentences are looked at within a scope: 40,000 sentences, in a few milliseconds."""

_BLOCK = 64
"""Descendants that are looked at before the search for sentences checks whether it has enough."""


class CommunityCounts:
    """Sizes, titles and sentences of the communities of a scope.

    Attributes:
        n_naming: int64 [E], the number of visible units that name each entity.
        n_entities: int64 [C], the number of members that a visible unit names.
        titles, points: of the communities that were asked for, by row.
        n_units: int64 [C], by level, for the levels that were asked for.
        headings: of the scope, once a title was asked for.
    """

    def __init__(self, view: GraphView, hierarchy: CommunityHierarchy) -> None:
        walk, members = view.walk, hierarchy.entities
        pairs = view.names_entity(np.arange(len(walk.pair_unit)))
        self.n_naming: Rows = np.bincount(walk.pair_entity[pairs], minlength=walk.n_entities).astype(np.int64)
        visible = np.ones(len(members.value), bool) if view.whole else self.n_naming[members.value] > 0
        self.n_entities: Rows = np.bincount(members.owner[visible], minlength=len(hierarchy)).astype(np.int64)
        self.titles: dict[int, str] = {}
        self.points: dict[int, Rows] = {}
        self.n_units: dict[int, Rows] = {}
        self.headings: frozenset[str] | None = None


_COUNTS: WeakKeyDictionary[SearchIndex, CommunityCounts] = WeakKeyDictionary()
"""The counts of each scope, for as long as its index lives."""

_LOCK = threading.Lock()


class CommunityIndex:
    """The communities that are visible in a view of the graph. Rows are those of the `hierarchy`."""

    def __init__(self, view: GraphView) -> None:
        self.view = view
        self.hierarchy = view.tables.communities
        with _LOCK:
            counts = _COUNTS.get(view.index)
        if counts is None:
            counts = CommunityCounts(view, self.hierarchy)
            with _LOCK:
                counts = _COUNTS.setdefault(view.index, counts)
        self._counts = counts

    @property
    def n_entities(self) -> Rows:
        """The number of members of each that are named within the scope, [C]."""
        return self._counts.n_entities

    @cached_property
    def visible(self) -> Mask:
        """Which communities exist within the scope, bool [C]."""
        return self.n_entities > 0

    def row(self, community_id: str) -> int | None:
        """Return the row of an id, or of the community that a former id leads to; ``None`` outside the scope."""
        row = self.hierarchy.row(community_id)
        row = self.hierarchy.heirs.get(community_id) if row is None else row
        return row if row is not None and self.visible[row] else None

    def ordered(self, rows: Rows) -> Rows:
        """Return the visible ones of some communities, the largest first, then by id."""
        rows = rows[self.visible[rows]]
        ordered: Rows = rows[np.lexsort((self.hierarchy.rank[rows], -self.n_entities[rows]))]
        return ordered

    def roots(self) -> Rows:
        """Return the communities of the root level, in order."""
        return self.ordered(np.flatnonzero(self.hierarchy.level == 0))

    def children(self, row: int) -> Rows:
        """Return the communities directly below one, in order."""
        return self.ordered(self.hierarchy.child[row])

    def holding(self, entity: int) -> Rows:
        """Return the communities of an entity, the broadest first."""
        members = self.hierarchy.entities
        rows = members.owner[members.value == entity]
        rows = rows[self.visible[rows]]
        found: Rows = rows[np.argsort(self.hierarchy.level[rows], kind="stable")]
        return found

    def members(self, row: int) -> Rows:
        """Return the entities of a community that are named within the scope, by row."""
        rows = self.hierarchy.entities[row]
        found: Rows = rows if self.view.whole else rows[self._counts.n_naming[rows] > 0]
        return found

    def n_units(self, row: int) -> int:
        """Return the number of visible units that are about a community.

        As at ingest: units that mention two of its entities, or one that they are about; if there are none, those that
        mention one.
        """
        if self.view.whole:
            return int(self.hierarchy.n_units[row])
        level = int(self.hierarchy.level[row])
        if level not in self._counts.n_units:
            self._counts.n_units[level] = self._units_by_community(level)
        return int(self._counts.n_units[level][row])

    def _units_by_community(self, level: int) -> Rows:
        """Return `n_units` of the communities of a level, and 0 for all others, int64 [C]."""
        walk, members, count = self.view.walk, self.hierarchy.entities, len(self.hierarchy)
        here = self.hierarchy.level[members.owner] == level
        community = np.full(walk.n_entities, -1, dtype=np.int64)
        community[members.value[here]] = members.owner[here]
        n_units = max(walk.n_units, 1)

        def keys_of(unit: npt.NDArray[np.integer], entity: npt.NDArray[np.integer]) -> Rows:
            kept = community[entity] >= 0
            keys: Rows = community[entity[kept]] * n_units + unit[kept].astype(np.int64)
            return keys

        mentioned = np.flatnonzero(walk.pair_mentions > 0)
        keys, n_mentioned = np.unique(
            keys_of(walk.pair_unit[mentioned], walk.pair_entity[mentioned]), return_counts=True
        )
        definition_entity = np.repeat(np.arange(walk.n_entities), np.diff(walk.definition_ptr))
        treats = (n_mentioned >= 2) | np.isin(keys, keys_of(walk.definition_unit, definition_entity))
        treats |= np.bincount(keys[treats] // n_units, minlength=count)[keys // n_units] == 0
        return np.bincount(keys[treats] // n_units, minlength=count).astype(np.int64)

    def title(self, row: int) -> str:
        """Return the title of a community: within a scope a heading or a title of its documents, else visible names."""
        title = self.hierarchy.titles[row]
        if self.view.whole or title in self._headings:
            return title
        titles = self._counts.titles
        if row not in titles:
            titles[row] = title_of(name for _, name in self._named(self._for_title(row)))
        return titles[row]

    @property
    def _headings(self) -> frozenset[str]:
        """The headings and titles within the scope, as titles of communities show them."""
        if self._counts.headings is None:
            index = self.view.index
            rows = pa.array(index.visible_rows)
            paths = set(index.units["heading"].take(rows).to_pylist())
            documents = pa.array(np.unique(index.walk.unit_doc[index.visible_rows]))
            shown = [part for path in paths for part in path.split(" › ")]
            shown += index.documents["title"].take(documents).to_pylist()
            self._counts.headings = frozenset(map(shown_heading, shown))
        return self._counts.headings

    def key_entities(self, row: int, most: int) -> list[tuple[int, str]]:
        """Return rows and names of the most characteristic entities of a community, best first."""
        return [found for found, _ in zip(self._named(self._by_character(row)), range(most), strict=False)]

    def document_titles(self, row: int) -> list[str]:
        """Return the titles of the `MAIN_DOCUMENTS` that are most about a community; copies of one title once."""
        titles = self.view.index.documents["title"]
        found = dict.fromkeys(_one_line(titles[at].as_py()) for at in self._documents(row))
        return list(found)[:MAIN_DOCUMENTS]

    def _documents(self, row: int) -> list[int]:
        """Return the rows of the visible documents that are about a community, those that are most about it first.

        A document counts by its units that name two members, or one where no unit names two, over the square root of
        its length in units.
        """
        walk = self.view.walk
        at, _ = gather(walk.entity_ptr, self.members(row))
        units, named = np.unique(walk.pair_unit[walk.entity_pair[at]], return_counts=True)
        both = named >= min(2, int(named.max(initial=0)))
        documents, count = np.unique(walk.unit_doc[units[both]], return_counts=True)
        start, end = (np.searchsorted(walk.unit_doc, documents, side=side) for side in ("left", "right"))
        worth = np.round(count / np.sqrt(end - start), 6)
        found: list[int] = documents[np.argsort(-worth, kind="stable")][: 4 * MAIN_DOCUMENTS].tolist()
        return found

    def key_facts(self, row: int) -> Rows:
        """Return the rows of the visible key facts of a community, best first."""
        facts, visible = self.view.tables.key_facts[row], self.view.index.visible
        found: Rows = facts if visible is None else facts[visible[self.view.tables.facts.unit[facts]]]
        return found

    def points(self, row: int) -> Rows:
        """Return the sentences that say most of a community, by row, best first.

        Within a scope its own visible sentences come first, then those of the communities below it, the best of each
        first: the best sentences of a broad community may all lie outside.
        """
        if self.view.whole:
            return self.hierarchy.points[row]
        points = self._counts.points
        if row not in points:
            points[row] = self._visible_points(row)
        return points[row]

    def summary(self, row: int) -> Rows:
        """Return the sentences of a community's summary, best first; within a scope as many of its points instead."""
        summary = self.hierarchy.summary[row]
        return summary if self.view.whole else self.points(row)[: len(summary)]

    def as_summarised(self, row: int) -> bool:
        """Return whether everything that the summary was made of is visible: a model's wording draws on all of it."""
        if self.view.whole:
            return True
        summary, keys = self.hierarchy.summary[row], self.hierarchy.key_entities[row].tolist()
        names = dict(self._named(keys))
        return (
            bool(self.view.sees_sentences(summary).all())
            and len(self.key_facts(row)) == len(self.view.tables.key_facts[row])
            and all(names.get(entity) == _one_line(self.view.tables.entities.names[entity].as_py()) for entity in keys)
            and self.title(row) == self.hierarchy.titles[row]
        )

    def _visible_points(self, row: int) -> Rows:
        points = self.hierarchy.points
        own = points[row][self.view.sees_sentences(points[row])]
        place, sentence = np.empty(0, np.int64), np.empty(0, np.int64)
        for rows in self._descendants(row):
            checkpoint()
            at, owner = gather(points.ptr, rows)
            visible = self.view.sees_sentences(points.value[at])
            at, owner = at[visible], owner[visible]
            place = np.concatenate([place, np.arange(len(at)) - np.searchsorted(owner, owner)])
            sentence = np.concatenate([sentence, points.value[at]])
            if len(np.union1d(own, sentence[place == 0])) >= MAX_POINTS:
                break  # the best of each comes first: what further communities have would come after these
        found = np.concatenate([own, sentence[np.argsort(place, kind="stable")]])
        _, first = np.unique(found, return_index=True)
        best: Rows = found[np.sort(first)[:MAX_POINTS]]
        return best

    def _descendants(self, row: int) -> Iterator[Rows]:
        """Yield the visible communities below one, level by level, in blocks; `MAX_DESCENDANTS` at most."""
        child, left = self.hierarchy.child, MAX_DESCENDANTS
        rows = child[row]
        while left and len(rows := rows[self.visible[rows]][:left]):
            yield from np.split(rows, range(_BLOCK, len(rows), _BLOCK))
            left -= len(rows)
            rows = child.value[gather(child.ptr, rows)[0]]

    def _by_character(self, row: int) -> Iterator[int]:
        """Yield the visible members: key entities in their order, then those that most units name."""
        members = self.members(row)
        keys = self.hierarchy.key_entities[row]
        keys = keys[np.isin(keys, members)]
        yield from keys.tolist()
        others = np.setdiff1d(members, keys)
        yield from others[np.argsort(-self._counts.n_naming[others], kind="stable")].tolist()

    def _for_title(self, row: int) -> Iterator[int]:
        """Yield the visible members, first those that give the community its title in the whole snapshot."""
        parts = self.hierarchy.titles[row].split(", ")
        members = self.members(row)
        names = self.view.tables.entities.names.take(pa.array(members)).to_pylist()
        at = {shown_name(name): entity for name, entity in zip(names, members.tolist(), strict=True)}
        titled = [at[part] for part in parts if part in at]
        yield from titled
        if len(titled) < len(parts):
            yield from (entity for entity in self._by_character(row) if entity not in titled)

    def _named(self, entities: Iterable[int]) -> Iterator[tuple[int, str]]:
        for entity in entities:
            checkpoint()
            names = self.view.names_of(entity)
            if names is not None:
                yield entity, _one_line(names.name)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def title_of(names: Iterable[str]) -> str:
    """Return a title: the first two or three names of which none is part of another, else one name."""
    chosen: list[str] = []
    keys: list[frozenset[str]] = []
    first = ""
    for name in map(shown_name, names):
        first = first or name
        key = title_words(name)
        if says_nothing_beside(key, keys):
            continue
        if len(chosen) == TITLE_NAMES - 1 and too_long([*chosen, name]):
            break
        chosen.append(name)
        keys.append(key)
        if len(chosen) == TITLE_NAMES:
            break
    return ", ".join(chosen) or first
