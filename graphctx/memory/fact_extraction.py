"""The facts of items: extracted when an item is stored, or when facts are asked for."""

from __future__ import annotations

from graphctx.errors import BackendUnavailable
from graphctx.memory.database import MemoryDatabase
from graphctx.memory.extraction import TripleExtractor
from graphctx.memory.facts import FactStore
from graphctx.memory.items import MemoryDraft, MemoryItem, Moment, Triple
from graphctx.memory.store import ITEM_FIELDS, item_of_row
from graphctx.nlp.base import Extractor
from graphctx.settings import MemoryFactSettings

_BATCH = 16


class FactExtraction:
    """Extracts facts; an attribute of `graphctx.memory.memory.Memory`.

    Args:
        database: of the items.
        facts: where facts are stored.
        settings: which kinds have their facts extracted when they are stored.
        extractor: of sentences; the shipped one by default, loaded at the first sentence.
    """

    def __init__(
        self, database: MemoryDatabase, facts: FactStore, settings: MemoryFactSettings, extractor: Extractor | None
    ) -> None:
        self._database, self._facts, self._settings = database, facts, settings
        self._triples = TripleExtractor(lambda: extractor or _shipped_extractor())

    def of_item(self, item: MemoryItem) -> list[Triple]:
        """Return the triples that the text of an item states."""
        return self._triples.triples(item.text, item.author)

    def of_draft(self, draft: MemoryDraft, item: MemoryItem, extract: bool | None) -> tuple[list[Triple], bool, str]:
        """Return the triples of an item that is stored, whether it waits for extraction, and why it has none, if so.

        Args:
            draft: the triples of its caller go before those of its text.
            item: what it becomes.
            extract: as in `Memory.add`.
        """
        if draft.triples is not None:
            return list(draft.triples), False, ""
        wanted = item.kind in self._settings.extract_kinds if extract is None else extract
        try:
            return self.of_item(item) if wanted else [], extract is None and item.kind == "turn", ""
        except BackendUnavailable as error:
            return [], True, f"facts were not extracted: {error}"

    def pending(self, limit: int | None = None) -> int:
        """Extract the facts of items that wait for it, the oldest first; return how many items that were."""
        done = 0
        while limit is None or done < limit:
            with self._database.read() as connection:
                rows = connection.execute(
                    f"SELECT {ITEM_FIELDS} FROM items WHERE facts_pending ORDER BY created_at, row LIMIT {_BATCH}"
                ).fetchall()
            if not rows:
                break
            items = [item_of_row(row) for row in rows]
            triples = [self.of_item(item) for item in items]
            with self._database.write() as connection:
                for item, stated in zip(items, triples, strict=True):
                    taken = connection.execute(
                        "UPDATE items SET facts_pending = 0 WHERE id = ? AND facts_pending", (item.id,)
                    ).rowcount
                    if taken:  # else another process was faster
                        self._facts.add(connection, stated, item, Moment(item.created_at, item.created_iteration))
            done += len(items)
        return done


def _shipped_extractor() -> Extractor:
    from graphctx.nlp.spacy_extractor import SpacyExtractor

    return SpacyExtractor()
