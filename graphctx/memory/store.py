"""Items in the file: stored, read, changed and deleted; every method is one transaction."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from graphctx.errors import InvalidArgument
from graphctx.memory.database import MemoryDatabase, add_text, remove_text
from graphctx.memory.items import (
    CORE_TIER,
    ITERATIONS_TAG,
    KINDS,
    PERSISTENCES,
    STATES,
    TIER_OF_KIND,
    MemoryDraft,
    MemoryFilter,
    MemoryItem,
    MemoryScope,
    Moment,
    from_micros,
    to_micros,
)
from graphctx.memory.postings import term_hashes
from graphctx.memory.scorer import decayed
from graphctx.model.ids import content_id
from graphctx.settings import MemorySettings

ITEM_FIELDS = (
    "id, kind, tier, text, verbatim, source_ids, tags, metadata, principal, project, session, persistence, author, "
    "source, created_at, created_iteration, used_at, used_iteration, confidence, usefulness, access_count, valid_from, "
    "valid_to, state"
)
_FIELD_NAMES = ITEM_FIELDS.split(", ")
_VERBATIM, _METADATA = _FIELD_NAMES.index("verbatim"), _FIELD_NAMES.index("metadata")
_LISTS = [_FIELD_NAMES.index(name) for name in ("source_ids", "tags")]
_TIMES = [_FIELD_NAMES.index(name) for name in ("created_at", "used_at", "valid_from", "valid_to")]
_INSERT = f"""INSERT OR IGNORE INTO items ({ITEM_FIELDS}, vector, terms, facts_pending)
    VALUES ({", ".join("?" * 27)})"""

OF_ITERATIONS = (
    "(kind IN ('task', 'iteration', 'skill', 'file', 'output', 'error') "
    f"OR (kind = 'summary' AND instr(tags, '\"{ITERATIONS_TAG}\"')))"
)
"""SQL condition of items of the context of iterations, whose ages are counted in iterations."""

SHORT_ID_CHARS = 4
"""Characters of an id after ``m_`` that texts show, and the least that name an item."""

MAX_TAGS, MAX_TAG_CHARS, MAX_METADATA_CHARS = 50, 200, 100_000


def in_scope(scope: MemoryScope, table: str = "items") -> tuple[str, tuple[str, ...]]:
    """Return the SQL condition that a row of ``items`` or ``facts`` is visible, and its parameters."""
    t = table
    return (
        f"{t}.principal = ? AND ({t}.persistence = 'global' OR ({t}.project = ? AND "
        f"({t}.persistence = 'project' OR {t}.session = ?)))",
        (scope.principal, scope.project, scope.session),
    )


def item_of(draft: MemoryDraft, scope: MemoryScope, now: Moment, settings: MemorySettings) -> MemoryItem:
    """Check a draft and return the item that it becomes.

    Raises:
        InvalidArgument: the text is blank or too long, or a value is none of those allowed.
    """
    _check(draft, settings)
    persistence = draft.persistence or settings.storage.persistence
    author = draft.author
    place = (scope.principal, scope.project, scope.session, persistence, draft.kind, author, draft.source)
    return MemoryItem(
        id=content_id("m", *place, to_micros(now.at), now.iteration, draft.text),
        kind=draft.kind,
        tier=TIER_OF_KIND.get(draft.kind, 0) if draft.tier is None else draft.tier,
        text=draft.text,
        verbatim=draft.verbatim,
        source_ids=draft.source_ids,
        tags=tuple(dict.fromkeys(draft.tags)),
        metadata=dict(draft.metadata),
        principal=scope.principal,
        project=scope.project,
        session=scope.session,
        persistence=persistence,
        author=author,
        source=draft.source,
        created_at=from_micros(to_micros(now.at)),
        created_iteration=now.iteration,
        used_at=None,
        used_iteration=None,
        confidence=float(draft.confidence),
        usefulness=float(draft.usefulness),
        access_count=0,
        valid_from=draft.valid_from,
        valid_to=draft.valid_to,
        state="active",
    )


def check_item(item: MemoryItem, settings: MemorySettings) -> None:
    """Check an item that comes from elsewhere as `item_of` checks a draft.

    Raises:
        InvalidArgument: the store cannot hold it, or no other way in would accept it.
    """
    common = {field.name for field in fields(MemoryDraft)} & {field.name for field in fields(MemoryItem)}
    _check(MemoryDraft(**{name: getattr(item, name) for name in common}), settings)
    for moment in (item.created_at, item.used_at, item.valid_from, item.valid_to):
        if moment is not None:
            to_micros(moment)
    for number in (item.created_iteration, item.used_iteration or 0, item.access_count):
        if not 0 <= number < 2**63:
            raise InvalidArgument(f"{number} is no count that can be stored.", field="created_iteration")


def _check(draft: MemoryDraft, settings: MemorySettings) -> None:
    most = settings.storage.max_text_chars
    if not draft.text.strip():
        raise InvalidArgument("The text is blank; store what is to be remembered.", field="text")
    if len(draft.text) > most:
        raise InvalidArgument(
            f"The text has {len(draft.text)} characters, and may have {most}. Store it in parts, or a summary of it.",
            field="text",
            max_chars=most,
        )
    for name, value, allowed in (
        ("kind", draft.kind, KINDS),
        ("persistence", draft.persistence, (None, *PERSISTENCES)),
        ("tier", draft.tier, (None, *range(CORE_TIER + 1))),
    ):
        if value not in allowed:
            choices = ", ".join(str(each) for each in allowed if each is not None)
            raise InvalidArgument(f"{name} is {value!r}; choose one of {choices}.", field=name, value=value)
    for name, number in (("confidence", draft.confidence), ("usefulness", draft.usefulness)):
        if not (math.isfinite(number) and 0 <= number <= 1):
            raise InvalidArgument(f"{name} is {number!r}; give a number from 0 to 1.", field=name)
    if len(draft.tags) > MAX_TAGS or any(not tag.strip() or len(tag) > MAX_TAG_CHARS for tag in draft.tags):
        raise InvalidArgument(
            f"Give at most {MAX_TAGS} tags of 1 to {MAX_TAG_CHARS} characters each, not only spaces.", field="tags"
        )
    if draft.valid_from and draft.valid_to and to_micros(draft.valid_to) < to_micros(draft.valid_from):
        raise InvalidArgument("valid_to is before valid_from. Exchange them.", field="valid_to")
    try:
        metadata = json.dumps(dict(draft.metadata), allow_nan=False, ensure_ascii=False)
        f"{draft.text}{draft.author}{draft.source}{''.join(draft.tags)}{metadata}".encode()
    except UnicodeEncodeError:
        raise InvalidArgument("The text has half of a surrogate pair, which cannot be stored. Remove it.") from None
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"metadata cannot be written as JSON: {error}.", field="metadata") from None
    if len(metadata) > MAX_METADATA_CHARS:
        raise InvalidArgument(f"metadata has more than {MAX_METADATA_CHARS} characters of JSON.", field="metadata")


class ItemStore:
    """Items in SQL; what is searched is in `graphctx.memory.index`."""

    def __init__(self, database: MemoryDatabase, settings: MemorySettings) -> None:
        self._database, self._settings = database, settings

    def insert(
        self,
        connection: sqlite3.Connection,
        item: MemoryItem,
        vectors: np.ndarray[Any, np.dtype[np.float32]] | None,
        pending: bool,
    ) -> bool:
        """Insert an item within a transaction; return whether it was absent."""
        values = (
            *_row_of(item),
            None if vectors is None else vectors.astype(np.float16).tobytes(),
            term_hashes(item.text).tobytes(),
            pending,
        )
        done = connection.execute(_INSERT, values)
        if done.rowcount:
            add_text(connection, int(done.lastrowid or 0), item.text)
        return bool(done.rowcount)

    def get(self, item_id: str, scope: MemoryScope) -> MemoryItem:
        """Return an item by its id, or by a beginning of it, with ``m_`` or without, that no other item in scope has.

        Raises:
            InvalidArgument: no item in scope has this id, or several begin with it.
        """
        where, values = in_scope(scope)
        beginning = f"m_{item_id.removeprefix('m_')}"
        end = f"{beginning}~" if len(beginning) >= 2 + SHORT_ID_CHARS else ""
        with self._database.read() as connection:
            found = connection.execute(
                f"SELECT {ITEM_FIELDS} FROM items WHERE (id = ? OR (id >= ? AND id < ?)) AND {where} "
                "ORDER BY id <> ? LIMIT 2",
                (item_id, beginning, end, *values, item_id),
            ).fetchall()
        if not found or (len(found) > 1 and found[0][0] != item_id):
            why = f"Several memories begin with {item_id!r}; give more of the id." if found else ""
            raise InvalidArgument(
                why or f"There is no memory {item_id!r} here. Take an id from an answer of this project and session.",
                field="memory_id",
                value=item_id,
            )
        return item_of_row(found[0])

    def select(
        self,
        scope: MemoryScope,
        chosen: MemoryFilter,
        now: Moment,
        *,
        newest_first: bool = True,
        limit: int | None = None,
        where: str = "",
        values: Sequence[Any] = (),
    ) -> list[MemoryItem]:
        """Return the items of a filter by the time of their creation, ties in the order of storing."""
        condition, scoped = in_scope(scope)
        for field, allowed in (("kind", chosen.kinds), ("state", chosen.states or STATES[:-1])):
            if allowed:
                condition += f" AND {field} IN ({', '.join('?' * len(allowed))})"
                scoped += allowed
        if chosen.tags:
            condition += f" AND ({' OR '.join(['instr(tags, ?)'] * len(chosen.tags))})"
            scoped += tuple(json.dumps(tag)[1:-1] for tag in chosen.tags)
        order = "DESC" if newest_first else "ASC"
        query = (
            f"SELECT {ITEM_FIELDS} FROM items WHERE {condition} {where and f'AND {where}'} "
            f"ORDER BY created_at {order}, created_iteration {order}, row {order}"
        )
        kept: list[MemoryItem] = []
        with self._database.read() as connection:
            for row in connection.execute(query, (*scoped, *values)):
                item = item_of_row(row)
                if is_chosen(item, chosen, now, self._settings):
                    kept.append(item)
                    if len(kept) == limit:
                        break
        return kept

    def rows(self, connection: sqlite3.Connection, ids: Sequence[str]) -> list[int]:
        """Return the row numbers of items."""
        marks = ",".join("?" * len(ids))
        return [row for (row,) in connection.execute(f"SELECT row FROM items WHERE id IN ({marks}) ORDER BY row", ids)]

    def by_rows(self, connection: sqlite3.Connection, rows: Iterable[int]) -> dict[int, MemoryItem]:
        """Return items by their row numbers."""
        wanted = list(rows)
        query = f"SELECT row, {ITEM_FIELDS} FROM items WHERE row IN ({','.join('?' * len(wanted))})"
        return {found[0]: item_of_row(found[1:]) for found in connection.execute(query, wanted)}

    def matching(
        self, query_terms: Sequence[str], scope: MemoryScope, chosen: MemoryFilter, now: Moment, limit: int
    ) -> list[tuple[MemoryItem, float]]:
        """Return items by FTS5's BM25 with their scores, the best first; ties by id."""
        where, values = in_scope(scope)
        match = " OR ".join(f'"{term}"' for term in query_terms)
        query = (
            f"SELECT {ITEM_FIELDS}, bm25(item_text) AS weight FROM item_text "
            f"JOIN items ON items.row = item_text.rowid WHERE item_text MATCH ? AND {where} ORDER BY weight, id"
        )
        found: list[tuple[MemoryItem, float]] = []
        with self._database.read() as connection:
            for row in connection.execute(query, (match, *values)) if query_terms else ():
                item = item_of_row(row[:-1])
                if is_chosen(item, chosen, now, self._settings):
                    found.append((item, -row[-1]))
                    if len(found) == limit:
                        break
        return found

    def update(self, item_id: str, scope: MemoryScope, change: Callable[[MemoryItem], Mapping[str, Any]]) -> MemoryItem:
        """Change fields of an item, read and written in one transaction; its text never changes."""
        with self._database.write() as connection:
            item = self.get(item_id, scope)
            changes = change(item)
            changed = replace(item, **changes)
            fields = dict(zip(_FIELD_NAMES, _row_of(changed), strict=True))
            listed = ", ".join(f"{name} = ?" for name in changes)
            connection.execute(
                f"UPDATE items SET {listed} WHERE id = ?",
                (*(fields[name] for name in changes), item.id),
            )
        return changed

    def age(self, scope: MemoryScope, now: Moment) -> int:
        """Set the states that follow from the ages in iterations, forwards only; return how many changed."""
        where, values = in_scope(scope)
        lifecycle = self._settings.lifecycle
        n_changed = 0
        with self._database.write() as connection:
            for state, before, ripe in (
                ("archived", lifecycle.archive_after_iterations, "state = 'summarized'"),
                ("archived", lifecycle.archive_after_iterations, "state = 'aging' AND kind IN ('summary', 'task')"),
                ("aging", lifecycle.aging_after_iterations, "state = 'active'"),
            ):
                n_changed += connection.execute(
                    "UPDATE items SET state = ? WHERE tier < ? AND kind <> 'skill' AND created_at <= ? "
                    f"AND created_iteration < ? AND {ripe} AND {OF_ITERATIONS} AND {where}",
                    (state, CORE_TIER, to_micros(now.at), now.iteration - before, *values),
                ).rowcount
        return n_changed

    def mark_summarised(self, connection: sqlite3.Connection, ids: Sequence[str]) -> None:
        """Set active or aging items to ``summarized`` within a transaction.

        Raises:
            InvalidArgument: one of them is neither, or is deleted.
        """
        query = "UPDATE items SET state = 'summarized' WHERE id = ? AND state IN ('active', 'aging')"
        if sum(connection.execute(query, (item_id,)).rowcount for item_id in ids) < len(ids):
            raise InvalidArgument("An item was summarised or deleted in this moment. Try again.", field="source_ids")

    def touch(self, ids: Sequence[str], now: Moment) -> None:
        """Count a use of items; the count reaches the disk with the next durable write."""
        marks = ",".join("?" * len(ids))
        with self._database.write(durable=False) as connection:
            connection.execute(
                "UPDATE items SET access_count = access_count + 1, used_at = ?, used_iteration = ? "
                f"WHERE id IN ({marks})",
                (to_micros(now.at), now.iteration, *ids),
            )

    def delete(self, connection: sqlite3.Connection, ids: Sequence[str]) -> int:
        """Delete items within a transaction; return how many there were."""
        n_deleted = 0
        for item_id in ids:
            found = connection.execute("SELECT row, text FROM items WHERE id = ?", (item_id,)).fetchone()
            if found is not None:
                connection.execute("DELETE FROM items WHERE row = ?", found[:1])
                remove_text(connection, *found)
                n_deleted += 1
        return n_deleted


def is_chosen(item: MemoryItem, chosen: MemoryFilter, now: Moment, settings: MemorySettings) -> bool:
    """Return whether a filter chooses an item at a moment; the same as `MemoryIndex.mask` for one in scope."""
    states = chosen.states or STATES[:-1]
    valid = (item.valid_from is None or item.valid_from <= now.at) and (item.valid_to is None or now.at < item.valid_to)
    return (
        item.created_at <= now.at
        and (valid or chosen.history)
        and item.state in states
        and (not chosen.kinds or item.kind in chosen.kinds)
        and (not chosen.tiers or item.tier in chosen.tiers)
        and (not chosen.tags or not set(chosen.tags).isdisjoint(item.tags))
        and (not chosen.summary_tag or item.kind != "summary" or chosen.summary_tag in item.tags)
        and (chosen.session is None or item.session == chosen.session)
        and (chosen.after is None or item.created_at >= chosen.after)
        and (chosen.before is None or item.created_at < chosen.before)
        and decayed(item.confidence, item.created_at, now.at, item.tier, settings.compression) >= chosen.min_confidence
    )


def _row_of(item: MemoryItem) -> tuple[Any, ...]:
    return (
        item.id,
        item.kind,
        item.tier,
        item.text,
        item.verbatim,
        json.dumps(item.source_ids),
        json.dumps(item.tags),
        json.dumps(dict(item.metadata), sort_keys=True),
        item.principal,
        item.project,
        item.session,
        item.persistence,
        item.author,
        item.source,
        to_micros(item.created_at),
        item.created_iteration,
        None if item.used_at is None else to_micros(item.used_at),
        item.used_iteration,
        item.confidence,
        item.usefulness,
        item.access_count,
        None if item.valid_from is None else to_micros(item.valid_from),
        None if item.valid_to is None else to_micros(item.valid_to),
        item.state,
    )


def item_of_row(row: Sequence[Any]) -> MemoryItem:
    """Return the item of a row of `ITEM_FIELDS`."""
    values = list(row)
    for at in _LISTS:
        values[at] = () if values[at] == "[]" else tuple(json.loads(values[at]))
    for at in _TIMES:
        if values[at] is not None:
            values[at] = from_micros(values[at])
    values[_VERBATIM] = bool(values[_VERBATIM])
    values[_METADATA] = {} if values[_METADATA] == "{}" else json.loads(values[_METADATA])
    return MemoryItem(*values)
