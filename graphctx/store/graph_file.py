"""The graph file of a snapshot: written from its tables when a query first needs it, and kept beside them.

It is not published: no answer reads it, and it is almost as large as all the rest.
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from graphctx.errors import BackendUnavailable
from graphctx.store.child import run_child
from graphctx.store.files import disk_errors, files_below, fsync_tree, sha256_of

GRAPH_DIR = "graph"
"""The folder in a snapshot; the manifest does not list it."""

_CHECKSUM = "SHA256"
_LITTLE_SPACE = 64 << 20  # bytes; kuzu's log and its file stand beside each other while it writes


def graph_file(directory: Path, engine: str, parquet: Path) -> Path:
    """Return the path of a snapshot's graph file, which is whole; write the file unless it is there.

    A process that cannot write to the snapshot gets a file of its own, outside ``directory``, in a folder that the
    caller deletes. Any number of processes may call this at once.

    Args:
        directory: of the snapshot, verified and leased.
        engine: the graph engine's name.
        parquet: the folder of the snapshot's tables.

    Raises:
        BackendUnavailable: the disk is full, or the engine does not complete the file.
    """
    name, kept = f"graph.{engine}", directory / GRAPH_DIR
    if _is_whole(kept / name):
        return kept / name
    try:
        folder = Path(tempfile.mkdtemp(prefix=f".{GRAPH_DIR}-", dir=directory))
    except OSError:  # the folder or the disk is read-only
        folder = kept = Path(tempfile.mkdtemp(prefix="graphctx-"))
    try:
        with disk_errors(GRAPH_DIR):
            _write(folder / name, engine, parquet)
            if folder != kept:
                folder.chmod(directory.stat().st_mode & 0o777)
                _move_in(folder, kept, name)
    except BackendUnavailable as error:
        shutil.rmtree(kept if folder == kept else folder, ignore_errors=True)
        raise _with_free_space(error, folder.parent) from error
    finally:
        if folder != kept:
            shutil.rmtree(folder, ignore_errors=True)
    return kept / name


def _is_whole(path: Path) -> bool:
    """Whether a graph file is there and nothing beside it; an engine may crash the process on a damaged page."""
    try:
        checksum = path.with_name(_CHECKSUM).read_text("ascii")
        return len(list(path.parent.iterdir())) == 2 and checksum == sha256_of(path)
    except (OSError, UnicodeDecodeError):
        return False


def _write(path: Path, engine: str, parquet: Path) -> None:
    """Write the file in one process, and count its rows in another."""
    built = run_child("build", engine=engine, parquet=str(parquet), path=str(path))
    for label, count in run_child("counts", engine=engine, path=str(path)).items():
        if count != built[label]:
            raise BackendUnavailable(f"{engine} wrote {count} {label} to the graph, not {built[label]}.", label=label)
    path.with_name(_CHECKSUM).write_text(sha256_of(path), "ascii")


def _move_in(folder: Path, kept: Path, name: str) -> None:
    fsync_tree(files_below(folder))
    if not _is_whole(kept / name):  # else another process was faster
        shutil.rmtree(kept, ignore_errors=True)
        with suppress(FileExistsError):
            folder.rename(kept)


def _with_free_space(error: BackendUnavailable, directory: Path) -> BackendUnavailable:
    """Add the likely cause: on a full disk kuzu reports anything, such as "Invalid transaction type"."""
    free = shutil.disk_usage(directory).free
    if free >= _LITTLE_SPACE or "errno" in error.details:
        return error
    message = f"{error.message} Only {free / 2**20:.1f} MiB are free on this disk."
    return BackendUnavailable(message, **error.details, free_bytes=free)
