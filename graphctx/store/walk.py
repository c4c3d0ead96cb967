"""The walk arrays: the graph of units and entities as compressed sparse rows (CSR) in memory.

A *pair* is one entity in one unit. Pairs are sorted by unit, then entity; ``entity_pair`` lists them by entity, then
unit. Row numbers are those of the snapshot's tables.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

Int = npt.NDArray[np.int32]
Long = npt.NDArray[np.int64]
Real = npt.NDArray[np.float32]
Count = npt.NDArray[np.integer]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class WalkArrays:
    """N units, M sentences, E entities, P pairs, K names.

    Attributes:
        unit_doc: int32 [N], the document row of each unit.
        unit_sentence: int32 [N+1], the sentence rows of unit ``i`` are ``unit_sentence[i]:unit_sentence[i+1]``.
        sentence_start, sentence_end: int32 [M], spans in the document's text, with the bullet or number of an item.
        sentence_tokens: uint16 [M], the tokens of each sentence, as quotes are measured; the largest value for more.
        sentence_kind: uint8 [M], the kind of its block, a position in ``graphctx.model.documents.BLOCK_KINDS``.
        sentence_opens: bool [M], whether it is the first of its block or of an item of a list.
        sentence_links: bool [M], whether its block is mostly labels of links, or it is boilerplate.
        unit_pair: int32 [N+1], the pairs of each unit.
        pair_unit, pair_entity: int32 [P].
        pair_place: float32 [P], where the unit names the entity: 0.7 title, 0.5 first sentence, 0.3 elsewhere.
        pair_definition: float32 [P], how much the unit is *about* the entity, 0 where it only mentions it.
        pair_sentence_ptr: int32 [P+1] and pair_sentence: int32, the sentence rows that hold the pair's mentions.
        entity_ptr: int32 [E+1] and entity_pair: int32 [P], the pairs of each entity.
        definition_ptr: int32 [E+1], definition_unit: int32 and definition_value: float32, of each entity.
        entity_proper: float32 [E], the share of its mentions that are capitalised, smoothed by one.
        entity_label: int8 [E], positions in ``graphctx.model.knowledge.LABELS``.
        name_hash: uint64 [K] sorted, name_entity: int32 [K], for the dictionary match of a question.
        pair_mentions, pair_capitals: unsigned [P], how often the unit mentions the entity, and how often with a
            capital; ``entity_proper`` derives from them.
    """

    unit_doc: Int
    unit_sentence: Int
    sentence_start: Int
    sentence_end: Int
    sentence_tokens: npt.NDArray[np.uint16]
    sentence_kind: npt.NDArray[np.uint8]
    sentence_opens: Mask
    sentence_links: Mask
    unit_pair: Int
    pair_unit: Int
    pair_entity: Int
    pair_place: Real
    pair_definition: Real
    pair_sentence_ptr: Int
    pair_sentence: Int
    entity_ptr: Int
    entity_pair: Int
    definition_ptr: Int
    definition_unit: Int
    definition_value: Real
    entity_proper: Real
    entity_label: npt.NDArray[np.int8]
    name_hash: npt.NDArray[np.uint64]
    name_entity: Int
    pair_mentions: Count
    pair_capitals: Count

    @property
    def n_units(self) -> int:
        """The number of unit rows, N."""
        return len(self.unit_doc)

    @property
    def n_counted(self) -> int:
        """The number of units that count in frequencies: the visible ones of a part, else all N."""
        return self.n_units

    @property
    def n_entities(self) -> int:
        """The number of entities."""
        return len(self.entity_ptr) - 1

    def as_dict(self) -> dict[str, npt.NDArray[np.generic]]:
        """Return the arrays by name, for saving and hashing."""
        return {one.name: getattr(self, one.name) for one in fields(WalkArrays)}

    @classmethod
    def from_dict(cls, arrays: Mapping[str, npt.NDArray[np.generic]]) -> WalkArrays:
        """Build from the arrays of `as_dict`. Extra ones are ignored; raises ``KeyError`` for a missing one."""
        return cls(**{one.name: arrays[one.name] for one in fields(WalkArrays)})  # type: ignore[arg-type]

    def within(self, visible: Mask) -> WalkPart:
        """Return the arrays restricted to visible units: no pair, definition or name leads to another unit.

        Row numbers stay. Invisible units have no pairs; entities that only they name have no pairs, definitions or
        names. The spans of all sentences stay.

        Args:
            visible: bool [N].
        """
        kept, definitions = visible[self.pair_unit], visible[self.definition_unit]
        before, definitions_before = _before(kept), _before(definitions)
        pairs = np.flatnonzero(kept)
        sentences, _ = gather(self.pair_sentence_ptr, pairs)
        n_sentences = self.pair_sentence_ptr[pairs + 1] - self.pair_sentence_ptr[pairs]
        entity_ptr = _before(kept[self.entity_pair])[self.entity_ptr]
        has_name = entity_ptr[self.name_entity + 1] > entity_ptr[self.name_entity]
        mentions, capitals = self.pair_mentions[pairs], self.pair_capitals[pairs]
        changed = {
            "unit_pair": before[self.unit_pair],
            "pair_unit": self.pair_unit[pairs],
            "pair_entity": self.pair_entity[pairs],
            "pair_place": self.pair_place[pairs],
            "pair_definition": self.pair_definition[pairs],
            "pair_sentence_ptr": np.concatenate([[0], np.cumsum(n_sentences)]).astype(np.int32),
            "pair_sentence": self.pair_sentence[sentences],
            "entity_ptr": entity_ptr,
            "entity_pair": before[self.entity_pair[kept[self.entity_pair]]],
            "definition_ptr": definitions_before[self.definition_ptr],
            "definition_unit": self.definition_unit[definitions],
            "definition_value": self.definition_value[definitions],
            "entity_proper": proper_share(self.pair_entity[pairs], mentions, capitals, self.n_entities),
            "name_hash": self.name_hash[has_name],
            "name_entity": self.name_entity[has_name],
            "pair_mentions": mentions,
            "pair_capitals": capitals,
        }
        arrays = {**self.as_dict(), **changed}
        return WalkPart(**arrays, n_visible=int(np.count_nonzero(visible)))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class WalkPart(WalkArrays):
    """Arrays restricted to ``n_visible`` units; the result of `WalkArrays.within`."""

    n_visible: int

    @property
    def n_counted(self) -> int:
        """The number of visible units."""
        return self.n_visible


def _before(kept: Mask) -> Int:
    """Return how many are kept before each position and in all, int32 [len(kept)+1]: maps old rows to new ones."""
    return np.concatenate([[0], np.cumsum(kept)]).astype(np.int32)


def proper_share(pair_entity: Int, mentions: Count, capitals: Count, n_entities: int) -> Real:
    """Return the share of each entity's mentions that are capitalised, smoothed by one, float32 [n_entities].

    Args:
        pair_entity: int32 [P], the entity of each pair.
        mentions, capitals: [P], counts of each pair.
        n_entities: the number of entities.
    """
    n_mentions = np.bincount(pair_entity, weights=mentions, minlength=n_entities)
    n_capitals = np.bincount(pair_entity, weights=capitals, minlength=n_entities)
    return ((n_capitals + 1) / (n_mentions + 1)).astype(np.float32)


def name_hash(words: Sequence[str]) -> int:
    """Return the 64-bit key of a name's folded words in ``WalkArrays.name_hash``."""
    return int.from_bytes(hashlib.blake2b(" ".join(words).encode("utf-8"), digest_size=8).digest(), "little")


def name_hashes(names: Sequence[str]) -> npt.NDArray[np.uint64]:
    """Return the keys of names whose folded words are joined by spaces, as `name_hash`."""
    digests = [hashlib.blake2b(name.encode("utf-8"), digest_size=8).digest() for name in names]
    return np.frombuffer(b"".join(digests), dtype="<u8")


def pointers(rows: npt.NDArray[np.integer], count: int) -> Int:
    """Return the CSR pointer array, int32 [count+1], of sorted row numbers; there are fewer than 2³¹ of them."""
    return np.searchsorted(rows, np.arange(count + 1), side="left").astype(np.int32)


def gather(ptr: npt.NDArray[np.integer], rows: npt.NDArray[np.integer]) -> tuple[Long, Long]:
    """Concatenate the ranges ``ptr[r]:ptr[r+1]`` of some rows.

    Returns:
        The positions, and for each position the index into ``rows`` that it came from.
    """
    starts = ptr[rows]
    lengths = ptr[rows + 1] - starts
    owner = np.arange(len(rows)).repeat(lengths)
    before = lengths.cumsum(dtype=np.int64) - lengths
    return (starts - before)[owner] + np.arange(len(owner)), owner
