"""A cache of what the documents hold for a question, found again by another wording of the question.

An entry is served where the vectors of both questions are similar and their wordings agree, for the same snapshot,
boundary, scope, settings and budget alone.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import TypeAdapter, ValidationError

from graphctx.context.wording import wording
from graphctx.errors import BackendUnavailable
from graphctx.model.context import ContextInput
from graphctx.model.context_source import ContextSource, RetrievedPart
from graphctx.nlp.base import Embedder
from graphctx.nlp.embedders import text_vector
from graphctx.retrieve.searcher import Searcher
from graphctx.settings import Settings
from graphctx.version import __version__

log = logging.getLogger(__name__)

Vector = npt.NDArray[np.float32]
_Result = TypeVar("_Result")

SIMILAR = 0.8
"""Least cosine of two questions whose wordings agree. Agreeing wordings of one question have 0.84 or more, words that
only look alike once endings are taken off ("build", "building") 0.74 or less (``python -m eval.context_cache``)."""

MAX_NEAREST = 8
"""Questions whose wording is compared."""

RETRY_SECONDS = 30.0
"""After a failure Redis is left alone for so long."""

MAX_BYTES = 64 * 2**20
"""Of the entries of a process."""

MAX_ENTRY_BYTES = 2 * 2**20
"""Larger entries are not kept; 32,000 tokens have about 100 KB."""

_PART = TypeAdapter(RetrievedPart)


class EntryStore(Protocol):
    """Keeps entries by bucket and question. Entries expire some time after their last use."""

    def load(self, bucket: str, question: str) -> bytes | None:
        """Return an entry, and renew it; ``None`` where there is none."""

    def nearest(self, bucket: str, vector: Vector, count: int) -> list[tuple[str, float]]:
        """Return at most ``count`` questions of a bucket, the nearest to a vector first, with their cosines."""

    def save(self, bucket: str, question: str, vector: Vector, entry: bytes) -> None:
        """Keep an entry."""

    def close(self) -> None:
        """Release connections."""


class MemoryEntryStore:
    """Entries in this process; beyond the most, or `MAX_BYTES`, the one that was not used for longest goes.

    Args:
        most: entries.
        seconds: from the last use of an entry until it expires.
        clock: returns seconds.
    """

    def __init__(self, most: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._bytes = 0
        self._entries: OrderedDict[tuple[str, str], tuple[float, Vector, bytes]] = OrderedDict()

    def load(self, bucket: str, question: str) -> bytes | None:
        """Return an entry, and renew it; see `EntryStore`."""
        with self._lock:
            now = self._clock()
            while self._entries and next(iter(self._entries.values()))[0] <= now:  # the order is that of the last use
                self._drop(next(iter(self._entries)))
            if (found := self._entries.pop((bucket, question), None)) is None:
                return None
            self._entries[bucket, question] = (now + self._seconds, *found[1:])
            return found[2]

    def nearest(self, bucket: str, vector: Vector, count: int) -> list[tuple[str, float]]:
        """Return the nearest questions; see `EntryStore`."""
        with self._lock:
            own = [(asked, each[1]) for (other, asked), each in self._entries.items() if other == bucket]
        if not own:
            return []
        cosines = np.stack([each for _, each in own]) @ vector
        best = np.argsort(-cosines, kind="stable")[:count].tolist()
        return [(own[at][0], float(cosines[at])) for at in best]

    def save(self, bucket: str, question: str, vector: Vector, entry: bytes) -> None:
        """Keep an entry; see `EntryStore`."""
        with self._lock:
            self._drop((bucket, question))
            self._entries[bucket, question] = (self._clock() + self._seconds, vector, entry)
            self._bytes += len(entry)
            while len(self._entries) > self._most or self._bytes > MAX_BYTES:
                self._drop(next(iter(self._entries)))

    def close(self) -> None:
        """There is nothing to release."""

    def _drop(self, key: tuple[str, str]) -> None:
        if (entry := self._entries.pop(key, None)) is not None:
            self._bytes -= len(entry[2])


@dataclass(frozen=True, slots=True)
class CacheCounts:
    """What a cache did since it was made.

    Attributes:
        exact: hits by the same question.
        similar: hits by another wording.
        misses: questions that were not found.
        store: ``process`` or ``redis``, where the next entry is kept.
        note: why it is not Redis although its address is set.
    """

    exact: int = 0
    similar: int = 0
    misses: int = 0
    store: str = "process"
    note: str = ""


class ContextCache:
    """Keeps what the documents hold for a question. Thread-safe; no failure of Redis reaches a caller.

    Args:
        settings: ``[context]`` says where entries are and for how long; ``[retrieve]`` binds them.
        embedder: of the knowledge base.
        clock: returns seconds.

    Example:
        >>> cache = ContextCache(kb.settings, embedder)  # doctest: +SKIP
        >>> source = cache.over(DocumentSource(kb.searcher(), kb.tokens), kb.searcher())  # doctest: +SKIP
    """

    def __init__(self, settings: Settings, embedder: Embedder, clock: Callable[[], float] = time.monotonic) -> None:
        context = settings.context
        self._embedder = embedder
        self._retrieve = settings.retrieve
        self._clock = clock
        self._enabled = context.cache_entries > 0
        self._local: EntryStore = MemoryEntryStore(context.cache_entries, context.cache_seconds, clock)
        self._shared: EntryStore | None = None
        if self._enabled and (url := context.cache_url.get_secret_value()):
            from graphctx.context.redis_store import RedisEntryStore

            self._shared = RedisEntryStore(url, context.cache_entries, context.cache_seconds)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="context-cache")
        self._written: Future[None] | None = None
        self._pending: list[tuple[str, str, RetrievedPart]] = []
        self._lock = threading.Lock()
        self._counts = {"exact": 0, "similar": 0, "misses": 0}
        self._note = ""
        self._retry_at = 0.0

    @cached_property
    def _binding(self) -> str:
        return f"{__version__} {self._embedder.fingerprint} {self._retrieve.model_dump_json()}"

    def over(self, source: ContextSource, searcher: Searcher) -> ContextSource:
        """Return a source that looks here first.

        Args:
            source: what it finds depends on the snapshot, the request and the budget alone.
            searcher: the pinned snapshot of the source.
        """
        if not self._enabled or searcher.published is None:
            return source
        return _CachedSource(source, self, f"{self._binding} {searcher.snapshot_id} {searcher.boundary}")

    @property
    def counts(self) -> CacheCounts:
        """What was found and not found."""
        self._settle()
        with self._lock:
            shared = self._shared is not None and not self._note
            return CacheCounts(**self._counts, store="redis" if shared else "process", note=self._note)

    def get(self, question: str, binding: str) -> RetrievedPart | None:
        """Return what is kept for this question or another wording of it.

        Args:
            question: as asked.
            binding: all else that the answer depends on.
        """
        self._settle()
        bucket = _digest(binding)
        kind, entry = self._on_store(lambda store: self._find(store, bucket, question))
        found = None
        if entry is not None:
            try:
                found = _PART.validate_json(entry)
            except ValidationError:
                log.warning("An entry of the context cache cannot be read and is ignored.")
        with self._lock:
            self._counts[kind if found else "misses"] += 1
        return found

    def put(self, question: str, binding: str, found: RetrievedPart) -> None:
        """Keep what was found for a question, from the next `write` or question on."""
        with self._lock:
            self._pending.append((question, binding, found))

    def write(self) -> None:
        """Start to write what was put, in a thread beside the caller; the next question waits for it."""
        with self._lock:
            for one in self._pending:  # the last one is the one that is waited for
                self._written = self._writer.submit(self._save, *one)
            self._pending.clear()

    def _save(self, question: str, binding: str, found: RetrievedPart) -> None:
        bucket, entry = _digest(binding), _PART.dump_json(found)
        if len(entry) > MAX_ENTRY_BYTES:
            return
        vector = text_vector(self._embedder, question)
        self._on_store(lambda store: store.save(bucket, question, vector, entry))

    def check(self) -> str:
        """Return why Redis cannot be used although its address is set; empty where it can."""
        self._settle()
        self._on_store(lambda store: store.load("", ""))
        return self._note

    def close(self) -> None:
        """Close the connection to Redis."""
        self._settle()
        if self._shared is not None:
            self._shared.close()

    def _settle(self) -> None:
        """Wait until everything is kept that was put; entries are written in order."""
        self.write()
        if (written := self._written) is not None:
            written.result()

    def _find(self, store: EntryStore, bucket: str, question: str) -> tuple[str, bytes | None]:
        if (found := store.load(bucket, question)) is not None:
            return "exact", found
        own = wording(question)
        for other, cosine in store.nearest(bucket, text_vector(self._embedder, question), MAX_NEAREST):
            if cosine >= SIMILAR and own.agrees(wording(other)) and (entry := store.load(bucket, other)) is not None:
                return "similar", entry
        return "misses", None

    def _on_store(self, work: Callable[[EntryStore], _Result]) -> _Result:
        """Do something on Redis, or after a failure and for a while on the entries of this process."""
        if self._shared is not None and self._clock() >= self._retry_at:
            try:
                result = work(self._shared)
            except BackendUnavailable as error:
                if not self._note:
                    log.warning("%s", error.message)
                self._note = error.message
                self._retry_at = self._clock() + RETRY_SECONDS
            else:
                self._note = ""
                return result
        return work(self._local)


@dataclass(frozen=True, slots=True)
class _CachedSource:
    """A source behind a cache; a `ContextSource`."""

    source: ContextSource
    cache: ContextCache
    binding: str

    def retrieve(self, request: ContextInput, budget: int) -> RetrievedPart:
        """Return what is kept, or what the source finds."""
        others = request.model_dump_json(
            exclude={"query", "history", "session_id", "system_role", "max_tokens", "layers"}
        )
        binding = f"{self.binding} {budget} {others}"
        if (kept := self.cache.get(request.query, binding)) is not None:
            return kept
        found = self.source.retrieve(request, budget)
        if found.sections:
            self.cache.put(request.query, binding, found)
        return found


def _digest(binding: str) -> str:
    return hashlib.sha256(binding.encode()).hexdigest()[:32]
