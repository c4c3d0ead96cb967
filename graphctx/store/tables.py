"""The LanceDB tables of a snapshot: rows with their vectors, and vector search.

Each snapshot has its own database: it is published by one rename, verified file by file, and deleted with its
directory.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.store.files import disk_errors, reason_of

TABLE_NAMES = ("documents", "units", "entities", "facts", "communities")

VECTOR_INDEX_ROWS = 10_000
"""From this many rows on, vectors are indexed; below, a scan takes under 15 ms."""

SEARCH_EF = 200  # with the factor below, recall@10 rises from 0.94 to 1.0 at 200k vectors, 2.3 ms to 5.9 ms
REFINE_FACTOR = 4
BATCH_ROWS = 4_096  # rows written at a time: 6 MiB of 384-dimensional vectors
_TIE_SLACK = 16  # hits fetched beyond k, so that ties at the cut are decided by id


@dataclass(frozen=True, slots=True)
class Hit:
    """A row that a search found. ``score`` is the dot product of the vectors."""

    id: str
    row: int
    score: float


def write_tables(
    directory: Path, tables: Mapping[str, pa.Table], vectors: Mapping[str, npt.NDArray[np.float32]]
) -> dict[str, int]:
    """Write and index a new LanceDB database.

    Args:
        directory: where none is yet.
        tables: ``documents``, ``units``, ``entities``, ``facts``, ``communities``; others are passed over.
        vectors: float32 ``[rows, dimension]`` by table name, L2-normalised, in the order of the rows.

    Returns:
        The version of each table, an argument of `TableReader`.

    Raises:
        InvalidArgument: the vectors of a table are not as many as its rows.
        BackendUnavailable: the disk is full or refuses the write.
    """
    for name, matrix in vectors.items():
        if matrix.ndim != 2 or len(matrix) != tables[name].num_rows:
            raise InvalidArgument(
                f"The vectors of {name!r} have shape {matrix.shape} for {tables[name].num_rows} rows.", table=name
            )
    with disk_errors("tables"):
        database = _lancedb().connect(str(directory))
        return {
            name: _write_table(database, name, tables[name], vectors.get(name))
            for name in TABLE_NAMES
            if name in tables
        }


def _write_table(database: Any, name: str, rows: pa.Table, vectors: npt.NDArray[np.float32] | None) -> int:
    from lancedb.index import IvfHnswSq

    schema = rows.schema.remove_metadata().append(pa.field("row", pa.int32(), nullable=False))
    if vectors is not None:
        schema = schema.append(pa.field("vector", pa.list_(pa.float32(), vectors.shape[1])))
    reader = pa.RecordBatchReader.from_batches(schema, _batches(rows, vectors, schema))
    table = database.create_table(name, data=reader, schema=schema, mode="create")
    if vectors is not None and rows.num_rows >= VECTOR_INDEX_ROWS:
        table.create_index("vector", config=IvfHnswSq(distance_type="dot"))
    return int(table.version)


def _batches(rows: pa.Table, vectors: npt.NDArray[np.float32] | None, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for start in range(0, rows.num_rows, BATCH_ROWS):
        part = rows.slice(start, BATCH_ROWS).combine_chunks()
        columns = [part[column].combine_chunks() for column in part.column_names]
        columns.append(pa.array(np.arange(start, start + part.num_rows, dtype=np.int32)))
        if vectors is not None:
            flat = np.ascontiguousarray(vectors[start : start + part.num_rows], dtype=np.float32).reshape(-1)
            columns.append(pa.FixedSizeListArray.from_arrays(pa.array(flat), vectors.shape[1]))
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


class TableReader:
    """The tables of one snapshot, each opened at its pinned version on first use. Thread-safe.

    Usage::

        reader = TableReader(directory, write_tables(directory, tables, vectors))
        hits = reader.search_vector("units", vector, 10)
    """

    def __init__(self, directory: Path, versions: Mapping[str, int]) -> None:
        self._directory = Path(directory)
        self._versions = dict(versions)
        self._tables: dict[str, Any] = {}
        self._lock = threading.Lock()

    def count(self, table: str) -> int:
        """Return the number of rows."""
        with self._errors(table):
            return int(self._table(table).count_rows())

    def search_vector(
        self,
        table: str,
        vector: npt.NDArray[np.float32],
        k: int,
        where: str | None = None,
    ) -> list[Hit]:
        """Return the rows whose vectors have the largest dot product with ``vector``.

        Args:
            table: a table with vectors.
            vector: float32 ``[dimension]``, L2-normalised.
            k: most rows to return.
            where: an SQL condition that is applied before ranking.

        Returns:
            The best first, ties by id. Exact below `VECTOR_INDEX_ROWS`. Above, an index answers, which is built by
            several threads at once: two builds of the same rows may differ in a few of the last hits.

        Raises:
            InvalidArgument: a table without vectors, another dimension, ``k`` below 1, or a wrong condition.
        """
        handle = self._table(table)
        if "vector" not in handle.schema.names:
            raise InvalidArgument(f"{table!r} has no vectors.", table=table)
        dimension = handle.schema.field("vector").type.list_size
        query = np.ascontiguousarray(vector, dtype=np.float32)
        if query.shape != (dimension,):
            raise InvalidArgument(f"The vector has shape {query.shape}; {table!r} has dimension {dimension}.")
        _checked(k)
        with self._errors(table, where):
            search = handle.search(query, vector_column_name="vector").distance_type("dot")
            search = search.ef(max(SEARCH_EF, 2 * k)).refine_factor(REFINE_FACTOR).limit(k + _TIE_SLACK)
            found = _where(search, where).select(["id", "row", "_distance"]).to_arrow()
        return _hits(found, [1.0 - distance for distance in found["_distance"].to_pylist()], k)

    def close(self) -> None:
        """Close the tables. The next use opens them again."""
        with self._lock:
            self._tables.clear()

    def _table(self, name: str) -> Any:
        if name not in self._versions:
            raise InvalidArgument(f"There is no table {name!r}; there are {', '.join(self._versions)}.", table=name)
        with self._lock:
            if name not in self._tables:
                with self._errors(name):
                    table = _lancedb().connect(str(self._directory)).open_table(name)
                    table.checkout(self._versions[name])
                self._tables[name] = table
            return self._tables[name]

    def _errors(self, table: str, where: str | None = None) -> AbstractContextManager[None]:
        return _lance_errors(self._directory, table, where)


def _where(search: Any, where: str | None) -> Any:
    return search if where is None else search.where(where, prefilter=True)


def _checked(k: int) -> int:
    if k < 1:
        raise InvalidArgument(f"k must be 1 or more, not {k}.", k=k)
    return k


def _hits(found: pa.Table, scores: list[float], k: int) -> list[Hit]:
    hits = map(Hit, found["id"].to_pylist(), found["row"].to_pylist(), scores)
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:k]


def _lancedb() -> Any:
    os.environ.setdefault("LANCEDB_LOG", "error")  # its default warns about every select() without a score
    import lancedb

    return lancedb


@contextmanager
def _lance_errors(directory: Path, table: str, where: str | None = None) -> Iterator[None]:
    """Convert LanceDB's errors. A panic of its Rust part is no ``Exception``, and must not end the process."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, GeneratorExit, BackendUnavailable, InvalidArgument):
        raise
    except BaseException as error:
        reason = reason_of(error, directory.resolve(), directory)
        if where is not None and isinstance(error, ValueError | RuntimeError) and "IO" not in reason[:40]:
            raise InvalidArgument(f"The condition {where!r} cannot be used: {reason}", where=where) from error
        raise BackendUnavailable(
            f"The table {table!r} cannot be read ({type(error).__name__}). Run `graphctx ingest` again.",
            table=table,
            reason=reason,
        ) from error
