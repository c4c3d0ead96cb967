"""`Memory`: one store with its search, facts and lifecycle, which both toolsets use."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from graphctx.errors import BackendUnavailable, GraphctxError, InvalidArgument
from graphctx.memory.database import MemoryDatabase, MemoryFull
from graphctx.memory.deletion import ItemDeletion
from graphctx.memory.embedding import EMBED_BATCH, WindowEmbedder
from graphctx.memory.fact_extraction import FactExtraction
from graphctx.memory.facts import FactChanges, FactStore, NameResolver, PlacedFact
from graphctx.memory.feedback import with_feedback
from graphctx.memory.items import (
    MemoryDraft,
    MemoryFilter,
    MemoryItem,
    MemoryScope,
    Moment,
    to_micros,
)
from graphctx.memory.lifecycle import MemoryLifecycle
from graphctx.memory.search import MemoryHits, MemoryQuery, MemorySearcher
from graphctx.memory.statistics import MemoryStatistics
from graphctx.memory.store import ITEM_FIELDS, ItemStore, item_of, item_of_row
from graphctx.nlp.base import Embedder, Extractor
from graphctx.nlp.embedders import DEFAULT, make_embedder
from graphctx.settings import LlmSettings, MemorySettings

DEPRECATED_SHARE = 0.5
"""What is left of the confidence of an item that is deprecated."""

PRUNE_ATTEMPTS = 5
"""How often items are deleted to make room for a new one."""


@dataclass(frozen=True, slots=True)
class StoreOutcome:
    """What storing an item did.

    Attributes:
        item: as it is stored.
        created: whether it is new; storing the same thing in the same moment twice is one item.
        facts: new facts that it states, and facts that these ended.
        degraded: why it has no vector or no facts, empty if it has.
        compressed: summaries that working memory overflowed into.
        pruned: items that made room for it.
    """

    item: MemoryItem
    created: bool
    facts: FactChanges = field(default_factory=FactChanges)
    degraded: str = ""
    compressed: tuple[MemoryItem, ...] = ()
    pruned: int = 0


class Memory:
    """A memory folder. Several processes and threads may use one at the same time.

    Usage::

        with Memory(folder) as memory:
            here, now = MemoryScope(project="apollo"), Moment(datetime.now(UTC))
            memory.add([MemoryDraft("fact", "The deadline of Apollo is May 2.")], here, now)
            hits = memory.search(MemoryQuery("When is the deadline?", here, now)).hits
            memory.facts.value_at("Apollo", "deadline", now.at, here)

    Args:
        folder: holds ``memory.db``; created if it is missing.
        settings: the group ``[memory]``.
        embedder: of items and questions; by default that of the settings.
        extractor: of facts; the shipped one by default, loaded at the first sentence.
        resolver: further names of a name, from a knowledge base.
        llm: the language model that writes the summaries which are asked for; without one they are extractive.
        llm_seconds: what it may take in all.

    Raises:
        BackendUnavailable: the store is damaged, of a later version, or cannot be opened.
        InvalidArgument: the folder is a file.
    """

    def __init__(
        self,
        folder: Path,
        settings: MemorySettings | None = None,
        *,
        embedder: Embedder | None = None,
        extractor: Extractor | None = None,
        resolver: NameResolver | None = None,
        llm: LlmSettings | None = None,
        llm_seconds: float = 60.0,
    ) -> None:
        self.settings = settings or MemorySettings()
        storage = self.settings.storage
        self.database = MemoryDatabase(
            Path(folder), max_size_mb=storage.max_size_mb, busy_seconds=storage.busy_timeout_seconds
        )
        chosen = self.settings.embeddings
        self._embedder = embedder or make_embedder(DEFAULT if chosen.provider == "local" else f"st:{chosen.model}")
        self._items = ItemStore(self.database, self.settings)
        self.facts = FactStore(self.database, self.settings.facts, resolver)
        self.extraction = FactExtraction(self.database, self.facts, self.settings.facts, extractor)
        self._searcher = MemorySearcher(self.database, self._items, self._embedder, self.settings)
        self._windows = WindowEmbedder(self.database, self._embedder, None if embedder else chosen.dimensions)
        self._deletion = ItemDeletion(
            self.database, self._items, self.facts, storage.max_size_mb, self._searcher.reset_cache
        )
        self.statistics = MemoryStatistics(self.database, self.settings)
        self.lifecycle = MemoryLifecycle(
            self.database,
            self._items,
            self.settings,
            lambda draft, there, now, summarised: self.add([draft], there, now, summarised=summarised)[0].item,
            self._deletion.delete,
            llm if llm and llm.enabled else None,
            llm_seconds,
        )

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the store. Idempotent."""
        self.database.close()

    def load(self) -> None:
        """Load the embedder and the index, as the first search does otherwise; a damaged part is reported there."""
        with suppress(GraphctxError):
            self._embedder.embed(["load"])
            self._searcher.vectors([])

    # Writing

    def add(
        self,
        drafts: Sequence[MemoryDraft],
        scope: MemoryScope,
        now: Moment,
        *,
        extract: bool | None = None,
        summarised: Sequence[str] = (),
    ) -> list[StoreOutcome]:
        """Store items in one durable transaction; all or none.

        Args:
            drafts: the items.
            scope: where they belong.
            now: when they are stored.
            extract: whether facts are extracted at once; by default those of `[memory.facts] extract_kinds` are, and
                those of turns when `extraction.pending` is called.
            summarised: ids of active or aging items that the drafts stand for; they become ``summarized``.

        Raises:
            InvalidArgument: a draft is not acceptable (see `graphctx.memory.store.item_of`), or one of ``summarised``
                was deleted or summarised by another call.
            MemoryFull: there is no room, after pruning too.
            BackendUnavailable: the store cannot be written.
        """
        items = [item_of(draft, scope, now, self.settings) for draft in drafts]
        vectors, degraded = self._windows.embed([item.text for item in items])
        found = [self.extraction.of_draft(draft, item, extract) for draft, item in zip(drafts, items, strict=True)]

        def insert() -> list[StoreOutcome]:
            outcomes = []
            with self.database.write() as connection:
                self._windows.remember(connection)
                self._items.mark_summarised(connection, summarised)
                for number, (item, (triples, pending, why)) in enumerate(zip(items, found, strict=True)):
                    vector = None if vectors is None else vectors[number]
                    created = self._items.insert(connection, item, vector, pending)
                    changes = self.facts.add(connection, triples, item, now)
                    outcomes.append(StoreOutcome(item, created, changes, "; ".join(filter(None, (degraded, why)))))
            return outcomes

        pruned = 0
        for attempt in range(PRUNE_ATTEMPTS + 1):
            try:
                outcomes = insert()
                break
            except MemoryFull as full:
                hopeless = attempt == PRUNE_ATTEMPTS or self._deletion.would_be_in_vain(items)
                room = 0 if hopeless else self._deletion.make_room(scope, full.missing)
                if not room:
                    raise
                pruned += room
        compressed: tuple[MemoryItem, ...] = ()
        if n_turns := sum(item.kind == "turn" for item in items):
            compressed = self.lifecycle.promote(scope, now, n_turns)
        if outcomes and (pruned or compressed):
            outcomes[-1] = replace(outcomes[-1], compressed=compressed, pruned=pruned)
        return outcomes

    def restore(self, items: Sequence[MemoryItem], stated_in: Container[str] = ()) -> int:
        """Store items exactly as they are, ids and times included, as an import does.

        Args:
            items: the items.
            stated_in: ids of items whose facts are restored too, and so are not extracted.

        Returns:
            How many were absent.
        """
        n_added = 0
        for start in range(0, len(items), EMBED_BATCH):
            batch = items[start : start + EMBED_BATCH]
            vectors, _ = self._windows.embed([item.text for item in batch])
            with self.database.write() as connection:
                self._windows.remember(connection)
                for number, item in enumerate(batch):
                    vector = None if vectors is None else vectors[number]
                    extract = item.id not in stated_in
                    if self._items.insert(connection, item, vector, extract and item.kind == "turn"):
                        n_added += 1
                        if extract and item.kind in self.settings.facts.extract_kinds and item.valid_to is None:
                            moment = Moment(item.created_at, item.created_iteration)
                            self.facts.add(connection, self.extraction.of_item(item), item, moment)
        return n_added

    def restore_facts(self, facts: Sequence[PlacedFact]) -> int:
        """Store facts exactly as they are; return how many were absent."""
        with self.database.write() as connection:
            return self.facts.restore(connection, facts)

    def everything(
        self, scope: MemoryScope, *, all_projects: bool = False
    ) -> tuple[list[MemoryItem], list[PlacedFact]]:
        """Return all items and facts that the principal stored in the project, or in all projects, as an export does.

        They are in the order of storing, of every session and state.
        """
        place = "principal = ? AND (? OR project = ?)"
        values = (scope.principal, all_projects, scope.project)
        with self.database.read() as connection:
            rows = connection.execute(f"SELECT {ITEM_FIELDS} FROM items WHERE {place} ORDER BY row", values).fetchall()
            return [item_of_row(row) for row in rows], self.facts.placed(connection, place, values)

    def facts_of(self, item_id: str) -> list[PlacedFact]:
        """Return the facts that an item states, in the order of storing."""
        with self.database.read() as connection:
            return self.facts.placed(connection, "source_item = ?", (item_id,))

    def update(self, item_id: str, scope: MemoryScope, change: Callable[[MemoryItem], Mapping[str, Any]]) -> MemoryItem:
        """Change fields of an item, read and written in one transaction; its text never changes.

        Args:
            item_id: which.
            scope: who asks.
            change: returns the fields that change and their values.
        """
        return self._items.update(item_id, scope, change)

    def feedback(self, item_id: str, helpful: bool, scope: MemoryScope, reason: str = "") -> MemoryItem:
        """Raise or lower the usefulness of an item; its metadata count the feedback and keep the last reason."""

        return self._items.update(
            item_id, scope, lambda item: with_feedback(item, helpful, reason, self.settings.scoring)
        )

    def deprecate(self, item_id: str, scope: MemoryScope) -> MemoryItem:
        """Halve the confidence of an item."""
        return self._items.update(item_id, scope, lambda item: {"confidence": item.confidence * DEPRECATED_SHARE})

    def correct(self, item_id: str, text: str, scope: MemoryScope, now: Moment) -> StoreOutcome:
        """Replace an item by a corrected one; the old text stays in the history, and its facts end.

        Returns:
            The new item, whose ``source_ids`` begin with the old one's id.
        """
        old = self.get(item_id, scope)
        if old.valid_to is not None and old.valid_to <= now.at:
            raise InvalidArgument(f"{item_id} was corrected before; correct the item that replaced it.", value=item_id)
        draft = MemoryDraft(
            old.kind,
            text,
            tier=old.tier,
            source_ids=(old.id,),
            tags=old.tags,
            metadata=old.metadata,
            persistence=old.persistence,
            author=old.author,
            source=old.source,
            usefulness=old.usefulness,
        )
        outcome = self.add([draft], MemoryScope(old.principal, old.project, old.session), now, extract=True)[0]
        with self.database.write() as connection:
            at = to_micros(now.at)
            connection.execute("UPDATE items SET valid_to = ? WHERE id = ?", (at, old.id))
            self.facts.end_all_of(connection, old.id, at, outcome.item.id)
        return outcome

    def forget(self, ids: Iterable[str], scope: MemoryScope) -> int:
        """Delete items of the scope, and their facts, from the disk too; return how many there were.

        A fact that a deleted one had ended holds again. Summaries that were made from a deleted item stay, and still
        name its id.

        Raises:
            InvalidArgument: an id is unknown in this scope; nothing is deleted.
        """
        return self._deletion.delete([self.get(item_id, scope).id for item_id in ids])

    def wipe(self, scope: MemoryScope, *, all_projects: bool = False) -> int:
        """Delete everything that the principal stored in the project, or in all projects; return how many items."""
        place = "principal = ? AND (? OR project = ?)"
        with self.database.read() as connection:
            query = f"SELECT id FROM items WHERE {place}"
            ids = connection.execute(query, (scope.principal, all_projects, scope.project)).fetchall()
        n_deleted = self._deletion.delete([each[0] for each in ids])
        self.database.compact()
        return n_deleted

    # Reading

    def get(self, item_id: str, scope: MemoryScope) -> MemoryItem:
        """Return an item by its id.

        Raises:
            InvalidArgument: no item in scope has this id.
        """
        return self._items.get(item_id, scope)

    def visible(self, ids: Iterable[str], scope: MemoryScope) -> list[MemoryItem]:
        """Return the items of these ids that are in scope, in this order; others are left out."""
        found = []
        for item_id in ids:
            with suppress(InvalidArgument):
                found.append(self.get(item_id, scope))
        return found

    def history(self, item_id: str, scope: MemoryScope) -> list[MemoryItem]:
        """Return an item and the versions that it corrected, the newest first."""
        found = {item_id: self.get(item_id, scope)}
        last = found[item_id]
        while last.source_ids and last.kind != "summary" and last.source_ids[0] not in found:
            try:
                last = self.get(last.source_ids[0], scope)
            except InvalidArgument:  # deleted
                break
            found[last.id] = last
        return list(found.values())

    def select(
        self,
        scope: MemoryScope,
        now: Moment,
        chosen: MemoryFilter | None = None,
        *,
        newest_first: bool = True,
        limit: int | None = None,
    ) -> list[MemoryItem]:
        """Return the items of a filter by the time of their creation."""
        chosen = chosen or MemoryFilter()
        tiers = f"tier IN ({','.join('?' * len(chosen.tiers))})" if chosen.tiers else ""
        return self._items.select(
            scope, chosen, now, newest_first=newest_first, limit=limit, where=tiers, values=chosen.tiers
        )

    def search(self, query: MemoryQuery, *, record_use: bool = True) -> MemoryHits:
        """Return the items that answer a question best.

        A stage that fails leaves the question to the next: hybrid of BM25 and cosine, words alone, the last answer to
        the same question, nothing. `MemoryHits.stage` and ``degraded`` say so.

        Args:
            query: what is asked.
            record_use: count the use of the items that are returned.
        """
        if not query.text.strip():
            raise InvalidArgument("The query is blank; ask something.", field="query")
        try:
            unusable = self._windows.unusable()
        except BackendUnavailable as error:  # the chain may still have an answer
            unusable = error.message
        found = self._searcher.search(query, unusable)
        if record_use and found.stage in ("semantic", "text"):
            self.record_use([hit.item.id for hit in found.hits], query.now)
        return found

    def record_use(self, ids: Sequence[str], now: Moment) -> None:
        """Count a use of items, unless the store cannot be written: no answer depends on it."""
        if ids:
            with suppress(BackendUnavailable):
                self._items.touch(ids, now)

    def vectors(self, ids: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
        """Return the vectors of items by id, without those that have none."""
        return self._searcher.vectors(list(ids))

    def reindex(self) -> int:
        """Embed again what has no vector, or everything if the embedder is another; return the number of items."""
        n_items = self._windows.reindex()
        self._searcher.reset()
        return n_items
