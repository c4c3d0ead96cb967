"""What one request may see of the graph, and one number for every node of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from graphctx.model.graph import NodeKind
from graphctx.retrieve.arrays import Rows
from graphctx.retrieve.graph.columns import Identified
from graphctx.retrieve.graph.tables import GraphTables
from graphctx.retrieve.index import SearchIndex
from graphctx.store.walk import WalkArrays, gather

Mask = npt.NDArray[np.bool_]

KINDS: tuple[NodeKind, ...] = ("document", "section", "unit", "entity")
"""In the order of node keys."""

TITLE_PLACE = np.float32(0.65)
"""``WalkArrays.pair_place`` is above it where the document's title names the entity."""

MAX_UNITS = 2_000
"""Of an entity that more units name, the first so many in reading order are looked at for edges, and its homes."""


@dataclass(frozen=True, slots=True)
class Key:
    """A node: its kind, its row in the table of that kind, and the number that stands for it in arrays."""

    kind: NodeKind
    row: int
    number: int


class View:
    """The part of a snapshot's graph that lies within a scope.

    Attributes:
        index: of what may be seen.
        tables: of the whole snapshot.
        walk: the pairs of what may be seen.
    """

    def __init__(self, index: SearchIndex, tables: GraphTables) -> None:
        self.index = index
        self.tables = tables
        self.walk: WalkArrays = index.walk
        sizes = [len(tables.documents), len(tables.sections), len(tables.units), len(tables.entities)]
        self.base: Rows = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    @property
    def whole(self) -> bool:
        """Whether everything may be seen."""
        return self.index.visible_documents is None

    def number(self, kind: NodeKind) -> int:
        """What is added to a row of a kind to make the number of the node."""
        return int(self.base[KINDS.index(kind)])

    def key(self, kind: NodeKind, row: int) -> Key:
        """The node of a row."""
        return Key(kind, row, self.number(kind) + row)

    def node(self, number: int) -> Key:
        """The node of a number."""
        at = int(np.searchsorted(self.base, number, side="right")) - 1
        return Key(KINDS[at], number - int(self.base[at]), number)

    def rows(self, numbers: Rows, kind: NodeKind) -> Rows:
        """The rows of those nodes that are of a kind."""
        first, last = (int(edge) for edge in self.base[KINDS.index(kind) :][:2])
        rows: Rows = numbers[(numbers >= first) & (numbers < last)] - first
        return rows

    def row(self, kind: NodeKind, wanted: str) -> int | None:
        """The row of an id among the nodes of a kind, whether it may be seen or not."""
        return self._named(kind).row(wanted)

    def id(self, key: Key) -> str:
        """The id of a node."""
        return self._named(key.kind).id(key.row)

    def ids(self, numbers: Rows) -> list[str]:
        """The ids of nodes."""
        return [self.id(self.node(int(number))) for number in numbers]

    def id_rank(self, numbers: Rows) -> Rows:
        """Numbers that are ordered as the ids of nodes are: kinds by their letters, then by id."""
        kind = np.searchsorted(self.base, numbers, side="right") - 1
        rank = np.empty(len(numbers), dtype=np.int64)
        for at, name in enumerate(KINDS):
            mine = kind == at
            rank[mine] = self._named(name).rank[numbers[mine] - self.base[at]]
        letter = np.array([0, 2, 3, 1])[kind]  # d, s, u, e in the order of letters
        return letter * int(self.base[-1] + 1) + rank

    def _named(self, kind: NodeKind) -> Identified:
        match kind:
            case "document":
                return self.tables.documents
            case "section":
                return self.tables.sections
            case "unit":
                return self.tables.units
            case _:
                return self.tables.entities

    def sees_document(self, row: int) -> bool:
        """Whether a document may be seen."""
        seen = self.index.visible_documents
        return seen is None or bool(seen[row])

    def document_of(self, key: Key) -> int:
        """The document's row of a document, a section or a unit."""
        match key.kind:
            case "section":
                return int(self.tables.sections.doc[key.row])
            case "unit":
                return int(self.tables.units.doc[key.row])
            case _:
                return key.row

    def pairs_of(self, entity: int) -> Rows:
        """The pairs of an entity that may be seen, in the order of their units."""
        pairs: Rows = self.walk.entity_pair[self.walk.entity_ptr[entity] : self.walk.entity_ptr[entity + 1]].astype(
            np.int64
        )
        return pairs

    def naming_pairs(self, entity: int) -> Rows:
        """The pairs of an entity whose units name it.

        Within a scope, a unit that never mentions the entity counts only where its document's title names it: its other
        names may come from links of documents outside.
        """
        pairs = self.pairs_of(entity)
        if self.whole:
            return pairs
        kept: Rows = pairs[(self.mention_counts(pairs) > 0) | (self.walk.pair_place[pairs] > TITLE_PLACE)]
        return kept

    def mention_counts(self, pairs: Rows) -> Rows:
        """How often each pair's unit mentions its entity; 0 where only a title, a heading or a file's name does."""
        return self.tables.mentions.counts(
            self.walk.pair_unit[pairs].astype(np.int64), self.walk.pair_entity[pairs].astype(np.int64)
        )

    @cached_property
    def seen_named(self) -> Mask | None:
        """Which of the mentioned pairs of sentence and entity may be seen; ``None`` for all."""
        return None if self.index.visible is None else self.index.visible[self.tables.mentions.named.unit]

    @cached_property
    def occurrences(self) -> tuple[Rows, int]:
        """In how many sentences each entity is named, and how many sentences name any, of those that may be seen."""
        named = self.tables.mentions.named
        seen = slice(None) if self.seen_named is None else self.seen_named
        counts = np.bincount(named.entity[seen], minlength=len(self.tables.entities))
        sentences = named.sentence[seen]
        distinct = int(np.count_nonzero(np.diff(sentences))) + 1 if len(sentences) else 0
        return counts.astype(np.int64), distinct

    def units_of_section(self, row: int) -> range:
        """The units of a section and of what is below it, in reading order."""
        section, end = self.tables.units.section, self.tables.sections.end
        return range(int(np.searchsorted(section, row)), int(np.searchsorted(section, end[row])))

    def specificity(self, entities: Rows) -> npt.NDArray[np.float64]:
        """``ln(N / df) / ln N`` of entities within what may be seen, in 0..1."""
        n = max(self.walk.n_counted, 2)
        frequency = np.maximum(self.walk.entity_ptr[entities + 1] - self.walk.entity_ptr[entities], 1)
        specific: npt.NDArray[np.float64] = np.clip(np.log(n / frequency) / np.log(n), 0.0, 1.0)
        return specific


def gather_first(ptr: npt.NDArray[np.integer], rows: Rows, most: int) -> tuple[Rows, Rows]:
    """The first positions of each range ``ptr[r]:ptr[r+1]``, and the index into ``rows`` of each."""
    positions, owner = gather(ptr, rows)
    lengths = ptr[rows + 1] - ptr[rows]
    if not len(lengths) or lengths.max() <= most:
        return positions, owner
    first = positions - ptr[rows][owner] < most
    return positions[first], owner[first]
