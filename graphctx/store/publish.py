"""Write, verify and publish a snapshot: readers see nothing of it before it is whole, then all of it at once."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from graphctx.errors import BackendUnavailable, GraphctxError, InvalidArgument
from graphctx.store.arrays import Array, load_arrays, open_matrix, save_arrays, save_matrix
from graphctx.store.content import content_hash
from graphctx.store.files import disk_errors, files_below, fsync_path, fsync_tree, sha256_of
from graphctx.store.graph import graph_engine
from graphctx.store.graph_file import GRAPH_DIR
from graphctx.store.manifest import (
    FORMAT_VERSION,
    FileEntry,
    Manifest,
    Versions,
    snapshot_id,
    write_manifest,
)
from graphctx.store.schema import STORED_AS_TEXTS, TABLES
from graphctx.store.snapshot import (
    ARRAYS_NAME,
    CURRENT_NAME,
    MATRICES_DIR,
    PARQUET_DIR,
    SNAPSHOTS_DIR,
    TABLES_DIR,
    TEMPORARY_PREFIX,
    current_or_none,
    open_snapshot,
    set_current,
)
from graphctx.store.tables import TableReader, write_tables
from graphctx.store.texts import TEXTS_DIR

STEPS = ("hash", "parquet", "tables", "arrays", "verify", "publish")
"""The arguments of ``on_step``, in order; ``hash`` and ``publish`` alone where the content is published already."""

_ROW_GROUP = 16_384  # rows: bounds the memory of a write, and lets a reader of few columns skip
_LEVEL = 9  # of zstd: a tenth smaller than its default, and no slower to read


@dataclass(frozen=True, slots=True)
class SnapshotContent:
    """The content of a snapshot.

    Attributes:
        tables: every table of ``schema.TABLES``, with its columns.
        vectors: float32 ``[rows, dimension]`` by table, L2-normalised, for the LanceDB tables. They derive from
            the matrices and are not part of the content hash.
        arrays: small numpy arrays by name, kept together and read into memory.
        matrices: large numpy arrays by name, kept apart and mapped into memory.
        extras: writers by name; each is called with an empty directory of that name inside the snapshot. What
            they write must derive from the rest, for it is not part of the content hash.
    """

    tables: Mapping[str, pa.Table]
    vectors: Mapping[str, Array] = field(default_factory=dict)
    arrays: Mapping[str, Array] = field(default_factory=dict)
    matrices: Mapping[str, Array] = field(default_factory=dict)
    extras: Mapping[str, Callable[[Path], None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, schema in TABLES.items():
            if name not in self.tables:
                raise InvalidArgument(f"The snapshot lacks the table {name!r}.", table=name)
            if not self.tables[name].schema.equals(schema):
                raise InvalidArgument(f"The table {name!r} does not have the columns of its schema.", table=name)
        for name in (*self.matrices, *self.extras):
            if not name.isidentifier() or name in (PARQUET_DIR, TABLES_DIR, MATRICES_DIR, GRAPH_DIR):
                raise InvalidArgument(f"{name!r} cannot name a file of the snapshot.", name=name)


def publish(
    kb_dir: Path,
    content: SnapshotContent,
    *,
    engine: str,
    project_id: str,
    versions: Versions,
    created_at: str,
    variant: Sequence[str] = (),
    lancedb: bool = True,
    on_step: Callable[[str], None] | None = None,
) -> Manifest:
    """Write, verify and publish a snapshot. Call it while holding ``IngestLock``.

    The same content gives the same id; an undamaged snapshot of that id is kept and published.

    Usage::

        content = SnapshotContent(tables, vectors, arrays, matrices)
        with IngestLock(kb_dir):
            publish(kb_dir, content, engine="kuzu", project_id="demo", versions=versions, created_at=now)

    Args:
        kb_dir: the knowledge base.
        content: tables, vectors, arrays and extra files.
        engine: the graph engine's name.
        project_id: the project of the knowledge base.
        versions: of the programs and models that made the content; ``engine`` is filled in here.
        created_at: ISO 8601, UTC.
        variant: see ``manifest.snapshot_id``.
        lancedb: write the LanceDB tables, which only the first stage ``lancedb`` asks.
        on_step: called with the name of each of ``STEPS`` before it starts.

    Returns:
        The manifest of the published snapshot.

    Raises:
        BackendUnavailable: the disk is full, or the snapshot did not pass its verification. ``CURRENT`` and its
            snapshot are unchanged, and nothing is left behind.
    """
    kb_dir = Path(kb_dir)
    report = on_step or (lambda _step: None)
    with disk_errors(SNAPSHOTS_DIR):
        (kb_dir / SNAPSHOTS_DIR).mkdir(parents=True, exist_ok=True)
        clean_leftovers(kb_dir)
    report("hash")
    digest = content_hash(
        content.tables,
        {
            **{f"arrays/{name}": array for name, array in content.arrays.items()},
            **{f"matrices/{name}": array for name, array in content.matrices.items()},
        },
    )
    new_id = snapshot_id(digest, engine, variant)
    try:
        with open_snapshot(kb_dir, new_id) as existing:
            manifest = existing.manifest
    except BackendUnavailable:
        temporary = kb_dir / SNAPSHOTS_DIR / f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}"
        try:
            with disk_errors(f"{SNAPSHOTS_DIR}/{new_id}"):
                temporary.mkdir()
                built = _write(temporary, content, lancedb, report)
                report("verify")
                _verify(temporary, built)
                manifest = Manifest(
                    format_version=FORMAT_VERSION,
                    snapshot_id=new_id,
                    content_hash=digest,
                    created_at=created_at,
                    project_id=project_id,
                    parent=current_or_none(kb_dir),
                    engine=engine,
                    counts=built.counts,
                    table_versions=built.table_versions,
                    files=_sync_and_hash(temporary),
                    versions=versions.model_copy(update={"engine": graph_engine(engine).version()}),
                )
                write_manifest(temporary, manifest)
                move_in(temporary, kb_dir / SNAPSHOTS_DIR / new_id)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    report("publish")
    set_current(kb_dir, new_id)
    return manifest


def clean_leftovers(kb_dir: Path) -> list[str]:
    """Delete what killed ingests left behind and return the names. Call it while holding ``IngestLock``."""
    left = sorted((kb_dir / SNAPSHOTS_DIR).glob(f"{TEMPORARY_PREFIX}*"))
    for path in left:
        shutil.rmtree(path, ignore_errors=True)
    for path in kb_dir.glob(f".{CURRENT_NAME}.*.tmp"):
        path.unlink(missing_ok=True)
    return [path.name for path in left]


@dataclass(frozen=True, slots=True)
class _Built:
    counts: dict[str, int]
    table_versions: dict[str, int]
    matrices: list[str]


def _write(directory: Path, content: SnapshotContent, lancedb: bool, report: Callable[[str], None]) -> _Built:
    report("parquet")
    (directory / PARQUET_DIR).mkdir()
    for name in TABLES:
        left_out = [one for table, one in STORED_AS_TEXTS if table == name and TEXTS_DIR in content.extras]
        write_table(directory / PARQUET_DIR / f"{name}.parquet", content.tables[name].drop_columns(left_out))
    report("tables")
    table_versions = write_tables(directory / TABLES_DIR, content.tables, content.vectors) if lancedb else {}
    report("arrays")
    save_arrays(directory / ARRAYS_NAME, content.arrays)
    (directory / MATRICES_DIR).mkdir()
    for name in sorted(content.matrices):
        save_matrix(directory / MATRICES_DIR / f"{name}.npy", content.matrices[name])
    for name in sorted(content.extras):
        (directory / name).mkdir()
        content.extras[name](directory / name)
    return _Built(
        counts={name: content.tables[name].num_rows for name in TABLES},
        table_versions=table_versions,
        matrices=sorted(content.matrices),
    )


def write_table(path: Path, table: pa.Table) -> None:
    """Write a table as Parquet. Integers are stored as differences, since rows and spans mostly ascend."""
    import pyarrow.parquet as pq

    whole = {field.name: pa.types.is_integer(field.type) for field in table.schema}
    pq.write_table(
        table,
        path,
        compression="zstd",
        compression_level=_LEVEL,
        row_group_size=_ROW_GROUP,
        use_dictionary=[name for name, integer in whole.items() if not integer],
        column_encoding={name: "DELTA_BINARY_PACKED" for name, integer in whole.items() if integer},
    )


def _verify(directory: Path, built: _Built) -> None:
    """Open all parts of a written snapshot and count their rows."""
    try:
        faults = list(_faults(directory, built))
    except GraphctxError as error:
        faults = [error.message.replace(f"{directory}{os.sep}", "")]
    if faults:
        raise BackendUnavailable(
            f"The snapshot did not pass its verification: {faults[0]} What was published before is untouched. "
            "Run `graphctx doctor`, then ingest again.",
            faults=faults,
        )


def _faults(directory: Path, built: _Built) -> Iterator[str]:
    import pyarrow.parquet as pq

    for name, count in built.counts.items():
        rows = pq.ParquetFile(directory / PARQUET_DIR / f"{name}.parquet").metadata.num_rows
        if rows != count:
            yield f"{name}.parquet has {rows} rows, not {count}."
    tables = TableReader(directory / TABLES_DIR, built.table_versions)
    for name in built.table_versions:
        rows = tables.count(name)
        if rows != built.counts[name]:
            yield f"The table {name} has {rows} rows, not {built.counts[name]}."
    load_arrays(directory / ARRAYS_NAME)
    for name in built.matrices:
        open_matrix(directory / MATRICES_DIR / f"{name}.npy")


def _sync_and_hash(directory: Path) -> dict[str, FileEntry]:
    files = files_below(directory)
    fsync_tree(files)
    return {
        path.relative_to(directory).as_posix(): FileEntry(size=path.stat().st_size, sha256=sha256_of(path))
        for path in files
    }


def move_in(temporary: Path, target: Path) -> None:
    """Rename a finished snapshot to its place, and delete leftovers; one of the same id is moved aside and deleted."""
    if target.exists():
        target.rename(target.with_name(f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}"))
    temporary.rename(target)
    fsync_path(target.parent)
    clean_leftovers(target.parent.parent)
