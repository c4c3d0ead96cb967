"""Deletion that is complete on the disk, and what is deleted to make room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from graphctx.memory.database import MemoryDatabase, MemoryFull
from graphctx.memory.facts import FactStore
from graphctx.memory.items import CORE_TIER, MemoryItem, MemoryScope
from graphctx.memory.store import ItemStore

PRUNED_SHARE = 0.1
"""Share of a principal's items that is deleted at a time to make room for a new one."""

_PRUNE_BATCH = 16


class ItemDeletion:
    """Deletes items with their facts.

    Args:
        database: the file.
        items: its items.
        facts: its facts.
        max_size_mb: MiB that the file may have.
        deleted: called when something was deleted.
    """

    def __init__(
        self,
        database: MemoryDatabase,
        items: ItemStore,
        facts: FactStore,
        max_size_mb: int,
        deleted: Callable[[], None],
    ) -> None:
        self._database, self._items, self._facts = database, items, facts
        self._max_bytes, self._deleted = max_size_mb << 20, deleted

    def delete(self, ids: Sequence[str]) -> int:
        """Delete items by id, from the disk too; return how many there were."""
        n_deleted = self._remove(ids)
        if n_deleted:
            self._database.purge()
        return n_deleted

    def would_be_in_vain(self, items: Sequence[MemoryItem]) -> bool:
        """Return whether items need more room than pruning should make; an item is stored twice, with its terms."""
        return 4 * sum(len(item.text) for item in items) > self._max_bytes

    def make_room(self, scope: MemoryScope, missing: int) -> int:
        """Delete the least valuable items of the principal; return how many.

        None are deleted if they would not make the ``missing`` bytes of room on the disk.
        """
        if missing > PRUNED_SHARE * self._database.size():
            return 0
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT id FROM items WHERE principal = ? AND tier < ? "
                "ORDER BY usefulness * confidence, created_iteration, created_at, row",
                (scope.principal, CORE_TIER),
            ).fetchall()
        ids = [row[0] for row in rows[: -(-len(rows) // round(1 / PRUNED_SHARE))]]
        n_deleted = 0
        with suppress(MemoryFull):  # a full disk takes small transactions longer than large ones
            for start in range(0, len(ids), _PRUNE_BATCH):
                n_deleted += self._remove(ids[start : start + _PRUNE_BATCH])
            self._database.purge()
        return n_deleted

    def _remove(self, ids: Sequence[str]) -> int:
        if not ids:
            return 0
        with self._database.write(limited=False) as connection:
            self._facts.delete_of(connection, ids)
            n_deleted = self._items.delete(connection, ids)
        self._deleted()
        return n_deleted
