"""The graph within a scope: which nodes and mentions are visible, and what the visible documents call an entity.

Every node has a number: documents, sections, units and entities stand one after the other. What lies outside the scope
does not exist: it has no id, no name and no count here. A whole snapshot calls an entity by its name and aliases; a
scope calls it what its own documents write, most frequent first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from graphctx.model.graph import NodeKind
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.graph.columns import IdColumn
from graphctx.retrieve.graph.tables import GraphTables
from graphctx.retrieve.index import SearchIndex
from graphctx.store.walk import WalkArrays, gather
from graphctx.text.names import normalise_name

Mask = npt.NDArray[np.bool_]

KINDS: tuple[NodeKind, ...] = ("document", "section", "unit", "entity")
"""In the order of node numbers."""

TITLE_PLACE = np.float32(0.65)
"""`WalkArrays.pair_place` is larger where the document's title names the entity (0.7), smaller elsewhere."""

MAX_UNITS = 2_000
"""Units of an entity, in reading order, that are looked at for its edges; units that are its definitions are always."""

MAX_NAME_MENTIONS = 64
"""Mentions that are read to find an entity's names within a scope."""

MAX_MATCHED_MENTIONS = 1_000
"""Mentions that are read to find whether a scope calls an entity by one name."""

MAX_ALIASES = 10


@dataclass(frozen=True, slots=True)
class NodeKey:
    """A node: its kind, its row in the table of that kind, and its number."""

    kind: NodeKind
    row: int
    number: int


@dataclass(frozen=True, slots=True)
class EntityNames:
    """The name of an entity and its other names."""

    name: str
    aliases: tuple[str, ...]


class GraphView:
    """The part of a snapshot's graph that lies within a scope.

    Attributes:
        index: of the scope.
        tables: of the whole snapshot.
        walk: the pairs of the scope.
    """

    def __init__(self, index: SearchIndex, tables: GraphTables) -> None:
        self.index = index
        self.tables = tables
        self.walk: WalkArrays = index.walk
        sizes = [len(self._ids(kind)) for kind in KINDS]
        self.base: Rows = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    @property
    def whole(self) -> bool:
        """Whether everything is visible."""
        return self.index.visible_documents is None

    # Nodes

    def number(self, kind: NodeKind) -> int:
        """Return the number of the first node of a kind."""
        return int(self.base[KINDS.index(kind)])

    def key(self, kind: NodeKind, row: int) -> NodeKey:
        """Return the node of a row."""
        return NodeKey(kind, row, self.number(kind) + row)

    def node(self, number: int) -> NodeKey:
        """Return the node of a number."""
        at = int(np.searchsorted(self.base, number, side="right")) - 1
        return NodeKey(KINDS[at], number - int(self.base[at]), number)

    def rows(self, numbers: Rows, kind: NodeKind) -> Rows:
        """Return the rows of those nodes that are of a kind."""
        first, end = self.base[KINDS.index(kind) :][:2].tolist()
        rows: Rows = numbers[(numbers >= first) & (numbers < end)] - first
        return rows

    def row(self, kind: NodeKind, node_id: str) -> int | None:
        """Return the row of an id, visible or not, or ``None`` if there is none."""
        return self._ids(kind).row(node_id)

    def id(self, key: NodeKey) -> str:
        """Return the id of a node."""
        return self._ids(key.kind).id(key.row)

    def id_rank(self, numbers: Rows) -> Rows:
        """Return integers that sort as the ids of nodes do: by the letter of the kind, then by id."""
        kind = np.searchsorted(self.base, numbers, side="right") - 1
        rank = np.empty(len(numbers), dtype=np.int64)
        for at, name in enumerate(KINDS):
            mine = kind == at
            rank[mine] = self._ids(name).rank[numbers[mine] - self.base[at]]
        letter = np.array([0, 2, 3, 1])[kind]  # d, s, u, e in the order of letters
        return letter * int(self.base[-1] + 1) + rank

    def _ids(self, kind: NodeKind) -> IdColumn:
        tables = self.tables
        match kind:
            case "document":
                return tables.documents
            case "section":
                return tables.sections
            case "unit":
                return tables.units
            case _:
                return tables.entities

    def sees_document(self, row: int) -> bool:
        """Return whether a document is visible."""
        visible = self.index.visible_documents
        return visible is None or bool(visible[row])

    def document_of(self, key: NodeKey) -> int:
        """Return the row of the document of a document, a section or a unit."""
        match key.kind:
            case "section":
                return int(self.tables.sections.doc[key.row])
            case "unit":
                return int(self.tables.units.doc[key.row])
            case _:
                return key.row

    def units_of(self, key: NodeKey) -> range:
        """Return the units of a document, of a section with all that is below it, or a unit itself."""
        match key.kind:
            case "document":
                return self.tables.units.of_document(key.row)
            case "section":
                bounds = [key.row, self.tables.sections.end[key.row]]
                return range(*np.searchsorted(self.tables.units.section, bounds).tolist())
            case _:
                return range(key.row, key.row + 1)

    def unit_of_sentence(self, sentence: int) -> int:
        """Return the unit of a sentence."""
        return int(np.searchsorted(self.walk.unit_sentence, sentence, side="right")) - 1

    def sees_sentences(self, sentences: Rows) -> Mask:
        """Return which sentences are visible, bool."""
        if self.index.visible is None:
            return np.ones(len(sentences), dtype=bool)
        seen: Mask = self.index.visible[np.searchsorted(self.walk.unit_sentence, sentences, side="right") - 1]
        return seen

    # Mentions

    def pairs_of(self, entity: int) -> Rows:
        """Return the visible pairs of an entity with a unit, in the order of units."""
        first, end = self.walk.entity_ptr[entity : entity + 2]
        pairs: Rows = self.walk.entity_pair[first:end].astype(np.int64)
        return pairs

    def naming_pairs(self, entity: int) -> Rows:
        """Return the pairs of an entity whose unit names it."""
        pairs = self.pairs_of(entity)
        return pairs[self.names_entity(pairs)]

    def names_entity(self, pairs: Rows) -> Mask:
        """Return which pairs' units name their entity, bool.

        Within a scope, a unit that does not mention the entity names it only through its document's title: its other
        names may come from links of documents outside.
        """
        if self.whole:
            return np.ones(len(pairs), dtype=bool)
        named: Mask = (self.mention_counts(pairs) > 0) | (self.walk.pair_place[pairs] > TITLE_PLACE)
        return named

    def mention_counts(self, pairs: Rows) -> Rows:
        """Return how often each pair's unit mentions its entity, int64; 0 where only a title or heading names it."""
        counts: Rows = self.walk.pair_mentions[pairs].astype(np.int64)
        return counts

    @cached_property
    def visible_mentions(self) -> Mask | None:
        """Which pairs of `MentionColumns.by_sentence` are visible; ``None`` for all."""
        return None if self.index.visible is None else self.index.visible[self.tables.mentions.by_sentence.unit]

    @cached_property
    def occurrences(self) -> tuple[Rows, int]:
        """The number of visible sentences that mention each entity, int64 [E], and of those that mention any."""
        mentions = self.tables.mentions.by_sentence
        visible = slice(None) if self.visible_mentions is None else self.visible_mentions
        counts = np.bincount(mentions.entity[visible], minlength=len(self.tables.entities))
        return counts.astype(np.int64), len(np.unique(mentions.sentence[visible]))

    def specificity(self, entities: Rows) -> npt.NDArray[np.float64]:
        """Return ``ln(N / df) / ln N`` of entities over the visible units, in 0..1."""
        n = max(self.walk.n_counted, 2)
        frequency = np.maximum(self.walk.entity_ptr[entities + 1] - self.walk.entity_ptr[entities], 1)
        specific: npt.NDArray[np.float64] = np.clip(np.log(n / frequency) / np.log(n), 0.0, 1.0)
        return specific

    # Names

    def names_of(self, entity: int) -> EntityNames | None:
        """Return the names of an entity, or ``None`` if nothing visible names it."""
        if self.whole:
            name, *aliases = self.tables.entities.surfaces(entity)
            return EntityNames(name, tuple(aliases[:MAX_ALIASES])) if len(self.pairs_of(entity)) else None
        counts: Counter[str] = Counter()
        for at, surface in enumerate(self._surfaces(entity), start=1):
            counts[surface] += 1
            if at == MAX_NAME_MENTIONS:
                break
        ordered = sorted(counts, key=lambda surface: (-counts[surface], -len(surface), surface))
        return EntityNames(ordered[0], tuple(ordered[1 : 1 + MAX_ALIASES])) if ordered else None

    def is_called(self, entity: int, key: str) -> bool:
        """Return whether the visible documents call an entity by a name, given as `normalise_name` folds it."""
        if self.whole:
            return len(self.pairs_of(entity)) > 0
        for at, surface in enumerate(self._surfaces(entity)):
            if normalise_name(surface) == key:
                return True
            if at == MAX_MATCHED_MENTIONS:
                break
        return False

    def _surfaces(self, entity: int) -> Iterator[str]:
        """Yield how the scope writes an entity, in reading order: mentions, then titles, headings and file names."""
        pairs = self.pairs_of(entity)
        mentioned = self.mention_counts(pairs) > 0
        mentions = self.tables.mentions
        for unit in self.walk.pair_unit[pairs[mentioned]].tolist():
            text = self.index.text_of(int(self.walk.unit_doc[unit])).text
            for at in mentions.of(unit, entity):
                yield " ".join(text[mentions.start[at] : mentions.end[at]].split())
        known = self.tables.entities.surfaces(entity)
        for pair in pairs[~mentioned].tolist():
            titled = bool(self.walk.pair_place[pair] > TITLE_PLACE)
            surface = self._surface_above(int(self.walk.pair_unit[pair]), known, titled=titled)
            if surface is not None:
                yield surface

    def _surface_above(self, unit: int, known: list[str], *, titled: bool) -> str | None:
        """Return how the title, a heading or the file name of a unit writes an entity, or ``None`` if none does.

        Labels of links from other documents are not looked at, as those documents may lie outside the scope.
        """
        place = self.index.unit(unit)
        documents = self.tables.documents
        title, uri = str(documents.titles[place.doc_row]), str(documents.uris[place.doc_row])
        texts = [title, *reversed(place.heading.split(" › ")), uri.rpartition("/")[2]]
        for text in texts:
            for surface in known:
                at = text.casefold().find(surface.casefold())
                if at >= 0:
                    found = text[at : at + len(surface)]
                    return found if found.casefold() == surface.casefold() else text
        keys = {normalise_name(surface) for surface in known}
        return next((text for text in texts if normalise_name(text) in keys), title if titled else None)


def gather_first(ptr: npt.NDArray[np.integer], rows: Rows, most: int) -> tuple[Rows, Rows]:
    """Return the first ``most`` positions of each range ``ptr[r]:ptr[r+1]``, and for each its index into ``rows``."""
    positions, owner = gather(ptr, rows)
    first = positions - ptr[rows][owner] < most
    return positions[first], owner[first]
