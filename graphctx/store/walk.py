"""The walk arrays: the graph of units and entities as compressed sparse rows, for queries that take microseconds.

A *pair* is one entity in one unit. Pairs are sorted by unit, then entity; ``entity_pair`` lists them the other way
round, by entity, then unit. All rows are those of the snapshot's tables.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields

import numpy as np
import numpy.typing as npt

Int = npt.NDArray[np.int32]
Long = npt.NDArray[np.int64]
Real = npt.NDArray[np.float32]
Count = npt.NDArray[np.integer]
Mask = npt.NDArray[np.bool_]


def _unknown() -> Int:
    return np.zeros(0, dtype=np.int32)


@dataclass(frozen=True, slots=True)
class WalkArrays:
    """N units, M sentences, E entities, P pairs, K names.

    Attributes:
        unit_doc: int32 [N], the document row of each unit.
        unit_sentence: int32 [N+1], the sentence rows of unit ``i`` are ``unit_sentence[i]:unit_sentence[i+1]``.
        sentence_start, sentence_end: int32 [M], spans in the document's text.
        unit_pair: int32 [N+1], the pairs of each unit.
        pair_unit, pair_entity: int32 [P].
        pair_place: float32 [P], where the unit names the entity: 0.7 title, 0.5 first sentence, 0.3 elsewhere.
        pair_home: float32 [P], how much the unit is *about* the entity, 0 where it only mentions it.
        pair_sentence_ptr: int32 [P+1] and pair_sentence: int32, the sentence rows that hold the pair's mentions.
        entity_ptr: int32 [E+1] and entity_pair: int32 [P], the pairs of each entity.
        home_ptr: int32 [E+1], home_unit: int32 and home_value: float32, the homes of each entity.
        entity_proper: float32 [E], the share of its mentions that are capitalised, smoothed by one.
        entity_label: int8 [E], positions in ``graphctx.model.knowledge.LABELS``.
        name_hash: uint64 [K] sorted, name_entity: int32 [K], for the dictionary match of a question.
        home_share: float32 [1], the share of units that are the first home of a name of their own (the gate's corpus
            side).
        pair_mentions, pair_capitals: [P], how often the unit mentions the entity, and how often with a capital: what
            ``entity_proper`` is made of.
        named_unit, named_by: int32 [H], units with a name of their own and the number of that name: what
            ``home_share`` is made of. Snapshots of older versions lack these four, and have nothing in them.
    """

    unit_doc: Int
    unit_sentence: Int
    sentence_start: Int
    sentence_end: Int
    unit_pair: Int
    pair_unit: Int
    pair_entity: Int
    pair_place: Real
    pair_home: Real
    pair_sentence_ptr: Int
    pair_sentence: Int
    entity_ptr: Int
    entity_pair: Int
    home_ptr: Int
    home_unit: Int
    home_value: Real
    entity_proper: Real
    entity_label: npt.NDArray[np.int8]
    name_hash: npt.NDArray[np.uint64]
    name_entity: Int
    home_share: Real
    pair_mentions: Count = field(default_factory=_unknown)
    pair_capitals: Count = field(default_factory=_unknown)
    named_unit: Int = field(default_factory=_unknown)
    named_by: Int = field(default_factory=_unknown)

    @property
    def n_units(self) -> int:
        """The number of unit rows: what arrays by unit are as long as."""
        return len(self.unit_doc)

    @property
    def n_counted(self) -> int:
        """The number of units that are counted: those that may be seen, where these arrays are `within` a scope."""
        return self.n_units

    @property
    def n_entities(self) -> int:
        """The number of entities."""
        return len(self.entity_ptr) - 1

    def as_dict(self) -> dict[str, npt.NDArray[np.generic]]:
        """Name to array, for saving and hashing."""
        return {one.name: getattr(self, one.name) for one in fields(WalkArrays)}

    @classmethod
    def from_dict(cls, arrays: Mapping[str, npt.NDArray[np.generic]]) -> WalkArrays:
        """The opposite of `as_dict`; extra arrays are ignored, a missing one is a ``KeyError``."""
        names = [one.name for one in fields(WalkArrays) if one.default_factory is MISSING or one.name in arrays]
        return cls(**{name: arrays[name] for name in names})  # type: ignore[arg-type]

    def within(self, visible: Mask) -> WalkPart:
        """The graph of some units alone: no pair, home or name leads anywhere else, and nothing else is counted.

        All row numbers stay. Units that may not be seen have no pairs, entities that only those name have no pairs,
        homes or names; the spans of sentences are all there.

        Args:
            visible: bool [N].
        """
        kept, homes = visible[self.pair_unit], visible[self.home_unit]
        before, homes_before = _before(kept), _before(homes)
        pairs = np.flatnonzero(kept)
        sentences, _ = gather(self.pair_sentence_ptr, pairs)
        n_sentences = self.pair_sentence_ptr[pairs + 1] - self.pair_sentence_ptr[pairs]
        entity_ptr = _before(kept[self.entity_pair])[self.entity_ptr]
        has_name = entity_ptr[self.name_entity + 1] > entity_ptr[self.name_entity]
        changed = {
            "unit_pair": before[self.unit_pair],
            "pair_unit": self.pair_unit[pairs],
            "pair_entity": self.pair_entity[pairs],
            "pair_place": self.pair_place[pairs],
            "pair_home": self.pair_home[pairs],
            "pair_sentence_ptr": np.concatenate([[0], np.cumsum(n_sentences)]).astype(np.int32),
            "pair_sentence": self.pair_sentence[sentences],
            "entity_ptr": entity_ptr,
            "entity_pair": before[self.entity_pair[kept[self.entity_pair]]],
            "home_ptr": homes_before[self.home_ptr],
            "home_unit": self.home_unit[homes],
            "home_value": self.home_value[homes],
            "name_hash": self.name_hash[has_name],
            "name_entity": self.name_entity[has_name],
        }
        if len(self.pair_mentions):
            mentions, capitals = self.pair_mentions[pairs], self.pair_capitals[pairs]
            changed |= {
                "pair_mentions": mentions,
                "pair_capitals": capitals,
                "entity_proper": proper_share(self.pair_entity[pairs], mentions, capitals, self.n_entities),
            }
        if len(self.named_unit):
            named = visible[self.named_unit]
            unit, name = self.named_unit[named], self.named_by[named]
            share = first_home_share(unit, name, int(np.count_nonzero(visible)))
            changed |= {"named_unit": unit, "named_by": name, "home_share": share}
        arrays = {**self.as_dict(), **changed}
        return WalkPart(**arrays, n_visible=int(np.count_nonzero(visible)))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class WalkPart(WalkArrays):
    """The arrays of what may be seen; `WalkArrays.within` makes it. ``n_visible`` is the number of such units."""

    n_visible: int = 0

    @property
    def n_counted(self) -> int:
        """The number of units that may be seen."""
        return self.n_visible


def _before(kept: Mask) -> Int:
    """How many are kept before each place and in all, int32 [len(kept)+1]: turns old pointers and rows into new."""
    return np.concatenate([[0], np.cumsum(kept)]).astype(np.int32)


def proper_share(pair_entity: Int, mentions: Count, capitals: Count, n_entities: int) -> Real:
    """The share of each entity's mentions that are capitalised, smoothed by one, float32 [n_entities].

    Args:
        pair_entity: the entity of each pair.
        mentions, capitals: of each pair.
        n_entities: their number.
    """
    n_mentions = np.bincount(pair_entity, weights=mentions, minlength=n_entities)
    n_capitals = np.bincount(pair_entity, weights=capitals, minlength=n_entities)
    return ((n_capitals + 1) / (n_mentions + 1)).astype(np.float32)


def first_home_share(named_unit: Int, named_by: Int, n_units: int) -> Real:
    """The share of units that are the first with some name, float32 [1].

    Args:
        named_unit, named_by: units with a name of their own, and the number of that name.
        n_units: the number of all units.
    """
    order = np.lexsort((named_unit, named_by))
    first = np.flatnonzero(np.diff(named_by[order], prepend=-1))
    return np.array([len(np.unique(named_unit[order[first]])) / max(1, n_units)], dtype=np.float32)


def name_hash(words: Sequence[str]) -> int:
    """The 64-bit key of a name's folded words in ``WalkArrays.name_hash``."""
    return int.from_bytes(hashlib.blake2b(" ".join(words).encode("utf-8"), digest_size=8).digest(), "little")


def pointers(rows: npt.NDArray[np.integer], count: int) -> Int:
    """The CSR pointer array, int32 [count+1], of sorted row numbers, which are fewer than 2³¹ as rows are int32."""
    return np.searchsorted(rows, np.arange(count + 1), side="left").astype(np.int32)


def gather(ptr: npt.NDArray[np.integer], rows: npt.NDArray[np.integer]) -> tuple[Long, Long]:
    """Concatenate the ranges ``ptr[r]:ptr[r+1]`` of some rows.

    Returns:
        The positions, and for each position the index into ``rows`` that it came from.
    """
    starts = ptr[rows]
    lengths = ptr[np.asarray(rows) + 1] - starts
    owner = np.repeat(np.arange(len(rows)), lengths)
    offsets = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return starts[owner] + offsets, owner
