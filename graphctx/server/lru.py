"""A least-recently-used cache with expiry that is shared fairly by its owners."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


@dataclass(slots=True)
class _Entry(Generic[Value]):
    value: Value
    owner: str
    weight: int
    used_at: float


class FairLru(Generic[Key, Value]):
    """Values by key, each until a while after its last use.

    When the capacity is short, the owner who holds the most loses its least recently used value, so that nobody can
    evict everything that others hold. Not thread-safe.

    Args:
        capacity: the weight of all values together.
        ttl: seconds that a value lives after its last use.
        clock: returns monotonic seconds.

    Attributes:
        weight: the weight of the values that are held now.
        evicted: values lost for want of capacity since the start.
        expired: values lost by their age since the start.
    """

    def __init__(self, capacity: int, ttl: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity = capacity
        self._ttl = ttl
        self._clock = clock
        self._entries: dict[Key, _Entry[Value]] = {}  # oldest first
        self._used: OrderedDict[Key, None] = OrderedDict()  # least recently used first, as those of each owner
        self._owned: defaultdict[str, OrderedDict[Key, None]] = defaultdict(OrderedDict)
        self._weights: Counter[str] = Counter()
        self.weight = 0
        self.evicted = 0
        self.expired = 0

    def get(self, key: Key) -> Value | None:
        """Return a value if it is held, which counts as a use."""
        self.drop_expired()
        entry = self._entries.get(key)
        if entry is None:
            return None
        entry.used_at = self._clock()
        self._used.move_to_end(key)
        self._owned[entry.owner].move_to_end(key)
        return entry.value

    def put(self, key: Key, value: Value, owner: str, weight: int = 1) -> None:
        """Hold a value under a new key, and evict others until it fits. It stays, even if it weighs too much alone."""
        self.drop_expired()
        self._entries[key] = _Entry(value, owner, weight, self._clock())
        self._used[key] = self._owned[owner][key] = None
        self._weights[owner] += weight
        self.weight += weight
        while self.weight > self._capacity and len(self._entries) > 1:
            others = (name for name, keys in self._owned.items() if name != owner or len(keys) > 1)
            self._remove(next(iter(self._owned[max(others, key=self._weights.__getitem__)])))
            self.evicted += 1

    def values(self) -> list[Value]:
        """Return all values, oldest first; this does not count as a use."""
        self.drop_expired()
        return [entry.value for entry in self._entries.values()]

    def drop_expired(self) -> None:
        """Drop the values that nobody has used for a while."""
        deadline = self._clock() - self._ttl
        while self._used and self._entries[oldest := next(iter(self._used))].used_at <= deadline:
            self._remove(oldest)
            self.expired += 1

    def _remove(self, key: Key) -> None:
        entry = self._entries.pop(key)
        del self._used[key], self._owned[entry.owner][key]
        self._weights[entry.owner] -= entry.weight
        self.weight -= entry.weight
        if not self._owned[entry.owner]:
            del self._owned[entry.owner], self._weights[entry.owner]
