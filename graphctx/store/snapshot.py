"""A published snapshot, verified and open for reading."""

from __future__ import annotations

import logging
import os
import re
import shutil
import weakref
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.store.files import disk_errors, files_below, reason_of, sha256_of, write_atomic
from graphctx.store.graph_file import GRAPH_DIR, graph_file
from graphctx.store.lock import Lease
from graphctx.store.manifest import ID_PATTERN, MANIFEST_NAME, REMEDY, FileEntry, Manifest, read_manifest

if TYPE_CHECKING:
    import pyarrow as pa

    from graphctx.store.arrays import Array
    from graphctx.store.graph.base import GraphStore
    from graphctx.store.tables import TableReader

log = logging.getLogger(__name__)

CURRENT_NAME = "CURRENT"
SNAPSHOTS_DIR = "snapshots"
PARQUET_DIR = "parquet"
TABLES_DIR = "tables"
MATRICES_DIR = "vectors"
ARRAYS_NAME = "walk.npz"
TEMPORARY_PREFIX = ".tmp-"
"""Prefix of directories that are being written or deleted; those of killed processes are deleted by the next ingest."""

_HASH_THREADS = min(4, os.cpu_count() or 1)  # hashlib runs outside the interpreter lock
_ATTEMPTS = 3  # CURRENT may move, and its old snapshot be pruned, while a reader opens it


class Snapshot:
    """An open snapshot, the result of `open_snapshot`. A context manager.

    Usage::

        with open_snapshot(kb_dir) as snapshot:
            walk = WalkArrays.from_dict(snapshot.arrays())
            units = snapshot.table("units", ["id", "text"])

    Attributes:
        id: ``sn_…``.
        directory: of its files; those of ``extras`` are below it under their names.
        manifest: of the snapshot.
    """

    def __init__(self, directory: Path, manifest: Manifest, lease: Lease) -> None:
        self._lease = lease
        self.id = manifest.snapshot_id
        self.directory = directory
        self.manifest = manifest
        self._graph: GraphStore | None = None
        self._tables: TableReader | None = None

    def __enter__(self) -> Snapshot:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def graph(self) -> GraphStore:
        """The graph, opened on first use. The first use of a snapshot writes its file, which takes seconds.

        Raises:
            BackendUnavailable: the file cannot be written.
        """
        if self._graph is None:
            from graphctx.store.graph import graph_engine

            engine = self.manifest.engine
            path = graph_file(self.directory, engine, self.directory / PARQUET_DIR)
            if not path.is_relative_to(self.directory):
                weakref.finalize(self, shutil.rmtree, path.parent, ignore_errors=True)
            self._graph = graph_engine(engine)(path)
        return self._graph

    @property
    def tables(self) -> TableReader:
        """The LanceDB tables, each opened on first use.

        Raises:
            BackendUnavailable: the snapshot has none.
        """
        if not self.manifest.table_versions:
            raise BackendUnavailable(
                f"Snapshot {self.id} has no LanceDB tables. Run `graphctx ingest` again, which writes them where "
                '[retrieve] first_stage is "lancedb", or set it to "arrays".',
                snapshot=self.id,
            )
        if self._tables is None:
            from graphctx.store.tables import TableReader

            self._tables = TableReader(self.directory / TABLES_DIR, self.manifest.table_versions)
        return self._tables

    def arrays(self) -> dict[str, Array]:
        """Read the walk arrays, by name, into memory."""
        from graphctx.store.arrays import load_arrays

        return load_arrays(self.directory / ARRAYS_NAME)

    def matrix(self, name: str) -> Array:
        """Map a matrix into memory, read-only.

        Raises:
            InvalidArgument: the snapshot has no matrix of that name.
        """
        from graphctx.store.arrays import open_matrix

        return open_matrix(self._file(f"{MATRICES_DIR}/{name}.npy", f"matrix {name!r}"))

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Read all rows of a table of ``schema.TABLES``: texts from ``texts/``, all else from Parquet.

        Args:
            name: the table.
            columns: the columns to read, in this order; all by default.

        Raises:
            InvalidArgument: an unknown table or column.
            BackendUnavailable: the file cannot be read.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        from graphctx.store.schema import SPAN_COLUMNS, TABLES
        from graphctx.store.texts import TEXTS_DIR, Texts

        path = self._file(f"{PARQUET_DIR}/{name}.parquet", f"table {name!r}")
        names = TABLES[name].names
        wanted = list(names if columns is None else columns)
        if unknown := [column for column in wanted if column not in names]:
            raise InvalidArgument(f"{name!r} has no column {unknown[0]!r}; it has {', '.join(names)}.")
        try:
            # Not read_table, which keeps several times as much memory as the columns take.
            with pq.ParquetFile(path) as file:
                stored = set(file.schema_arrow.names)
                absent = [column for column in wanted if column not in stored]
                spans = SPAN_COLUMNS if absent and name == "units" else ()
                table = file.read(columns=[*(stored & {*wanted, *spans})], use_threads=False)
            for column in absent:
                texts = Texts(self.directory / TEXTS_DIR)
                found = texts.of_units(*map(table.column, spans)) if spans else texts.all()
                table = table.append_column(TABLES[name].field(column), found)
            return table.select(wanted)
        except (OSError, pa.ArrowException) as error:
            raise BackendUnavailable(
                f"{self._relative(path)} cannot be read. {REMEDY}",
                file=path.name,
                reason=reason_of(error, path.parent),
            ) from error

    def close(self) -> None:
        """Release the lease and close the files, which pruning may delete then. Further use opens them again."""
        self._lease.release()
        if self._graph is not None:
            self._graph.close()
        if self._tables is not None:
            self._tables.close()

    def _file(self, name: str, what: str) -> Path:
        if name not in self.manifest.files:
            raise InvalidArgument(f"Snapshot {self.id} has no {what}.", snapshot=self.id)
        return self.directory / name

    def _relative(self, path: Path) -> str:
        return f"{SNAPSHOTS_DIR}/{self.id}/{path.relative_to(self.directory).as_posix()}"


def current_id(kb_dir: Path) -> str | None:
    """Return the id of the published snapshot, or ``None`` where nothing is published yet.

    ``CURRENT`` names it. Where that file is missing beside snapshots, the newest whole snapshot counts as published;
    `recovery_note` says so.

    Raises:
        BackendUnavailable: ``CURRENT`` does not name a snapshot, or is missing and no snapshot is whole.
    """
    try:
        file = os.open(f"{kb_dir}/{CURRENT_NAME}", os.O_RDONLY)  # for every question; a Path takes ten times as long
        try:
            text = os.read(file, 100)
        finally:
            os.close(file)
    except FileNotFoundError:
        newest = _newest_whole(Path(kb_dir))
        return newest.snapshot_id if newest else None
    except OSError as error:
        raise BackendUnavailable(f"{CURRENT_NAME} cannot be read: {error.strerror}.", file=CURRENT_NAME) from error
    found = text.decode("ascii", "replace").removesuffix("\n")
    if not re.fullmatch(ID_PATTERN, found):
        raise BackendUnavailable(f"{CURRENT_NAME} is damaged: it names no snapshot. {REMEDY}", file=CURRENT_NAME)
    return found


def current_or_none(kb_dir: Path) -> str | None:
    """Return the id of the published snapshot, or ``None`` where `current_id` raises."""
    try:
        return current_id(kb_dir)
    except BackendUnavailable:
        return None


def recovery_note(kb_dir: Path) -> str | None:
    """Return a note for people where ``CURRENT`` is missing beside snapshots; else ``None``."""
    if (Path(kb_dir) / CURRENT_NAME).exists() or (newest := _newest_whole(Path(kb_dir))) is None:
        return None
    return (
        f"{CURRENT_NAME}, which names the published snapshot, is missing. The newest whole snapshot is used: "
        f"{newest.snapshot_id} of {newest.created_at}. The next `graphctx ingest` writes {CURRENT_NAME} again; "
        "`graphctx snapshots rollback` chooses another one."
    )


def _newest_whole(kb_dir: Path) -> Manifest | None:
    """Return the manifest of the newest snapshot that has all its files; ``None`` where there is no snapshot.

    A snapshot is older than one that names it as its parent; among those that are no parent the latest is the newest.

    Raises:
        BackendUnavailable: there are snapshots, and none is whole.
    """
    whole: list[Manifest] = []
    fault: BackendUnavailable | None = None
    for directory in sorted((kb_dir / SNAPSHOTS_DIR).glob("sn_*")):
        try:
            manifest = read_manifest(directory)
            _check_sizes(directory, manifest)
            whole.append(manifest)
        except BackendUnavailable as error:
            fault = error
    if not whole and fault is not None:
        message = f"{CURRENT_NAME} is missing, and no snapshot is whole: {fault.message}"
        raise BackendUnavailable(message, **{**fault.details, "file": CURRENT_NAME})
    parents = {manifest.parent for manifest in whole}
    latest = [manifest for manifest in whole if manifest.snapshot_id not in parents]
    return max(latest or whole, key=lambda manifest: (manifest.created_at, manifest.snapshot_id), default=None)


def set_current(kb_dir: Path, snapshot_id: str) -> None:
    """Publish a snapshot: replace ``CURRENT`` atomically.

    Raises:
        BackendUnavailable: the disk is full or refuses the write.
    """
    with disk_errors(CURRENT_NAME):
        write_atomic(Path(kb_dir) / CURRENT_NAME, f"{snapshot_id}\n".encode("ascii"))


def open_snapshot(kb_dir: Path, snapshot_id: str | None = None) -> Snapshot:
    """Verify a snapshot file by file, then open it.

    Every file is hashed each time (about 1 GB/s and core): a graph engine may crash the process on a damaged page, so
    nothing is opened before.

    Args:
        kb_dir: the knowledge base.
        snapshot_id: the snapshot; the published one by default.

    Raises:
        BackendUnavailable: nothing is published, or the snapshot is missing, incomplete, damaged, or of another
            format; the message names the file and the remedy.
        InvalidArgument: ``snapshot_id`` is not an id.
    """
    if snapshot_id is not None:
        return _open(Path(kb_dir), snapshot_id)
    for _ in range(_ATTEMPTS):
        found = current_id(kb_dir)
        if found is None:
            raise BackendUnavailable("Nothing is published here yet. Run `graphctx ingest PATH`.")
        if (note := recovery_note(kb_dir)) is not None:
            log.warning(note)
        try:
            return _open(Path(kb_dir), found)
        except BackendUnavailable:
            if current_id(kb_dir) == found:
                raise
    raise BackendUnavailable("The published snapshot changes faster than it can be opened. Try again.")


def _open(kb_dir: Path, snapshot_id: str) -> Snapshot:
    if not re.fullmatch(ID_PATTERN, snapshot_id):
        raise InvalidArgument(f"{snapshot_id!r} is not a snapshot's id; `graphctx snapshots list` shows them.")
    directory = kb_dir / SNAPSHOTS_DIR / snapshot_id
    if not directory.is_dir():
        raise BackendUnavailable(
            f"{SNAPSHOTS_DIR}/{snapshot_id} is missing. {REMEDY}", file=f"{SNAPSHOTS_DIR}/{snapshot_id}"
        )
    try:
        lease = Lease(directory / MANIFEST_NAME)
    except OSError as error:
        read_manifest(directory)  # says what is wrong with it
        raise BackendUnavailable(
            f"{SNAPSHOTS_DIR}/{snapshot_id} cannot be locked for reading: {reason_of(error)}. Try again.",
            file=f"{SNAPSHOTS_DIR}/{snapshot_id}",
        ) from error
    try:
        manifest = read_manifest(directory)
        verify_files(directory, manifest)
    except BaseException:
        lease.release()
        raise
    return Snapshot(directory, manifest, lease)


def verify_files(directory: Path, manifest: Manifest) -> None:
    """Compare every file of a snapshot with its manifest.

    Raises:
        BackendUnavailable: a file is missing, of another size, changed, or not part of the snapshot.
    """
    here = f"{SNAPSHOTS_DIR}/{directory.name}"
    listed = {*manifest.files, MANIFEST_NAME}
    for path in files_below(directory):
        name = path.relative_to(directory).as_posix()
        if name not in listed and name.startswith(f"{TABLES_DIR}/"):  # a stray version would be seen
            raise BackendUnavailable(f"{here}/{name} is not part of the snapshot. {REMEDY}", file=f"{here}/{name}")

    def hashed(name: str, entry: FileEntry) -> str | None:
        same = sha256_of(directory / name) == entry.sha256
        return None if same else "is damaged: its content is not what was published."

    _check_sizes(directory, manifest)  # first: they cost nothing
    items = sorted(manifest.files.items())
    with ThreadPoolExecutor(_HASH_THREADS) as pool:
        _raise_first(directory, items, pool.map(partial(_fault, hashed), items))


def unlisted_files(snapshot: Snapshot) -> list[Path]:
    """Return the files below a snapshot that are neither listed by its manifest nor the graph."""
    listed = {*snapshot.manifest.files, MANIFEST_NAME}
    below = {path.relative_to(snapshot.directory): path for path in files_below(snapshot.directory)}
    return [path for name, path in below.items() if name.as_posix() not in listed and name.parts[0] != GRAPH_DIR]


def _check_sizes(directory: Path, manifest: Manifest) -> None:
    """Raise ``BackendUnavailable`` for a file that is missing or of another size."""

    def sized(name: str, entry: FileEntry) -> str | None:
        size = (directory / name).stat().st_size
        return None if size == entry.size else f"is damaged: it has {size} bytes, not {entry.size}."

    items = sorted(manifest.files.items())
    _raise_first(directory, items, map(partial(_fault, sized), items))


def _raise_first(directory: Path, items: Sequence[tuple[str, FileEntry]], faults: Iterable[str | None]) -> None:
    for (name, _), fault in zip(items, faults, strict=True):
        if fault is not None:
            where = f"{SNAPSHOTS_DIR}/{directory.name}/{name}"
            raise BackendUnavailable(f"{where} {fault} {REMEDY}", file=where, snapshot=directory.name)


def _fault(check: Callable[[str, FileEntry], str | None], item: tuple[str, FileEntry]) -> str | None:
    try:
        return check(*item)
    except FileNotFoundError:
        return "is missing."
    except OSError as error:
        return f"cannot be read: {error.strerror}."
