"""Layer files on disk: written whole beside the old one, synced, put in its place, one writer at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.layers.names import layer_of_file
from graphctx.layers.reader import LayerFile, map_file
from graphctx.layers.tables import LayerContent, Piece, Tables
from graphctx.store.files import atomic_file

LOCK_SECONDS = 30.0
"""How long a writer waits for another; an append to 100,000 chunks takes one or two."""


def to_bytes(content: LayerContent) -> bytes:
    """Return a content as the bytes of a file. Equal contents have equal bytes, which read back as the content.

    Raises:
        InvalidArgument: a chunk or a vector does not fit into the format.
    """
    tables = Tables.empty(content)
    tables.add(content.chunks, content.matrix)
    return b"".join(tables.pieces())


def write_layer(path: Path | str, content: LayerContent, *, replace: bool = False) -> None:
    """Write a layer file.

    Args:
        path: where.
        content: what it says.
        replace: whether a file that is there may be replaced, which takes all its records away.

    Raises:
        InvalidArgument: the content does not fit, or there is a file already.
        BackendUnavailable: the disk refuses, or another writer does not end.
    """
    path = Path(path)
    tables = Tables.empty(content)
    tables.add(content.chunks, content.matrix)
    with locked(path) as target:
        if target.exists() and not replace:
            raise InvalidArgument(
                f"{path.name} is there already; move it away, or say that it may be replaced.", file=path.name
            )
        replace_file(target, tables.pieces())


def append(path: Path | str, make: Callable[[LayerFile | None], LayerContent | None]) -> LayerContent | None:
    """Add records to a layer, or make it; what it held stays as it was, bit for bit.

    A new file takes the place of the old one, whole, when it is safely on the disk. Processes and threads that append
    to one layer follow one another.

    Args:
        path: the layer; not the base layer, which is never changed, nor a link to it.
        make: returns what to add, or ``None`` for nothing. It gets the layer as it is, ``None`` if there is none yet,
            and nobody else changes it meanwhile.

    Returns:
        What ``make`` returned.

    Raises:
        InvalidArgument: this is the base layer, it breaks a rule of the format, or what is added does not fit.
        BackendUnavailable: the disk refuses, or another writer does not end.
    """
    path = Path(path)
    if "base" in (layer_of_file(path), layer_of_file(path.resolve())):
        raise InvalidArgument(
            f"{path.name} {'leads to' if path.is_symlink() else 'is'} the base layer, which is never changed; write to "
            "the local or the delta layer.",
            layer="base",
        )
    with locked(path) as target:
        if not target.exists():
            added = make(None)
            if added is not None:
                tables = Tables.empty(added)
                tables.add(added.chunks, added.matrix)
                replace_file(target, tables.pieces())
            return added
        with LayerFile.open(target) as old:
            added = make(old)
            if added is not None:
                tables = Tables.of(old)
                tables.add(added.chunks, added.matrix)
                replace_file(target, tables.pieces())
                del tables
            return added


@contextmanager
def locked(path: Path) -> Iterator[Path]:
    """Keep other writers of a layer out; yields the file itself if the path is a link.

    The lock is the operating system's and goes with its holder. Its file, ``.<name>.lock``, holds nothing.

    Raises:
        InvalidArgument: the path is one layer's and leads to another's.
        BackendUnavailable: another writer held it all the time, or its file cannot be made.
    """
    from filelock import FileLock, Timeout

    target = path.resolve()
    named, actual = layer_of_file(path), layer_of_file(target)
    if named is not None and actual is not None and named != actual:
        raise InvalidArgument(
            f"{path.name} is a link to {target.name}, the {actual} layer, which is not written to in the name of the "
            f"{named} layer; remove the link.",
            file=path.name,
            layer=actual,
        )
    if not target.parent.is_dir():
        raise BackendUnavailable(
            f"{path.name} cannot be written: its folder is not there. Make the folder, or give another.", file=path.name
        )
    lock = FileLock(target.with_name(f".{target.name}.lock"), timeout=LOCK_SECONDS, is_singleton=False)
    try:
        with lock:
            yield target
    except Timeout:
        raise BackendUnavailable(
            f"Another process has been writing {path.name} for {LOCK_SECONDS:.0f} seconds. Wait for it, or stop it.",
            file=path.name,
        ) from None
    except OSError as error:
        raise BackendUnavailable(
            f"{path.name} cannot be written: {error.strerror}. Check the folder, its permissions and the free space; "
            "what was there before is untouched.",
            file=path.name,
            errno=error.errno,
        ) from error


def replace_file(target: Path, pieces: Iterable[Piece]) -> None:
    """Put a file in a place so that a reader, or a crash, sees the old one or the new one; hold the lock meanwhile.

    What writers that were killed left behind is removed first. What was written is examined before it takes the place.

    Raises:
        InvalidArgument: what was written breaks a rule of the format; what was there before is untouched.
    """
    for stale in target.parent.glob(f".{_literal(target.name)}.*.tmp"):
        stale.unlink(missing_ok=True)
    with atomic_file(target) as file:
        for piece in pieces:
            file.write(piece)
        if target.exists():
            os.fchmod(file.fileno(), target.stat().st_mode & 0o777)
        file.flush()
        LayerFile.parse(map_file(Path(file.name)), target.name).close()


def _literal(name: str) -> str:
    return "".join(f"[{char}]" if char in "*?[" else char for char in name)
