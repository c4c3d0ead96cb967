"""What a scope leaves of the hierarchy of communities.

This is the one place that says which communities there are for a request, how large they are, what they are called and
what they say: `graph.communities`, global search and the resources all ask here. What lies outside the scope counts for
nothing: a community of which nothing is named within does not exist, a title is made of names that the scope's
documents write, and points are sentences of theirs. Which entities belong together, and which names and sentences are
the best, was settled once for the whole corpus and stays so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

import numpy as np
import pyarrow as pa

from graphctx.model.interrupt import checkpoint
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.community_sizes import Counted, treating_units
from graphctx.retrieve.graph.names import names_of
from graphctx.retrieve.graph.view import Mask, View
from graphctx.retrieve.hierarchy import Hierarchy
from graphctx.store.walk import gather
from graphctx.text.titles import TITLE_NAMES, says_nothing_beside, shown_name, title_words, too_long

__all__ = ["Communities", "Hierarchy", "title_of"]

MAX_POINTS = 40
"""Points of a community within a scope; as many as it has in all."""

MAX_BELOW = 1_000
"""Communities below one whose points are looked through for it: 40,000 sentences, in some milliseconds."""

_BLOCK = 64
"""Communities below that are looked at before it is asked whether that was enough."""


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
        sentences of all may lie outside. Of a great hierarchy only so many communities are looked at that the time
        does not grow with it.
        """
        if self.view.whole:
            return self._visible(self.hierarchy.points[row])
        points = self._counted.points
        if row not in points:
            points[row] = self._scoped_points(row)
        return points[row]

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

    def _scoped_points(self, row: int) -> Rows:
        points = self.hierarchy.points
        own = self._visible(points[row])
        place, sentence = np.empty(0, np.int64), np.empty(0, np.int64)
        for rows in self._below(row):
            checkpoint()
            at, owner = gather(points.ptr, rows)
            seen = self._visible_mask(points.value[at])
            at, owner = at[seen], owner[seen]
            place = np.concatenate([place, np.arange(len(at)) - np.searchsorted(owner, owner)])
            sentence = np.concatenate([sentence, points.value[at]])
            if len(np.union1d(own, sentence[place == 0])) >= MAX_POINTS:
                break  # the best of each comes first: what others have would come after these
        found = np.concatenate([own, sentence[np.argsort(place, kind="stable")]])
        _, first = np.unique(found, return_index=True)
        best: Rows = found[np.sort(first)[:MAX_POINTS]]
        return best

    def _below(self, row: int) -> Iterator[Rows]:
        """The communities below one that may be seen, the higher first, in blocks; `MAX_BELOW` at most."""
        child, left = self.hierarchy.child, MAX_BELOW
        rows = child[row]
        while left and len(rows := rows[self.seen[rows]][:left]):
            yield from np.split(rows, range(_BLOCK, len(rows), _BLOCK))
            left -= len(rows)
            rows = child.value[gather(child.ptr, rows)[0]]

    def _visible(self, sentences: Rows) -> Rows:
        found: Rows = sentences[self._visible_mask(sentences)]
        return found

    def _visible_mask(self, sentences: Rows) -> Mask:
        visible = self.view.index.visible
        if visible is None:
            return np.ones(len(sentences), dtype=bool)
        mask: Mask = visible[np.searchsorted(self.view.walk.unit_sentence, sentences, side="right") - 1]
        return mask

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
        at = {shown_name(name): entity for name, entity in zip(names, members.tolist(), strict=True)}
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
