"""Salvage: a sound store of the rows of a damaged one that can be read and hold what was stored."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import TypeAdapter

from graphctx.errors import BackendUnavailable
from graphctx.memory.database import FILE_NAME, MemoryDatabase, add_text
from graphctx.memory.facts import fact_key
from graphctx.memory.items import MemoryItem, from_micros, to_micros
from graphctx.memory.postings import term_hashes
from graphctx.memory.store import ITEM_FIELDS, item_of_row
from graphctx.model.ids import content_id

Row = dict[str, Any]
Check = Callable[[Row], Row | None]
"""Returns a row as it is kept, ``None`` if it is not sound."""

_MOST_FAILURES = 20_000
_MOST_ROWS = 1 << 24
_ITEM = TypeAdapter(MemoryItem)
_BATCH = 500


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What a repair salvaged, how many rows it could not, and the name under which the damaged file is kept."""

    damaged_file: str
    items: int
    facts: int
    lost: int


def repair(folder: Path) -> RepairReport:
    """Replace a damaged store by a sound one of what can be read, and keep the damaged file beside it.

    A row is salvaged if its values are of their kinds and its text has the words that were indexed. An item whose id
    does not vouch for every character of its text is no longer ``verbatim``. Stop every process that uses the store
    first. Call `Memory.reindex` afterwards: items may have lost their vectors.

    Usage::

        report = repair(Path("assistant-memory"))
        print(report.items, report.lost)

    Raises:
        BackendUnavailable: there is no store, or the new one cannot be written; the store is as it was.
    """
    path = Path(folder) / FILE_NAME
    if not path.exists():
        raise BackendUnavailable(f"There is no {FILE_NAME} to repair. Name the memory's folder.")
    number = 1
    while (kept := path.with_name(f"{FILE_NAME}.damaged-{number}")).exists():
        number += 1
    try:
        with TemporaryDirectory(dir=folder, prefix=".repair-") as made:
            copy = Path(made) / "damaged.db"
            for suffix in ("", "-wal"):
                if (part := Path(f"{path}{suffix}")).exists():
                    Path(f"{kept}{suffix}").touch(mode=0o600)
                    shutil.copyfile(part, f"{kept}{suffix}")
                    shutil.copy2(part, f"{copy}{suffix}")  # reading it moves its log into it
            report = _salvaged(copy, Path(made) / "sound", kept.name)
            for suffix in ("-wal", "-shm"):
                Path(f"{path}{suffix}").unlink(missing_ok=True)
            (Path(made) / "sound" / FILE_NAME).replace(path)
    except OSError as error:
        raise BackendUnavailable(
            f"The memory cannot be repaired: {error.strerror or error}. A repair needs twice the size of {FILE_NAME}."
        ) from error
    return report


def _salvaged(copy: Path, folder: Path, kept: str) -> RepairReport:
    with closing(MemoryDatabase(folder, max_size_mb=1 << 20)) as sound, closing(sqlite3.connect(copy)) as damaged:
        damaged.execute("PRAGMA writable_schema = ON")  # else SQLite reads nothing of a file without its end
        items = _Salvage(damaged, sound, "items", _sound_item)
        facts = _Salvage(damaged, sound, "facts", _sound_fact)
        with sound.write() as connection:
            for row, text in connection.execute("SELECT row, text FROM items").fetchall():
                add_text(connection, row, text)
        with sound.write() as connection:  # else nothing could forget them
            orphans = "source_item <> '' AND source_item NOT IN (SELECT id FROM items)"
            n_orphans = connection.execute(f"DELETE FROM facts WHERE {orphans}").rowcount
        try:
            meta = damaged.execute("SELECT name, value FROM meta").fetchall()
        except sqlite3.DatabaseError:
            meta = []
        with sound.write() as connection:
            connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", meta)
        return RepairReport(kept, items.saved, facts.saved - n_orphans, items.lost + facts.lost + n_orphans)


class _Salvage:
    """Copies the sound rows of a table, halving ranges of rows that cannot be read."""

    def __init__(self, damaged: sqlite3.Connection, sound: MemoryDatabase, table: str, check: Check) -> None:
        self.saved = 0
        with sound.read() as connection:
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        query = f"SELECT {', '.join(columns)} FROM {table} NOT INDEXED WHERE row BETWEEN ? AND ?"
        insert = f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(columns))})"
        last = _last_row(damaged, table)
        most = min(_MOST_ROWS if last is None else last, _MOST_ROWS)
        ranges = [(first, first + _BATCH - 1) for first in range(1, most + 1, _BATCH)]
        if last is not None and last > most:
            ranges.append((ranges[-1][1] + 1, last))
        unreadable: list[tuple[int, int]] = []
        n_unsound = failures = highest = 0
        while ranges:
            low, high = ranges.pop(0)
            try:
                rows = damaged.execute(query, (low, high)).fetchall()
            except (sqlite3.DatabaseError, OverflowError):
                failures += 1
                if low == high or failures > _MOST_FAILURES:
                    unreadable.append((low, high))
                else:
                    middle = (low + high) // 2
                    ranges[:0] = [(low, middle), (middle + 1, high)]
                continue
            kept = [row for each in rows if (row := _checked(check, dict(zip(columns, each, strict=True))))]
            if rows:
                highest = high
                with sound.write() as connection:
                    for row in kept:
                        self.saved += connection.execute(insert, tuple(row.values())).rowcount
            n_unsound += len(rows) - len(kept)
        end = last or highest
        self.lost = n_unsound + sum(max(0, min(high, end) - low + 1) for low, high in unreadable)


def _last_row(damaged: sqlite3.Connection, table: str) -> int | None:
    """Return the largest row number that the file tells of, ``None`` where it tells of none."""
    known: list[int] = []
    for query in (
        f"SELECT max(row) FROM {table} NOT INDEXED",
        f"SELECT seq FROM sqlite_sequence WHERE name = '{table}'",
    ):
        try:
            found = damaged.execute(query).fetchone()
            known.append(int(found[0] or 0) if found else 0)
        except (sqlite3.DatabaseError, TypeError, ValueError):
            pass
    return max(known, default=None)


def _checked(check: Check, row: Row) -> Row | None:
    try:
        return check(row)
    except (ValueError, TypeError, ArithmeticError):  # a value is none of its kind
        return None


def _sound_item(row: Row) -> Row | None:
    item = _ITEM.validate_python(item_of_row([row[name] for name in ITEM_FIELDS.split(", ")]), strict=True)
    own = (item.principal, item.project, item.session, item.persistence, item.kind, item.author, item.source)
    vouched = item.id == content_id("m", *own, to_micros(item.created_at), item.created_iteration, item.text)
    sound = (
        (vouched or row["terms"] == term_hashes(item.text).tobytes())
        and 0 <= item.tier <= 3
        and 0 <= item.confidence <= 1
        and 0 <= item.usefulness <= 1
        and (row["vector"] is None or isinstance(row["vector"], bytes))
    )
    return {**row, "verbatim": int(vouched and item.verbatim)} if sound else None


def _sound_fact(row: Row) -> Row | None:
    times = [
        row["temporal_start"],
        row["recorded_at"],
        *([row["temporal_end"]] if row["temporal_end"] is not None else []),
    ]
    sound = (
        row["subject_key"] == fact_key(row["subject"])
        and row["object_key"] == fact_key(row["object"])
        and all(isinstance(each, int) and from_micros(each) for each in times)
        and all(isinstance(row[name], str) for name in ("subject", "predicate", "object", "source_item"))
        and 0 <= row["confidence"] <= 1
    )
    return row if sound else None
