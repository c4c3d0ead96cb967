"""Facts in time: a newer value of a single-valued predicate ends the older one, and nothing is overwritten."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from graphctx.errors import InvalidArgument
from graphctx.memory.database import MemoryDatabase
from graphctx.memory.items import MemoryItem, MemoryScope, Moment, TemporalFact, Triple, from_micros, to_micros
from graphctx.memory.predicates import TYPES, canonical_predicate, holds_one_value
from graphctx.memory.store import in_scope
from graphctx.model.ids import content_id
from graphctx.settings import MemoryFactSettings
from graphctx.text.names import normalise_name

NameResolver = Callable[[str], Sequence[str]]
"""Returns further names of the thing that a name means, such as those of an entity of a knowledge base."""

_CLASSES = frozenset("project team company service product customer client user mr mrs ms dr".split())
"""Nouns before a name that are no part of it: "project Apollo"."""

MAX_DEPTH = 5
MAX_NAME_CHARS = 500

_FIELDS = (
    "id, subject, predicate, object, temporal_start, temporal_end, recorded_at, confidence, source_item, start_char, "
    "end_char, ended_by"
)
_INSERT = f"""INSERT OR IGNORE INTO facts (id, subject, predicate, object, subject_key, predicate_key, object_key,
    temporal_start, temporal_end, recorded_at, confidence, source_item, start_char, end_char, ended_by,
    principal, project, session, persistence) VALUES ({", ".join("?" * 19)})"""
_ORDER = "ORDER BY temporal_start, recorded_at, id"


@dataclass(frozen=True, slots=True)
class FactChanges:
    """What storing triples changed: new facts, and facts that ended, as they are now."""

    added: tuple[TemporalFact, ...] = ()
    ended: tuple[TemporalFact, ...] = ()


@dataclass(frozen=True, slots=True)
class FactStep:
    """A fact that was reached from an entity, and the number of hops to it, from 1."""

    fact: TemporalFact
    hop: int


@dataclass(frozen=True, slots=True)
class OutdatedItem:
    """Since when nothing that an item states holds, and the item that says otherwise, or empty."""

    since: datetime
    by: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """The values that a subject has had of a predicate, from the oldest on; a value stated again is one.

    ``single_valued`` is whether the predicate holds one value at a time.
    """

    subject: str
    predicate: str
    single_valued: bool
    values: tuple[TemporalFact, ...]


@dataclass(frozen=True, slots=True)
class PlacedFact:
    """A fact and where it is visible; see `graphctx.memory.items.MemoryScope`."""

    fact: TemporalFact
    principal: str
    project: str
    session: str
    persistence: str


class FactStore:
    """Facts in SQL.

    Args:
        database: of the items.
        settings: which predicates hold one value, beside those of `graphctx.memory.predicates`.
        resolver: further names of a name.
    """

    def __init__(
        self, database: MemoryDatabase, settings: MemoryFactSettings, resolver: NameResolver | None = None
    ) -> None:
        self._database, self._resolver = database, resolver
        self._single = {canonical_predicate(each).key for each in settings.single_valued}
        self._many = {canonical_predicate(each).key for each in settings.many_valued}

    def add(
        self, connection: sqlite3.Connection, triples: Iterable[Triple], source: MemoryItem, now: Moment
    ) -> FactChanges:
        """Add triples in the place of their source item, within a transaction.

        Raises:
            InvalidArgument: a name is blank or too long, or a triple ends before it starts.
        """
        added: dict[str, None] = {}
        ended: dict[str, None] = {}
        for triple in triples:
            self._add_one(connection, triple, source, now, added, ended)
        return FactChanges(
            self._by_ids(connection, added), self._by_ids(connection, [each for each in ended if each not in added])
        )

    def _add_one(
        self,
        connection: sqlite3.Connection,
        triple: Triple,
        source: MemoryItem,
        now: Moment,
        added: dict[str, None],
        ended: dict[str, None],
    ) -> None:
        _check(triple)
        predicate = canonical_predicate(triple.predicate)
        start = to_micros(triple.temporal_start or source.valid_from or source.created_at)
        end = None if triple.temporal_end is None else to_micros(triple.temporal_end)
        keys = fact_key(triple.subject), predicate.key, fact_key(triple.object)
        area = "principal = ? AND persistence = ? AND (persistence = 'global' OR project = ?) AND "
        area += "(persistence <> 'session' OR session = ?) AND subject_key = ? AND predicate_key = ?"
        values = source.principal, source.persistence, source.project, source.session, *keys[:2]
        same = connection.execute(
            f"SELECT id, object_key, temporal_start, temporal_end FROM facts WHERE {area} {_ORDER}",
            values,
        ).fetchall()
        fact_id = content_id("r", source.principal, source.id, *keys, start, triple.start_char)
        if connection.execute("SELECT 1 FROM facts WHERE id = ?", (fact_id,)).fetchone():
            return

        def end_at(other: str, at: int, changes: bool = True) -> None:
            connection.execute(
                "UPDATE facts SET temporal_end = ?, ended_by = ? WHERE id = ?",
                (at, source.id if triple.ends or predicate.ends else fact_id, other),
            )
            if changes:
                ended[other] = None

        if triple.ends or predicate.ends:
            for other, object_key, since, until in same:
                if object_key == keys[2] and since <= start and (until is None or until > start):
                    end_at(other, start)
            return
        if self._holds_one_value(keys[1], triple.single_valued):
            for other, object_key, since, until in same:
                if since > start:
                    end = since if end is None else min(end, since)
                elif until is None or until > start:
                    if until is not None:
                        end = until if end is None else min(end, until)
                    end_at(other, start, object_key != keys[2])
        elif end is None and any(
            object_key == keys[2] and since <= start and (until is None or until > start)
            for _, object_key, since, until in same
        ):
            return  # stated before, and still so
        place = source.principal, source.project, source.session, source.persistence
        row = (fact_id, triple.subject, triple.predicate, triple.object, *keys, start, end, to_micros(now.at))
        stated = (triple.confidence, source.id, triple.start_char, triple.end_char, "", *place)
        connection.execute(_INSERT, (*row, *stated))
        added[fact_id] = None

    def restore(self, connection: sqlite3.Connection, facts: Iterable[PlacedFact]) -> int:
        """Store facts as they are, within a transaction; return how many were absent."""
        n_added = 0
        for placed in facts:
            fact = placed.fact
            keys = fact_key(fact.subject), canonical_predicate(fact.predicate).key, fact_key(fact.object)
            start, recorded = to_micros(fact.temporal_start), to_micros(fact.recorded_at)
            end = None if fact.temporal_end is None else to_micros(fact.temporal_end)
            row = (fact.id, fact.subject, fact.predicate, fact.object, *keys, start, end, recorded, fact.confidence)
            stated = (fact.source_item, fact.start_char, fact.end_char, fact.ended_by)
            place = (placed.principal, placed.project, placed.session, placed.persistence)
            n_added += connection.execute(_INSERT, (*row, *stated, *place)).rowcount
        return n_added

    def placed(self, connection: sqlite3.Connection, where: str, values: Sequence[Any]) -> list[PlacedFact]:
        """Return the facts of a condition with their places, in the order of storing."""
        query = f"SELECT {_FIELDS}, principal, project, session, persistence FROM facts WHERE {where} ORDER BY row"
        return [PlacedFact(_fact_of(row[:-4]), *row[-4:]) for row in connection.execute(query, values)]

    def outdated(self, item_ids: Sequence[str], at: datetime) -> dict[str, OutdatedItem]:
        """Return items that state facts of which none holds any more; a value that was stated again goes on."""
        marks = ",".join("?" * len(item_ids))
        query = f"""
            WITH RECURSIVE stated(item, id, object_key, temporal_end, ended_by) AS (
                SELECT source_item, id, object_key, temporal_end, ended_by FROM facts WHERE source_item IN ({marks})
                UNION SELECT item, again.id, again.object_key, again.temporal_end, again.ended_by
                FROM stated JOIN facts again ON again.id = stated.ended_by AND again.object_key = stated.object_key)
            SELECT item, MAX(stated.temporal_end), COALESCE(newer.source_item, stated.ended_by)
            FROM stated LEFT JOIN facts newer ON newer.id = stated.ended_by
            GROUP BY 1 HAVING COUNT(*) = COUNT(stated.temporal_end)"""
        with self._database.read() as connection:
            found = connection.execute(query, list(item_ids)).fetchall()
        ended = {item_id: OutdatedItem(from_micros(end), by) for item_id, end, by in found}
        return {item_id: each for item_id, each in ended.items() if each.since <= at}

    def end_all_of(self, connection: sqlite3.Connection, item_id: str, at: int, by: str) -> None:
        """End the facts of an item that still hold; ``by`` is the item that replaces it."""
        connection.execute(
            "UPDATE facts SET temporal_end = MAX(temporal_start, ?), ended_by = ? "
            "WHERE source_item = ? AND (temporal_end IS NULL OR temporal_end > ?)",
            (at, by, item_id, at),
        )

    def delete_of(self, connection: sqlite3.Connection, item_ids: Iterable[str]) -> None:
        """Delete the facts of items; what they had ended goes on as long as they would have."""
        for item_id in item_ids:
            query = "SELECT id, temporal_end, ended_by FROM facts WHERE source_item = ?"
            for fact_id, end, by in connection.execute(query, (item_id,)).fetchall():
                connection.execute(
                    "UPDATE facts SET temporal_end = ?, ended_by = ? WHERE ended_by = ?", (end, by, fact_id)
                )
            connection.execute("UPDATE facts SET temporal_end = NULL, ended_by = '' WHERE ended_by = ?", (item_id,))
            connection.execute("DELETE FROM facts WHERE source_item = ?", (item_id,))

    def _by_ids(self, connection: sqlite3.Connection, ids: Iterable[str]) -> tuple[TemporalFact, ...]:
        query = f"SELECT {_FIELDS} FROM facts WHERE id = ?"
        found = (connection.execute(query, (each,)).fetchone() for each in ids)
        return tuple(_fact_of(row) for row in found if row is not None)

    def about(
        self,
        entity: str,
        scope: MemoryScope,
        now: Moment,
        *,
        predicate: str = "",
        depth: int = 1,
        history: bool = False,
        limit: int = 200,
    ) -> list[FactStep]:
        """Return the facts that hold about an entity, and about those that it leads to.

        Args:
            entity: a name in any spelling.
            scope: who asks.
            now: facts that hold at this time and were known by then.
            predicate: only facts of this predicate; hops follow them alone.
            depth: hops, 1 to 5.
            history: also facts that have ended, or have not begun.
            limit: facts at most.

        Returns:
            By hop, then by start, time of recording and id.

        Raises:
            InvalidArgument: the entity is blank, or the depth is out of range.
        """
        if not 1 <= depth <= MAX_DEPTH:
            raise InvalidArgument(f"depth is {depth}; give 1 to {MAX_DEPTH}.", field="depth", value=depth)
        frontier = self._keys(entity)
        if not frontier:
            raise InvalidArgument("entity is blank; give a name.", field="entity")
        seen, steps = set(frontier), dict[str, FactStep]()
        at = to_micros(now.at)
        where, scoped = in_scope(scope, "facts")
        condition, values = f"{where} AND recorded_at <= ?", [*scoped, at]
        if not history:
            condition += " AND temporal_start <= ? AND (temporal_end IS NULL OR temporal_end > ?)"
            values += [at, at]
        if predicate:
            condition += " AND predicate_key = ?"
            values.append(canonical_predicate(predicate).key)
        with self._database.read() as connection:
            for hop in range(1, depth + 1):
                following: set[str] = set()
                marks = ",".join("?" * len(frontier))
                query = (
                    f"SELECT {_FIELDS}, subject_key, object_key FROM facts WHERE {condition} "
                    f"AND (subject_key IN ({marks}) OR object_key IN ({marks})) {_ORDER}"
                )
                for row in connection.execute(query, [*values, *sorted(frontier), *sorted(frontier)]):
                    steps.setdefault(row[0], FactStep(_fact_of(row[:-2]), hop))
                    following.update(row[-2:])
                    if len(steps) >= limit:
                        return list(steps.values())
                frontier = {key for name in following - seen for key in (name, *self._names(name))} - seen
                seen |= frontier
                if not frontier:
                    break
        return list(steps.values())

    def timeline(self, subject: str, predicate: str, scope: MemoryScope) -> list[TemporalFact]:
        """Return every value that a subject has had of a predicate, from the oldest on; a value stated again is one."""
        where, scoped = in_scope(scope, "facts")
        keys = sorted(self._keys(subject))
        query = (
            f"SELECT {_FIELDS} FROM facts WHERE {where} AND predicate_key = ? "
            f"AND subject_key IN ({','.join('?' * len(keys))}) {_ORDER}"
        )
        with self._database.read() as connection:
            rows = connection.execute(query, (*scoped, canonical_predicate(predicate).key, *keys)).fetchall()
        return _merged(map(_fact_of, rows))

    def timelines(
        self, scope: MemoryScope, *, name: str = "", limit: int = 20, offset: int = 0
    ) -> list[list[Timeline]]:
        """Return the time lines of subjects, a list for each, those with the newest facts first.

        Args:
            scope: who asks.
            name: only subjects that have this in their name, or in the name of a value.
            limit: subjects at most.
            offset: subjects to skip.
        """
        where, scoped = in_scope(scope, "facts")
        key = fact_key(name)
        named = "AND (instr(subject_key, ?) OR instr(object_key, ?))" if key else ""
        chosen = (
            f"SELECT subject_key FROM facts WHERE {where} {named} GROUP BY 1 ORDER BY MAX(recorded_at) DESC, 1 "
            "LIMIT ? OFFSET ?"
        )
        with self._database.read() as connection:
            values = (*scoped, *([key, key] if key else []), limit, offset)
            found: dict[str, dict[str, list[TemporalFact]]] = {
                subject: defaultdict(list) for (subject,) in connection.execute(chosen, values)
            }
            query = (
                f"SELECT {_FIELDS}, subject_key, predicate_key FROM facts WHERE {where} "
                f"AND subject_key IN ({','.join('?' * len(found))}) {_ORDER}"
            )
            for row in connection.execute(query, (*scoped, *found)):
                found[row[-2]][row[-1]].append(_fact_of(row[:-2]))
        return [
            [
                Timeline(
                    facts[-1].subject, facts[-1].predicate, self._holds_one_value(predicate), tuple(_merged(facts))
                )
                for predicate, facts in sorted(lines.items())
            ]
            for lines in found.values()
        ]

    def value_at(self, subject: str, predicate: str, at: datetime, scope: MemoryScope) -> list[TemporalFact]:
        """Return the values that hold at a time; of a single-valued predicate at most one for each area of scope."""
        return [fact for fact in self.timeline(subject, predicate, scope) if fact.holds(at)]

    def named_in(self, text: str, scope: MemoryScope, *, limit: int = 10) -> list[str]:
        """Return the names of remembered facts that a text mentions, longest first."""
        words = fact_key(text).split()[:200]
        spans = {" ".join(words[i:j]) for i in range(len(words)) for j in range(i + 1, min(len(words), i + 6) + 1)}
        spans |= {"user"} if {"i", "my", "me"} & set(text.casefold().split()) else set()
        where, scoped = in_scope(scope, "facts")
        found: set[str] = set()
        with self._database.read() as connection:
            for field in ("subject_key", "object_key"):
                marks = ",".join("?" * len(spans))
                query = f"SELECT DISTINCT {field} FROM facts WHERE {where} AND {field} IN ({marks})"
                found.update(row[0] for row in connection.execute(query, (*scoped, *sorted(spans))))
        return sorted(found, key=lambda name: (-len(name), name))[:limit]

    def schema(self, scope: MemoryScope) -> dict[str, dict[str, int]]:
        """Return the types of entities and of relations in scope with their numbers, the most frequent first.

        The type of an entity is the one that most of its facts state by their predicates; ``other`` if none does.
        """
        where, scoped = in_scope(scope, "facts")
        query = f"SELECT subject_key, predicate_key, object_key, COUNT(*) FROM facts WHERE {where} GROUP BY 1, 2, 3"
        relations = Counter[str]()
        stated: defaultdict[str, Counter[str]] = defaultdict(Counter)
        with self._database.read() as connection:
            for subject, predicate, object_, n in connection.execute(query, scoped):
                relations[predicate] += n
                for key, kind in zip((subject, object_), TYPES.get(predicate, ("", "")), strict=True):
                    stated[key][kind] += n if kind else 0
        types = Counter(max(sorted(kinds), key=lambda kind: kinds[kind]) or "other" for kinds in stated.values())

        def listed(counts: Counter[str]) -> dict[str, int]:
            return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))

        return {"entity_types": listed(types), "relation_types": listed(relations)}

    def _holds_one_value(self, key: str, stated: bool | None = None) -> bool:
        single = holds_one_value(key) if stated is None else stated
        return (single or key in self._single) and key not in self._many

    def _keys(self, name: str) -> set[str]:
        key = fact_key(name)
        return {each for each in (key, *self._names(name)) if each}

    def _names(self, name: str) -> Sequence[str]:
        return [fact_key(each) for each in self._resolver(name)] if self._resolver else ()


def fact_key(name: str) -> str:
    """Return the form in which the names of facts are compared: normalised, and without a noun for its class."""
    key = normalise_name(name)
    first, _, rest = key.partition(" ")
    return rest if rest and first in _CLASSES else key


def is_name(text: str) -> bool:
    """Return whether a text can be the subject or the object of a fact."""
    return len(text) <= MAX_NAME_CHARS and bool(fact_key(text))


def _check(triple: Triple) -> None:
    for name in ("subject", "predicate", "object"):
        value = getattr(triple, name)
        if not (is_name(value) if name != "predicate" else canonical_predicate(value).key):
            raise InvalidArgument(
                f"The {name} of a triple is {value[:80]!r}; give 1 to {MAX_NAME_CHARS} characters with a letter or a "
                "digit.",
                field=name,
            )
    start, end = triple.temporal_start, triple.temporal_end
    if start is not None and end is not None and to_micros(end) < to_micros(start):
        raise InvalidArgument("temporal_end is before temporal_start. Exchange them.", field="temporal_end")
    if not 0 <= triple.confidence <= 1:
        raise InvalidArgument(f"confidence is {triple.confidence!r}; give a number from 0 to 1.", field="confidence")


def _merged(facts: Iterable[TemporalFact]) -> list[TemporalFact]:
    """Join a value that was stated again to the one that it goes on from."""
    merged: list[TemporalFact] = []
    for fact in facts:
        last = merged[-1] if merged else None
        if last and last.temporal_end == fact.temporal_start and fact_key(last.object) == fact_key(fact.object):
            merged[-1] = replace(last, temporal_end=fact.temporal_end, ended_by=fact.ended_by)
        else:
            merged.append(fact)
    return merged


def _fact_of(row: Sequence[Any]) -> TemporalFact:
    values = dict(zip(_FIELDS.split(", "), row, strict=True))
    for name in ("temporal_start", "temporal_end", "recorded_at"):
        if values[name] is not None:
            values[name] = from_micros(values[name])
    return TemporalFact(**values)
