"""Search: hybrid of BM25 and cosine, then by words alone, then from the last answers, then nothing."""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, Literal

import numpy as np

from graphctx.errors import GraphctxError, InvalidArgument, TimedOut
from graphctx.memory.database import MemoryDatabase
from graphctx.memory.dates import periods_in
from graphctx.memory.index import EXACT_ITEMS, MemoryIndex, Slots
from graphctx.memory.items import KINDS, MemoryFilter, MemoryItem, MemoryKind, MemoryScope, Moment, to_micros
from graphctx.memory.postings import Mask
from graphctx.memory.scorer import (
    ITEM_SHARE,
    SAID_THEN,
    Floats,
    ScoreParts,
    below_reordered,
    block_parts,
    block_scores,
    iteration_parts,
    iteration_scores,
    mixed_similarity,
    relative,
    relevance_of,
    similarity_floor,
    with_neighbours,
)
from graphctx.memory.store import ItemStore
from graphctx.nlp.base import Embedder
from graphctx.nlp.embedders import text_vector
from graphctx.settings import MemorySettings
from graphctx.text.lexical import terms

SearchStage = Literal["semantic", "text", "cached", "none"]
"""Which stage answered: ``none`` means that every other failed, or that nothing is cached."""

Ranking = Literal["iteration", "block"]
"""The weights of ``[memory.scoring]``, or those of ``[memory.ranking]``."""

CANDIDATES = 200
"""Items from each of BM25 and cosine that are scored."""

_CACHED_ANSWERS = 256
_FAILURES = (GraphctxError, sqlite3.Error, OSError, ValueError)


@dataclass(frozen=True, slots=True)
class MemoryQuery:
    """A question to the memory.

    Attributes:
        text: the question.
        scope, filter, now: what is searched, and as of when.
        limit: items returned at most.
        ranking: which score orders them.
        min_score: items of a lower score are not returned; with 0, the score for an iteration returns items that do
            not bear on the question too.
        preferred: kinds that match in the score for an iteration; by default those of the filter, else of the settings.
    """

    text: str
    scope: MemoryScope
    now: Moment
    filter: MemoryFilter = field(default_factory=MemoryFilter)
    limit: int = 10
    ranking: Ranking = "block"
    min_score: float = 0.0
    preferred: tuple[MemoryKind, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """An item that was found.

    Attributes:
        item: as it was before this search counted a use.
        score: what orders the hits, 0..1.
        similarity: factor of the score; of a block `relative` to the best candidates.
        recency: factor of the score; ``third`` and ``fourth`` are as in `ScoreParts`.
        window: which of the `graphctx.memory.index.windows` of the text is nearest to the question.
    """

    item: MemoryItem
    score: float
    similarity: float
    recency: float
    third: float
    fourth: float
    window: int = 0


@dataclass(frozen=True, slots=True)
class MemoryHits:
    """The answer to a `MemoryQuery`.

    Attributes:
        hits: the best first, ties by id.
        stage: which stage answered; anything but ``semantic`` is degraded.
        degraded: why earlier stages failed, empty if none did.
        n_candidates: items in scope that the filter chooses; 0 if the stage does not know.
        n_below: candidates that were scored and left out for a low score, or since they do not bear on the question.
        embedding_ms: milliseconds for embedding the question; equal answers may differ in it.
    """

    hits: tuple[MemoryHit, ...]
    stage: SearchStage
    degraded: str = ""
    n_candidates: int = 0
    n_below: int = 0
    embedding_ms: float = field(default=0.0, compare=False)


class MemorySearcher:
    """Answers `MemoryQuery`; safe to share between threads."""

    def __init__(
        self, database: MemoryDatabase, items: ItemStore, embedder: Embedder, settings: MemorySettings
    ) -> None:
        self._database, self._items, self._embedder, self._settings = database, items, embedder, settings
        self._lock = threading.RLock()
        self._index: MemoryIndex | None = None
        self._seen: tuple[int, int] | None = None
        self._cache: OrderedDict[tuple[object, ...], MemoryHits] = OrderedDict()

    def search(self, query: MemoryQuery, unusable: str = "") -> MemoryHits:
        """Search, by the first stage that works.

        Args:
            query: what is asked.
            unusable: why the vectors of the store cannot be compared with those of the embedder, if so.
        """
        key = (query.text, query.scope, query.filter, query.limit, query.ranking, query.preferred)
        reasons = [f"semantic search is off: {unusable}"] if unusable else []
        for stage, ask in (("semantic", self._semantic), ("text", self._by_words)):
            if stage == "semantic" and unusable:
                continue
            try:
                found = ask(query)
            except (InvalidArgument, TimedOut):
                raise
            except _FAILURES as error:
                reasons.append(f"{stage} search failed: {error}")
                continue
            with self._lock:
                self._cache[key] = found
                self._cache.move_to_end(key)
                while len(self._cache) > _CACHED_ANSWERS:
                    self._cache.popitem(last=False)
            return replace(found, degraded="; ".join(reasons))
        with self._lock:
            cached = self._cache.get(key)
        if cached is None:
            return MemoryHits((), "none", "; ".join(reasons))
        return replace(cached, stage="cached", degraded="; ".join(reasons))

    def reset(self) -> None:
        """Read the index anew at the next search, after vectors changed."""
        with self._lock:
            self._index = self._seen = None

    def reset_cache(self) -> None:
        """Drop the cached answers, after items were deleted."""
        with self._lock:
            self._cache.clear()

    def index(self) -> MemoryIndex:
        """Return the index as of the last commit; the caller holds `locked`."""
        seen = self._database.data_version()
        if self._index is None or seen != self._seen:
            index = self._index or MemoryIndex(self._embedder.dimension)
            with self._database.read() as connection:
                if index.refresh(connection):
                    self._cache.clear()
            self._index, self._seen = index, seen
        return self._index

    def vectors(self, ids: list[str]) -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
        """Return the vectors of items by id."""
        with self._lock:
            index = self.index()
            with self._database.read() as connection:
                slots = index.slots(self._items.rows(connection, ids))
            return {index.ids[slot]: vector for slot, vector in zip(slots, index.vectors(slots), strict=True)}

    def _semantic(self, query: MemoryQuery) -> MemoryHits:
        start = perf_counter()
        cached = self._settings.embeddings.cache_embeddings
        vector = text_vector(self._embedder, query.text) if cached else self._embedder.embed([query.text])[0]
        embedding_ms = (perf_counter() - start) * 1000
        with self._lock:
            index = self.index()
            mask = index.mask(query.scope, query.filter, query.now, self._settings.compression)
            n_candidates = int(np.count_nonzero(mask))
            slots, fit, similarity = self._candidates(query, index, vector, mask)
            n_found, related = len(slots), self._related(query, index, slots, fit, similarity, n_candidates)
            slots, similarity = slots[related], similarity[related]
            n_below = n_found - len(slots)
            if query.ranking == "block":
                best = _best(similarity, max(query.limit, self._settings.ranking.top_k))
                slots, similarity = slots[best], relative(similarity[best])
            parts = self._parts(query, index, slots, similarity)
            scores = self._scores(query, parts, similarity)
            kept = np.flatnonzero(scores >= query.min_score)
            n_below += len(slots) - len(kept)
            kept = kept[_best(scores[kept], query.limit)]
            order = sorted(kept.tolist(), key=lambda at: (-scores[at], index.ids[slots[at]]))[: query.limit]
            returned = slots[order]
            rows, nearest = index.column("row")[returned].tolist(), index.nearest_windows(vector, returned)
            with self._database.read() as connection:
                items = self._items.by_rows(connection, rows)
        hits = [
            _hit(items[row], parts, scores, at, window)
            for row, at, window in zip(rows, order, nearest, strict=True)
            if row in items  # deleted by another process in this moment
        ]
        return MemoryHits(tuple(hits), "semantic", "", n_candidates, n_below, embedding_ms)

    def _candidates(
        self, query: MemoryQuery, index: MemoryIndex, vector: np.ndarray[Any, np.dtype[np.float32]], mask: Mask
    ) -> tuple[Slots, Floats, Floats]:
        """Return the items of a mask that may answer, their similarities, and those with what relevance adds."""
        lexical = index.postings.scores(query.text, mask, index.column("length"))
        near = index.nearest(vector, mask, CANDIDATES)
        said_then = mask & index.within(periods_in(query.text, query.now.at))
        n_then = int(np.count_nonzero(said_then))
        if n_then <= EXACT_ITEMS:
            near = _union(len(mask), near, np.flatnonzero(said_then))
        raised = SAID_THEN * (1 - n_then / max(1, int(np.count_nonzero(mask))))  # a year that is all says nothing
        cosines = index.cosines(vector, near)
        worded = np.flatnonzero(lexical)
        slots = _union(
            len(mask),
            near[_best(cosines + raised * said_then[near], CANDIDATES)],
            worded[_best(lexical[worded], CANDIDATES)],
        )
        beside = index.neighbours(slots)
        everything = _union(len(mask), slots, beside[beside >= 0])
        everything = everything[mask[everything]]
        at, known = _places(everything, near)
        cosines_of = np.empty(len(everything))
        cosines_of[known] = cosines[at[known]]
        cosines_of[~known] = index.cosines(vector, everything[~known])
        fit = mixed_similarity(cosines_of, lexical[everything], self._settings.scoring)
        fit += raised * said_then[everything]
        relevance = relevance_of(
            fit,
            index.column("assistant")[everything],
            index.column("kind")[everything] == KINDS.index("summary"),
            query.text,
        )
        at, known = _places(beside, everything)
        of_slots, _ = _places(slots, everything)
        return slots, fit[of_slots], with_neighbours(relevance[of_slots], np.where(known, relevance[at], 0.0))

    def _related(
        self, query: MemoryQuery, index: MemoryIndex, slots: Slots, fit: Floats, similarity: Floats, n_items: int
    ) -> Mask:
        """Return which items bear on the question: none if the best is below the floor.

        A block has those above a share of the floor; an iteration all, since a skill may help with any task. For an
        item without a vector a word in common is enough.
        """
        floor = similarity_floor(query.text, n_items, self._settings.scoring)
        if query.ranking == "iteration" and not query.min_score:
            floor = 0.0
        vectorless = (index.column("n_vectors")[slots] == 0) & (fit > 0)
        answered = bool(vectorless.any() or (fit >= floor).any())
        least = ITEM_SHARE * floor if query.ranking == "block" else 0.0
        related: Mask = (vectorless | (np.maximum(fit, similarity) >= least)) & answered
        return related

    def _by_words(self, query: MemoryQuery) -> MemoryHits:
        found = self._items.matching(
            list(dict.fromkeys(terms(query.text))), query.scope, query.filter, query.now, CANDIDATES
        )
        best = max((weight for _, weight in found), default=1.0) or 1.0
        similarity = np.array([weight / best for _, weight in found])
        if query.ranking == "block":
            similarity = relative(similarity)
        items = [item for item, _ in found]
        now = query.now
        parts = self._parts_of(
            query,
            similarity,
            np.array([to_micros(now.at) - to_micros(item.created_at) for item in items], np.int64),
            np.array([now.iteration - item.created_iteration for item in items], np.int64),
            np.array([item.kind for item in items]),
            np.array([item.tier for item in items], np.int64),
            np.array([item.usefulness for item in items]),
            np.array([item.access_count for item in items], np.int64),
        )
        scores = self._scores(query, parts, similarity)
        order = sorted(range(len(items)), key=lambda at: (-scores[at], items[at].id))
        kept = [at for at in order if scores[at] >= query.min_score]
        hits = tuple(_hit(items[at], parts, scores, at) for at in kept[: query.limit])
        return MemoryHits(hits, "text", "", 0, len(order) - len(kept))

    def _parts(self, query: MemoryQuery, index: MemoryIndex, slots: Slots, similarity: Floats) -> ScoreParts:
        asked_of, _ = next(periods_in(query.text, query.now.at), (query.now.at, None))  # near that day rather than now
        return self._parts_of(
            query,
            similarity,
            np.abs(to_micros(asked_of) - index.column("created_at")[slots]),
            query.now.iteration - index.column("created_iteration")[slots],
            np.array(KINDS)[index.column("kind")[slots]],
            index.column("tier")[slots].astype(np.int64),
            index.column("usefulness")[slots],
            index.column("access_count")[slots],
        )

    def _parts_of(
        self,
        query: MemoryQuery,
        similarity: Floats,
        age_micros: Slots,
        age: Slots,
        kinds: np.ndarray[tuple[int, ...], np.dtype[np.str_]],
        tiers: Slots,
        usefulness: Floats,
        access_count: Slots,
    ) -> ScoreParts:
        if query.ranking == "block":
            return block_parts(np.maximum(similarity, 0), age_micros, tiers, access_count, self._settings.ranking)
        preferred = query.preferred or query.filter.kinds or self._settings.retrieval.context_types
        matches = np.isin(kinds, preferred)
        return iteration_parts(similarity, age, kinds == "skill", usefulness, matches, self._settings.scoring)

    def _scores(self, query: MemoryQuery, parts: ScoreParts, similarity: Floats) -> Floats:
        if query.ranking == "block":
            return below_reordered(block_scores(parts, self._settings.ranking), similarity)
        return iteration_scores(parts, self._settings.scoring)


def _best(scores: Floats, limit: int) -> Slots:
    """Return the places of the best scores, in order of place; equal ones at the bound stay in."""
    if len(scores) <= limit:
        return np.arange(len(scores))
    return np.flatnonzero(scores >= np.partition(scores, -limit)[-limit])


def _union(n: int, *parts: Slots) -> Slots:
    """Return the slots, each below n, that are in any of the parts, sorted."""
    chosen = np.zeros(n, bool)
    for part in parts:
        chosen[part] = True
    return np.flatnonzero(chosen)


def _places(slots: Slots, among: Slots) -> tuple[Slots, Mask]:
    """Return the place of each slot among sorted ones, and which are there; of the others the place is any."""
    if not len(among):
        return np.zeros(slots.shape, np.int64), np.zeros(slots.shape, bool)
    places = np.minimum(np.searchsorted(among, slots), len(among) - 1)
    return places, among[places] == slots


def _hit(item: MemoryItem, parts: ScoreParts, scores: Floats, at: int, window: int = 0) -> MemoryHit:
    return MemoryHit(
        item,
        float(scores[at]),
        float(parts.similarity[at]),
        float(parts.recency[at]),
        float(parts.third[at]),
        float(parts.fourth[at]),
        window,
    )
