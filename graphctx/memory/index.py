"""The items in memory, as arrays: masks of scope and filters, neighbours, and cosines within a mask.

The index follows the file incrementally: `MemoryIndex.refresh` reads the rows that changed since the last time.
"""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from graphctx.memory.items import KINDS, PERSISTENCES, STATES, MemoryFilter, MemoryScope, Moment, to_micros
from graphctx.memory.postings import ASSISTANTS, Mask, Postings, author_hashes
from graphctx.memory.scorer import FIRST_WINDOW_SHARE, MICROS_PER_DAY, Floats
from graphctx.settings import MemoryCompressionSettings
from graphctx.text.sentences import Span

Slots = npt.NDArray[np.int64]

EXACT_ITEMS = 4096
"""Up to this many items in a mask, all cosines are computed; of more, those with the nearest signs."""

NEAREST_PER = 100
"""Of this many items one passes by its signs: of the true nearest 10, 50 and 200 of 300,000 items, `make bench-memory`
finds more than 99 % among these."""

WINDOW_CHARS = 900
"""Characters for each vector of an item: the shipped embedder sees 254 tokens of a text, English prose has
four characters a token and code three."""

MAX_WINDOWS = 16
"""What is beyond these windows of an item is found by its words alone."""

_NEVER = np.iinfo(np.int64).max
_FIELDS = (
    "row, id, kind, tier, principal, project, session, persistence, created_at, created_iteration, confidence, "
    "usefulness, access_count, valid_from, valid_to, state, author, source, tags"
)
_COLUMNS: dict[str, Any] = {
    "row": np.int64,
    "kind": np.int8,
    "tier": np.int8,
    "state": np.int8,
    "persistence": np.int8,
    "principal": np.int32,
    "project": np.int32,
    "session": np.int32,
    "created_at": np.int64,
    "created_iteration": np.int64,
    "confidence": np.float32,
    "usefulness": np.float32,
    "access_count": np.int64,
    "valid_from": np.int64,
    "valid_to": np.int64,
    "length": np.int32,
    "assistant": np.bool_,
    "alive": np.bool_,
    "first_vector": np.int64,
    "n_vectors": np.int8,
    "before": np.int64,
    "after": np.int64,
}
_BATCH = 5000
_SIGNS_AT_ONCE = 16_384  # vectors whose differing signs are counted within the processor's cache
_PRODUCTS_AT_ONCE = 512
"""Rows multiplied at a time: more, and BLAS starts threads, which takes longer than the product."""


def windows(text: str) -> list[Span]:
    """Return the spans of a text that have vectors of their own: equally long, cut at white space."""
    n = -(-len(text) // WINDOW_CHARS)
    if n <= 1:
        return [(0, len(text))]
    cuts = [0]
    for number in range(1, n):
        at = len(text) * number // n
        space = max(text.rfind(white, cuts[-1] + 1, at) for white in " \n")
        cuts.append(at if space < at - WINDOW_CHARS // 4 else space)
    return list(pairwise([*cuts, len(text)]))[:MAX_WINDOWS]


class MemoryIndex:
    """The items of one store as arrays with a slot for each.

    Args:
        dimension: of the vectors.
    """

    def __init__(self, dimension: int) -> None:
        self._version = 0
        self._n = 0
        self._slot_of: dict[int, int] = {}
        self._code_of: dict[str, int] = {}
        self._tags: dict[str, set[int]] = {}
        self._tags_of: dict[int, tuple[str, ...]] = {}
        self._dimension = dimension
        self._vectors = np.zeros((0, dimension), np.float16)
        self._signs = np.zeros((-(-dimension // 64), 0), np.uint64)
        self._owners = np.zeros(0, np.int64)
        self._n_vectors = 0
        self._conversations: dict[tuple[int, ...], list[tuple[int, int, int]]] = {}
        self.ids: list[str] = []
        self._columns = {name: np.zeros(0, dtype) for name, dtype in _COLUMNS.items()}
        self.postings = Postings()

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return a column of the items, [n]."""
        return self._columns[name][: self._n]

    def refresh(self, connection: sqlite3.Connection) -> bool:
        """Read what changed since the last time, within the caller's transaction; return if items were deleted."""
        deleted = False
        changed = connection.execute(
            "SELECT version, row FROM changes WHERE version > ? ORDER BY version", (self._version,)
        ).fetchall()
        for start in range(0, len(changed), _BATCH):
            rows = [row for _, row in changed[start : start + _BATCH]]
            marks = ",".join("?" * len(rows))
            found = {
                item[0]: item
                for item in connection.execute(f"SELECT {_FIELDS} FROM items WHERE row IN ({marks})", rows)
            }
            fresh = sorted(row for row in found if row not in self._slot_of)
            self._append(connection, fresh)
            for row in rows:
                self._update(row, found.get(row))
            deleted = deleted or len(found) < len(rows)
        if changed:
            self._version = changed[-1][0]
        self.postings.fold()
        return deleted

    def _append(self, connection: sqlite3.Connection, rows: Sequence[int]) -> None:
        """Add slots with vectors and terms, which never change."""
        if not rows:
            return
        first, last = self._n, self._n + len(rows)
        self._grow(last)
        first_vector = self._n_vectors
        marks = ",".join("?" * len(rows))
        query = f"SELECT row, vector, terms, author FROM items WHERE row IN ({marks}) ORDER BY row"
        terms_of = []
        for slot, (row, vector, blob, author) in enumerate(connection.execute(query, rows), start=first):
            self._slot_of[row] = slot
            self._columns["row"][slot] = row
            self._columns["first_vector"][slot] = self._n_vectors
            self._columns["before"][slot] = self._columns["after"][slot] = -1
            if vector is not None and len(vector) % (2 * self._dimension) == 0:
                self._add_vectors(slot, np.frombuffer(vector, np.float16).reshape(-1, self._dimension))
            terms_of.append(np.concatenate([np.frombuffer(blob, np.uint32), author_hashes(author)]))
            self._columns["length"][slot] = len(terms_of[-1])
        self._n = last
        self.ids += [""] * len(rows)
        new = slice(first_vector, self._n_vectors)
        self._signs[:, new] = _signs(self._vectors[new])
        self.postings.add(terms_of, first)

    def _grow(self, n: int) -> None:
        capacity = len(self._columns["row"])
        if n <= capacity:
            return
        room = max(n, capacity + capacity // 2, 1024) - capacity
        for name, column in self._columns.items():
            self._columns[name] = np.pad(column, (0, room))

    def _add_vectors(self, slot: int, vectors: npt.NDArray[np.float16]) -> None:
        """Add the vectors of the windows of an item."""
        n, capacity = self._n_vectors + len(vectors), len(self._vectors)
        if n > capacity:
            room = max(n, capacity + capacity // 2, 1024) - capacity
            self._vectors = np.pad(self._vectors, ((0, room), (0, 0)))
            self._signs = np.pad(self._signs, ((0, 0), (0, room)))
            self._owners = np.pad(self._owners, (0, room))
        self._vectors[self._n_vectors : n] = vectors
        self._owners[self._n_vectors : n] = slot
        self._columns["n_vectors"][slot] = len(vectors)
        self._n_vectors = n

    def _update(self, row: int, item: tuple[Any, ...] | None) -> None:
        slot = self._slot_of.get(row)
        if slot is None:  # stored and deleted since the last time
            return
        columns = self._columns
        for tag in self._tags_of.pop(slot, ()):
            self._tags[tag].discard(slot)
        known = bool(columns["alive"][slot])
        columns["alive"][slot] = item is not None
        if item is None:
            self._vectors[self._vectors_of(np.array([slot]))] = 0
            turns, place = self._conversation(slot)
            if place < len(turns) and turns[place][1] == row:
                del turns[place]
                self._link(turns, max(place - 1, 0))
            return
        (_, self.ids[slot], kind, tier, principal, project, session, persistence, created_at, created_iteration) = item[
            :10
        ]
        confidence, usefulness, access_count, valid_from, valid_to, state, author, source, tags = item[10:]
        columns["kind"][slot] = KINDS.index(kind)
        columns["tier"][slot] = tier
        columns["state"][slot] = STATES.index(state)
        columns["persistence"][slot] = PERSISTENCES.index(persistence)
        for name, value in (("principal", principal), ("project", project), ("session", session)):
            columns[name][slot] = self._code_of.setdefault(value, len(self._code_of))
        columns["created_at"][slot] = created_at
        columns["created_iteration"][slot] = created_iteration
        columns["confidence"][slot] = confidence
        columns["usefulness"][slot] = usefulness
        columns["access_count"][slot] = access_count
        columns["valid_from"][slot] = -_NEVER if valid_from is None else valid_from
        columns["valid_to"][slot] = _NEVER if valid_to is None else valid_to
        if kind == "turn" and not known:
            columns["assistant"][slot] = (author or source).casefold() in ASSISTANTS
            turns, place = self._conversation(slot)
            turns.insert(place, (created_at, row, slot))
            self._link(turns, place)
        if tags != "[]":
            self._tags_of[slot] = tuple(json.loads(tags))
            for tag in self._tags_of[slot]:
                self._tags.setdefault(tag, set()).add(slot)

    def _conversation(self, slot: int) -> tuple[list[tuple[int, int, int]], int]:
        """Return the turns of an item's session by time, each with its row and slot, and the place of the item."""
        columns = self._columns
        session = tuple(columns[name][slot].item() for name in ("principal", "project", "session"))
        turns = self._conversations.setdefault(session, [])
        return turns, bisect_left(turns, (columns["created_at"][slot].item(), columns["row"][slot].item()))

    def _link(self, turns: list[tuple[int, int, int]], place: int) -> None:
        """Set the neighbours of the turn at a place and of those beside it."""
        before, after = self._columns["before"], self._columns["after"]
        for at in range(max(place - 1, 0), min(place + 2, len(turns))):
            slot = turns[at][2]
            before[slot] = turns[at - 1][2] if at else -1
            after[slot] = turns[at + 1][2] if at + 1 < len(turns) else -1

    def neighbours(self, slots: Slots) -> Slots:
        """Return the slots of the turns two before, one before, one after and two after each item in its session.

        They are [k, 4], -1 where there is none.
        """

        def step(name: str, from_slots: Slots) -> Slots:
            following: Slots = np.where(from_slots >= 0, self._columns[name][from_slots], -1)
            return following

        before, after = step("before", slots), step("after", slots)
        return np.stack([step("before", before), before, after, step("after", after)], axis=1)

    def mask(self, scope: MemoryScope, chosen: MemoryFilter, now: Moment, decay: MemoryCompressionSettings) -> Mask:
        """Return which items a request sees: in scope, stored and valid at its time, and chosen by its filter."""
        column = self.column
        codes = [self._code_of.get(each, -1) for each in (scope.principal, scope.project, scope.session)]
        persistence = column("persistence")
        session, everywhere = PERSISTENCES.index("session"), PERSISTENCES.index("global")
        here = (column("project") == codes[1]) & ((persistence != session) | (column("session") == codes[2]))
        mask: Mask = column("alive") & (column("principal") == codes[0]) & ((persistence == everywhere) | here)
        at = to_micros(now.at)
        mask &= column("created_at") <= at
        if not chosen.history:
            mask &= (column("valid_from") <= at) & (at < column("valid_to"))
        for name, values, known in (
            ("kind", chosen.kinds, KINDS),
            ("state", chosen.states, STATES),
            ("tier", chosen.tiers, (0, 1, 2, 3)),
        ):
            if values:
                allowed = np.array([value in values for value in known])
                mask &= allowed[column(name)]
        if not chosen.states:
            mask &= column("state") != STATES.index("archived")
        if chosen.session is not None:
            mask &= column("session") == self._code_of.get(chosen.session, -1)
        if chosen.after is not None:
            mask &= column("created_at") >= to_micros(chosen.after)
        if chosen.before is not None:
            mask &= column("created_at") < to_micros(chosen.before)
        if chosen.tags:
            tagged = np.zeros(self._n, bool)
            for tag in chosen.tags:
                tagged[list(self._tags.get(tag, ()))] = True
            mask &= tagged
        if chosen.summary_tag:
            others = column("kind") == KINDS.index("summary")
            others[list(self._tags.get(chosen.summary_tag, ()))] = False
            mask &= ~others
        if chosen.min_confidence > 0:
            intervals = np.maximum(at - column("created_at"), 0) / (
                MICROS_PER_DAY / 24 * decay.confidence_decay_interval_hours
            )
            left = np.power(1 - decay.confidence_decay_rate, intervals)
            mask &= column("confidence") * np.where(column("tier") == 3, 1.0, left) >= chosen.min_confidence
        return mask

    def within(self, periods: Iterable[tuple[datetime, datetime]]) -> Mask:
        """Return which items were created in one of some periods."""
        created = self.column("created_at")
        mask: Mask = np.zeros(self._n, bool)
        for start, end in periods:
            mask |= (created >= to_micros(start)) & (created < to_micros(end))
        return mask

    def nearest(self, vector: npt.NDArray[np.float32], mask: Mask, limit: int) -> Slots:
        """Return the slots of the mask that may be nearest to a vector.

        Up to `EXACT_ITEMS` all of the mask; else those of the smallest Hamming distance of signs (Charikar 2002), at
        least ``limit`` and one of `NEAREST_PER`.
        """
        with_vectors = mask & (self.column("n_vectors") > 0)
        n_slots = int(np.count_nonzero(with_vectors))
        if n_slots <= EXACT_ITEMS:
            return np.flatnonzero(with_vectors)
        wanted = max(limit, EXACT_ITEMS // 4, n_slots // NEAREST_PER)
        n = self._n_vectors
        distance, signs = np.empty(n, np.uint16), _signs(vector[None].astype(np.float16))
        for start in range(0, n, _SIGNS_AT_ONCE):
            part = slice(start, min(start + _SIGNS_AT_ONCE, n))
            differing = np.bitwise_count(self._signs[:, part] ^ signs)
            np.sum(differing, axis=0, dtype=np.uint16, out=distance[part])
        owners = self._owners[:n]
        distance[~mask[owners]] = self._dimension + 1
        # Equal distances beyond the bound stay in, so that the choice does not depend on the order of the slots.
        bound = min(int(np.searchsorted(np.cumsum(np.bincount(distance)), wanted)), self._dimension)
        near: Slots = owners[distance <= bound]
        return near[np.diff(near, prepend=-1) > 0]  # an item's vectors are beside each other

    def cosines(self, vector: npt.NDArray[np.float32], slots: Slots) -> Floats:
        """Return the cosines of a vector with some items: of the nearest and the first window, 0 without any."""
        counts = self.column("n_vectors")[slots].astype(np.int64)
        found = np.zeros(len(slots))
        if counts.any():
            rows = self._vectors_of(slots)
            each = np.empty(len(rows), np.float64)
            for start in range(0, len(rows), _PRODUCTS_AT_ONCE):
                part = slice(start, start + _PRODUCTS_AT_ONCE)
                each[part] = self._vectors[rows[part]].astype(np.float32) @ vector
            some = counts > 0
            first = (np.cumsum(counts) - counts)[some]
            nearest = np.maximum.reduceat(each, first)
            found[some] = FIRST_WINDOW_SHARE * each[first] + (1 - FIRST_WINDOW_SHARE) * nearest
        return found

    def nearest_windows(self, vector: npt.NDArray[np.float32], slots: Slots) -> list[int]:
        """Return which of the `windows` of each item is nearest to a vector, 0 for an item without vectors."""
        found = np.zeros(len(slots), np.int64)
        for at in np.flatnonzero(self.column("n_vectors")[slots] > 1):
            rows = self._vectors_of(slots[at : at + 1])
            found[at] = np.argmax(self._vectors[rows].astype(np.float32) @ vector)
        return found.tolist()

    def _vectors_of(self, slots: Slots) -> Slots:
        """Return the rows of the vectors of some items, in the order of the items."""
        counts = self._columns["n_vectors"][slots].astype(np.int64)
        starts = self._columns["first_vector"][slots] - (np.cumsum(counts) - counts)
        return np.repeat(starts, counts) + np.arange(counts.sum())

    def vectors(self, slots: Slots) -> npt.NDArray[np.float32]:
        """Return the vector of the first window of some items that have one, [k, dimension]."""
        vectors: npt.NDArray[np.float32] = self._vectors[self.column("first_vector")[slots]].astype(np.float32)
        return vectors

    def slots(self, rows: Iterable[int]) -> Slots:
        """Return the slots of items that are alive and have vectors, by their rows in the file."""
        slots = np.array([self._slot_of[row] for row in rows if row in self._slot_of], np.int64)
        return slots[self.column("alive")[slots] & (self.column("n_vectors")[slots] > 0)]


def _signs(vectors: npt.NDArray[np.float16]) -> npt.NDArray[np.uint64]:
    """Return the signs of vectors as bits, [words, k]."""
    bits = np.packbits(vectors > 0, axis=1)
    bits = np.pad(bits, ((0, 0), (0, -bits.shape[1] % 8)))
    return np.ascontiguousarray(bits.view(np.uint64).T)
